//! Twin of `fail/mix/linkers_of_two_gpus_in_one_vec.rs`.

use scoped_cuda::{Context, JitOptions, Linker, Result};

fn f<'gpu0, 'gpu1>(gpu0: Context<'gpu0>, gpu1: Context<'gpu1>) -> Result<()> {
    let mut linkers: Vec<Linker<'gpu0>> = vec![gpu0.linker(&JitOptions::default())?];
    linkers.push(gpu0.linker(&JitOptions::default())?);
    println!("{gpu1:?} {linkers:?}");
    Ok(())
}
