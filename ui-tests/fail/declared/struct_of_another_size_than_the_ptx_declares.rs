//! Claim:   C9
//! Misuse:  declare a struct of another size than the kernel's
//! In C:    the kernel reads behind its end
//! Real:    none known
//! rustc:   kernel `shade`, parameter `colour`: the PTX declares `StructOfBytes<16>`, and `Colour` is not that
//! Reads:   the PTX says `.b8[16]`: the kernel's struct has 16 bytes
//! Fix:     the fields of the kernel's struct, with `repr(C)`

use scoped_cuda::{InOut, kernels};

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Colour([f32; 3]);

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn shade(colour: Colour, to: InOut<f32>); // <-
    }
}

fn main() {}
