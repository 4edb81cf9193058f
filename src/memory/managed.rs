//! Managed memory: one address for host and device, and the driver moves the pages.

#![allow(unsafe_code)] // owns memory that the driver allocated

use super::{Element, LentSlice, OnStream, Readable, Slice, SliceMut, sealed, size_of_elements};
use crate::attribute::Attribute;
use crate::context::Context;
use crate::error::{CloseError, Error, Result};
use crate::ffi::{
    CU_MEM_ADVISE_SET_ACCESSED_BY, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
    CU_MEM_ADVISE_SET_READ_MOSTLY, CU_MEM_ADVISE_UNSET_ACCESSED_BY,
    CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, CU_MEM_ADVISE_UNSET_READ_MOSTLY, CUdevice, CUdeviceptr,
    CUresult, CUstream,
};
use crate::internal::at_rest::complete;
use crate::internal::calls;
use crate::internal::current;
use crate::internal::loans::DeviceVisible;
use crate::internal::wait::HostUse;
use crate::stream::ScopedStream;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::{mem, slice};

/// Managed memory: `len` elements of plain data that host and device both use, and that the driver
/// moves to where they are touched.
///
/// At rest the host has it, through [`as_slice`](Self::as_slice) and
/// [`as_mut_slice`](Self::as_mut_slice). In a scope,
/// [`ManagedBuffer::lend`](crate::ManagedBuffer::lend) puts it into the order of a stream, and
/// until the scope has waited the borrow checker keeps the host away. Unlent, like a
/// [`Buffer`](crate::Buffer) at rest, `&managed` may be read by kernels on several streams and by
/// the host at once.
///
/// Dropping it frees the memory (`cuMemFree`, which waits for other work of the device). Forgetting
/// it leaks the memory, until its context ends, and nothing else.
///
/// Made by [`Context::managed_zeros`] and [`Context::managed_from`].
///
/// ```
/// # use scoped_cuda::{Driver, sim::Simulation};
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let (stream, mut numbers) = (ctx.new_stream()?, ctx.managed_from(&[1u32, 2, 3])?);
/// numbers.as_mut_slice()?[0] = 10;
/// stream.scope(|s| {
///     let mut numbers = numbers.lend(s);
///     s.fill(&mut numbers.slice_mut(2..)?, 7)
/// })?;
/// assert_eq!(numbers.as_slice()?, [10, 2, 7]);
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
pub struct ManagedBuffer<'ctx, T> {
    context: Context<'ctx>,
    /// For the device and, as the address of initialised elements that are aligned, for the host; 0
    /// when they have no bytes.
    address: CUdeviceptr,
    len: usize,
    /// The device may reach the memory without a copy.
    visible: Option<DeviceVisible>,
    _elements: PhantomData<T>,
}

static_assertions::assert_impl_all!(ManagedBuffer<'static, f32>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(ManagedBuffer<'static, f32>: Clone);

/// Where managed memory is, or who uses it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemoryLocation {
    /// The host.
    Host,
    /// The context's device.
    Device,
}

/// Usage hints for managed memory (`cuMemAdvise`). Hints never change results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum MemoryAdvice {
    /// Whether it is read much more often than written, so that each side is to have a copy.
    ReadMostly(bool),
    /// Where it is to stay, if anywhere.
    PreferredLocation(Option<MemoryLocation>),
    /// A side is to have it mapped, wherever it is.
    AccessedBy(MemoryLocation),
    /// The opposite of [`AccessedBy`](Self::AccessedBy).
    NotAccessedBy(MemoryLocation),
}

