//! Kernels whose launch is safe, because somebody has said when.

#![allow(unsafe_code)] // makes the launch that was vouched for

use super::args::Args;
use super::kernel::Kernel;
use super::launch_config::LaunchConfig;
use super::params::Params;
use super::variables::Variables;
use crate::error::{Error, Result};
use crate::stream::ScopedStream;
use std::fmt;

/// What has to hold for a launch to be safe: a sentence, and the function of configuration and
/// arguments that says whether it does.
///
/// The function sees [what the table of `Param`](crate::kernel::Param) says of each argument: the
/// length of memory, the value of plain data.
pub type Precondition<P> = (&'static str, fn(&LaunchConfig, <P as Params>::Seen) -> bool);

/// A kernel whose launch is safe. Made by [`Kernel::assert_safe_when`] and
/// [`Kernel::assert_safe_when_reading`].
///
/// `V` is what it has of its module's variables: the handles of those that the kernel reads.
pub struct SafeKernel<'ctx, P: Params, V = ()> {
    kernel: Kernel<'ctx, P>,
    variables: V,
    preconditions: Box<[Precondition<P>]>,
}

static_assertions::assert_not_impl_any!(SafeKernel<'static, (u32,)>: Clone);

static_assertions::assert_impl_all!(SafeKernel<'static, (u32,)>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);

impl<'ctx, P: Params> Kernel<'ctx, P> {
    /// A kernel whose launch is safe: from here on it is launched only when all of `preconditions`
    /// hold.
    ///
    /// They are written to be read beside the kernel's source: each is a sentence and the same as a
    /// function.
    ///
    /// # Safety
    /// For all arguments and configurations with which every precondition holds, the promises of
    /// [`ScopedStream::launch`](crate::ScopedStream::launch) hold. In particular
    /// - the kernel's parameters have the types that `P` names;
    /// - each index that it computes, from any thread of any such grid, is below the length of the
    ///   argument that it is used for, and its shared memory suffices for any number of threads in
    ///   a block;
    /// - if its blocks wait for each other, a precondition says that the launch [is
    ///   cooperative](LaunchConfig::is_cooperative), and likewise for clusters;
    /// - it touches no variable of its module (for those that it reads there is
    ///   [`assert_safe_when_reading`](Self::assert_safe_when_reading)).
    ///
    /// ```
    /// # use scoped_cuda::{Driver, Error, In, InOut, LaunchConfig, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # driver.machine().unwrap().kernel("saxpy", |call| {
    /// #     let (a, n) = (call.scalar::<f32>(2), call.scalar::<u32>(3) as usize);
    /// #     let x = call.load_n::<f32>(0, n);
    /// #     call.update::<f32>(1, |y| y.iter_mut().zip(&x).for_each(|(y, x)| *y += a * x));
    /// # });
    /// # let ptx = scoped_cuda::ptx!(".version 8.0\n.target sm_80\n.address_size 64\n
    /// #     .visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) { ret; }");
    /// # driver.with_device(0, |ctx| {
    /// // __global__ void saxpy(const float *x, float *y, float a, unsigned n) {
    /// //     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    /// //     if (i < n) y[i] += a * x[i];
    /// // }
    /// let saxpy = ctx.load_ptx(ptx)?.kernel::<(In<f32>, InOut<f32>, f32, u32)>("saxpy")?;
    /// // SAFETY: it reads x[i] and updates y[i] for i below n only, whatever the grid.
    /// let saxpy = unsafe {
    ///     saxpy.assert_safe_when([
    ///         ("n is at most the length of x", |_, (x, _, _, n)| n as usize <= x),
    ///         ("n is at most the length of y", |_, (_, y, _, n)| n as usize <= y),
    ///     ])
    /// };
    /// let (stream, x) = (ctx.new_stream()?, ctx.upload(&[1.0f32, 2.0, 3.0])?);
    /// let mut y = ctx.zeros::<f32>(3)?;
    /// stream.scope(|s| saxpy.launch(s, LaunchConfig::for_elements(3), (&x, &mut y.lend(s), 10.0, 3)))?;
    /// assert_eq!(y.to_vec()?, [10.0, 20.0, 30.0]);
    ///
    /// let error = stream.scope(|s| saxpy.launch(s, LaunchConfig::for_elements(3), (&x, &mut y.lend(s), 10.0, 4)));
    /// let precondition = "n is at most the length of x";
    /// assert_eq!(error, Err(Error::Precondition { kernel: "saxpy".into(), precondition }));
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[must_use]
    pub unsafe fn assert_safe_when<const N: usize>(
        self,
        preconditions: [Precondition<P>; N],
    ) -> SafeKernel<'ctx, P> {
        // SAFETY: what `assert_safe_when` asks of its caller; no variables are touched.
        unsafe { self.assert_safe_when_reading((), preconditions) }
    }

    /// The same for a kernel that reads variables of its module, `__constant__` ones say: it is
    /// given their handles, a [`Global`](crate::Global), a reference to one or a tuple of these.
    ///
    /// A launch borrows the kernel, and with it the handles, until its scope has waited: nobody
    /// writes a variable that a launch reads. Between scopes, handles that it owns are at hand in
    /// [`variables_mut`](SafeKernel::variables_mut).
    ///
    /// # Safety
    /// As [`assert_safe_when`](Self::assert_safe_when), but the kernel may read those variables of
    /// its module whose handles are in `variables`. It writes none.
    #[must_use]
    pub unsafe fn assert_safe_when_reading<V: Variables<'ctx>, const N: usize>(
        self,
        variables: V,
        preconditions: [Precondition<P>; N],
    ) -> SafeKernel<'ctx, P, V> {
        SafeKernel {
            kernel: self,
            variables,
            preconditions: Box::new(preconditions),
        }
    }
}

