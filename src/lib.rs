#![doc = include_str!("lib.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod abort;
mod attribute;
mod compute_capability;
mod context;
mod detached;
mod device;
mod driver;
pub mod error;
mod extent;
pub mod graph;
pub mod guide;
mod internal;
pub mod kernel;
pub mod memory;
#[cfg(feature = "nvrtc")]
pub mod nvrtc;
mod owned_context;
mod owned_copy;
mod peer;
pub mod safety;
mod several_devices;
mod stream;
mod submitted;

#[doc(inline)]
pub use scoped_cuda_sys as ffi;

#[cfg(feature = "sim")]
#[doc(inline)]
pub use scoped_cuda_sim as sim;

pub use attribute::Attribute;
pub use bytemuck::Pod;
pub use compute_capability::ComputeCapability;
pub use context::Context;
pub use detached::{Attached, Detached, Family, Plain};
pub use device::{Device, Uuid};
pub use driver::Driver;
pub use error::{Error, Result};
pub use extent::Extent;
pub use graph::Graph;
pub use kernel::{
    Global, In, InOut, JitOptions, Kernel, LaunchConfig, LinkedImage, Linker, Module, Null,
    Optional, Out, PtrLen, Ptx, Rows, SafeKernel, SharedBytes, WithLen,
};
pub use memory::{
    Buffer, HostRows, HostRowsMut, LentRows, LentSlice, ManagedBuffer, OnStream, PinnedBuffer,
    PitchedBuffer, PitchedSlice, PitchedSliceMut, ScopedBuffer, Slice, SliceMut,
    WriteCombinedBuffer,
};
pub use owned_context::OwnedContext;
pub use owned_copy::{OwnedCopy, RefusedCopy};
pub use peer::{PeerSlice, PeerSliceMut, SameContext, Transfer};
pub use stream::{Event, Scope, ScopedStream, Stream, StreamOptions, TimedEvent, scope, try_scope};
pub use submitted::{FailedWork, NotSubmitted, Submitted};