impl<'ctx> Context<'ctx> {
    /// Managed memory for `len` elements, all bytes zero (`cuMemAllocManaged`, `cuMemsetD8Async`).
    /// `len` may be 0: that makes no driver call.
    ///
    /// # Errors
    /// [`Error::ManagedUnsupported`] when one of the machine's devices lacks [concurrent managed
    /// access](Attribute::ConcurrentManagedAccess): there the host may touch no managed memory
    /// while that device works, on whatever stream, which no borrow can tell.
    /// [`Error::SizeOverflow`], [`Error::OutOfMemory`], [`Error::Misaligned`] for an element type
    /// of unusually strict alignment, or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemAllocManaged")]
    #[doc(alias = "cuMemsetD8Async")]
    pub fn managed_zeros<T: Element>(self, len: usize) -> Result<ManagedBuffer<'ctx, T>> {
        ManagedBuffer::new(self, len, |memory| memory.set_zero())
    }

    /// Managed memory with a copy of `host` (`cuMemAllocManaged`, `cuMemcpyHtoDAsync`).
    ///
    /// # Errors
    /// As [`managed_zeros`](Self::managed_zeros).
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemAllocManaged")]
    #[doc(alias = "cuMemcpyHtoDAsync")]
    pub fn managed_from<T: Element>(self, host: &[T]) -> Result<ManagedBuffer<'ctx, T>> {
        ManagedBuffer::new(self, host.len(), |memory| memory.write(host))
    }
}

impl<'ctx, T: Element> ManagedBuffer<'ctx, T> {
    /// A copy of the elements, made by the host.
    ///
    /// # Errors
    /// As [`as_slice`](Self::as_slice).
    #[doc(alias = "clone_dtoh")]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.as_slice().map(<[T]>::to_vec)
    }

    /// `initialise` gives all elements a value, or fails.
    fn new(
        context: Context<'ctx>,
        len: usize,
        initialise: impl FnOnce(&mut SliceMut<'_, 'ctx, T>) -> Result<()>,
    ) -> Result<Self> {
        let address = match size_of_elements::<T>(len)? {
            0 => 0,
            bytes => allocate(context, bytes, align_of::<T>())?,
        };
        let mut buffer = Self {
            context,
            address,
            len,
            visible: (address != 0).then(DeviceVisible::new),
            _elements: PhantomData,
        };
        initialise(&mut buffer.device_view_mut())?;
        Ok(buffer)
    }
}

fn allocate(context: Context<'_>, bytes: usize, align: usize) -> Result<CUdeviceptr> {
    let (state, driver) = (context.state(), context.api());
    for device in context.driver().devices()? {
        if device.attribute(Attribute::ConcurrentManagedAccess)? == 0 {
            return Err(Error::ManagedUnsupported {
                ordinal: device.ordinal(),
            });
        }
    }
    let allocated = current::bind(state, || calls::mem_alloc_managed(driver, bytes));
    let address = allocated.map_err(|error| match error {
        Error::Driver(source) if source.code() == CUresult::OUT_OF_MEMORY => Error::OutOfMemory {
            ordinal: state.ordinal(),
            asked: bytes,
            free: None,
            cap: None,
            source: Some(Box::new(source)),
        },
        other => other,
    })?;
    let host = address as usize;
    if host % align != 0 {
        // SAFETY: just allocated, and known to nobody else.
        state.tear_down(|driver| unsafe { calls::mem_free(driver, address) });
        return Err(Error::Misaligned {
            address: host,
            align,
        });
    }
    Ok(address)
}

impl<'ctx, T> ManagedBuffer<'ctx, T> {
    /// The context that the memory belongs to.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.context
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The elements, for the host to read. Pages that are with the device come when they are
    /// touched.
    ///
    /// # Errors
    /// [`Error::ContextLost`] when the memory has gone with its context, [`Error::Poisoned`] after
    /// a fault.
    pub fn as_slice(&self) -> Result<&[T]> {
        let first = self.for_host()?;
        // SAFETY: aligned, initialised, owned; what writes it in a scope borrows it mutably until
        // that has waited (C5, C6).
        Ok(unsafe { slice::from_raw_parts(first.as_ptr(), self.len) })
    }

