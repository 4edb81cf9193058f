//! Streams: queues of work, run in order.

#![allow(unsafe_code)] // creates and destroys streams and their events

use crate::context::Context;
use crate::current;
use crate::error::{Error, Result};
use crate::ffi::{CUevent, CUstream, calls};
use crate::scope::ScopedStream;
use crate::wait::settle;
use generativity::make_guard;
use std::fmt;

/// A queue of work on a device, run in order, asynchronously to the host and to other streams.
///
/// Always non-blocking: it does not synchronise with the legacy NULL stream, which this crate never uses. Work is enqueued inside
/// [`scope`](Self::scope) (one stream) or [`scope`](crate::scope()) (several), which wait for it before they return; outside, a stream
/// is idle.
///
/// Dropping a stream destroys it (`cuStreamDestroy`); an error goes to
/// [`Driver::take_teardown_errors`](crate::Driver::take_teardown_errors).
pub struct Stream<'ctx> {
    context: Context<'ctx>,
    raw: CUstream,
    /// Recorded on this stream whenever another one has to wait for it. One is enough: a wait refers to the record that was made
    /// before it, and recording anew does not disturb it.
    handed_over: CUevent,
}

static_assertions::assert_impl_all!(Stream<'static>: Send, Sync);
static_assertions::assert_not_impl_any!(Stream<'static>: Clone);

impl<'ctx> Stream<'ctx> {
    pub(crate) fn new(context: Context<'ctx>) -> Result<Self> {
        let driver = context.driver();
        let raw = current::bind(context.state(), || calls::stream_create(driver))?;
        match current::bind(context.state(), || calls::event_create(driver)) {
            Ok(handed_over) => Ok(Self {
                context,
                raw,
                handed_over,
            }),
            Err(error) => {
                // SAFETY: just created, and known to nobody else.
                context
                    .state()
                    .tear_down(|driver| unsafe { calls::stream_destroy(driver, raw) });
                Err(error)
            }
        }
    }

    /// The stream's context.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.context
    }

    /// The driver's handle, for calls to other libraries. It is live while the stream is.
    #[must_use]
    pub fn as_raw(&self) -> CUstream {
        self.raw
    }

    /// Runs `f` with permission to enqueue work on this stream that borrows memory, then waits for the work, on `Ok`, `Err` and panic.
    ///
    /// Memory is lent for `'scope`, a lifetime that ends after the call: nothing lent can be touched before the wait. That holds
    /// whatever `f` does with the values it gets, `mem::forget` included, because the wait is in this function's frame and not in a
    /// destructor.
    ///
    /// Driver calls: those of `f`, then `cuStreamSynchronize`.
    ///
    /// # Errors
    /// Those of `f`; if it has none, that of the work itself.
    ///
    /// # Aborts
    /// When the wait fails in a way that does not prove the work has stopped.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.stream()?;
    /// let mut buffer = ctx.zeros::<f32>(3)?;
    /// let (input, mut output) = ([1.0, 2.0, 3.0], [0.0; 3]);
    /// stream.scope(|s| {
    ///     let mut device = s.lend(&mut buffer);
    ///     s.write(&input, &mut device)?;
    ///     s.read(&device, &mut output)
    /// })?;
    /// assert_eq!(output, input);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn scope<'scope, R>(
        &'scope self,
        f: impl for<'s> FnOnce(ScopedStream<'s, 'scope, 'ctx>) -> Result<R>,
    ) -> Result<R> {
        self.try_scope(f)
    }

    /// [`scope`](Self::scope) for a caller with an error type of its own.
    ///
    /// # Errors
    /// As there, through `E::from`.
    pub fn try_scope<'scope, R, E: From<Error>>(
        &'scope self,
        f: impl for<'s> FnOnce(ScopedStream<'s, 'scope, 'ctx>) -> Result<R, E>,
    ) -> Result<R, E> {
        self.context.state().not_lost()?;
        settle(
            || {
                make_guard!(guard);
                f(ScopedStream::new(self, guard.into()))
            },
            || [(self.context.state(), self.raw)],
        )
    }

    /// Destroys the stream and says whether that worked; after an error the stream is handed back (`cuStreamDestroy`).
    ///
    /// # Errors
    /// The stream and what the driver returned.
    pub fn close(self) -> Result<(), (Self, Error)> {
        let driver = self.context.driver();
        // SAFETY: live, owned, and idle outside scopes (C5).
        let destroy = || unsafe { calls::stream_destroy(driver, self.raw) };
        match self.context.state().not_lost().and_then(|()| destroy()) {
            Ok(()) => {
                self.destroy_event();
                std::mem::forget(self);
                Ok(())
            }
            Err(error) => Err((self, error)),
        }
    }

    pub(crate) fn handed_over(&self) -> CUevent {
        self.handed_over
    }

    fn destroy_event(&self) {
        let event = self.handed_over;
        // SAFETY: live and owned; a wait that refers to it goes on without it (measured).
        self.context
            .state()
            .tear_down(|driver| unsafe { calls::event_destroy(driver, event) });
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        let raw = self.raw;
        // SAFETY: live, owned, and idle outside scopes (C5).
        self.context
            .state()
            .tear_down(|driver| unsafe { calls::stream_destroy(driver, raw) });
        self.destroy_event();
    }
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Stream(device {}, {:p})",
            self.context.device().ordinal(),
            self.raw.as_ptr()
        )
    }
}