impl<'ctx, P: Params, V> SafeKernel<'ctx, P, V> {
    /// Launches the kernel on a stream (`cuLaunchKernelEx`), if all its preconditions hold.
    ///
    /// The launch of an empty problem ([`LaunchConfig::for_elements`] of 0) makes no call, and has
    /// no preconditions.
    ///
    /// # Errors
    /// [`Error::Precondition`] with the first that does not hold, or as
    /// [`ScopedStream::launch`](crate::ScopedStream::launch). A launch that
    /// [overlaps](LaunchConfig::overlapping_previous) the one ahead of it is a violated
    /// precondition of every kernel.
    #[inline]
    #[doc(alias = "cuLaunchKernelEx")]
    pub fn launch<'s, 'scope, A: Args<'s, 'scope, 'ctx, P>>(
        &'scope self,
        stream: ScopedStream<'s, 'scope, 'ctx>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<()> {
        if !config.is_empty() {
            self.check(&config, arguments.seen(&config))?;
        }
        // SAFETY: whoever wrapped the kernel vouches for launches with which the preconditions
        // hold; `self`, and with it the variables that the kernel reads, is borrowed until the wait
        // (C5).
        unsafe { stream.launch(&self.kernel, config, arguments) }
    }

    #[inline]
    pub(crate) fn check(&self, config: &LaunchConfig, seen: P::Seen) -> Result<()> {
        let in_order = "the launch does not overlap the one ahead of it";
        if config.overlaps_previous() {
            return Err(self.violated(in_order));
        }
        for &(precondition, holds) in &self.preconditions {
            if !holds(config, seen) {
                return Err(self.violated(precondition));
            }
        }
        Ok(())
    }

    #[cold]
    fn violated(&self, precondition: &'static str) -> Error {
        Error::Precondition {
            kernel: self.kernel.name().to_owned(),
            precondition,
        }
    }

    /// The kernel, for its attributes and its occupancy, and for launches that are somebody else's
    /// promise.
    #[must_use]
    #[doc(alias = "load_function")]
    pub fn kernel(&self) -> &Kernel<'ctx, P> {
        &self.kernel
    }

    /// What has to hold for a launch, in words.
    pub fn preconditions(&self) -> impl Iterator<Item = &'static str> {
        self.preconditions.iter().map(|&(sentence, _)| sentence)
    }

    /// The handles of the variables that the kernel reads.
    #[must_use]
    pub fn variables(&self) -> &V {
        &self.variables
    }

    /// Views of the variables that the kernel owns, to write: at rest, because a launch borrows the
    /// kernel until its scope has waited.
    pub fn variables_mut(&mut self) -> V::Views<'_>
    where
        V: Variables<'ctx>,
    {
        self.variables.views()
    }

    /// The kernel and the handles, as they were before.
    #[must_use]
    pub fn into_parts(self) -> (Kernel<'ctx, P>, V) {
        (self.kernel, self.variables)
    }
}

impl<P: Params, V> fmt::Debug for SafeKernel<'_, P, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SafeKernel")
            .field("kernel", &self.kernel)
            .field("preconditions", &self.preconditions().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
