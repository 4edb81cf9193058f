#![doc = include_str!("lib.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attribute;
mod context;
mod device;
mod driver;
mod error;
mod extent;
mod internal;
mod kernel;
mod memory;
#[cfg(feature = "nvrtc")]
pub mod nvrtc;
mod owned_copy;
mod peer;
pub mod safety;
mod several_devices;
mod stream;

#[doc(inline)]
pub use scoped_cuda_sys as ffi;

pub use attribute::Attribute;
pub use bytemuck::Pod;
pub use context::Context;
pub use device::{Device, Uuid};
pub use driver::Driver;
#[cfg(feature = "sim")]
#[doc(inline)]
pub use scoped_cuda_sim as sim;

pub use error::{
    CloseError, DriverError, Error, ImageError, ImageKind, LaunchField, Result, Version,
};
pub use extent::{Axis, Extent, HostLayout};
pub use internal::api::TeardownError;
pub use kernel::{
    Arg, Args, BestBlock, CacheMode, CachePreference, Carveout, Count, Global, In, InOut,
    JitOptions, Kernel, KernelAttributes, LaunchConfig, Length, LinkedImage, Linker, Module, Null,
    OptimizationLevel, Optional, Out, Param, ParamLayout, Parameter, Params, Pointer, Precondition,
    PtrLen, Rows, RowsShape, SafeKernel, SharedBytes, Variables, WithLen,
};
pub use memory::{
    Buffer, Chunks, ChunksMut, Element, Fill, HandOver, HostRows, HostRowsMut, ManagedBuffer,
    Memory, MemoryAdvice, MemoryLocation, MemoryMut, MemoryUsage, OnStream, PinnedBuffer,
    PitchedBuffer, PitchedMemory, PitchedMemoryMut, PitchedSlice, PitchedSliceMut, Readable,
    ReadableRows, RowSource, RowTarget, Slice, SliceMut, WriteCombinedBuffer,
};
pub use owned_copy::{OwnedCopy, RefusedCopy};
pub use peer::{PeerSlice, PeerSliceMut, SameContext, Transfer};
pub use stream::{Event, Scope, ScopedStream, Stream, StreamOptions, TimedEvent, scope, try_scope};
