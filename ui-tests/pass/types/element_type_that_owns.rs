//! Twin of `fail/types/element_type_that_owns.rs`.

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<()> {
    let names = gpu.zeros::<[u8; 16]>(4)?;
    println!("{names:?}");
    Ok(())
}
