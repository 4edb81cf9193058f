//! Claim:   C9
//! Misuse:  declare memory for a struct that the kernel takes by value
//! In C:    the kernel reads the bytes as what they are not
//! Real:    none known
//! rustc:   parameter `colour`: the PTX declares `StructOfBytes<16>`, and `In<[f32; 4]>` is not that
//! Reads:   the PTX says `.b8[16]`: the kernel takes the struct itself, not a pointer to it
//! Fix:     the struct by value

use scoped_cuda::{InOut, kernels};

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(16))]
struct Colour([f32; 4]);

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn shade(colour: scoped_cuda::In<[f32; 4]>, to: InOut<f32>); // <-
    }
}

fn main() {}
