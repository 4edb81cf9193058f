//! The compiler: loading it, and what there is to know about it.

#![allow(unsafe_code)] // loads a library

use super::library::{Functions, candidates, toolkits};
use crate::compute_capability::ComputeCapability;
use crate::error::{Error, NvrtcError, Result, Version};
use libloading::Library;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

/// NVRTC, loaded. A copyable reference to something that lives as long as the process.
///
/// Any number of threads may compile at once: NVRTC is thread-safe but for calls about one and the
/// same program (its user guide, "Thread safety"), and every compilation here has a program of its
/// own.
///
/// ```
/// use scoped_cuda::Error;
/// use scoped_cuda::nvrtc::{Compiler, NvrtcError};
///
/// match Compiler::load() {
///     Ok(compiler) => println!("NVRTC {} for {:?}", compiler.version(), compiler.architectures()),
///     Err(Error::Nvrtc(NvrtcError::NotFound { tried })) => println!("not installed: {tried:?}"),
///     Err(error) => println!("{error}"),
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Compiler {
    state: &'static State,
}

struct State {
    functions: Functions,
    version: Version,
    architectures: Vec<ComputeCapability>,
}

static_assertions::assert_impl_all!(Compiler: Copy, Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);

static LOADED: OnceLock<Compiler> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

impl Compiler {
    /// Loads the system's NVRTC, once per process, never unloaded: `libnvrtc.so.13`, `.so.12` or
    /// `.so` (`nvrtc64_130_0.dll`, `nvrtc64_120_0.dll`) where the system finds libraries, else in
    /// the toolkit that `CUDA_PATH` or `CUDA_HOME` names, or in `/usr/local/cuda`. Many threads may
    /// do so at once.
    ///
    /// NVRTC calls: `nvrtcVersion`, `nvrtcGetNumSupportedArchs`, `nvrtcGetSupportedArchs`.
    ///
    /// # Errors
    /// [`NvrtcError::NotFound`] with what was tried and what to install, [`NvrtcError::Incomplete`]
    /// before CUDA 11.2, or what NVRTC returns. The next call tries again after a failed load.
    pub fn load() -> Result<Self> {
        let _loading = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&compiler) = LOADED.get() {
            return Ok(compiler);
        }
        let (candidates, without) = candidates(&toolkits());
        // SAFETY: these are the names under which NVRTC is installed.
        let compiler = unsafe { Self::open(&candidates, without) }?;
        Ok(*LOADED.get_or_init(|| compiler))
    }

    /// Loads NVRTC from `path`, or under that name where the system finds libraries. It stays
    /// loaded for ever, so once is enough.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    ///
    /// # Safety
    /// A library found there is NVRTC.
    pub unsafe fn load_from(path: impl AsRef<OsStr>) -> Result<Self> {
        // SAFETY: the caller promises: a library found there is NVRTC.
        unsafe { Self::open(&[path.as_ref().to_owned()], Vec::new()) }
    }

    /// The first of `candidates` that opens; `without` are places that have none.
    ///
    /// # Safety
    /// A library found under one of the names is NVRTC.
    unsafe fn open(candidates: &[OsString], without: Vec<String>) -> Result<Self> {
        let mut tried = Vec::new();
        for candidate in candidates {
            // SAFETY: the library is NVRTC (the caller's promise), whose initialisers may run on
            // any thread.
            match unsafe { Library::new(candidate) } {
                Err(error) => tried.push(format!("{} ({error})", candidate.to_string_lossy())),
                // Never unloaded: a `Compiler` is copied without keeping count.
                Ok(library) => {
                    let functions = Functions::of(Box::leak(Box::new(library)))?;
                    // SAFETY: the functions are those of nvrtc.h, in a library that stays loaded.
                    return unsafe { Self::from_functions(functions) };
                }
            }
        }
        tried.extend(without);
        Err(Error::Nvrtc(NvrtcError::NotFound { tried }))
    }

    /// # Safety
    /// Each function does what nvrtc.h says of the one of its name, and stays callable for the rest
    /// of the process.
    pub(super) unsafe fn from_functions(functions: Functions) -> Result<Self> {
        let version = functions.version()?;
        let architectures = functions.architectures()?;
        let state = State {
            functions,
            version,
            architectures,
        };
        Ok(Self {
            state: Box::leak(Box::new(state)),
        })
    }

    /// The CUDA version that NVRTC belongs to. A driver of an older one does not read its PTX.
    #[must_use]
    pub fn version(self) -> Version {
        self.state.version
    }

    /// The compute capabilities that NVRTC compiles for, in ascending order.
    #[must_use]
    pub fn architectures(self) -> &'static [ComputeCapability] {
        &self.state.architectures
    }

    pub(super) fn functions(self) -> &'static Functions {
        &self.state.functions
    }
}

impl fmt::Debug for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compiler(NVRTC {})", self.version())
    }
}
