//! Twin of `fail/declared/pattern_that_two_mangled_kernels_have.rs`.

use scoped_cuda::{InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn "fast::scale" as scale(x: InOut<f32>, by: f32);
    }
}
