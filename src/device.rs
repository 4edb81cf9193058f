//! A device before there is a context on it.

use crate::attribute::Attribute;
use crate::compute_capability::ComputeCapability;
use crate::error::Result;
use crate::ffi::{
    CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK,
    CUdevice, CUdevice_P2PAttribute,
};
use crate::internal::api::Api;
use crate::internal::calls;
use crate::internal::inside;
use std::fmt;

/// A device of a [`Driver`](crate::Driver): an ordinal that can be asked what it is. It carries no
/// brand and needs no context.
///
/// ```
/// # use scoped_cuda::{Attribute, Driver, sim::Simulation};
/// # let driver = Driver::simulated(Simulation::default())?;
/// for device in driver.devices()? {
///     println!("{}: compute capability {}", device.name()?, device.compute_capability()?);
///     assert_eq!(device.attribute(Attribute::WarpSize)?, 32);
/// }
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Device {
    api: Api,
    ordinal: u32,
    raw: CUdevice,
}

static_assertions::assert_impl_all!(Device: Copy, Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);

impl Device {
    pub(crate) fn new(api: Api, ordinal: u32, raw: CUdevice) -> Self {
        Self { api, ordinal, raw }
    }

    pub(crate) fn api(self) -> Api {
        self.api
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
    #[doc(alias = "cuDeviceGetName")]
    pub fn name(self) -> Result<String> {
        inside::not_inside()?;
        calls::device_name(self.api, self.raw)
    }

    /// 16 bytes that identify this GPU, or this MIG instance, across reboots and processes
    /// (`cuDeviceGetUuid`).
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuDeviceGetUuid")]
    pub fn uuid(self) -> Result<Uuid> {
        inside::not_inside()?;
        calls::device_uuid(self.api, self.raw).map(|uuid| Uuid(uuid.bytes))
    }

    /// The compute capability (`cuDeviceGetAttribute`).
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuDeviceGetAttribute")]
    pub fn compute_capability(self) -> Result<ComputeCapability> {
        let part = |attribute| self.attribute(attribute).map(i32::unsigned_abs);
        Ok(ComputeCapability::new(
            part(Attribute::ComputeCapabilityMajor)?,
            part(Attribute::ComputeCapabilityMinor)?,
        ))
    }

    /// The device's memory in bytes (`cuDeviceTotalMem`).
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuDeviceTotalMem")]
    pub fn total_memory_bytes(self) -> Result<usize> {
        inside::not_inside()?;
        calls::device_total_mem(self.api, self.raw)
    }

    /// Where the device is on the PCI bus, as `domain:bus:device.function` (`cuDeviceGetPCIBusId`).
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuDeviceGetPCIBusId")]
    pub fn pci_bus_id(self) -> Result<String> {
        inside::not_inside()?;
        calls::device_pci_bus_id(self.api, self.raw)
    }

    /// An attribute, in the unit that `cuda.h` gives it (`cuDeviceGetAttribute`).
    ///
    /// # Errors
    /// What the driver returns; `CUDA_ERROR_INVALID_VALUE` for an attribute newer than the driver.
    #[doc(alias = "cuDeviceGetAttribute")]
    pub fn attribute(self, attribute: Attribute) -> Result<i32> {
        inside::not_inside()?;
        calls::device_attribute(self.api, attribute as u32, self.raw)
    }

    /// Whether this device can read and write the memory of `peer` directly
    /// (`cuDeviceCanAccessPeer`). Not always mutual.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuDeviceCanAccessPeer")]
    pub fn can_access(self, peer: Self) -> Result<bool> {
        inside::not_inside()?;
        calls::device_can_access_peer(self.api, self.raw, peer.raw)
    }

    /// How good the link to `peer` is, compared with other links of this machine: 0 is the best, a
    /// higher number a slower one (`cuDeviceGetP2PAttribute`). The numbers are the driver's and
    /// have no unit; [`can_access`](Self::can_access) says whether there is a direct link at all.
    ///
    /// # Errors
    /// What the driver returns; `CUDA_ERROR_INVALID_DEVICE` when `peer` is this device.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default().devices(3))?;
    /// let (first, others) = (driver.device(0)?, driver.devices()?.split_off(1));
    /// let mut ranked = Vec::new();
    /// for peer in others {
    ///     if first.can_access(peer)? {
    ///         ranked.push((first.peer_performance_rank(peer)?, peer.ordinal()));
    ///     }
    /// }
    /// ranked.sort();
    /// println!("the best neighbour of device 0: {:?}", ranked.first());
    /// # assert_eq!(ranked, [(0, 1), (0, 2)]);
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuDeviceGetP2PAttribute")]
    pub fn peer_performance_rank(self, peer: Self) -> Result<i32> {
        self.peer_attribute(peer, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK)
    }

    /// Whether every atomic operation of CUDA works over the link to `peer`, on the other device's
    /// memory (`cuDeviceGetP2PAttribute`). Without it, a kernel that uses them on peer memory
    /// cannot rely on them.
    ///
    /// # Errors
    /// What the driver returns; `CUDA_ERROR_INVALID_DEVICE` when `peer` is this device.
    #[doc(alias = "cuDeviceGetP2PAttribute")]
    pub fn peer_atomics(self, peer: Self) -> Result<bool> {
        self.peer_attribute(peer, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED)
            .map(|value| value != 0)
    }

    fn peer_attribute(self, peer: Self, attribute: CUdevice_P2PAttribute) -> Result<i32> {
        inside::not_inside()?;
        calls::device_p2p_attribute(self.api, attribute, self.raw, peer.raw)
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
