//! Why a driver could not be loaded.

use crate::{Symbol, Version};

/// Why no table of entry points could be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LoadError {
    /// No driver library could be opened.
    #[error("no CUDA driver: could not open {}", tried.join(", "))]
    NoDriver {
        /// Each library name with the reason that the system gave.
        tried: Vec<String>,
    },

    /// The driver is older than [`MINIMUM_VERSION`](crate::MINIMUM_VERSION).
    #[error("the driver supports CUDA {found}, CUDA {needs} or newer is needed")]
    DriverTooOld {
        /// The oldest version that would do.
        needs: Version,
        /// The driver's version.
        found: Version,
    },

    /// The driver lacks a required entry point.
    #[error("the driver has no `{name}`, which appeared in CUDA {needs}")]
    SymbolMissing {
        /// The entry point.
        name: &'static str,
        /// The CUDA version in which its signature appeared.
        needs: Version,
        /// The driver's version, when the library told it.
        driver: Option<Version>,
    },
}

impl LoadError {
    /// The error for an entry point that a driver lacks.
    pub(crate) fn missing(symbol: &Symbol) -> Self {
        Self::SymbolMissing {
            name: symbol.name,
            needs: Version(symbol.version),
            driver: None,
        }
    }
}
