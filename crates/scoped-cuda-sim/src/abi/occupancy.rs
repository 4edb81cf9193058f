//! Occupancy.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::kernel::{function_handle, read_config};
use super::{Out, call};
use crate::occupancy;
use crate::registry::Named;
use scoped_cuda_sys::*;
use std::ffi::c_int;

pub(super) unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    function: CUfunction,
    threads: c_int,
    shared_bytes: usize,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let blocks = unsafe { Out::new(blocks) };
    call(
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        Named::Current,
        |_, state| {
            state.current()?;
            let function = state.function(function_handle(function))?;
            let threads = u64::try_from(threads).map_err(|_| CUresult::INVALID_VALUE)?;
            if threads == 0 {
                return Err(CUresult::INVALID_VALUE);
            }
            // The low 32 bits, as a signed number: so the real one reads it.
            let shared_bytes = (shared_bytes as u32 as i32).max(0).unsigned_abs();
            let found = occupancy::active_blocks(function, threads, u64::from(shared_bytes));
            blocks?.set(found as c_int)
        },
    )
}

pub(super) unsafe extern "C" fn cuOccupancyMaxPotentialClusterSize(
    blocks: *mut c_int,
    function: CUfunction,
    config: *const CUlaunchConfig,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let blocks = unsafe { Out::new(blocks) };
    call(
        "cuOccupancyMaxPotentialClusterSize",
        Named::Current,
        |_, state| {
            state.current()?;
            // SAFETY: null, or valid with as many attributes as it says.
            let (shape, _) = unsafe { read_config(config) }?;
            let function = state.function(function_handle(function))?;
            blocks?.set(occupancy::max_cluster_of(function, shape)? as c_int)
        },
    )
}

pub(super) unsafe extern "C" fn cuOccupancyMaxActiveClusters(
    clusters: *mut c_int,
    function: CUfunction,
    config: *const CUlaunchConfig,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let clusters = unsafe { Out::new(clusters) };
    call(
        "cuOccupancyMaxActiveClusters",
        Named::Current,
        |_, state| {
            state.current()?;
            // SAFETY: null, or valid with as many attributes as it says.
            let (shape, _) = unsafe { read_config(config) }?;
            let function = state.function(function_handle(function))?;
            clusters?.set(occupancy::active_clusters(function, shape)? as c_int)
        },
    )
}
