//! A device before there is a context on it.

use crate::attribute::Attribute;
use crate::context::with_primary_context;
use crate::driver::Driver;
use crate::error::Result;
use crate::ffi::{CUdevice, calls};
use crate::host_function;
use std::fmt;

/// A device of a [`Driver`]: an ordinal that can be asked what it is. It carries no brand and needs no context.
///
/// ```
/// # use scoped_cuda::{Attribute, Driver, sim::Simulation};
/// # let driver = Driver::simulated(Simulation::default())?;
/// for device in driver.devices()? {
///     let (major, minor) = device.compute_capability()?;
///     println!("{}: {}, compute capability {major}.{minor}", device.ordinal(), device.name()?);
///     assert_eq!(device.attribute(Attribute::WarpSize)?, 32);
/// }
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Device {
    driver: Driver,
    ordinal: u32,
    raw: CUdevice,
}

impl Device {
    pub(crate) fn new(driver: Driver, ordinal: u32, raw: CUdevice) -> Self {
        Self {
            driver,
            ordinal,
            raw,
        }
    }

    /// The driver that has this device.
    #[must_use]
    pub fn driver(self) -> Driver {
        self.driver
    }

    /// The device's number, from 0.
    #[must_use]
    pub fn ordinal(self) -> u32 {
        self.ordinal
    }

    /// The driver's own name for the device.
    #[must_use]
    pub fn as_raw(self) -> CUdevice {
        self.raw
    }

    /// The product's name (`cuDeviceGetName`).
    ///
    /// # Errors
    /// What the driver returns.
    pub fn name(self) -> Result<String> {
        host_function::not_inside()?;
        calls::device_name(self.driver, self.raw)
    }

    /// 16 bytes that identify this GPU, or this MIG instance, across reboots and processes (`cuDeviceGetUuid`).
    ///
    /// # Errors
    /// What the driver returns.
    pub fn uuid(self) -> Result<Uuid> {
        host_function::not_inside()?;
        calls::device_uuid(self.driver, self.raw).map(|uuid| Uuid(uuid.bytes))
    }

    /// Major and minor compute capability (`cuDeviceGetAttribute`).
    ///
    /// # Errors
    /// What the driver returns.
    pub fn compute_capability(self) -> Result<(u32, u32)> {
        let part = |attribute| self.attribute(attribute).map(i32::unsigned_abs);
        Ok((
            part(Attribute::ComputeCapabilityMajor)?,
            part(Attribute::ComputeCapabilityMinor)?,
        ))
    }

    /// The device's memory in bytes (`cuDeviceTotalMem`).
    ///
    /// # Errors
    /// What the driver returns.
    pub fn total_memory(self) -> Result<usize> {
        host_function::not_inside()?;
        calls::device_total_mem(self.driver, self.raw)
    }

    /// The device's free memory in bytes, at this moment, for all processes (`cuMemGetInfo`).
    ///
    /// The driver only answers this with a context: outside a `with_device` of this device the call makes one for itself, which
    /// takes about 0.2 s. Inside, [`Context::free_memory`](crate::Context::free_memory) is the same number.
    ///
    /// # Errors
    /// What the driver returns.
    pub fn free_memory(self) -> Result<usize> {
        host_function::not_inside()?;
        with_primary_context(self, |ctx| ctx.free_memory())
    }

    /// Where the device is on the PCI bus, as `domain:bus:device.function` (`cuDeviceGetPCIBusId`).
    ///
    /// # Errors
    /// What the driver returns.
    pub fn pci_bus_id(self) -> Result<String> {
        host_function::not_inside()?;
        calls::device_pci_bus_id(self.driver, self.raw)
    }

    /// An attribute, in the unit that `cuda.h` gives it (`cuDeviceGetAttribute`).
    ///
    /// # Errors
    /// What the driver returns; `CUDA_ERROR_INVALID_VALUE` for an attribute newer than the driver.
    pub fn attribute(self, attribute: Attribute) -> Result<i32> {
        host_function::not_inside()?;
        calls::device_attribute(self.driver, attribute as u32, self.raw)
    }

    /// Whether this device can read and write the memory of `peer` directly (`cuDeviceCanAccessPeer`). Not always mutual.
    ///
    /// # Errors
    /// What the driver returns.
    pub fn can_access(self, peer: Self) -> Result<bool> {
        host_function::not_inside()?;
        calls::device_can_access_peer(self.driver, self.raw, peer.raw)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.ordinal)
    }
}

/// The identity of a device. Displays in the usual form, `GPU-8-4-4-4-12` hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Uuid(pub [u8; 16]);

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GPU")?;
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 0 | 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}
