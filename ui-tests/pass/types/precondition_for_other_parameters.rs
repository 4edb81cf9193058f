//! Twin of `fail/types/precondition_for_other_parameters.rs`.

use scoped_cuda::{InOut, Kernel, SafeKernel};

type Scale = (InOut<f32>, u32);

fn f<'gpu>(scale: Kernel<'gpu, Scale>) -> SafeKernel<'gpu, Scale> {
    let short = "n is at most the length of x";
    // SAFETY: x[i] *= 2 for i below n only, whatever the grid.
    unsafe { scale.assert_safe_when([(short, |_, (x, n)| n as usize <= x)]) }
}
