//! Twin of `fail/types/element_type_enum.rs`.

use scoped_cuda::{Context, Result};

#[derive(Clone, Copy)]
#[repr(u32)]
enum Cell {
    Dead,
    Alive,
}

fn f(gpu: Context<'_>) -> Result<()> {
    let cells = gpu.upload(&[Cell::Dead, Cell::Alive].map(|cell| cell as u32))?;
    println!("{cells:?}");
    Ok(())
}
