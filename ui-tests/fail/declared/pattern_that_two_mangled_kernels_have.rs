//! Claim:   C9
//! Misuse:  name a C++ kernel by what two of them are called
//! In C:    the program has the whole mangled name in it
//! Real:    none known
//! rustc:   `scale` names several kernels of ../../declared.ptx: `_ZN4fast5scaleEPff` (fast::scale), `_ZN5exact5scaleEPff` (exact::scale)
//! Reads:   two kernels end in that name; both are listed, with their paths
//! Fix:     so much of the path that one is meant

use scoped_cuda::{InOut, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn scale(x: InOut<f32>, by: f32); // <-
    }
}

fn main() {}
