//! Loaded images.

#![allow(unsafe_code)] // looks functions up

use super::image::Image;
use super::kernel::Kernel;
use super::params::Params;
use crate::context::Context;
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::ffi::{CUfunction, CUmodule, CUresult};
use crate::internal::calls;
use std::ffi::CString;
use std::fmt;
use std::sync::Arc;

/// Device code, compiled and loaded into a context.
///
/// A [`Kernel`] and a [`Global`](crate::Global) keep their module loaded, so they may be dropped in any order; the module is unloaded
/// with the last of them (`cuModuleUnload`).
pub struct Module<'ctx> {
    pub(super) image: Arc<Image<'ctx>>,
    log: String,
}

/// A parameter as the kernel declares it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Parameter {
    /// Where it begins in the kernel's parameter list, in bytes.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
}

static_assertions::assert_impl_all!(Module<'static>: Send, Sync);

impl<'ctx> Module<'ctx> {
    /// `image` is loaded; `log` is what the JIT said about it.
    pub(super) fn new(image: Image<'ctx>, log: String) -> Self {
        Self {
            image: Arc::new(image),
            log,
        }
    }

    /// The kernel of this name, if its parameters are those of `P` (`cuModuleGetFunction`, `cuFuncGetParamInfo`).
    ///
    /// `P` is a tuple with one type for each parameter: [`In`](crate::In), [`Out`](crate::Out) and [`InOut`](crate::InOut) for
    /// pointers to device memory, plain-data types for values, and what else [`Param`](crate::Param) lists. Their number, sizes and offsets
    /// are compared with what the kernel declares, once, here. Drivers before CUDA 12.4 cannot tell; with them nothing is compared, and
    /// `P` is a promise of the launch.
    ///
    /// # Errors
    /// [`Error::NoKernel`]; [`Error::ArgCount`], [`Error::ArgSize`], [`Error::ArgOffset`]; [`Error::ContextLost`], or what the driver returns.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, Error, In, Out, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let module = ctx.load_ptx(
    ///     ".version 8.0\n.target sm_80\n.address_size 64\n
    ///     .visible .entry double(.param .u64 from, .param .u64 to, .param .u32 n) { ret; }",
    /// )?;
    /// let double = module.kernel::<(In<f32>, Out<f32>, u32)>("double")?;
    /// let error = module.kernel::<(In<f32>, Out<f32>, u64)>("double").unwrap_err();
    /// assert_eq!(error, Error::ArgSize { kernel: "double".into(), index: 2, want: 8, got: 4 });
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn kernel<P: Params>(&self, name: &str) -> Result<Kernel<'ctx, P>> {
        let function = self.function(name)?;
        Kernel::new(Arc::clone(&self.image), function, name)
    }

    /// What the kernel of this name declares, parameter by parameter (`cuFuncGetParamInfo`).
    ///
    /// # Errors
    /// [`Error::NoKernel`], [`Error::SymbolMissing`] with drivers before CUDA 12.4, [`Error::ContextLost`], or what the driver returns.
    pub fn parameters(&self, name: &str) -> Result<Vec<Parameter>> {
        let function = self.function(name)?;
        // SAFETY: the function lives as long as its module.
        unsafe { declared_parameters(self.image.context.driver(), function) }
    }

    fn function(&self, name: &str) -> Result<CUfunction> {
        let not_there = || Error::NoKernel {
            name: name.to_owned(),
        };
        // The driver answers an empty name with INVALID_VALUE; a name with a NUL cannot be a kernel's.
        let c_name = CString::new(name)
            .ok()
            .filter(|name| !name.is_empty())
            .ok_or_else(not_there)?;
        self.image.context.state().not_lost()?;
        // SAFETY: the module is loaded as long as the image lives.
        let found = unsafe {
            calls::module_get_function(self.image.context.driver(), self.image.raw, &c_name)
        };
        found.map_err(|error| match error {
            Error::Driver(error) if error.code() == CUresult::NOT_FOUND => not_there(),
            other => other,
        })
    }

    /// What the JIT had to say when it compiled the image: its warnings, and with [`JitOptions::verbose`](crate::JitOptions::verbose) what
    /// each kernel uses. Often empty; cut after 64 KiB, and it says so then.
    #[must_use]
    pub fn log(&self) -> &str {
        &self.log
    }

    /// The context it is loaded in.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.image.context
    }

    /// The driver's handle, for calls to other libraries. It is live while the module, or a kernel of it, is.
    #[must_use]
    pub fn as_raw(&self) -> CUmodule {
        self.image.raw
    }
}

impl fmt::Debug for Module<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Module(device {}, {:p})",
            self.image.context.device().ordinal(),
            self.image.raw.as_ptr()
        )
    }
}

/// What a kernel declares, in order.
///
/// # Safety
/// `function` is live.
pub(super) unsafe fn declared_parameters(
    driver: Driver,
    function: CUfunction,
) -> Result<Vec<Parameter>> {
    // SAFETY: the caller's promise.
    let count = unsafe { calls::func_get_param_count(driver, function) }?;
    let mut parameters = Vec::new();
    // Older drivers tell the number by refusing the index after the last.
    while count.is_none_or(|count| parameters.len() < count) {
        // SAFETY: the caller's promise.
        let info = unsafe { calls::func_get_param_info(driver, function, parameters.len()) }?;
        let Some((offset, size)) = info else { break };
        parameters.push(Parameter { offset, size });
    }
    Ok(parameters)
}
