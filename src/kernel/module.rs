//! Loaded images.

#![allow(unsafe_code)] // looks functions up

use super::image::Image;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ffi::{CUfunction, CUmodule, CUresult};
use crate::internal::calls;
use std::ffi::CString;
use std::fmt;
use std::sync::Arc;

/// Device code, compiled and loaded into a context.
///
/// A [`Kernel`](crate::Kernel) and a [`Global`](crate::Global) keep their module loaded, so they
/// may be dropped in any order; the module is unloaded with the last of them (`cuModuleUnload`). A
/// clone is another handle of the same module, without a driver call.
#[derive(Clone)]
pub struct Module<'ctx> {
    pub(super) image: Arc<Image<'ctx>>,
    log: Arc<str>,
}

static_assertions::assert_impl_all!(Module<'static>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);

impl<'ctx> Module<'ctx> {
    /// `image` is loaded; `log` is what the JIT said about it.
    pub(super) fn new(image: Image<'ctx>, log: String) -> Self {
        Self {
            image: Arc::new(image),
            log: log.into(),
        }
    }

    /// The function of this name.
    ///
    /// # Errors
    /// [`Error::NoKernel`], [`Error::ContextLost`], or what the driver returns.
    pub(super) fn function(&self, name: &str) -> Result<CUfunction> {
        let not_there = || Error::NoKernel {
            name: name.to_owned(),
        };
        // The driver answers an empty name with INVALID_VALUE; a name with a NUL cannot be a
        // kernel's.
        let c_name = CString::new(name)
            .ok()
            .filter(|name| !name.is_empty())
            .ok_or_else(not_there)?;
        self.image.context.state().not_lost()?;
        // SAFETY: the module is loaded as long as the image lives.
        let found = unsafe {
            calls::module_get_function(self.image.context.api(), self.image.raw, &c_name)
        };
        found.map_err(|error| match error {
            Error::Driver(error) if error.code() == CUresult::NOT_FOUND => not_there(),
            other => other,
        })
    }

    /// What the JIT had to say when it compiled the image: its warnings, and with
    /// [`JitOptions::verbose`](crate::JitOptions::verbose) what each kernel uses. Often empty; cut
    /// after 64 KiB, and it says so then.
    #[must_use]
    pub fn log(&self) -> &str {
        &self.log
    }

    /// The context it is loaded in.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.image.context
    }

    /// The driver's handle, for calls to other libraries. It is live while the module, or a kernel
    /// of it, is.
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
