//! The driver and its devices.

#![allow(unsafe_code)] // makes driver calls

use super::text;
use crate::error::{Result, Version};
use crate::ffi::*;
use crate::internal::api::Api;
use std::ffi::{c_int, c_void};
use std::mem;

pub(crate) fn init(driver: Api) -> Result<()> {
    // SAFETY: takes a plain value.
    driver.call("cuInit", |s| unsafe { (s.cuInit)(0) })
}

/// The driver's version, asked before there is a [`Driver`]; 0 when it does not say.
///
/// # Safety
/// `address` is null or that of `cuDriverGetVersion`.
pub(crate) unsafe fn driver_version(address: *const c_void) -> Version {
    // SAFETY: the caller promises: `address` is null or that of `cuDriverGetVersion`; `Option` of a
    // function pointer has null for `None`.
    let get = unsafe {
        mem::transmute::<*const c_void, Option<unsafe extern "C" fn(*mut c_int) -> CUresult>>(
            address,
        )
    };
    let mut version = 0;
    if let Some(get) = get {
        // SAFETY: the out-pointer is valid for the call.
        let code = unsafe { get(&raw mut version) };
        if code != CUresult::SUCCESS {
            return Version(0);
        }
    }
    Version(version)
}

pub(crate) fn device_count(driver: Api) -> Result<c_int> {
    let mut count = 0;
    // SAFETY: the out-pointer is valid for the call.
    driver.call("cuDeviceGetCount", |s| unsafe {
        (s.cuDeviceGetCount)(&raw mut count)
    })?;
    Ok(count)
}

pub(crate) fn device_get(driver: Api, ordinal: c_int) -> Result<CUdevice> {
    let mut device = 0;
    // SAFETY: the driver checks the ordinal; the out-pointer is valid for the call.
    driver.call("cuDeviceGet", |s| unsafe {
        (s.cuDeviceGet)(&raw mut device, ordinal)
    })?;
    Ok(device)
}

pub(crate) fn device_name(driver: Api, device: CUdevice) -> Result<String> {
    let mut name = [0; 256];
    let length = name.len() as c_int;
    driver.call("cuDeviceGetName", |s| {
        // SAFETY: the driver checks the device and writes at most `length` bytes, the NUL included.
        unsafe { (s.cuDeviceGetName)(name.as_mut_ptr(), length, device) }
    })?;
    Ok(text(&name))
}

pub(crate) fn device_uuid(driver: Api, device: CUdevice) -> Result<CUuuid> {
    let mut uuid = CUuuid::default();
    // SAFETY: the driver checks the device; the out-pointer is valid for the call.
    driver.call("cuDeviceGetUuid", |s| unsafe {
        (s.cuDeviceGetUuid)(&raw mut uuid, device)
    })?;
    Ok(uuid)
}

pub(crate) fn device_total_mem(driver: Api, device: CUdevice) -> Result<usize> {
    let mut bytes = 0;
    // SAFETY: the driver checks the device; the out-pointer is valid for the call.
    driver.call("cuDeviceTotalMem", |s| unsafe {
        (s.cuDeviceTotalMem)(&raw mut bytes, device)
    })?;
    Ok(bytes)
}

pub(crate) fn device_attribute(
    driver: Api,
    attribute: CUdevice_attribute,
    device: CUdevice,
) -> Result<c_int> {
    let mut value = 0;
    driver.call("cuDeviceGetAttribute", |s| {
        // SAFETY: the driver checks the device and the attribute; the out-pointer is valid for the
        // call.
        unsafe { (s.cuDeviceGetAttribute)(&raw mut value, attribute, device) }
    })?;
    Ok(value)
}

pub(crate) fn device_pci_bus_id(driver: Api, device: CUdevice) -> Result<String> {
    let mut id = [0; 32];
    let length = id.len() as c_int;
    driver.call("cuDeviceGetPCIBusId", |s| {
        // SAFETY: the driver checks the device and writes at most `length` bytes, the NUL included.
        unsafe { (s.cuDeviceGetPCIBusId)(id.as_mut_ptr(), length, device) }
    })?;
    Ok(text(&id))
}

pub(crate) fn device_can_access_peer(
    driver: Api,
    device: CUdevice,
    peer: CUdevice,
) -> Result<bool> {
    let mut can = 0;
    driver.call("cuDeviceCanAccessPeer", |s| {
        // SAFETY: the driver checks both devices; the out-pointer is valid for the call.
        unsafe { (s.cuDeviceCanAccessPeer)(&raw mut can, device, peer) }
    })?;
    Ok(can != 0)
}

pub(crate) fn device_p2p_attribute(
    driver: Api,
    attribute: CUdevice_P2PAttribute,
    device: CUdevice,
    peer: CUdevice,
) -> Result<c_int> {
    let mut value = 0;
    driver.call("cuDeviceGetP2PAttribute", |s| {
        // SAFETY: the driver checks the attribute and both devices; the out-pointer is valid for
        // the call.
        unsafe { (s.cuDeviceGetP2PAttribute)(&raw mut value, attribute, device, peer) }
    })?;
    Ok(value)
}
