//! Twin of `fail/declared/pointer_where_the_ptx_declares_a_struct.rs`.

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
