//! Twin of `fail/in-flight/constant_written_while_kernels_share_it.rs`.

use scoped_cuda::{Global, InOut, Kernel, Result};

fn f<'gpu>(weigh: Kernel<'gpu, (InOut<f32>,)>, table: &mut Global<'gpu, f32>) -> Result<()> {
    table.write(&[1.0; 4])?;
    // SAFETY: x[i] *= table[i % 4] for the elements of x only.
    let weigh = unsafe { weigh.assert_safe_when_reading(&*table, []) };
    println!("{weigh:?}");
    Ok(())
}
