//! Host functions: Rust closures that run in the order of a stream.

#![allow(unsafe_code)] // enqueues host functions

use super::ScopedStream;
use crate::error::Result;
use crate::internal::host_function::enqueue;

impl ScopedStream<'_, '_, '_> {
    /// Enqueues `f`: it is called on a thread of the driver when all earlier work of this stream is
    /// done, and the stream's later work waits for it (`cuLaunchHostFunc`).
    ///
    /// What `f` captures is `'static`, so it holds no context, buffer or borrow: use an `Arc`, an
    /// atomic, a channel. It is dropped exactly once and before the scope returns. `f` itself is
    /// not called when a fault stops the stream before its turn.
    ///
    /// Host functions of all streams of a context run one after the other: one that waits for
    /// another never returns. CUDA permits no call in a host function; this crate refuses it with
    /// [`Error::InsideHostFunction`](crate::Error::InsideHostFunction). (A thread that `f` starts
    /// may make calls, but `f` must not wait for it.)
    ///
    /// # Errors
    /// What the driver returns; then `f` has been dropped. When `f` panics, the scope that waits
    /// returns [`Error::CallbackPanicked`](crate::Error::CallbackPanicked), and the stream goes on.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let (stream, mut buffer) = (ctx.new_stream()?, ctx.zeros::<u8>(1000)?);
    /// let (done, is_done) = std::sync::mpsc::channel();
    /// stream.scope(|s| {
    ///     s.fill(&mut buffer.lend(s), 1)?;
    ///     s.host(move || done.send("filled").unwrap())
    /// })?;
    /// assert_eq!(is_done.recv(), Ok("filled"));
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuLaunchHostFunc")]
    pub fn host(self, f: impl FnOnce() + Send + 'static) -> Result<()> {
        let (device, stream) = (self.context().device(), self.stream().as_raw());
        // SAFETY: the stream is live for `'scope`.
        self.explained(unsafe { enqueue(device, stream, self.owner(), Box::new(f)) })
    }
}
