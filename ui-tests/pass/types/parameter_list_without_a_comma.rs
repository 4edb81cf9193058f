//! Twin of `fail/types/parameter_list_without_a_comma.rs`.

use scoped_cuda::{Context, Ptx, Result};

fn f(gpu: Context<'_>, ptx: Ptx<'_>) -> Result<()> {
    let kernel = gpu.load_ptx(ptx)?.kernel::<(u32,)>("spin")?;
    println!("{kernel:?}");
    Ok(())
}
