//! What a module and its kernels share.

#![allow(unsafe_code)] // unloads modules

use crate::context::Context;
use crate::ffi::{CUmodule, calls};

/// A loaded image; it is unloaded with the last of those that share it.
pub(super) struct Image<'ctx> {
    pub(super) context: Context<'ctx>,
    pub(super) raw: CUmodule,
}

impl<'ctx> Image<'ctx> {
    /// `raw` is loaded in the context, and owned by the image from now on.
    pub(super) fn new(context: Context<'ctx>, raw: CUmodule) -> Self {
        Self { context, raw }
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
