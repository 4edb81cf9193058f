//! Page-locked host memory.

#![allow(unsafe_code)] // owns memory that the driver allocated

use super::{Element, LentSlice, OnStream, Slice, SliceMut, size_of_elements};
use crate::context::Context;
use crate::error::{CloseError, Error, Result};
use crate::ffi::{CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_PORTABLE, CUdeviceptr, CUresult};
use crate::internal::calls;
use crate::internal::current;
use crate::internal::loans::DeviceVisible;
use crate::stream::ScopedStream;
use std::any::type_name;
use std::ffi::c_uint;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::OnceLock;

/// On all devices, and for kernels too. Where addresses are unified, which is everywhere, the flags
/// change nothing.
const CACHED: c_uint = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;

/// Page-locked host memory: `len` elements of plain data that the device copies from and to without
/// keeping the host.
///
/// A copy between the device and ordinary host memory goes through a buffer of the driver's, and
/// one to the host keeps the calling thread until it is done. With page-locked memory the device
/// does the whole copy by itself, faster, while the host goes on.
///
/// At rest it is ordinary memory: it dereferences to `[T]`. In a scope it is lent like any other
/// host memory, with `s.write(&pinned, ..)` and `s.read(.., &mut pinned)`, and the borrow ends when
/// the scope has waited.
///
/// Kernels can work on it directly, over the bus, without a copy: see
/// [`lend_pinned`](crate::PinnedBuffer::lend) and [`mapped`](Self::device_view).
///
/// Page-locking takes memory away from the whole machine and costs time: make such a buffer once
/// and use it often. Dropping it gives the memory back (`cuMemFreeHost`), for which the driver may
/// wait until all work of the device is done: do not drop one while a stream waits for this thread.
/// Forgetting it leaks the memory, until its context ends, and nothing else.
///
/// Made by [`Context::pinned_zeros`] and [`Context::pinned_from`].
///
/// ```
/// # use scoped_cuda::{Driver, sim::Simulation};
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let stream = ctx.new_stream()?;
/// let mut buffer = ctx.zeros::<u32>(3)?;
/// let mut input = ctx.pinned_from(&[1u32, 2, 3])?;
/// let mut output = ctx.pinned_zeros::<u32>(3)?;
/// input[0] = 10;
/// stream.scope(|s| {
///     let mut buffer = buffer.lend(s);
///     s.write(&input, &mut buffer)?;
///     s.read(&buffer, &mut output) // returns at once
/// })?;
/// assert_eq!(*output, [10, 2, 3]);
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
pub struct PinnedBuffer<'ctx, T> {
    context: Context<'ctx>,
    /// Aligned, and `len` initialised elements; dangling when they have no bytes.
    first: NonNull<T>,
    len: usize,
    /// Where the device sees the elements; 0 when they have no bytes, or are not mapped.
    device_address: CUdeviceptr,
    /// Since the first device view or graph: from then on the device may reach the memory in a
    /// scope that has enqueued no copy of it (C5).
    visible: OnceLock<DeviceVisible>,
    _elements: PhantomData<T>,
}

// SAFETY: owned elements, reached through `&self` and `&mut self` only, like those of a `Vec<T>`;
// any thread may free them (C6).
unsafe impl<T: Send> Send for PinnedBuffer<'_, T> {}
// SAFETY: as for Send: `&self` gives out `&[T]` and nothing else.
unsafe impl<T: Sync> Sync for PinnedBuffer<'_, T> {}

static_assertions::assert_impl_all!(PinnedBuffer<'static, f32>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(PinnedBuffer<'static, f32>: Clone);

