//! Linkers.

use super::abi::Jit;
use super::context::ContextRef;
use super::machine::{Outcome, State};
use super::registry::{Handle, Kind};
use scoped_cuda_sys::CUresult;

/// A linker with its inputs.
pub(super) struct Linker {
    pub(super) context: ContextRef,
    /// The options, and where the caller wants the logs.
    pub(super) jit: Jit,
    /// The inputs that were accepted.
    pub(super) texts: Vec<Vec<u8>>,
    /// What has come out, for as long as the linker lives.
    pub(super) image: Option<Box<[u8]>>,
}

impl State {
    pub(super) fn add_linker(&mut self, context: ContextRef, jit: Jit) -> Handle {
        let handle = self.new_handle(Kind::Linker);
        let linker = Linker {
            context,
            jit,
            texts: Vec::new(),
            image: None,
        };
        self.linkers.insert(handle, linker);
        handle
    }

    pub(super) fn linker(&mut self, handle: Handle) -> Outcome<&mut Linker> {
        self.linkers
            .get_mut(&handle)
            .ok_or(CUresult::INVALID_HANDLE)
    }

    pub(super) fn destroy_linker(&mut self, handle: Handle) -> Outcome {
        let destroyed = self.linkers.remove(&handle);
        destroyed.map(drop).ok_or(CUresult::INVALID_HANDLE)
    }
}
