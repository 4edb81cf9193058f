//! Which memory a piece of work touches, and how.

use crate::ffi::CUdeviceptr;

/// Memory that a piece of work touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    pub(crate) address: CUdeviceptr,
    pub(crate) bytes: u64,
    pub(crate) is_written: bool,
}

impl Use {
    pub(crate) fn read<T>(address: CUdeviceptr, len: usize) -> Self {
        Self {
            address,
            // Memory that exists is smaller than the address space.
            bytes: (len as u64).saturating_mul(size_of::<T>() as u64),
            is_written: false,
        }
    }

    pub(crate) fn write<T>(address: CUdeviceptr, len: usize) -> Self {
        Self {
            is_written: true,
            ..Self::read::<T>(address, len)
        }
    }

    pub(crate) fn end(&self) -> CUdeviceptr {
        self.address.saturating_add(self.bytes)
    }

    /// Whether work that is ordered as `self` asks may touch `other` too.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let is_inside = self.address <= other.address && other.end() <= self.end();
        other.bytes == 0 || is_inside && (self.is_written || !other.is_written)
    }
}
