//! Twin of `fail/types/element_type_bool.rs`.

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<()> {
    let flags = gpu.upload(&[true, false].map(u8::from))?;
    println!("{flags:?}");
    Ok(())
}
