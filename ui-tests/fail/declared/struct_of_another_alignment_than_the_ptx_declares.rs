//! Claim:   C9
//! Misuse:  declare a struct that is aligned otherwise than the kernel's
//! In C:    parameters behind it are read where they are not
//! Real:    none known
//! rustc:   kernel `shade`, parameter `colour`: the PTX declares `AlignmentInBytes<16>`, and `Colour` is not that
//! Reads:   the PTX says `.align 16`, as for a `float4`: four floats in Rust are aligned to 4 bytes
//! Fix:     `repr(C, align(16))`

use scoped_cuda::{InOut, kernels};

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Colour([f32; 4]);

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn shade(colour: Colour, to: InOut<f32>); // <-
    }
}

fn main() {}
