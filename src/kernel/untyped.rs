//! Kernels whose parameter list is known when the program runs.

#![allow(unsafe_code)] // launches

use super::args::Arg;
use super::args::seal::Value;
use super::kernel::Kernel;
use super::launch_config::LaunchConfig;
use super::module::Module;
use super::parameter::{Parameter, check_kinds, check_parameters, declared_parameters};
use super::params::{Param, ParamLayout};
use crate::error::Result;
use crate::memory::sealed::Token;
use crate::stream::ScopedStream;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// In the place of a parameter list: it is known when the program runs.
///
/// A `Kernel<'ctx, Untyped>` can be asked what any [`Kernel`] can be asked. It is launched with
/// [`arguments`](Kernel::arguments).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Untyped {}

impl<'ctx> Module<'ctx> {
    /// The kernel of this name, whose arguments are compared with what it declares at each launch
    /// (`cuModuleGetFunction`, `cuFuncGetParamInfo`). For interpreters and generated code; where
    /// the list is known to the program, [`kernel`](Self::kernel) compares once and costs less.
    ///
    /// # Errors
    /// [`Error::NoKernel`](crate::Error::NoKernel),
    /// [`Error::SymbolMissing`](crate::Error::SymbolMissing) with drivers before CUDA 12.4, which
    /// cannot tell, [`Error::ContextLost`](crate::Error::ContextLost), or what the driver returns.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, InOut, LaunchConfig, include_ptx, sim::Simulation};
    /// # use scoped_cuda::{Error, In};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let saxpy = ctx.load_ptx(include_ptx!("../../examples/saxpy.ptx"))?.untyped_kernel("saxpy")?;
    /// let (stream, x) = (ctx.new_stream()?, ctx.upload(&[1.0f32, 2.0])?);
    /// let mut y = ctx.filled(2, 10.0f32)?;
    /// stream.scope(|s| {
    ///     let mut y = y.lend(s);
    ///     let mut arguments = saxpy.arguments(LaunchConfig::for_elements(2));
    ///     arguments.push::<In<f32>>(&x)?;
    ///     arguments.push::<InOut<f32>>(&mut y)?;
    ///     arguments.push::<f32>(3.0)?;
    ///     arguments.push::<u32>(2)?;
    ///     // SAFETY: `saxpy` updates y at indices below n, which is the length of both.
    ///     unsafe { arguments.launch(s) }
    /// })?;
    /// assert_eq!(y.to_vec()?, [13.0, 16.0]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuModuleGetFunction")]
    #[doc(alias = "cuFuncGetParamInfo")]
    pub fn untyped_kernel(&self, name: &str) -> Result<Kernel<'ctx, Untyped>> {
        let function = self.function(name)?;
        let image = Arc::clone(&self.image);
        // Here, so that a driver that cannot tell says so before a launch.
        // SAFETY: the function lives as long as its image.
        unsafe { declared_parameters(image.context.api(), function) }?;
        Kernel::unchecked(image, function, name)
    }
}

impl<'ctx> Kernel<'ctx, Untyped> {
    /// An empty list of arguments, for one launch.
    pub fn arguments<'a, 's, 'scope>(
        &'scope self,
        config: LaunchConfig,
    ) -> ArgumentList<'a, 's, 'scope, 'ctx> {
        ArgumentList {
            kernel: self,
            config,
            layout: Vec::new(),
            values: Vec::new(),
            _borrowed: PhantomData,
        }
    }
}

/// The arguments of one launch, one after the other, each with its parameter type. Made by
/// [`Kernel::arguments`].
///
/// It borrows the memory that was passed until it is launched or dropped.
pub struct ArgumentList<'a, 's, 'scope, 'ctx> {
    kernel: &'scope Kernel<'ctx, Untyped>,
    config: LaunchConfig,
    layout: Vec<&'static [ParamLayout]>,
    values: Vec<Box<dyn Value>>,
    /// The arguments, and the stream that they are for.
    _borrowed: PhantomData<(&'a mut (), ScopedStream<'s, 'scope, 'ctx>)>,
}

impl<'a, 's, 'scope, 'ctx> ArgumentList<'a, 's, 'scope, 'ctx> {
    /// Adds an argument for a parameter `P`: what an [`Arg`] for it is in a launch.
    ///
    /// # Errors
    /// [`Error::CountTooLarge`](crate::Error::CountTooLarge) for memory whose length the parameter
    /// cannot hold.
    pub fn push<P: Param>(&mut self, argument: impl Arg<'s, 'scope, 'ctx, P> + 'a) -> Result<()> {
        let value = argument.value(&self.config, Token)?;
        self.values.push(Box::new(value));
        self.layout.push(P::LAYOUT);
        Ok(())
    }

    /// Compares the arguments with what the kernel declares, and launches it on `stream`
    /// (`cuFuncGetParamInfo`, `cuLaunchKernelEx`).
    ///
    /// # Errors
    /// [`Error::ArgCount`](crate::Error::ArgCount), [`Error::ArgSize`](crate::Error::ArgSize),
    /// [`Error::ArgOffset`](crate::Error::ArgOffset), [`Error::ArgKind`](crate::Error::ArgKind), or
    /// the errors of [`ScopedStream::launch`].
    ///
    /// # Safety
    /// As [`ScopedStream::launch`], where `P` is the list of the parameters that were pushed.
    #[doc(alias = "cuLaunchKernelEx")]
    pub unsafe fn launch(mut self, stream: ScopedStream<'s, 'scope, 'ctx>) -> Result<()> {
        let kernel = self.kernel;
        let name = kernel.name();
        check_parameters(&self.layout, &self.declared()?, name)?;
        if let Some(declared) = kernel.kinds() {
            check_kinds(&self.layout, declared, name)?;
        }
        let Some(grid) = kernel.check(&self.config)? else {
            return Ok(());
        };
        let parameters = self.layout.iter().map(|part| part.len()).sum();
        let mut pointers = vec![MaybeUninit::uninit(); parameters];
        let mut used = 0;
        for value in &mut self.values {
            used += value.point(pointers.get_mut(used..).unwrap_or_default());
        }
        // SAFETY: there is a pointer to a value for each parameter that the kernel declares, as was
        // just compared; what it touches is the caller's promise, as for `ScopedStream::launch`.
        unsafe { stream.enqueue(kernel, &self.config, grid, pointers.as_mut_ptr().cast()) }
    }

    fn declared(&self) -> Result<Vec<Parameter>> {
        let function = self.kernel.loaded()?;
        // SAFETY: the kernel keeps its function loaded, and its context is alive.
        unsafe { declared_parameters(self.kernel.context().api(), function) }
    }
}

impl fmt::Debug for ArgumentList<'_, '_, '_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArgumentList")
            .field("kernel", &self.kernel.name())
            .field("arguments", &self.values.len())
            .finish_non_exhaustive()
    }
}
