//! Loaded images.

#![allow(unsafe_code)] // looks functions up

use super::function::Kernel;
use super::image::Image;
use super::params::Params;
use crate::context::Context;
use crate::current;
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::ffi::{CUfunction, CUmodule, CUresult, calls};
use std::ffi::CString;
use std::fmt;
use std::sync::Arc;

/// Device code, compiled and loaded into a context.
///
/// A [`Kernel`] and a [`Global`](crate::Global) keep their module loaded, so they may be dropped in any order; the module is unloaded
/// with the last of them (`cuModuleUnload`).
pub struct Module<'ctx> {
    pub(super) image: Arc<Image<'ctx>>,
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
    pub(crate) fn from_ptx(context: Context<'ctx>, ptx: &str) -> Result<Self> {
        let refuse = |reason: &str| {
            Err(Error::BadPtx {
                reason: reason.to_owned(),
                log: String::new(),
            })
        };
        // The driver takes binary images through the same call and believes what their headers say. Only text gets there.
        if !starts_like_ptx(ptx) {
            return refuse("the text does not begin with a `.version` directive");
        }
        let Ok(text) = CString::new(ptx) else {
            return refuse("the text contains a NUL");
        };
        let mut log = String::new();
        let loaded = current::bind(context.state(), || {
            calls::module_load_ptx(context.driver(), &text).map_err(|(error, text)| {
                log = text;
                error
            })
        });
        match loaded {
            Ok(raw) => Ok(Self {
                image: Arc::new(Image::new(context, raw)),
            }),
            Err(Error::Driver(error)) if is_about_the_image(error.code()) => Err(Error::BadPtx {
                reason: error.to_string(),
                log,
            }),
            Err(error) => Err(error),
        }
    }

    /// The kernel of this name, if its parameters are those of `P` (`cuModuleGetFunction`, `cuFuncGetParamInfo`).
    ///
    /// `P` is a tuple with one type for each parameter: [`In`](crate::In), [`Out`](crate::Out) and [`InOut`](crate::InOut) for
    /// pointers to device memory, plain-data types for values. Their number and sizes are compared with what the kernel declares, once,
    /// here. Drivers before CUDA 12.4 cannot tell; with them nothing is compared, and `P` is a promise of the launch.
    ///
    /// # Errors
    /// [`Error::NoKernel`], [`Error::ArgCount`], [`Error::ArgSize`], or what the driver returns.
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
    /// [`Error::NoKernel`], [`Error::SymbolMissing`] with drivers before CUDA 12.4, or what the driver returns.
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
        // SAFETY: the module is loaded as long as the image lives.
        let found = unsafe {
            calls::module_get_function(self.image.context.driver(), self.image.raw, &c_name)
        };
        found.map_err(|error| match error {
            Error::Driver(error) if error.code() == CUresult::NOT_FOUND => not_there(),
            other => other,
        })
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

/// Codes by which the driver refuses the image itself.
fn is_about_the_image(code: CUresult) -> bool {
    matches!(
        code,
        CUresult::INVALID_IMAGE | CUresult::INVALID_PTX | CUresult::UNSUPPORTED_PTX_VERSION
    )
}

/// Whether the first thing after white space and comments is `.version`, as PTX requires.
fn starts_like_ptx(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let after = if let Some(line) = rest.strip_prefix("//") {
            line.split_once('\n')
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/")
        } else {
            return rest.starts_with(".version");
        };
        let Some((_, after)) = after else {
            return false;
        };
        rest = after.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::starts_like_ptx;

    #[test]
    fn ptx_begins_with_its_version() {
        assert!(starts_like_ptx(".version 8.0"));
        assert!(starts_like_ptx(
            "\n  // made by hand\n/* two\nlines */ .version 8.0"
        ));
        for other in [
            "",
            "hello",
            "// only a comment",
            "/* never closed .version",
            "\u{7f}ELF",
            ".target sm_80",
        ] {
            assert!(!starts_like_ptx(other), "{other:?}");
        }
    }
}