impl<'ctx> Context<'ctx> {
    /// Page-locked host memory for `len` elements, all bytes zero (`cuMemHostAlloc`,
    /// `cuMemHostGetDevicePointer`). `len` may be 0: that makes no driver call.
    ///
    /// # Errors
    /// [`Error::SizeOverflow`], [`Error::OutOfHostMemory`], [`Error::Misaligned`] for an element
    /// type of unusually strict alignment, or what the driver returns.
    #[doc(alias = "cuMemHostAlloc")]
    #[doc(alias = "cuMemHostGetDevicePointer")]
    pub fn pinned_zeros<T: Element>(self, len: usize) -> Result<PinnedBuffer<'ctx, T>> {
        PinnedBuffer::allocate(self, len, CACHED, |first| {
            // SAFETY: `len` elements were just allocated there, and all bytes zero are a value
            // (`Pod`).
            unsafe { ptr::write_bytes(first, 0, len) };
        })
    }

    /// Page-locked host memory with a copy of `host` (`cuMemHostAlloc`,
    /// `cuMemHostGetDevicePointer`).
    ///
    /// # Errors
    /// As [`pinned_zeros`](Self::pinned_zeros).
    #[doc(alias = "cuMemHostAlloc")]
    #[doc(alias = "cuMemHostGetDevicePointer")]
    pub fn pinned_from<T: Element>(self, host: &[T]) -> Result<PinnedBuffer<'ctx, T>> {
        PinnedBuffer::copy_of(self, host, CACHED)
    }
}

impl<'ctx, T: Element> PinnedBuffer<'ctx, T> {
    pub(crate) fn copy_of(context: Context<'ctx>, host: &[T], flags: c_uint) -> Result<Self> {
        Self::allocate(context, host.len(), flags, |first| {
            // SAFETY: as many elements were just allocated there, and nobody else knows them.
            unsafe { ptr::copy_nonoverlapping(host.as_ptr(), first, host.len()) };
        })
    }

    /// `initialise` is called once there is room for `len` elements at its argument, and gives all
    /// of them a value.
    fn allocate(
        context: Context<'ctx>,
        len: usize,
        flags: c_uint,
        initialise: impl FnOnce(*mut T),
    ) -> Result<Self> {
        let bytes = size_of_elements::<T>(len)?;
        let first = match bytes {
            0 => NonNull::dangling(),
            _ => page_locked(context, bytes, flags)?,
        };
        initialise(first.as_ptr());
        let mut buffer = Self {
            context,
            first,
            len,
            device_address: 0,
            visible: OnceLock::new(),
            _elements: PhantomData,
        };
        if bytes > 0 && flags & CU_MEMHOSTALLOC_DEVICEMAP != 0 {
            let (state, memory) = (context.state(), first.as_ptr().cast());
            // SAFETY: page-locked memory, just allocated; the buffer that owns it frees it on an
            // error.
            buffer.device_address = current::bind(state, || unsafe {
                calls::mem_host_get_device_pointer(state.api(), memory)
            })?;
        }
        Ok(buffer)
    }
}

