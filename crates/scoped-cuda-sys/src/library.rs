//! Opening the driver library and asking it for its entry points.

#![allow(unsafe_code)] // loads a library and calls through addresses it gave

use crate::types::*;
use crate::{LoadError, Version};
use libloading::Library;
use std::ffi::{CString, c_char, c_int, c_ulonglong, c_void};
use std::ptr;

type GetProcAddress = unsafe extern "C" fn(
    symbol: *const c_char,
    address: *mut *mut c_void,
    version: c_int,
    flags: c_ulonglong,
    status: *mut CUdriverProcAddressQueryResult,
) -> CUresult;

/// The oldest driver this crate works with.
pub const MINIMUM_VERSION: Version = Version(12_000);

/// Where the driver library is looked for, in this order.
pub const DRIVER_NAMES: &[&str] = if cfg!(windows) {
    &["nvcuda.dll"]
} else {
    &[
        "libcuda.so.1",
        "libcuda.so",
        "/usr/lib/wsl/lib/libcuda.so.1",
    ]
};

/// Opens the first of `names` that is there and returns the way to its entry points.
///
/// # Errors
/// [`LoadError::NoDriver`], [`LoadError::DriverTooOld`] or [`LoadError::SymbolMissing`].
///
/// # Safety
/// A library found under one of the names is a CUDA driver.
pub unsafe fn open(names: &[&str]) -> Result<GetAddress, LoadError> {
    let mut tried = Vec::new();
    for name in names {
        // SAFETY: the library is a CUDA driver (the caller's promise), whose initialisers may run
        // on any thread.
        match unsafe { Library::new(name) } {
            Err(error) => tried.push(format!("{name} ({error})")),
            // Never unloaded: its code may still run on threads of its own, and every handle points
            // into it.
            Ok(library) => return from_library(Box::leak(Box::new(library))),
        }
    }
    Err(LoadError::NoDriver { tried })
}

/// Looks up an entry point by name and version; null when the driver does not have it.
#[derive(Clone, Copy)]
pub struct GetAddress(GetProcAddress);

impl GetAddress {
    /// The address of entry point `name` in `version`; null when the driver has none.
    pub fn get(self, name: &str, version: c_int) -> *const c_void {
        let Ok(name) = CString::new(name) else {
            return ptr::null();
        };
        let mut address = ptr::null_mut();
        let mut status = 0;
        // SAFETY: the signature is that of CUDA 12.0, asked for by its exact name; the pointers are
        // valid for the call.
        let code =
            unsafe { (self.0)(name.as_ptr(), &raw mut address, version, 0, &raw mut status) };
        if code == CUresult::SUCCESS {
            address
        } else {
            ptr::null()
        }
    }
}

fn from_library(library: &'static Library) -> Result<GetAddress, LoadError> {
    // The version first and by plain lookup: a driver too old for cuGetProcAddress_v2 still gets a
    // useful answer.
    let mut version = 0;
    // SAFETY: cuda.h declares `CUresult cuDriverGetVersion(int *)`, unchanged since CUDA 2.2.
    if let Ok(get) = unsafe {
        library.get::<unsafe extern "C" fn(*mut c_int) -> CUresult>(b"cuDriverGetVersion\0")
    } {
        // SAFETY: the pointer is valid for the call; the call needs no initialisation.
        let _ = unsafe { get(&raw mut version) };
    }
    let found = Version(version);
    if found < MINIMUM_VERSION {
        return Err(LoadError::DriverTooOld {
            needs: MINIMUM_VERSION,
            found,
        });
    }
    // SAFETY: cuda.h declares this versioned name with exactly the signature of `GetProcAddress`.
    let get = unsafe { library.get::<GetProcAddress>(b"cuGetProcAddress_v2\0") }.map_err(|_| {
        LoadError::SymbolMissing {
            name: "cuGetProcAddress_v2",
            needs: MINIMUM_VERSION,
            driver: Some(found),
        }
    })?;
    Ok(GetAddress(*get))
}