    /// The elements, for the host to write. Pages that are with the device come when they are
    /// touched.
    ///
    /// # Errors
    /// As [`as_slice`](Self::as_slice).
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        let first = self.for_host()?;
        // SAFETY: as in `as_slice`; what reads it in a scope borrows it until that has waited.
        Ok(unsafe { slice::from_raw_parts_mut(first.as_ptr(), self.len) })
    }

    fn for_host(&self) -> Result<NonNull<T>> {
        if self.size_bytes() > 0 {
            self.context.api().unpoisoned()?;
            self.context.state().not_lost()?;
        }
        let first = ptr::with_exposed_provenance_mut(self.address as usize);
        Ok(NonNull::new(first).unwrap_or(NonNull::dangling()))
    }

    /// All elements, for the device to read.
    #[must_use]
    pub fn device_view(&self) -> Slice<'_, 'ctx, T> {
        Slice::new(self.context, self.address, self.len)
    }

    /// All elements, for the device to write.
    #[must_use]
    pub fn device_view_mut(&mut self) -> SliceMut<'_, 'ctx, T> {
        SliceMut::new(self.context, self.address, self.len)
    }

    /// Moves the memory to where it will be used; it is there when this returns
    /// (`cuMemPrefetchAsync`).
    ///
    /// # Errors
    /// [`Error::SymbolMissing`] or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemPrefetchAsync")]
    pub fn prefetch(&self, to: MemoryLocation) -> Result<()> {
        let bytes = self.size_bytes();
        if bytes == 0 {
            return Ok(());
        }
        complete(self.context.state(), HostUse::None, |stream| {
            prefetch(self.context, self.address, bytes, to, stream)
        })
    }

    /// Tells the driver how the memory will be used (`cuMemAdvise`).
    ///
    /// # Errors
    /// [`Error::SymbolMissing`] or what the driver returns.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation, memory::{MemoryAdvice, MemoryLocation}};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let table = ctx.managed_from(&[1u32, 2, 3])?;
    /// table.advise(MemoryAdvice::PreferredLocation(Some(MemoryLocation::Device)))?;
    /// table.prefetch(MemoryLocation::Device)?;
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuMemAdvise")]
    pub fn advise(&self, advice: MemoryAdvice) -> Result<()> {
        let bytes = self.size_bytes();
        if bytes == 0 {
            return Ok(());
        }
        let own = MemoryLocation::Device;
        let (code, side) = match advice {
            MemoryAdvice::ReadMostly(true) => (CU_MEM_ADVISE_SET_READ_MOSTLY, own),
            MemoryAdvice::ReadMostly(false) => (CU_MEM_ADVISE_UNSET_READ_MOSTLY, own),
            MemoryAdvice::PreferredLocation(Some(side)) => {
                (CU_MEM_ADVISE_SET_PREFERRED_LOCATION, side)
            }
            MemoryAdvice::PreferredLocation(None) => (CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, own),
            MemoryAdvice::AccessedBy(side) => (CU_MEM_ADVISE_SET_ACCESSED_BY, side),
            MemoryAdvice::NotAccessedBy(side) => (CU_MEM_ADVISE_UNSET_ACCESSED_BY, side),
        };
        let (state, device) = (self.context.state(), side.device(self.context));
        state.not_lost()?;
        // SAFETY: `bytes` are allocated there and borrowed for the call.
        current::bind(state, || unsafe {
            calls::mem_advise(state.api(), self.address, bytes, code, device)
        })
    }

    /// Frees the memory and says whether that worked; after an error the buffer is handed back
    /// (`cuMemFree`).
    ///
    /// # Errors
    /// [`CloseError`] with the buffer and what the driver returned.
    #[doc(alias = "cuMemFree")]
    pub fn close(mut self) -> Result<(), CloseError<Self>> {
        let state = self.context.state();
        let closed = match self.address {
            0 => Ok(()),
            // SAFETY: owned, and at rest: what borrowed it in a scope has ended (C5, C6).
            address => state
                .not_lost()
                .and_then(|()| unsafe { calls::mem_free(state.api(), address) }),
        };
        match closed {
            Ok(()) => {
                drop(self.visible.take());
                mem::forget(self);
                Ok(())
            }
            Err(error) => Err(CloseError::new(self, error)),
        }
    }
}

