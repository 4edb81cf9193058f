//! What a module and its kernels share.

#![allow(unsafe_code)] // looks variables up, unloads modules

use super::declared::Declared;
use super::limits::Limits;
use crate::context::Context;
use crate::error::Result;
use crate::ffi::{CUdeviceptr, CUfunction, CUmodule};
use crate::internal::calls;
use std::collections::HashMap;
use std::ffi::CStr;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A loaded image; it is unloaded with the last of those that share it.
pub(super) struct Image<'ctx> {
    pub(super) context: Context<'ctx>,
    pub(super) raw: CUmodule,
    /// The parameters of its kernels, when it was loaded from text.
    pub(super) declared: HashMap<String, Vec<Declared>>,
    /// What is known of the functions that were looked up: the driver has one function of a name,
    /// however many kernels are that.
    pub(super) functions: Mutex<HashMap<CUfunction, Arc<Limits>>>,
    /// Where the variables are that somebody has a handle of. By address and not by name: two names
    /// may be of one place.
    taken: Mutex<Vec<Range<CUdeviceptr>>>,
}

impl<'ctx> Image<'ctx> {
    /// `raw` is loaded in the context, and owned by the image from now on.
    pub(super) fn new(
        context: Context<'ctx>,
        raw: CUmodule,
        declared: HashMap<String, Vec<Declared>>,
    ) -> Self {
        Self {
            context,
            raw,
            declared,
            functions: Mutex::default(),
            taken: Mutex::default(),
        }
    }

    /// Address and size in bytes of the variable of this name (`cuModuleGetGlobal`).
    pub(super) fn variable(&self, name: &CStr) -> Result<(CUdeviceptr, usize)> {
        self.context.state().not_lost()?;
        // SAFETY: the module is loaded as long as the image lives (C1, C6).
        unsafe { calls::module_get_global(self.context.api(), self.raw, name) }
    }

    /// Makes memory of the image the caller's alone, until [`give_back`](Self::give_back); says
    /// whether it was nobody's.
    pub(super) fn take(&self, memory: Range<CUdeviceptr>) -> bool {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let overlaps = |other: &Range<_>| other.start < memory.end && memory.start < other.end;
        let is_free = !taken.iter().any(overlaps);
        if is_free {
            taken.push(memory);
        }
        is_free
    }

    pub(super) fn give_back(&self, memory: &Range<CUdeviceptr>) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = taken.iter().position(|other| other == memory) {
            taken.swap_remove(index);
        }
    }
}

impl Drop for Image<'_> {
    fn drop(&mut self) {
        // SAFETY: loaded and owned; a launch in a scope borrows a kernel for that scope, a copy of
        // a variable its handle, and both share this image (C1, C5, C6).
        self.context
            .state()
            .tear_down(|driver| unsafe { calls::module_unload(driver, self.raw) });
    }
}
