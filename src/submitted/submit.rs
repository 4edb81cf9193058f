//! Enqueueing work that owns what it uses.

#![allow(unsafe_code)] // lends what it owns to the device

use super::{NotSubmitted, State, Submitted, Work, log};
use crate::context::Context;
use crate::detached::Attached;
use crate::error::Result;
use crate::ffi::CUstream;
use crate::internal::few::Few;
use crate::internal::held::Held;
use crate::internal::host_function::Owner;
use crate::internal::wait::drains;
use crate::stream::{Scope, ScopedStream, Stream};
use generativity::make_guard;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

impl<'ctx> Stream<'ctx> {
    /// Enqueues work that uses what `owned` has, and returns without waiting. `enqueue` has all
    /// that a scope has; what it lends to the stream is in `owned`, which is given to it for that,
    /// or lives for ever.
    ///
    /// The host goes on as far as the driver lets it. A copy to memory that is not page-locked
    /// keeps it until that copy is done, and so does a copy of many megabytes from such memory
    /// (measured): results go to a [`PinnedBuffer`](crate::PinnedBuffer).
    ///
    /// What it owns is kept on the heap, at a place that is used again: work that is submitted and
    /// waited for again and again allocates there once.
    ///
    /// Driver calls: the calls of `enqueue`, then `cuEventRecord`.
    ///
    /// # Errors
    /// [`NotSubmitted`] with the error of `enqueue`, or what the driver returned. Nothing is waited
    /// for, unless the driver refuses to record the end of what was enqueued.
    ///
    /// ```
    /// use scoped_cuda::{Buffer, Driver, PinnedBuffer, family, sim::Simulation};
    ///
    /// struct Request<'ctx> {
    ///     input: Vec<f32>,
    ///     device: Buffer<'ctx, f32>,
    ///     output: PinnedBuffer<'ctx, f32>,
    /// }
    /// family!(Request);
    ///
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let stream = ctx.new_stream()?;
    /// let mut requests = Vec::new();
    /// for number in 1..=3u8 {
    ///     let input = vec![f32::from(number); 4]; // came in just now
    ///     let request = Request { input, device: ctx.zeros(4)?, output: ctx.pinned_zeros(4)? };
    ///     requests.push(stream.submit(request, |s, request| {
    ///         let mut device = request.device.lend(s);
    ///         s.write(&request.input, &mut device)?;
    ///         s.read(&device, &mut request.output)
    ///     })?);
    /// }
    /// for (request, number) in requests.into_iter().zip(1..=3u8) {
    ///     assert_eq!(request.wait()?.output[..], [f32::from(number); 4]);
    /// }
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuEventRecord")]
    pub fn submit<A: Attached<'ctx>>(
        &self,
        owned: A,
        enqueue: impl for<'s, 'scope> FnOnce(
            ScopedStream<'s, 'scope, 'ctx>,
            &'scope mut A,
        ) -> Result<()>,
    ) -> Result<Submitted<'ctx, A>, Box<NotSubmitted<'ctx, A>>> {
        Submitted::begin(self.context(), owned, |owner, lent| {
            let loans = self.loans().open();
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                make_guard!(guard);
                enqueue(ScopedStream::new(self, guard.into(), owner), lent)
            }));
            drop(loans);
            let mut streams = Few::new();
            streams.push(self.as_raw());
            (outcome, streams)
        })
    }
}

