//! A retained context: which one it is, whether it still is, and what it allocates from.

#![allow(unsafe_code)] // asks for the context's id

use crate::device::Device;
use crate::error::{Error, Result};
use crate::ffi::{CUcontext, CUresult, CUstream};
use crate::internal::api::Api;
use crate::internal::calls;
use crate::internal::in_flight::InFlight;
use crate::internal::pool::Pool;

/// A retained context with its memory pool and its service stream.
pub(crate) struct ContextHandle {
    device: Device,
    raw: CUcontext,
    /// Tells this context from a later one with the same handle.
    id: u64,
    pool: Pool,
    /// The stream of operations that are complete when they return.
    service: CUstream,
}

impl ContextHandle {
    /// `raw` is retained and current.
    pub(crate) fn open(device: Device, raw: CUcontext) -> Result<Self> {
        let api = device.api();
        // SAFETY: `raw` is retained (C1).
        let id = unsafe { calls::ctx_get_id(api, raw) }?;
        let pool = Pool::new(device)?;
        let service = calls::stream_create(api)?;
        Ok(Self {
            device,
            raw,
            id,
            pool,
            service,
        })
    }

    #[inline]
    pub(crate) fn api(&self) -> Api {
        self.device.api()
    }

    #[inline]
    pub(crate) fn raw(&self) -> CUcontext {
        self.raw
    }

    /// Whether both are of one context, and not of one and another that has got its handle after a
    /// reset.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        (self.api(), self.raw, self.id) == (other.api(), other.raw, other.id)
    }

    pub(crate) fn device(&self) -> Device {
        self.device
    }

    pub(crate) fn ordinal(&self) -> u32 {
        self.device.ordinal()
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(crate) fn service(&self) -> CUstream {
        self.service
    }

    /// Counts the device as having work in flight, from before anything is enqueued.
    #[inline]
    pub(crate) fn in_flight(&self) -> InFlight {
        let api = self.api();
        // After a fault nothing can be enqueued, and nothing is counted.
        if api.unpoisoned().is_err() {
            return InFlight::none();
        }
        InFlight::on(api.in_flight(), self.ordinal())
    }

    /// Whether the context is still the one that was retained. Other code in the process can reset
    /// it; its objects are dead then, and some driver calls with them crash (measured:
    /// `cuStreamSynchronize`, about half of the time).
    #[inline]
    pub(crate) fn is_lost(&self) -> bool {
        // SAFETY: the handle came from the driver; a dead one is what is being asked about.
        match unsafe { calls::ctx_get_id(self.api(), self.raw) } {
            Ok(id) => id != self.id,
            Err(error) => matches!(
                error.driver_error().map(|error| error.code()),
                Some(CUresult::CONTEXT_IS_DESTROYED | CUresult::INVALID_CONTEXT)
            ),
        }
    }

    /// # Errors
    /// [`Error::ContextLost`] when [`is_lost`](Self::is_lost).
    #[inline]
    pub(crate) fn not_lost(&self) -> Result<()> {
        if self.is_lost() {
            Err(self.lost())
        } else {
            Ok(())
        }
    }

    #[cold]
    pub(crate) fn lost(&self) -> Error {
        // Nor does the end of a context call its host functions.
        self.api().sleepers().wake();
        Error::ContextLost {
            ordinal: self.ordinal(),
        }
    }

    /// The error of a call that named an object of this context. When the driver says that the
    /// context is gone, and it is, that is the error.
    #[inline]
    pub(crate) fn explained(&self, error: Error) -> Error {
        match &error {
            Error::Driver(source)
                if matches!(
                    source.code(),
                    CUresult::CONTEXT_IS_DESTROYED
                        | CUresult::INVALID_CONTEXT
                        | CUresult::INVALID_HANDLE
                ) =>
            {
                match self.is_lost() {
                    true => self.lost(),
                    false => error,
                }
            }
            _ => error,
        }
    }

    /// Runs a driver call that destroys something, from a `Drop`: not after a fault (claim C10) and
    /// not when the context took the object with it; an error goes to the log (claim C4).
    pub(crate) fn tear_down(&self, destroy: impl FnOnce(Api) -> Result<()>) {
        if self.api().unpoisoned().is_err() {
            return;
        }
        if let Err(error) = self.not_lost().and_then(|()| destroy(self.api())) {
            self.api().log_teardown(self.ordinal(), error);
        }
    }

    /// [`tear_down`](Self::tear_down) for memory of the pool, which a context does not take with
    /// it.
    pub(crate) fn free_quietly(&self, free: impl FnOnce() -> Result<()>) {
        if self.api().unpoisoned().is_err() {
            return;
        }
        if let Err(error) = free() {
            self.api().log_teardown(self.ordinal(), error);
        }
    }
}
