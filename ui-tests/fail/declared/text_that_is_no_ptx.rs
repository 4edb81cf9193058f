//! Claim:   C9
//! Misuse:  declare the kernels of a text that is none of PTX
//! In C:    `cuModuleLoadData` fails when the program runs
//! Real:    none known
//! rustc:   the PTX is no PTX: it does not begin with a `.version` directive
//! Reads:   what was named is CUDA C++, or something else
//! Fix:     the file that the compiler has written: `nvcc -ptx`

use scoped_cuda::kernels;

kernels! {
    struct Kernels<'ctx>;
    extern ptx!("__global__ void nothing() {}") { // <-
        unsafe fn nothing();
    }
}

fn main() {}
