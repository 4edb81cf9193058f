//! Kernels that tell what they were given.

use bytemuck::{Pod, Zeroable};

/// Made of `launches.cu`, see there.
pub(crate) const PTX: scoped_cuda::Ptx<'static> = scoped_cuda::include_ptx!("launches.ptx");

/// `struct Pair`.
#[derive(Clone, Copy, PartialEq, Debug, Zeroable, Pod)]
#[repr(C)]
pub(crate) struct Pair {
    pub(crate) a: f32,
    /// C has a hole here; plain data has none.
    pub(crate) hole: u32,
    pub(crate) b: f64,
}

/// Two doubles that a kernel declares with the alignment of 16 bytes.
#[derive(Clone, Copy, PartialEq, Debug, Zeroable, Pod)]
#[repr(C, align(16))]
pub(crate) struct Aligned(pub(crate) [f64; 2]);

/// `float4`.
#[derive(Clone, Copy, PartialEq, Debug, Zeroable, Pod)]
#[repr(C, align(16))]
pub(crate) struct Float4(pub(crate) [f32; 4]);
