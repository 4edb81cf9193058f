//! Twin of `fail/types/kernel_wrapped_without_unsafe.rs`.

use scoped_cuda::{InOut, Kernel, SafeKernel};

type Scale = (InOut<f32>, u32);

fn f<'gpu>(scale: Kernel<'gpu, Scale>) -> SafeKernel<'gpu, Scale> {
    // SAFETY: x[i] *= 2 for i below n only, whatever the grid.
    unsafe {
        scale.assert_safe_when([("n is at most the length of x", |_, (x, n)| n as usize <= x)])
    }
}
