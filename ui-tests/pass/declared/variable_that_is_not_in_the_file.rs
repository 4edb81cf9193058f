//! Twin of `fail/declared/variable_that_is_not_in_the_file.rs`.

use scoped_cuda::kernels;

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        static table: [f32; 16];
    }
}