impl<'ctx> Context<'ctx> {
    /// [`Stream::submit`] over several streams of this context: `enqueue` has what the closure of
    /// [`scope`](crate::scope()) has. The streams are in `owned`, or live for ever.
    ///
    /// Driver calls: the calls of `enqueue`, then `cuEventRecord` and `cuStreamWaitEvent` for each
    /// stream that was used.
    ///
    /// # Errors
    /// As [`Stream::submit`].
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let streams = [ctx.new_stream()?, ctx.new_stream()?];
    /// let owned = (streams, ctx.zeros::<u32>(4)?, ctx.pinned_zeros::<u32>(4)?);
    /// let work = ctx.submit(owned, |scope, ([first, second], device, host)| {
    ///     scope.on(first, |a| {
    ///         let mut device = device.lend(a);
    ///         a.fill(&mut device, 7)?;
    ///         scope.on(second, |b| b.read(&device.hand_over(a, b)?, host))
    ///     })
    /// })?;
    /// let (_streams, _device, host) = work.wait()?;
    /// assert_eq!(host[..], [7; 4]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuEventRecord")]
    #[doc(alias = "cuStreamWaitEvent")]
    pub fn submit<A: Attached<'ctx>>(
        self,
        owned: A,
        enqueue: impl for<'scope> FnOnce(&Scope<'scope>, &'scope mut A) -> Result<()>,
    ) -> Result<Submitted<'ctx, A>, Box<NotSubmitted<'ctx, A>>> {
        Submitted::begin(self, owned, |owner, lent| {
            let scope = Scope::new(owner);
            let outcome = catch_unwind(AssertUnwindSafe(|| enqueue(&scope, lent)));
            (outcome, scope.into_streams())
        })
    }
}

impl<'ctx, A: Attached<'ctx>> Submitted<'ctx, A> {
    /// `enqueue` enqueues work on streams of the context, and says which, and does not unwind.
    fn begin(
        context: Context<'ctx>,
        owned: A,
        enqueue: impl FnOnce(Owner, &mut A) -> (thread::Result<Result<()>>, Few<CUstream>),
    ) -> Result<Self, Box<NotSubmitted<'ctx, A>>> {
        let state = context.state();
        let completions = state.completions();
        let usable = state.api().unpoisoned().and_then(|()| state.not_lost());
        let mut completion = match usable.and_then(|()| completions.take(state)) {
            Ok(completion) => completion,
            Err(error) => {
                let state = State::Stopped(Held::new(owned, None));
                return Err(NotSubmitted::new(error, Self { context, state }));
            }
        };
        let mut held = Held::new(owned, completion.place.take());
        let owner = Owner::new();
        // SAFETY: once. The value stays until the work that `enqueue` begins is done, or for ever.
        // `enqueue` takes it for every lifetime, so what is lent beside it lives for ever, or as
        // long as the context, which waits for the work (C1, C11).
        let lent = unsafe { held.lend() };
        let (outcome, streams) = enqueue(owner, lent);
        // SAFETY: streams of the context, which the user of them has not dropped yet.
        let mut record = || unsafe { completion.record_all(state, completions, &streams) };
        let is_idle = streams.iter().next().is_none();
        let recorded = match is_idle {
            true => Ok(()),
            false => record(),
        };
        let begun = match &recorded {
            Ok(()) if !is_idle => State::Running(Work {
                completion,
                owner,
                held,
            }),
            Ok(()) => {
                completions.give_back(completion);
                State::Stopped(held)
            }
            Err(error) => {
                let in_flight = state.in_flight();
                completions.give_back(completion);
                // The work may run, and nothing will tell when it is done: that has to be waited
                // for here.
                if streams.iter().all(|&stream| drains(state, stream)) {
                    log(owner.finish());
                    State::Stopped(held)
                } else {
                    mem::forget(in_flight);
                    State::Lost(error.clone())
                }
            }
        };
        let begun = Self {
            context,
            state: begun,
        };
        let error = match (outcome, recorded) {
            (Ok(Ok(())), Ok(())) => return Ok(begun),
            (Ok(Ok(())), Err(error)) | (Ok(Err(error)), Ok(())) => error,
            (Ok(Err(error)), Err(second)) => {
                log([(context.device(), second)]);
                error
            }
            (Err(panic), recorded) => {
                log(recorded.err().map(|error| (context.device(), error)));
                drop(begun);
                resume_unwind(panic)
            }
        };
        Err(NotSubmitted::new(error, begun))
    }
}
