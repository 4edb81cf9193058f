//! Twin of `fail/declared/variable_of_another_size_than_the_ptx_declares.rs`.

use scoped_cuda::kernels;

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        static table: [f32; 16];
    }
}
