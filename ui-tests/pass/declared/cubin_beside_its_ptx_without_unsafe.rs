//! Twin of `fail/declared/cubin_beside_its_ptx_without_unsafe.rs`.

use scoped_cuda::{In, InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    // SAFETY: nobody loads it.
    unsafe extern "../../declared.ptx" with cubin("../../declared.ptx") {
        unsafe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: u32);
    }
}
