//! Twin of `fail/types/variable_of_bool.rs`.

use scoped_cuda::{Module, Result};

fn f(module: &Module<'_>) -> Result<()> {
    let is_done = module.global::<u8>("is_done", 1)?;
    println!("{is_done:?}");
    Ok(())
}
