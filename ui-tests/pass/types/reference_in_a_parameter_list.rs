//! Twin of `fail/types/reference_in_a_parameter_list.rs`.

use scoped_cuda::{Context, In, Ptx, Result};

fn f(gpu: Context<'_>, ptx: Ptx<'_>) -> Result<()> {
    let kernel = gpu.load_ptx(ptx)?.kernel::<(In<f32>, In<f32>)>("dot")?;
    println!("{kernel:?}");
    Ok(())
}
