//! The driver itself and its devices.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::{Out, call};
use crate::attributes;
use crate::machine::Outcome;
use crate::registry::Named;
use scoped_cuda_sys::{
    CUdevice, CUdevice_P2PAttribute, CUdevice_attribute, CUresult, CUuuid, RESULTS,
};
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_uint};
use std::ptr;
use std::sync::LazyLock;

/// Name and text of each code.
static TEXTS: LazyLock<HashMap<c_uint, (CString, CString)>> = LazyLock::new(|| {
    let success = [("CUDA_SUCCESS", CUresult::SUCCESS)];
    let all = success.iter().chain(RESULTS);
    all.map(|&(name, code)| (code.0, (c_string(name), c_string(&text_of(name)))))
        .collect()
});

fn text_of(name: &str) -> String {
    let plain = name
        .trim_start_matches("CUDA_ERROR_")
        .trim_start_matches("CUDA_");
    if plain == "SUCCESS" {
        "no error".to_owned()
    } else {
        plain.to_lowercase().replace('_', " ")
    }
}

fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

pub(super) unsafe extern "C" fn cuInit(flags: c_uint) -> CUresult {
    call("cuInit", Named::Nothing, |machine, mut state| match flags {
        0 if machine.devices() == 0 => Err(CUresult::NO_DEVICE),
        0 => {
            state.is_initialized = true;
            Ok(())
        }
        _ => Err(CUresult::INVALID_VALUE),
    })
}

pub(super) unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> CUresult {
    // SAFETY: null or valid for the call.
    let version = unsafe { Out::new(version) };
    call("cuDriverGetVersion", Named::Nothing, |machine, _| {
        version?.set(machine.simulation().version)
    })
}

pub(super) unsafe extern "C" fn cuGetErrorName(
    error: CUresult,
    name: *mut *const c_char,
) -> CUresult {
    // SAFETY: null or valid for the call.
    text(error, unsafe { Out::new(name) }, |(name, _)| name)
}

pub(super) unsafe extern "C" fn cuGetErrorString(
    error: CUresult,
    string: *mut *const c_char,
) -> CUresult {
    // SAFETY: null or valid for the call.
    text(error, unsafe { Out::new(string) }, |(_, text)| text)
}

fn text(
    error: CUresult,
    out: Outcome<Out<*const c_char>>,
    pick: fn(&(CString, CString)) -> &CString,
) -> CUresult {
    let found = TEXTS.get(&error.0).map(pick);
    let set = out.and_then(|out| out.set(found.map_or(ptr::null(), |text| text.as_ptr())));
    match set {
        Ok(()) if found.is_some() => CUresult::SUCCESS,
        _ => CUresult::INVALID_VALUE,
    }
}

pub(super) unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> CUresult {
    // SAFETY: null or valid for the call.
    let count = unsafe { Out::new(count) };
    call("cuDeviceGetCount", Named::Nothing, |machine, _| {
        count?.set(machine.devices() as c_int)
    })
}

pub(super) unsafe extern "C" fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int) -> CUresult {
    // SAFETY: null or valid for the call.
    let device = unsafe { Out::new(device) };
    call("cuDeviceGet", Named::Device(ordinal), |machine, _| {
        let found = machine.device(ordinal)?;
        device?.set(machine.ordinal(found))
    })
}

pub(super) unsafe extern "C" fn cuDeviceGetName(
    name: *mut c_char,
    length: c_int,
    device: CUdevice,
) -> CUresult {
    call("cuDeviceGetName", Named::Device(device), |machine, _| {
        machine.device(device)?;
        // SAFETY: the caller gives room for `length` bytes.
        unsafe { write_text(name, length, "Simulated GPU", true) }
    })
}

pub(super) unsafe extern "C" fn cuDeviceGetUuid(uuid: *mut CUuuid, device: CUdevice) -> CUresult {
    // SAFETY: null or valid for the call.
    let uuid = unsafe { Out::new(uuid) };
    call("cuDeviceGetUuid", Named::Device(device), |machine, _| {
        let number = machine.device(device)? as u32;
        let mut bytes = *b"simulated\0\0\0\0\0\0\0";
        bytes[10..14].copy_from_slice(&machine.index().to_be_bytes());
        bytes[14..].copy_from_slice(&(number as u16).to_be_bytes());
        uuid?.set(CUuuid { bytes })
    })
}

