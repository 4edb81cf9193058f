//! Twin of `fail/declared/safe_kernel_declared_without_unsafe.rs`.

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    // SAFETY: it touches x and y at indices below n only.
    unsafe extern "../../declared.ptx" {
        safe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: u32) when {
            "n is at most the length of both": n as usize <= x.min(y),
        };
    }
}
