//! Claim:   C9
//! Misuse:  declare integers for a variable that holds floats
//! In C:    the kernel reads the bytes as what they are not
//! Real:    none known
//! rustc:   variable `table`: the PTX declares `F32`, and `[u32; 16]` is not that
//! Reads:   `F32` is `.f32` of the PTX: the elements are floats
//! Fix:     `[f32; 16]`

use scoped_cuda::kernels;

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        static table: [u32; 16]; // <-
    }
}

fn main() {}
