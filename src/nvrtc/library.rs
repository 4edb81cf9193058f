//! Where NVRTC is looked for, and its functions.

#![allow(unsafe_code)] // takes functions from a library and calls them

use crate::compute_capability::ComputeCapability;
use crate::error::{Error, NvrtcError, Result, Version};
use libloading::Library;
use std::env;
use std::ffi::{CStr, OsString, c_char, c_int, c_void};
use std::path::PathBuf;

/// Names under which NVRTC is installed, the newest first.
const NAMES: &[&str] = if cfg!(windows) {
    &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"]
} else {
    &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
};

/// Where a toolkit has its libraries, from its root.
const LIBRARY_FOLDERS: &[&str] = if cfg!(windows) {
    &["bin/x64", "bin"]
} else {
    &["lib64"]
};

/// The roots of the toolkits there may be.
pub(super) fn toolkits() -> Vec<PathBuf> {
    let named = ["CUDA_PATH", "CUDA_HOME"]
        .into_iter()
        .filter_map(env::var_os);
    let usual = (!cfg!(windows)).then(|| OsString::from("/usr/local/cuda"));
    let mut roots: Vec<PathBuf> = Vec::new();
    for root in named.chain(usual).filter(|root| !root.is_empty()) {
        if !roots.iter().any(|known| known.as_os_str() == root) {
            roots.push(root.into());
        }
    }
    roots
}

/// What to open, in this order, and which folders have nothing to open.
pub(super) fn candidates(toolkits: &[PathBuf]) -> (Vec<OsString>, Vec<String>) {
    let mut candidates: Vec<OsString> = NAMES.iter().map(OsString::from).collect();
    let mut without = Vec::new();
    for root in toolkits {
        for folder in LIBRARY_FOLDERS.iter().map(|folder| root.join(folder)) {
            let there = NAMES.iter().map(|name| folder.join(name));
            let there: Vec<_> = there.filter(|path| path.exists()).collect();
            if there.is_empty() {
                without.push(format!("{} (none there)", folder.display()));
            }
            candidates.extend(there.into_iter().map(OsString::from));
        }
    }
    (candidates, without)
}

/// `nvrtcResult`, a C enum, of which newer libraries know more values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(super) struct NvrtcResult(pub(super) c_int);

impl NvrtcResult {
    pub(super) const SUCCESS: Self = Self(0);
}

/// `nvrtcProgram`, a pointer to something that is NVRTC's own.
pub(super) type RawProgram = *mut c_void;
pub(super) type SizeOf = unsafe extern "C" fn(RawProgram, *mut usize) -> NvrtcResult;
pub(super) type Get = unsafe extern "C" fn(RawProgram, *mut c_char) -> NvrtcResult;

/// The functions of NVRTC, as nvrtc.h declares them.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    pub(super) get_error_string: unsafe extern "C" fn(NvrtcResult) -> *const c_char,
    pub(super) version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> NvrtcResult,
    pub(super) get_num_supported_archs: unsafe extern "C" fn(*mut c_int) -> NvrtcResult,
    pub(super) get_supported_archs: unsafe extern "C" fn(*mut c_int) -> NvrtcResult,
    pub(super) create_program: unsafe extern "C" fn(
        program: *mut RawProgram,
        source: *const c_char,
        name: *const c_char,
        header_count: c_int,
        headers: *const *const c_char,
        include_names: *const *const c_char,
    ) -> NvrtcResult,
    pub(super) destroy_program: unsafe extern "C" fn(*mut RawProgram) -> NvrtcResult,
    pub(super) add_name_expression: unsafe extern "C" fn(RawProgram, *const c_char) -> NvrtcResult,
    pub(super) compile_program:
        unsafe extern "C" fn(RawProgram, c_int, *const *const c_char) -> NvrtcResult,
    pub(super) get_program_log_size: SizeOf,
    pub(super) get_program_log: Get,
    pub(super) get_ptx_size: SizeOf,
    pub(super) get_ptx: Get,
    pub(super) get_cubin_size: SizeOf,
    pub(super) get_cubin: Get,
    pub(super) get_lowered_name:
        unsafe extern "C" fn(RawProgram, *const c_char, *mut *const c_char) -> NvrtcResult,
}