pub(super) unsafe extern "C" fn cuDeviceTotalMem(bytes: *mut usize, device: CUdevice) -> CUresult {
    // SAFETY: null or valid for the call.
    let bytes = unsafe { Out::new(bytes) };
    call("cuDeviceTotalMem", Named::Device(device), |machine, _| {
        machine.device(device)?;
        bytes?.set(machine.simulation().memory)
    })
}

pub(super) unsafe extern "C" fn cuDeviceGetAttribute(
    value: *mut c_int,
    attribute: CUdevice_attribute,
    device: CUdevice,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let value = unsafe { Out::new(value) };
    call(
        "cuDeviceGetAttribute",
        Named::Device(device),
        |machine, _| {
            let number = machine.device(device)?;
            let known = attributes::value(attribute, number).ok_or(CUresult::INVALID_VALUE)?;
            let is_lacking = match attribute {
                attributes::CONCURRENT_MANAGED_ACCESS => {
                    !machine.simulation().concurrent_managed_access
                }
                attributes::CLUSTER_LAUNCH => !machine.simulation().clusters,
                _ => false,
            };
            value?.set(if is_lacking { 0 } else { known })
        },
    )
}

pub(super) unsafe extern "C" fn cuDeviceGetPCIBusId(
    id: *mut c_char,
    length: c_int,
    device: CUdevice,
) -> CUresult {
    call(
        "cuDeviceGetPCIBusId",
        Named::Device(device),
        |machine, _| {
            let bus = attributes::pci_bus(machine.device(device)?);
            // SAFETY: the caller gives room for `length` bytes.
            unsafe { write_text(id, length, &format!("0000:{bus:02X}:00.0"), false) }
        },
    )
}

pub(super) unsafe extern "C" fn cuDeviceCanAccessPeer(
    can: *mut c_int,
    device: CUdevice,
    peer: CUdevice,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let can = unsafe { Out::new(can) };
    call(
        "cuDeviceCanAccessPeer",
        Named::Device(device),
        |machine, _| {
            let (from, to) = (machine.device(device)?, machine.device(peer)?);
            can?.set(c_int::from(machine.simulation().peers.allow(from, to)))
        },
    )
}

pub(super) unsafe extern "C" fn cuDeviceGetP2PAttribute(
    value: *mut c_int,
    attribute: CUdevice_P2PAttribute,
    device: CUdevice,
    peer: CUdevice,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let value = unsafe { Out::new(value) };
    call(
        "cuDeviceGetP2PAttribute",
        Named::Device(device),
        |machine, _| {
            let (from, to) = (machine.device(device)?, machine.device(peer)?);
            if from == to {
                return Err(CUresult::INVALID_DEVICE);
            }
            let answer = attributes::peer(attribute, machine.simulation().peers.allow(from, to));
            value?.set(answer.ok_or(CUresult::INVALID_VALUE)?)
        },
    )
}

/// Writes a text with its NUL into a caller's array; one that is too long is cut or refused.
///
/// # Safety
/// `to` is null or has room for `length` bytes.
unsafe fn write_text(to: *mut c_char, length: c_int, text: &str, may_cut: bool) -> Outcome {
    let room = usize::try_from(length)
        .ok()
        .and_then(|length| length.checked_sub(1))
        .ok_or(CUresult::INVALID_VALUE)?;
    if to.is_null() || text.len() > room && !may_cut {
        return Err(CUresult::INVALID_VALUE);
    }
    let used = text.len().min(room);
    // SAFETY: room for `length` bytes (the caller's promise), of which these are at most all but
    // one.
    unsafe { ptr::copy_nonoverlapping(text.as_ptr(), to.cast::<u8>(), used) };
    // SAFETY: `used` is less than `length`.
    let end = unsafe { to.add(used) };
    // SAFETY: as above, this is one of the `length` bytes.
    unsafe { end.write(0) };
    Ok(())
}
