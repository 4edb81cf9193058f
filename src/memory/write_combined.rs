//! Page-locked host memory that the host only writes.

use super::{Element, PinnedBuffer, resolve, same_len};
use crate::context::Context;
use crate::error::{CloseError, Result};
use crate::ffi::{CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_WRITECOMBINED};
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{Ordering, fence};

/// Page-locked host memory for data on its way to the device: the host does not cache it.
///
/// Copies from it may be faster where the bus has to ask the host's caches, and it leaves those to
/// other data. Reading it on the host is very slow. Without a measurement that says otherwise, take
/// a [`PinnedBuffer`].
///
/// The host writes it through [`write`](Self::write) and [`write_at`](Self::write_at) only. A store
/// to such memory may be seen by others later than a store to ordinary memory that follows it, so a
/// `&mut [T]` of it, handed to another thread, could show old values: the two functions end with a
/// fence instead.
///
/// Made by [`Context::write_combined_from`].
///
/// ```
/// # use scoped_cuda::{Driver, sim::Simulation};
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let (stream, mut buffer) = (ctx.new_stream()?, ctx.zeros::<u32>(3)?);
/// let mut staging = ctx.write_combined_from(&[0u32; 3])?;
/// staging.write(&[1, 2, 3])?;
/// stream.scope(|s| s.write(&staging, &mut buffer.lend(s)))?;
/// assert_eq!(buffer.to_vec()?, [1, 2, 3]);
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
pub struct WriteCombinedBuffer<'ctx, T> {
    /// Given out to read only.
    memory: PinnedBuffer<'ctx, T>,
}

static_assertions::assert_impl_all!(WriteCombinedBuffer<'static, f32>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(WriteCombinedBuffer<'static, f32>: Clone, std::ops::DerefMut);

impl<'ctx> Context<'ctx> {
    /// Page-locked host memory that the host does not cache, with a copy of `host`
    /// (`cuMemHostAlloc`).
    ///
    /// # Errors
    /// As [`pinned_zeros`](Self::pinned_zeros).
    #[doc(alias = "cuMemHostAlloc")]
    pub fn write_combined_from<T: Element>(
        self,
        host: &[T],
    ) -> Result<WriteCombinedBuffer<'ctx, T>> {
        let flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_WRITECOMBINED;
        let memory = PinnedBuffer::copy_of(self, host, flags)?;
        drain();
        Ok(WriteCombinedBuffer { memory })
    }
}

impl<'ctx, T: Element> WriteCombinedBuffer<'ctx, T> {
    /// Overwrites all elements with the elements of `host`, which must have as many.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    #[doc(alias = "memcpy_htod")]
    pub fn write(&mut self, host: &[T]) -> Result<()> {
        same_len(host.len(), self.len())?;
        self.write_at(0, host)
    }

    /// Overwrites as many elements as `host` has, from element `start` on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn write_at(&mut self, start: usize, host: &[T]) -> Result<()> {
        let end = start.saturating_add(host.len());
        let (start, len) = resolve(start..end, self.len())?;
        self.memory[start..start + len].copy_from_slice(host);
        drain();
        Ok(())
    }
}

impl<'ctx, T> WriteCombinedBuffer<'ctx, T> {
    /// The context that the memory belongs to.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.memory.context()
    }

    /// Gives the memory back and says whether that worked; after an error it is handed back
    /// (`cuMemFreeHost`).
    ///
    /// # Errors
    /// The memory and what the driver returned.
    #[doc(alias = "cuMemFreeHost")]
    pub fn close(self) -> Result<(), CloseError<Self>> {
        self.memory
            .close()
            .map_err(|failed| failed.map(|memory| Self { memory }))
    }
}

/// Whatever was stored is there for everybody before anything that is done next.
fn drain() {
    // A release store is not enough: on x86-64 it is an ordinary one, which may overtake those in
    // the write-combining buffers.
    fence(Ordering::SeqCst);
}

impl<T> Deref for WriteCombinedBuffer<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.memory
    }
}

impl<T> fmt::Debug for WriteCombinedBuffer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WriteCombinedBuffer")
            .field(&self.memory)
            .finish()
    }
}
