//! Result codes of the driver.

use crate::ffi::CUresult;
use std::fmt;

/// A result code of the driver, with its name and text and the call that returned it.
///
/// A code that this crate, or the driver itself, does not know is an ordinary value with the name
/// `CUDA_ERROR_?`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DriverError {
    code: CUresult,
    call: &'static str,
    name: &'static str,
    text: &'static str,
}

impl DriverError {
    pub(crate) fn new(
        code: CUresult,
        call: &'static str,
        name: Option<&'static str>,
        text: Option<&'static str>,
    ) -> Self {
        Self {
            code,
            call,
            name: name.unwrap_or("CUDA_ERROR_?"),
            text: text.unwrap_or("a code that the driver does not know"),
        }
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> CUresult {
        self.code
    }

    /// The driver call that returned it, for example `cuStreamSynchronize`.
    #[must_use]
    pub fn call(&self) -> &'static str {
        self.call
    }

    /// The driver's name for it (`cuGetErrorName`), for example `CUDA_ERROR_OUT_OF_MEMORY`.
    #[must_use]
    #[doc(alias = "cuGetErrorName")]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The driver's description (`cuGetErrorString`).
    #[must_use]
    #[doc(alias = "cuGetErrorString")]
    pub fn text(&self) -> &'static str {
        self.text
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} returned {} ({}): {}",
            self.call, self.name, self.code.0, self.text
        )
    }
}

impl std::error::Error for DriverError {}