impl MemoryLocation {
    /// For the driver: `None` is the host.
    fn device(self, context: Context<'_>) -> Option<CUdevice> {
        match self {
            Self::Host => None,
            Self::Device => Some(context.device().as_raw()),
        }
    }
}

/// `bytes`, not 0, are allocated at `address` until `stream`, of the context, has been waited for.
fn prefetch(
    context: Context<'_>,
    address: CUdeviceptr,
    bytes: usize,
    to: MemoryLocation,
    stream: CUstream,
) -> Result<()> {
    let (state, device) = (context.state(), to.device(context));
    // SAFETY: the callers' promise. Moving pages changes nothing that anybody can read or write.
    current::bind(state, || unsafe {
        calls::mem_prefetch_async(state.api(), address, bytes, device, stream)
    })
}

impl<'s, 'scope, 'ctx> ScopedStream<'s, 'scope, 'ctx> {
    /// Moves managed memory to where it will be used, in the order of this stream
    /// (`cuMemPrefetchAsync`).
    ///
    /// # Errors
    /// What the driver returns: `CUDA_ERROR_INVALID_VALUE` for memory that is not managed.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation, memory::MemoryLocation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let (stream, mut numbers) = (ctx.new_stream()?, ctx.managed_zeros::<u32>(1000)?);
    /// stream.scope(|s| {
    ///     let mut numbers = numbers.lend(s);
    ///     s.prefetch(&numbers, MemoryLocation::Device)?;
    ///     s.fill(&mut numbers, 1)?;
    ///     s.prefetch(&numbers, MemoryLocation::Host)
    /// })?;
    /// assert_eq!(numbers.as_slice()?, [1; 1000]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuMemPrefetchAsync")]
    pub fn prefetch<T>(
        self,
        memory: impl Readable<'s, 'scope, 'ctx, T>,
        to: MemoryLocation,
    ) -> Result<()> {
        let (address, len) = memory.region();
        match len * size_of::<T>() {
            0 => Ok(()),
            bytes => prefetch(self.context(), address, bytes, to, self.stream().as_raw()),
        }
    }
}

impl<T> sealed::SealedFor<T, sealed::Reading> for &ManagedBuffer<'_, T> {}

impl<T> sealed::Near for &ManagedBuffer<'_, T> {}

impl<'s, 'scope, 'ctx, T> Readable<'s, 'scope, 'ctx, T> for &'scope ManagedBuffer<'ctx, T> {
    fn region(&self) -> (CUdeviceptr, usize) {
        (self.address, self.len)
    }
}

impl<'scope, 'ctx, T> ManagedBuffer<'ctx, T> {
    /// Puts the memory into the order of `stream` until the end of the scope. No driver call.
    ///
    /// The host, and other streams, have it back when the scope has waited.
    #[must_use]
    pub fn lend<'s>(
        &'scope mut self,
        stream: ScopedStream<'s, 'scope, 'ctx>,
    ) -> LentSlice<'s, 'scope, 'ctx, T> {
        OnStream::new(self.device_view_mut(), stream.brand())
    }
}

impl<T> Drop for ManagedBuffer<'_, T> {
    fn drop(&mut self) {
        if self.address != 0 {
            // SAFETY: owned, and at rest: what borrowed it in a scope has ended (C5, C6).
            let free = |driver| unsafe { calls::mem_free(driver, self.address) };
            self.context.state().tear_down(free);
        }
    }
}

impl<T> fmt::Debug for ManagedBuffer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.device_view().describe("ManagedBuffer", f)
    }
}
