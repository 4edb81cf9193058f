//! The region in which work may be pending, and one stream inside it.

#![allow(unsafe_code)] // enqueues operations on borrowed memory

use crate::context::{Context, ContextState};
use crate::current;
use crate::error::{Error, Result};
use crate::ffi::CUstream;
use crate::host_function::Owner;
use crate::in_flight::InFlight;
use crate::internal::calls;
use crate::kernel::{Args, Kernel, LaunchConfig, Params};
use crate::memory::{
    Buffer, Fill, HandOver, MemoryMut, Ordered, Pattern, Readable, SliceMut, same_len,
};
use crate::stream::Stream;
use crate::wait::settle;
use bytemuck::Pod;
use generativity::{Id, make_guard};
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::sync::{Mutex, PoisonError};

/// Runs `f` with a [`Scope`] in which work on any streams of any contexts may be pending, then waits for all of it, on `Ok`, `Err` and
/// panic. For a single stream [`Stream::scope`] says the same in fewer words.
///
/// # Errors
/// Those of `f`; if it has none, the first of the work itself.
///
/// # Aborts
/// When a wait fails in a way that does not prove the work has stopped.
///
/// ```
/// # use scoped_cuda::{Driver, scope, sim::Simulation};
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let streams = [ctx.stream()?, ctx.stream()?];
/// let (mut a, mut b) = (ctx.zeros::<u32>(2)?, ctx.zeros::<u32>(2)?);
/// scope(|scope| {
///     scope.on(&streams[0], |s| s.fill(&mut s.lend(&mut a), 1))?;
///     scope.on(&streams[1], |s| s.fill(&mut s.lend(&mut b), 2)) // at the same time
/// })?;
/// assert_eq!((a.to_vec()?, b.to_vec()?), (vec![1, 1], vec![2, 2]));
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
pub fn scope<'scope, R>(f: impl FnOnce(&Scope<'scope>) -> Result<R>) -> Result<R> {
    try_scope(f)
}

/// [`scope`](scope()) for a caller with an error type of its own.
///
/// # Errors
/// As there, through `E::from`.
pub fn try_scope<'scope, R, E: From<Error>>(
    f: impl FnOnce(&Scope<'scope>) -> Result<R, E>,
) -> Result<R, E> {
    let owner = Owner::new();
    let scope = Scope {
        used: Mutex::new(Vec::new()),
        owner,
        _invariant: PhantomData,
    };
    settle(
        Some(owner),
        || f(&scope),
        || {
            let mut used = scope.used.lock().unwrap_or_else(PoisonError::into_inner);
            let used = mem::take(&mut *used).into_iter();
            used.map(|used| (used.context, used.stream, used.in_flight))
        },
    )
}

/// A region in which work may be pending. Made by [`scope`](scope()).
pub struct Scope<'scope> {
    used: Mutex<Vec<Used<'scope>>>,
    owner: Owner,
    /// A scope that could be taken for a shorter one would lend memory that is not borrowed until the wait.
    _invariant: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

/// A stream that a scope has to wait for.
struct Used<'scope> {
    context: &'scope ContextState,
    stream: CUstream,
    in_flight: InFlight,
}

static_assertions::assert_impl_all!(Scope<'static>: Send, Sync);

impl<'scope> Scope<'scope> {
    /// Runs `f` with permission to enqueue work on `stream`, and returns without waiting for it.
    ///
    /// Calls nest, which is how several streams are at hand at once; the scope waits at its end for every stream used.
    ///
    /// # Errors
    /// Those of `f`; [`Error::ContextLost`] through `E::from`, and `f` is not called, when the stream has gone with its context.
    pub fn on<'ctx, R, E: From<Error>>(
        &self,
        stream: &'scope Stream<'ctx>,
        f: impl for<'s> FnOnce(ScopedStream<'s, 'scope, 'ctx>) -> Result<R, E>,
    ) -> Result<R, E> {
        let (context, raw) = (stream.context().state(), stream.as_raw());
        context.not_lost()?;
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |used: &Used<'_>| std::ptr::eq(used.context, context) && used.stream == raw;
        if !used.iter().any(is_same) {
            used.push(Used {
                context,
                stream: raw,
                in_flight: InFlight::on(context),
            });
        }
        drop(used);
        make_guard!(guard);
        f(ScopedStream::new(stream, guard.into(), self.owner))
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scope")
    }
}

