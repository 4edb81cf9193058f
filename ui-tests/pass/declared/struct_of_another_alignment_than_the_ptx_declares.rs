//! Twin of `fail/declared/struct_of_another_alignment_than_the_ptx_declares.rs`.

use scoped_cuda::{InOut, kernels};

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(16))]
struct Colour([f32; 4]);

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn shade(colour: Colour, to: InOut<f32>);
    }
}
