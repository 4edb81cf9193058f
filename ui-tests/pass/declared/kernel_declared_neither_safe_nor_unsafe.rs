//! Twin of `fail/declared/kernel_declared_neither_safe_nor_unsafe.rs`.

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: u32);
    }
}