impl Functions {
    pub(super) fn of(library: &'static Library) -> Result<Self> {
        /// # Safety
        /// `T` is the type of the function of this name.
        unsafe fn get<T: Copy>(library: &'static Library, name: &'static str) -> Result<T> {
            // SAFETY: the caller promises: `T` is the type of the function of this name.
            let function = unsafe { library.get::<T>(name.as_bytes()) };
            function
                .map(|function| *function)
                .map_err(|_| Error::Nvrtc(NvrtcError::Incomplete { name }))
        }
        Ok(Self {
            // SAFETY: `const char *nvrtcGetErrorString(nvrtcResult)`.
            get_error_string: unsafe { get(library, "nvrtcGetErrorString") }?,
            // SAFETY: `nvrtcResult nvrtcVersion(int *, int *)`.
            version: unsafe { get(library, "nvrtcVersion") }?,
            // SAFETY: `nvrtcResult nvrtcGetNumSupportedArchs(int *)`.
            get_num_supported_archs: unsafe { get(library, "nvrtcGetNumSupportedArchs") }?,
            // SAFETY: `nvrtcResult nvrtcGetSupportedArchs(int *)`.
            get_supported_archs: unsafe { get(library, "nvrtcGetSupportedArchs") }?,
            // SAFETY: `nvrtcResult nvrtcCreateProgram(nvrtcProgram *, const char *, const char *,
            // int, const char *const *, const char *const *)`.
            create_program: unsafe { get(library, "nvrtcCreateProgram") }?,
            // SAFETY: `nvrtcResult nvrtcDestroyProgram(nvrtcProgram *)`.
            destroy_program: unsafe { get(library, "nvrtcDestroyProgram") }?,
            // SAFETY: `nvrtcResult nvrtcAddNameExpression(nvrtcProgram, const char *)`.
            add_name_expression: unsafe { get(library, "nvrtcAddNameExpression") }?,
            // SAFETY: `nvrtcResult nvrtcCompileProgram(nvrtcProgram, int, const char *const *)`.
            compile_program: unsafe { get(library, "nvrtcCompileProgram") }?,
            // SAFETY: `nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram, size_t *)`.
            get_program_log_size: unsafe { get(library, "nvrtcGetProgramLogSize") }?,
            // SAFETY: `nvrtcResult nvrtcGetProgramLog(nvrtcProgram, char *)`.
            get_program_log: unsafe { get(library, "nvrtcGetProgramLog") }?,
            // SAFETY: `nvrtcResult nvrtcGetPTXSize(nvrtcProgram, size_t *)`.
            get_ptx_size: unsafe { get(library, "nvrtcGetPTXSize") }?,
            // SAFETY: `nvrtcResult nvrtcGetPTX(nvrtcProgram, char *)`.
            get_ptx: unsafe { get(library, "nvrtcGetPTX") }?,
            // SAFETY: `nvrtcResult nvrtcGetCUBINSize(nvrtcProgram, size_t *)`.
            get_cubin_size: unsafe { get(library, "nvrtcGetCUBINSize") }?,
            // SAFETY: `nvrtcResult nvrtcGetCUBIN(nvrtcProgram, char *)`.
            get_cubin: unsafe { get(library, "nvrtcGetCUBIN") }?,
            // SAFETY: `nvrtcResult nvrtcGetLoweredName(nvrtcProgram, const char *, const char **)`.
            get_lowered_name: unsafe { get(library, "nvrtcGetLoweredName") }?,
        })
    }

    /// Turns a result into an error.
    pub(super) fn check(&self, call: &'static str, result: NvrtcResult) -> Result<()> {
        if result == NvrtcResult::SUCCESS {
            return Ok(());
        }
        Err(Error::Nvrtc(NvrtcError::Call {
            call,
            code: result.0,
            name: self.name_of(result),
        }))
    }

    /// NVRTC's name for a result.
    pub(super) fn name_of(&self, result: NvrtcResult) -> String {
        // SAFETY: nvrtcGetErrorString may be asked about any value.
        let text = unsafe { (self.get_error_string)(result) };
        // SAFETY: it answers with a string of the library, which is never unloaded.
        let text = unsafe { CStr::from_ptr(text) };
        text.to_string_lossy().into_owned()
    }

    pub(super) fn version(&self) -> Result<Version> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the out-pointers are valid for the call.
        let result = unsafe { (self.version)(&raw mut major, &raw mut minor) };
        self.check("nvrtcVersion", result)?;
        let number = major
            .saturating_mul(1000)
            .saturating_add(minor.saturating_mul(10));
        Ok(Version(number))
    }

    pub(super) fn architectures(&self) -> Result<Vec<ComputeCapability>> {
        let mut count = 0;
        // SAFETY: the out-pointer is valid for the call.
        let result = unsafe { (self.get_num_supported_archs)(&raw mut count) };
        self.check("nvrtcGetNumSupportedArchs", result)?;
        let mut architectures = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: nvrtcGetSupportedArchs writes as many as nvrtcGetNumSupportedArchs said.
        let result = unsafe { (self.get_supported_archs)(architectures.as_mut_ptr()) };
        self.check("nvrtcGetSupportedArchs", result)?;
        let numbers = architectures.into_iter().map(c_int::unsigned_abs);
        Ok(numbers.map(ComputeCapability::from_number).collect())
    }
}