impl<'ctx, T> PinnedBuffer<'ctx, T> {
    /// The context that the memory belongs to.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.context
    }

    /// Size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The same elements as the device sees them, to read. No driver call.
    ///
    /// In a scope, a view of a buffer that outlives it is an argument for `In<T>` on any stream of
    /// the context, while the host reads the buffer too. Each access of a kernel goes over the bus.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let (stream, table) = (ctx.new_stream()?, ctx.pinned_from(&[1u32, 2, 3])?);
    /// let mut copy = ctx.zeros::<u32>(3)?;
    /// stream.scope(|s| s.copy(table.device_view(), &mut copy.lend(s)))?;
    /// assert_eq!(copy.to_vec()?, *table);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[must_use]
    pub fn device_view(&self) -> Slice<'_, 'ctx, T> {
        self.show_device();
        Slice::new(self.context, self.device_address, self.len)
    }

    /// The same elements as the device sees them, to write. No driver call.
    ///
    /// [`lend`](Self::lend) puts them into the order of a stream; parts of them go to several
    /// streams through [`SliceMut::split_at_mut`] and [`SliceMut::lend`].
    #[must_use]
    pub fn device_view_mut(&mut self) -> SliceMut<'_, 'ctx, T> {
        self.show_device();
        SliceMut::new(self.context, self.device_address, self.len)
    }

    /// To be called before anything is made through which the device reaches the memory, apart from
    /// the copies of scopes.
    pub(crate) fn show_device(&self) {
        if self.size_bytes() > 0 {
            self.visible.get_or_init(DeviceVisible::new);
        }
    }

    /// Gives the memory back and says whether that worked; after an error the buffer is handed back
    /// (`cuMemFreeHost`).
    ///
    /// # Errors
    /// [`CloseError`] with the buffer and what the driver returned.
    #[doc(alias = "cuMemFreeHost")]
    pub fn close(mut self) -> Result<(), CloseError<Self>> {
        let state = self.context.state();
        let closed = match self.size_bytes() {
            0 => Ok(()),
            // SAFETY: owned, and at rest: what borrowed it in a scope has ended (C5, C6).
            _ => state.not_lost().and_then(|()| unsafe {
                calls::mem_free_host(state.api(), self.first.as_ptr().cast())
            }),
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

/// Page-locked memory of `bytes` bytes, not 0, that is aligned for `T` and not initialised.
fn page_locked<T>(context: Context<'_>, bytes: usize, flags: c_uint) -> Result<NonNull<T>> {
    let (state, driver) = (context.state(), context.api());
    let memory = current::bind(state, || calls::mem_host_alloc(driver, bytes, flags))
        .map_err(|error| out_of_host_memory(error, bytes))?;
    let (address, align) = (memory.addr(), align_of::<T>());
    let first = NonNull::new(memory.cast::<T>()).filter(|_| address % align == 0);
    first.ok_or_else(|| {
        // SAFETY: just allocated, and known to nobody else.
        state.tear_down(|driver| unsafe { calls::mem_free_host(driver, memory) });
        Error::Misaligned { address, align }
    })
}

pub(crate) fn out_of_host_memory(error: Error, bytes: usize) -> Error {
    match error {
        Error::Driver(source) if source.code() == CUresult::OUT_OF_MEMORY => {
            Error::OutOfHostMemory { bytes, source }
        }
        other => other,
    }
}

impl<T> Deref for PinnedBuffer<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: aligned, initialised, owned. Copies that write it borrow it mutably until their
        // scope has waited (C5, C6).
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for PinnedBuffer<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; what reads it borrows it until its scope has waited.
        unsafe { slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }
}

impl<'scope, 'ctx, T> PinnedBuffer<'ctx, T> {
    /// Puts the memory into the order of `stream` until the end of the scope: kernels and fills
    /// work on it directly, over the bus. No driver call. The host has it back when the scope has
    /// waited.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let (stream, mut results) = (ctx.new_stream()?, ctx.pinned_zeros::<u32>(2)?);
    /// stream.scope(|s| {
    ///     let mut on_device = results.lend(s);
    ///     s.fill(&mut on_device, 7)
    /// })?;
    /// assert_eq!(*results, [7, 7]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[must_use]
    pub fn lend<'s>(
        &'scope mut self,
        stream: ScopedStream<'s, 'scope, 'ctx>,
    ) -> LentSlice<'s, 'scope, 'ctx, T> {
        OnStream::new(self.device_view_mut(), stream.brand())
    }
}

impl<T> Drop for PinnedBuffer<'_, T> {
    fn drop(&mut self) {
        if self.size_bytes() != 0 {
            let memory = self.first.as_ptr().cast();
            // SAFETY: owned, and at rest: what borrowed it in a scope has ended (C5, C6).
            let free = |driver| unsafe { calls::mem_free_host(driver, memory) };
            self.context.state().tear_down(free);
        }
    }
}

impl<T> fmt::Debug for PinnedBuffer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, len) = (self.context.device().ordinal(), self.len);
        let (name, first) = (type_name::<T>(), self.first);
        write!(
            f,
            "PinnedBuffer(device {device}, {len} x {name}, {first:p})"
        )
    }
}
