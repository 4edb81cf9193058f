//! What a module and its kernels share.

#![allow(unsafe_code)] // unloads modules

use super::function::Limits;
use crate::context::Context;
use crate::ffi::{CUfunction, CUmodule, calls};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A loaded image; it is unloaded with the last of those that share it.
pub(super) struct Image<'ctx> {
    pub(super) context: Context<'ctx>,
    pub(super) raw: CUmodule,
    /// What is known of the functions that were looked up: the driver has one function of a name, however many kernels are that.
    pub(super) functions: Mutex<HashMap<CUfunction, Arc<Limits>>>,
}

impl<'ctx> Image<'ctx> {
    /// `raw` is loaded in the context, and owned by the image from now on.
    pub(super) fn new(context: Context<'ctx>, raw: CUmodule) -> Self {
        Self {
            context,
            raw,
            functions: Mutex::default(),
        }
    }
}

impl Drop for Image<'_> {
    fn drop(&mut self) {
        // SAFETY: loaded and owned; a launch in a scope borrows a kernel for that scope, and the kernel shares this image (C1, C5).
        self.context
            .state()
            .tear_down(|driver| unsafe { calls::module_unload(driver, self.raw) });
    }
}
