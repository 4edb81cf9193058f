#![doc = include_str!("lib.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attribute;
mod completion;
mod context;
mod current;
mod device;
mod devices;
mod driver;
mod error;
mod event;
mod host_function;
mod in_flight;
mod internal;
mod kernel;
mod memory;
#[cfg(feature = "nvrtc")]
pub mod nvrtc;
mod pending;
pub mod safety;
mod same_context;
mod scope;
mod stream;
mod transfer;
mod wait;
mod wake;

#[doc(inline)]
pub use scoped_cuda_sys as ffi;

pub use attribute::Attribute;
pub use bytemuck::Pod;
pub use context::Context;
pub use device::{Device, Uuid};
pub use driver::{Driver, TeardownError};
#[cfg(feature = "sim")]
#[doc(inline)]
pub use scoped_cuda_sim as sim;

pub use error::{DriverError, Error, LaunchField, Result, Version};
pub use event::{Event, TimedEvent};
pub use kernel::{
    Arg, Args, BestBlock, CacheMode, CachePreference, Carveout, Count, Counted, Global, In, InOut,
    JitOptions, Kernel, KernelAttributes, LaunchConfig, Layout, Length, Linked, Linker, Module,
    Null, OptimizationLevel, Optional, Out, Param, Parameter, Params, Pointer, Precondition,
    SafeKernel, SharedBytes, Span, Variables,
};
pub use memory::{
    Advice, Axis, Buffer, ChunksMut, Element, Extent, Fill, HandOver, HostLayout, HostRows,
    HostRowsMut, ManagedBuffer, Memory, MemoryMut, MemoryUsage, Ordered, PeerSlice, PeerSliceMut,
    PinnedBuffer, Pitched, PitchedMemory, PitchedMemoryMut, PitchedSlice, PitchedSliceMut,
    Readable, ReadableRows, RowSource, RowTarget, Rows, RowsShape, Side, Slice, SliceMut,
    WriteCombined,
};
pub use pending::{Pending, Refused};
pub use same_context::SameContext;
pub use scope::{Scope, ScopedStream, scope, try_scope};
pub use stream::{Stream, StreamOptions};
pub use transfer::Transfer;