/// A stream inside a scope: permission to enqueue work that borrows memory for `'scope`.
///
/// `'s` is the stream's brand here: an [`Ordered`] of another stream is another type. The token is `Copy`; each method enqueues and
/// returns, and the work runs in the order of the calls.
#[derive(Clone, Copy)]
pub struct ScopedStream<'s, 'scope, 'ctx> {
    stream: &'scope Stream<'ctx>,
    brand: Id<'s>,
    /// The scope, for what reports to it.
    owner: Owner,
    _invariant: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl<'s, 'scope, 'ctx> ScopedStream<'s, 'scope, 'ctx> {
    /// Whoever calls this waits for `stream` before `'scope` ends (C5).
    pub(crate) fn new(stream: &'scope Stream<'ctx>, brand: Id<'s>, owner: Owner) -> Self {
        Self {
            stream,
            brand,
            owner,
            _invariant: PhantomData,
        }
    }

    /// The stream.
    #[must_use]
    pub fn stream(self) -> &'scope Stream<'ctx> {
        self.stream
    }

    /// The stream's context.
    #[must_use]
    pub fn context(self) -> Context<'ctx> {
        self.stream.context()
    }

    pub(crate) fn owner(self) -> Owner {
        self.owner
    }

    #[inline]
    fn state(self) -> &'ctx ContextState {
        self.stream.context().state()
    }

    /// Puts a buffer at rest into the order of this stream, until the end of the scope. No driver call.
    #[must_use]
    pub fn lend<T>(
        self,
        buffer: &'scope mut Buffer<'ctx, T>,
    ) -> Ordered<'s, SliceMut<'scope, 'ctx, T>> {
        self.lend_view(buffer.view_mut())
    }

    /// Puts a view of a buffer at rest into the order of this stream, until the end of the scope. No driver call.
    ///
    /// Parts from [`SliceMut::split_at_mut`] go to different streams this way.
    #[must_use]
    pub fn lend_view<T>(
        self,
        view: SliceMut<'scope, 'ctx, T>,
    ) -> Ordered<'s, SliceMut<'scope, 'ctx, T>> {
        self.order(view)
    }

    /// Puts memory into the order of this stream. Nothing is pending on it, or what is, this stream does before what it is given next.
    pub(crate) fn order<B>(self, memory: B) -> Ordered<'s, B> {
        Ordered::new(memory, self.brand)
    }

    /// Allocates `len` elements in the order of this stream, all bytes zero. Dropping the handle frees them in the same order
    /// (`cuMemAllocFromPoolAsync`, `cuMemsetD8Async`, `cuMemFreeAsync`).
    ///
    /// # Errors
    /// [`Error::SizeOverflow`](crate::Error::SizeOverflow), [`Error::OutOfMemory`](crate::Error::OutOfMemory), or what the driver
    /// returns.
    pub fn zeros<T: Pod>(self, len: usize) -> Result<Ordered<'s, Buffer<'ctx, T>>> {
        let buffer = Buffer::allocate(self.context(), len, self.stream.as_raw())?;
        let bytes = buffer.size_bytes();
        if bytes > 0 {
            let (driver, stream) = (self.state().driver(), self.stream.as_raw());
            // SAFETY: `bytes` were allocated in the order of this stream, and are freed in it (C6).
            unsafe { calls::memset_d8_async(driver, buffer.as_raw(), 0, bytes, stream) }?;
        }
        Ok(self.order(buffer))
    }

    /// Copies `source` to `destination`, which has as many elements (`cuMemcpyHtoDAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) or what the driver returns.
    #[inline]
    pub fn write<T: Pod>(
        self,
        source: &'scope [T],
        destination: &mut Ordered<'s, impl MemoryMut<'ctx, T>>,
    ) -> Result<()> {
        let to = destination.memory_mut();
        same_len(source.len(), to.len())?;
        let bytes = size_of_val(source);
        if bytes == 0 {
            return Ok(());
        }
        let (state, from, stream) = (self.state(), source.as_ptr().cast(), self.stream.as_raw());
        // SAFETY: both sides have `bytes`; the host's stay borrowed for `'scope`, which ends after the wait (C5, C6); the device's are
        // in this stream's order, so whatever touches them next does so after this copy.
        current::bind(state, || unsafe {
            calls::memcpy_htod_async(state.driver(), to.as_raw(), from, bytes, stream)
        })
    }

    /// Copies `source` to `destination`, which has as many elements (`cuMemcpyDtoHAsync`).
    ///
    /// When `destination` is ordinary memory the driver keeps the calling thread until the copy is done; it only overlaps with other
    /// work when it is page-locked: a [`PinnedBuffer`](crate::PinnedBuffer), or registered with [`Context::with_registered`].
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) or what the driver returns.
    #[inline]
    pub fn read<T: Pod>(
        self,
        source: impl Readable<'s, 'scope, 'ctx, T>,
        destination: &'scope mut [T],
    ) -> Result<()> {
        let (from, len) = source.region();
        same_len(len, destination.len())?;
        let bytes = size_of_val(destination);
        if bytes == 0 {
            return Ok(());
        }
        let (state, to, stream) = (
            self.state(),
            destination.as_mut_ptr().cast(),
            self.stream.as_raw(),
        );
        // SAFETY: as in `write`; any bits are a valid `T` (`Pod`), and a source at rest is not written before the wait.
        current::bind(state, || unsafe {
            calls::memcpy_dtoh_async(state.driver(), to, from, bytes, stream)
        })
    }

    /// Copies `source` to `destination`, memory of the same device with as many elements (`cuMemcpyDtoDAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) or what the driver returns.
    #[inline]
    pub fn copy<T: Pod>(
        self,
        source: impl Readable<'s, 'scope, 'ctx, T>,
        destination: &mut Ordered<'s, impl MemoryMut<'ctx, T>>,
    ) -> Result<()> {
        let (from, len) = source.region();
        let to = destination.memory_mut();
        same_len(len, to.len())?;
        let bytes = len * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        let (state, stream) = (self.state(), self.stream.as_raw());
        // SAFETY: both sides have `bytes` on this device (equal brands, C2) and do not overlap (`destination` is a mutable borrow of
        // all handles to its memory); order as in `write`.
        current::bind(state, || unsafe {
            calls::memcpy_dtod_async(state.driver(), to.as_raw(), from, bytes, stream)
        })
    }

    /// Sets every element of `destination` to `value` (`cuMemsetD8Async`, `cuMemsetD16Async` or `cuMemsetD32Async`).
    ///
    /// # Errors
    /// What the driver returns.
    #[inline]
    pub fn fill<T: Fill>(
        self,
        destination: &mut Ordered<'s, impl MemoryMut<'ctx, T>>,
        value: T,
    ) -> Result<()> {
        let to = destination.memory_mut();
        let (Some(pattern), false) = (Pattern::of(&value), to.is_empty()) else {
            return Ok(());
        };
        // SAFETY: the elements are in this stream's order (C6) and on its device (equal brands, C2).
        unsafe {
            pattern.fill(
                self.state().driver(),
                to.as_raw(),
                to.len(),
                self.stream.as_raw(),
            )
        }
    }

    /// Takes over memory from the order of stream `'o`: this stream waits for what `'o` has been given so far (`cuEventRecord`,
    /// `cuStreamWaitEvent`). The host does not wait.
    ///
    /// "So far" means all of it: work that was enqueued on `'o` after the last use of this memory is waited for too. In a pipeline, hand
    /// the memory of a step over before enqueueing the step's work (`examples/pipeline.rs`).
    ///
    /// What is handed over was lent for the whole scope or allocated in it ([`HandOver`]), not a part that borrows from another handle.
    ///
    /// # Errors
    /// What the driver returns. The memory stays lent until the end of the scope, or if it was allocated inside, it is freed.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, scope, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let (first, second) = (ctx.stream()?, ctx.stream()?);
    /// let mut buffer = ctx.zeros::<u32>(2)?;
    /// let mut host = [0; 2];
    /// scope(|scope| {
    ///     scope.on(&first, |a| {
    ///         let mut memory = a.lend(&mut buffer);
    ///         a.fill(&mut memory, 5)?;
    ///         scope.on(&second, |b| {
    ///             let memory = b.take(a, memory)?;
    ///             b.read(&memory, &mut host)
    ///         })
    ///     })
    /// })?;
    /// assert_eq!(host, [5, 5]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[inline]
    pub fn take<'o, B: HandOver<'scope, 'ctx>>(
        self,
        from: ScopedStream<'o, 'scope, 'ctx>,
        memory: Ordered<'o, B>,
    ) -> Result<Ordered<'s, B>> {
        self.wait_for(from)?;
        let mut memory = memory.into_memory();
        memory.freed_on(self.stream.as_raw());
        Ok(self.order(memory))
    }

    /// Makes this stream wait for what `other`, of any context, has been given so far.
    #[inline]
    pub(crate) fn wait_for<'other>(self, other: ScopedStream<'_, 'scope, 'other>) -> Result<()> {
        let (event, driver) = (other.stream.handed_over(), self.state().driver());
        // SAFETY: the event was made with its stream, in one context, and both live for `'scope` (C2).
        unsafe { calls::event_record(driver, event, other.stream.as_raw()) }?;
        // SAFETY: both live for `'scope`; a wait may cross contexts (C2).
        unsafe { calls::stream_wait_event(driver, self.stream.as_raw(), event) }
    }

    /// Launches `kernel` on this stream (`cuLaunchKernelEx`). An empty problem ([`LaunchConfig::for_elements`] of 0) makes no call.
    ///
    /// # Errors
    /// [`Error::BadLaunch`], [`Error::UnevenClusters`], [`Error::BadPriority`], [`Error::CountTooLarge`], or what the driver returns.
    ///
    /// # Safety
    /// The kernel, run in this configuration with these arguments,
    /// - takes parameters of the types that `P` names, in this order (their number, sizes and offsets were checked at look-up, where the
    ///   driver can tell; their meaning was not);
    /// - reads only within the elements of `In` and `InOut` arguments and writes only within those of `Out` and `InOut`;
    /// - follows no address that it was given as a number, or that memory contains, to anywhere else;
    /// - touches variables of its module only while nobody else does: those that it reads are not being written, those that it writes are
    ///   not used, by other work or through a [`Global`](crate::Global);
    /// - stays within its static shared memory and the [dynamic](LaunchConfig::dynamic_shared_bytes) that it is given;
    /// - is launched in the way that it is written for: [cooperatively](LaunchConfig::cooperative) if its blocks wait for each other, with
    ///   the [clusters](LaunchConfig::cluster) that it expects;
    /// - if it [overlaps](LaunchConfig::overlapping_previous) the launch ahead of it: has waited for that
    ///   (`cudaGridDependencySynchronize()`) before it touches memory, and is not done before it has waited.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, In, InOut, LaunchConfig, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # driver.machine().unwrap().kernel("scale", |call| {
    /// #     let (n, k) = (call.scalar::<u32>(1) as usize, call.scalar::<f32>(2));
    /// #     call.update::<f32>(0, |x| x[..n].iter_mut().for_each(|x| *x *= k));
    /// # });
    /// # let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n
    /// #     .visible .entry scale(.param .u64 x, .param .u32 n, .param .f32 k) { ret; }";
    /// # driver.with_device(0, |ctx| {
    /// let scale = ctx.load_ptx(ptx)?.kernel::<(InOut<f32>, u32, f32)>("scale")?;
    /// let (stream, mut x) = (ctx.stream()?, ctx.upload(&[1.0f32, 2.0, 3.0])?);
    /// stream.scope(|s| {
    ///     let mut x = s.lend(&mut x);
    ///     // SAFETY: `scale` multiplies the first n elements of x by k, and x has 3.
    ///     unsafe { s.launch(&scale, LaunchConfig::for_elements(3), (&mut x, 3, 10.0)) }
    /// })?;
    /// assert_eq!(x.to_vec()?, [10.0, 20.0, 30.0]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[inline]
    pub unsafe fn launch<P: Params, A: Args<'s, 'scope, 'ctx, P>>(
        self,
        kernel: &'scope Kernel<'ctx, P>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<()> {
        let Some(grid) = kernel.check(&config)? else {
            return Ok(());
        };
        let (driver, stream) = (self.state().driver(), self.stream.as_raw());
        arguments.with_pointers(&config, |pointers| {
            config.with_raw(grid, stream, |raw| {
                // SAFETY: function and stream are of one context (equal brands, C2) and live for `'scope`; `with_raw` counts the
                // attributes; `Args` passes a pointer to a value for each parameter of `P`; what the kernel touches is the caller's
                // promise, and stays lent until the wait (C5, C6).
                unsafe { calls::launch_kernel(driver, raw, kernel.as_raw(), pointers) }
            })
        })
    }
}

impl fmt::Debug for ScopedStream<'_, '_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ScopedStream").field(self.stream).finish()
    }
}
