//! Twin of `fail/types/precondition_that_captures.rs`.

use scoped_cuda::{InOut, Kernel, SafeKernel};

type Scale = (InOut<f32>, u32);

fn f<'gpu>(scale: Kernel<'gpu, Scale>, most: u32) -> SafeKernel<'gpu, Scale> {
    println!("{most}");
    // SAFETY: x[i] *= 2 for i below n only, whatever the grid.
    unsafe {
        scale.assert_safe_when([("n is at most the length of x", |_, (x, n)| n as usize <= x)])
    }
}
