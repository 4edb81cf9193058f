//! What the simulated devices say about themselves: an H200's answers, where a program looks at
//! them.

use scoped_cuda_sys::{
    CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
    CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, CUdevice_P2PAttribute, CUdevice_attribute,
};

/// The newest attribute that the simulated driver knows.
const NEWEST: CUdevice_attribute = 150;

/// The most dynamic shared memory of a block, in bytes, when no function attribute raises it.
pub(super) const SHARED_BYTES_MAX: u32 = 49_152;
/// The same, when one does.
pub(super) const SHARED_BYTES_OPTIN: u32 = 232_448;
/// Shared memory of a multiprocessor, in bytes.
pub(super) const SHARED_BYTES_TOTAL: u32 = 233_472;
/// What of it each block costs beside its own, in bytes.
pub(super) const SHARED_BYTES_RESERVED: u32 = 1024;
/// Multiprocessors.
pub(super) const MULTIPROCESSORS: u32 = 132;
/// Threads that a multiprocessor runs at once.
pub(super) const THREADS_TOTAL: u32 = 2048;
/// Threads of a warp.
pub(super) const WARP: u32 = 32;
/// The most threads of a block.
pub(super) const BLOCK_THREADS_MAX: u32 = 1024;
/// The most threads of a block in each dimension.
pub(super) const BLOCK_MAX: [u32; 3] = [1024, 1024, 64];
/// The most blocks of a grid in each dimension.
pub(super) const GRID_MAX: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// An attribute that a machine can be told to lack.
pub(super) const CONCURRENT_MANAGED_ACCESS: CUdevice_attribute = 89;

/// Likewise.
pub(super) const CLUSTER_LAUNCH: CUdevice_attribute = 120;

/// The PCI bus of device number `device` of its machine.
pub(super) fn pci_bus(device: usize) -> i32 {
    device as i32 + 1
}

/// An attribute of the link between two devices, of which the first can access the second or not;
/// `None` for one that the driver does not know.
pub(super) fn peer(attribute: CUdevice_P2PAttribute, has_access: bool) -> Option<i32> {
    match attribute {
        CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK => Some(i32::from(!has_access)),
        CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED
        | CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED => Some(i32::from(has_access)),
        _ => None,
    }
}

/// The value of an attribute; `None` for one that the driver does not know.
pub(super) fn value(attribute: CUdevice_attribute, device: usize) -> Option<i32> {
    let value = match attribute {
        0 => return None,
        1 => BLOCK_THREADS_MAX as i32,
        2 => BLOCK_MAX[0] as i32,
        3 => BLOCK_MAX[1] as i32,
        4 => BLOCK_MAX[2] as i32,
        5 => GRID_MAX[0] as i32,
        6 => GRID_MAX[1] as i32,
        7 => GRID_MAX[2] as i32,
        8 => SHARED_BYTES_MAX as i32,
        9 => 65_536, // constant memory
        10 => WARP as i32,
        11 => i32::MAX,         // pitch
        12 | 82 => 65_536,      // registers
        13 => 1_980_000,        // clock in kHz
        14 => 512,              // texture alignment
        15 | 19 | 31 | 32 => 1, // overlap, mapped host memory, concurrent kernels, ECC
        16 => MULTIPROCESSORS as i32,
        30 => 512, // surface alignment
        33 => pci_bus(device),
        36 => 3_201_000,  // memory clock in kHz
        37 => 6144,       // memory bus in bits
        38 => 62_914_560, // L2 cache
        39 => THREADS_TOTAL as i32,
        40 => 3,      // copy engines
        41 => 1,      // unified addressing
        51 => 32,     // texture pitch alignment
        75 => 9,      // compute capability, major
        76 => 0,      // compute capability, minor
        78..=80 => 1, // stream priorities, L1 caches
        81 => SHARED_BYTES_TOTAL as i32,
        83 => 1,             // managed memory
        85 => device as i32, // group of a multi-GPU board
        87 => 2,             // ratio of single to double precision
        CONCURRENT_MANAGED_ACCESS => 1,
        90..=92 => 1, // preemption, registered pointers
        95 | 98 | 99 | 102 | 103 => 1,
        97 => SHARED_BYTES_OPTIN as i32,
        106 => 32, // blocks of a multiprocessor
        111 => SHARED_BYTES_RESERVED as i32,
        115 => 1, // memory pools
        119 => 1, // pool handle types
        CLUSTER_LAUNCH => 1,
        _ if attribute <= NEWEST => 0,
        _ => return None,
    };
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_attribute_has_a_value_and_no_other() {
        assert!((1..=NEWEST).all(|attribute| value(attribute, 0).is_some()));
        assert_eq!((value(0, 0), value(NEWEST + 1, 0)), (None, None));
        assert_eq!(
            (value(75, 0), value(76, 0), value(33, 1)),
            (Some(9), Some(0), Some(2))
        );
    }
}
