//! One thin function per driver call: out-parameters become return values, a result code becomes a
//! [`Result`].
//!
//! This is the only place that does either. A call that takes a handle or an address is `unsafe
//! fn`: whoever calls it proves that the handle is live and the memory valid. A call that takes
//! plain values is safe, because the driver checks those itself.

mod context;
mod device;
mod graph;
mod host;
mod jit;
mod kernel;
mod link;
mod memory;
mod module;
mod relaxed;
mod rows;
mod stream;

pub(crate) use context::*;
pub(crate) use device::*;
pub(crate) use graph::*;
pub(crate) use host::*;
pub(crate) use jit::*;
pub(crate) use kernel::*;
pub(crate) use link::*;
pub(crate) use memory::*;
pub(crate) use module::*;
pub(crate) use rows::*;
pub(crate) use stream::*;

use crate::error::Result;
use crate::ffi::{CUresult, Symbols};
use crate::internal::api::Api;
use std::ffi::c_char;

impl Api {
    /// Makes a driver call, unless an earlier fault has made that pointless (claim C10).
    #[inline]
    fn call(self, name: &'static str, call: impl FnOnce(&Symbols) -> CUresult) -> Result<()> {
        self.unpoisoned()?;
        self.call_regardless(name, call)
    }

    /// Makes a driver call even after a fault: for what has to be put back, and for waiting.
    #[inline]
    fn call_regardless(
        self,
        name: &'static str,
        call: impl FnOnce(&Symbols) -> CUresult,
    ) -> Result<()> {
        let code = call(self.symbols());
        if code == CUresult::SUCCESS {
            Ok(())
        } else {
            Err(self.failed(code, name))
        }
    }

    /// Asks whether something is done: `NOT_READY` is an answer and not an error.
    #[inline]
    fn ask(self, name: &'static str, call: impl FnOnce(&Symbols) -> CUresult) -> Result<bool> {
        self.unpoisoned()?;
        match call(self.symbols()) {
            CUresult::SUCCESS => Ok(true),
            CUresult::NOT_READY => Ok(false),
            code => Err(self.failed(code, name)),
        }
    }
}

/// The bytes before the first NUL; a byte that is not UTF-8 becomes U+FFFD.
fn text(bytes: &[c_char]) -> String {
    let bytes: Vec<u8> = bytes
        .iter()
        .take_while(|&&b| b != 0)
        .map(|&b| b as u8)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
