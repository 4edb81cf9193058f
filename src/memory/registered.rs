//! Host memory of the caller's, page-locked for a while.

#![allow(unsafe_code)] // registers borrowed memory

use super::Element;
use super::pinned::out_of_host_memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ffi::{CU_MEMHOSTREGISTER_PORTABLE, CUresult};
use crate::internal::calls;
use crate::internal::context_handle::ContextHandle;
use crate::internal::current;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

impl Context<'_> {
    /// Page-locks `host` while `f` runs: copies of it are then like those of a
    /// [`PinnedBuffer`](crate::PinnedBuffer), they do not keep the host and are faster
    /// (`cuMemHostRegister`, `cuMemHostUnregister`).
    ///
    /// `f` gets the slice back and lends it to scopes as usual. They have waited when `f` returns,
    /// so nothing is pending on the memory when it is unlocked: on `Ok`, `Err` and panic. An empty
    /// slice makes no driver call.
    ///
    /// Locking pages takes time, about as much as copying them: it is worth it for memory that is
    /// copied often, or where the host has something else to do. Where it can be chosen, a
    /// [`PinnedBuffer`](crate::PinnedBuffer) is simpler.
    ///
    /// # Why a closure
    /// A value that unlocks the memory when it is dropped can be forgotten. Then the driver would
    /// go on taking the addresses for the pages that it had locked, while the program gives the
    /// memory back and gets other pages at the same addresses: copies to and from those would
    /// silently go astray.
    ///
    /// # Errors
    /// Before `f` is called: [`Error::AlreadyRegistered`] when some of the memory is page-locked
    /// already, by this function, by another library; what the driver returns for a `PinnedBuffer`
    /// (`CUDA_ERROR_INVALID_VALUE`, measured); [`Error::OutOfHostMemory`]. Then the error of `f`.
    /// When there is none, the error of unlocking; otherwise that is kept for
    /// [`Driver::take_teardown_errors`](crate::Driver::take_teardown_errors).
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let (stream, mut buffer) = (ctx.new_stream()?, ctx.zeros::<u32>(1000)?);
    /// let mut host: Vec<u32> = (0..1000).collect();
    /// ctx.with_registered(&mut host, |host| {
    ///     stream.scope(|s| s.write(host, &mut buffer.lend(s)))?;
    ///     host.fill(0);
    ///     stream.scope(|s| s.read(&buffer, host))
    /// })?;
    /// assert_eq!(host[..3], [0, 1, 2]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuMemHostRegister")]
    #[doc(alias = "cuMemHostUnregister")]
    pub fn with_registered<T: Element, R>(
        self,
        host: &mut [T],
        f: impl FnOnce(&mut [T]) -> Result<R>,
    ) -> Result<R> {
        self.try_with_registered(host, f)
    }

    /// [`with_registered`](Self::with_registered) for a caller with an error type of its own.
    ///
    /// # Errors
    /// As there, through `E::from`.
    pub fn try_with_registered<T: Element, R, E: From<Error>>(
        self,
        host: &mut [T],
        f: impl FnOnce(&mut [T]) -> Result<R, E>,
    ) -> Result<R, E> {
        let bytes = size_of_val(host);
        if bytes == 0 {
            return f(host);
        }
        let (state, memory) = (self.state(), host.as_mut_ptr().cast());
        state.not_lost()?;
        register(state, memory, bytes)?;
        // What `f` gets is borrowed for less than its call, so that nothing is pending on it
        // afterwards.
        let outcome = catch_unwind(AssertUnwindSafe(|| f(host)));
        let is_reported = !matches!(outcome, Ok(Ok(_)));
        let unlocked = match unregister(state, memory) {
            Err(error) if is_reported => {
                state.api().log_teardown(state.ordinal(), error);
                Ok(())
            }
            other => other,
        };
        match outcome {
            Ok(result) => result.and_then(|value| unlocked.map(|()| value).map_err(E::from)),
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// `memory` was registered in this context, and what was borrowed from it has ended.
fn unregister(state: &ContextHandle, memory: *mut c_void) -> Result<()> {
    state.not_lost()?;
    // SAFETY: registered (the caller's promise), and every scope that it was lent to has waited
    // (C5, C6).
    current::bind(state, || unsafe {
        calls::mem_host_unregister(state.api(), memory)
    })
}

fn register(state: &ContextHandle, memory: *mut c_void, bytes: usize) -> Result<()> {
    // SAFETY: the caller has borrowed `bytes` there for longer than they stay registered.
    let registered = current::bind(state, || unsafe {
        calls::mem_host_register(state.api(), memory, bytes, CU_MEMHOSTREGISTER_PORTABLE)
    });
    registered.map_err(|error| match error {
        Error::Driver(source) if source.code() == CUresult::HOST_MEMORY_ALREADY_REGISTERED => {
            Error::AlreadyRegistered { bytes, source }
        }
        other => out_of_host_memory(other, bytes),
    })
}
