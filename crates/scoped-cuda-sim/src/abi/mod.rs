//! The entry points, with the signatures of `cuda.h`, and how they are found.
//!
//! Each is thin: it enters the machine that its arguments name, looks up the objects, and acts on
//! them. What a function says about pointers in its SAFETY comments are the promises that every
//! caller of the C function makes: a pointer is null or valid for the call.

#![allow(unsafe_code)] // writes through the out-pointers of C callers

mod capture;
mod context;
mod driver_device;
mod graph;
mod host;
mod jit;
mod kernel;
mod linker;
mod memory;
mod module;
mod occupancy;
mod rows;
mod stream;

use super::machine::{Machine, Outcome, State};
use super::registry::Named;
use scoped_cuda_sys::{CUresult, SYMBOLS, Symbols};
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::MutexGuard;

use capture::*;
use context::*;
use driver_device::*;
use graph::*;
use host::*;
pub(super) use jit::Jit;
use kernel::*;
use linker::*;
use memory::*;
use module::*;
use occupancy::*;
use rows::*;
use stream::*;

macro_rules! entry_points {
    (
        required { $($required:ident)* }
        optional { $($optional:ident)* }
        more { $($more:ident from $since:literal before $until:literal;)* }
    ) => {
        /// The signatures are those of the symbol table, which is compared with `cuda.h`.
        const _: Symbols = Symbols { $($required,)* $($optional: Some($optional),)* };

        /// The entry point of this name in the version that a caller of CUDA `version` expects;
        /// null when there is none.
        pub(super) fn address(name: &str, version: c_int) -> *const c_void {
            let (since, until, address) = match name {
                $(stringify!($required) => (since(name), c_int::MAX, $required as *const c_void),)*
                $(stringify!($optional) => (since(name), c_int::MAX, $optional as *const c_void),)*
                $(stringify!($more) => ($since, $until, $more as *const c_void),)*
                _ => return std::ptr::null(),
            };
            if (since..until).contains(&version) { address } else { std::ptr::null() }
        }
    };
}

entry_points! {
    required {
        cuInit cuDriverGetVersion cuGetErrorName cuGetErrorString
        cuDeviceGetCount cuDeviceGet cuDeviceGetName cuDeviceGetUuid cuDeviceTotalMem cuDeviceGetAttribute
        cuDeviceGetPCIBusId cuDeviceCanAccessPeer cuDeviceGetP2PAttribute
        cuDevicePrimaryCtxRetain cuDevicePrimaryCtxRelease cuCtxGetCurrent cuCtxPushCurrent cuCtxPopCurrent cuCtxGetId
        cuCtxGetStreamPriorityRange cuMemGetInfo
        cuMemPoolCreate cuMemPoolDestroy cuMemPoolSetAttribute cuMemPoolGetAttribute cuMemPoolTrimTo cuMemPoolSetAccess
        cuMemAllocFromPoolAsync cuMemFreeAsync
        cuMemcpyHtoDAsync cuMemcpyDtoHAsync cuMemcpyDtoDAsync cuMemcpyPeerAsync
        cuMemsetD8Async cuMemsetD16Async cuMemsetD32Async
        cuMemcpy2DAsync cuMemcpy3DAsync cuMemcpy3DPeerAsync cuMemsetD2D8Async cuMemsetD2D16Async cuMemsetD2D32Async
        cuStreamCreate cuStreamCreateWithPriority cuStreamDestroy cuStreamSynchronize cuStreamQuery cuStreamWaitEvent
        cuThreadExchangeStreamCaptureMode
        cuEventCreate cuEventDestroy cuEventRecord cuEventQuery cuEventSynchronize cuEventElapsedTime cuLaunchHostFunc
        cuMemHostAlloc cuMemFreeHost cuMemHostGetDevicePointer cuMemHostRegister cuMemHostUnregister
        cuMemAllocManaged cuMemFree
        cuLinkCreate cuLinkAddData cuLinkComplete cuLinkDestroy
        cuModuleLoadDataEx cuModuleUnload cuModuleGetFunction cuModuleGetGlobal cuFuncGetAttribute cuFuncSetAttribute
        cuFuncSetCacheConfig cuLaunchKernelEx
        cuOccupancyMaxActiveBlocksPerMultiprocessor
        cuOccupancyMaxPotentialClusterSize cuOccupancyMaxActiveClusters
        cuGraphCreate cuGraphDestroy cuGraphAddKernelNode cuGraphAddMemcpyNode cuGraphAddMemsetNode cuGraphAddEmptyNode
        cuGraphInstantiateWithFlags cuGraphExecDestroy cuGraphUpload cuGraphLaunch cuGraphExecKernelNodeSetParams
        cuGraphNodeSetEnabled cuGraphNodeGetEnabled
    }
    optional { cuFuncGetParamInfo cuFuncGetParamCount cuMemPrefetchAsync cuMemAdvise }
    // What the crate does not call, for programs and tests that make raw calls. Later signatures
    // are not simulated.
    more {
        cuDevicePrimaryCtxGetState from 7000 before 99_990;
        cuDevicePrimaryCtxSetFlags from 11_000 before 99_990;
        cuDevicePrimaryCtxReset from 11_000 before 99_990;
        cuCtxCreate from 3020 before 11_040;
        cuCtxDestroy from 4000 before 99_990;
        cuCtxSetCurrent from 4000 before 99_990;
        cuCtxSynchronize from 2000 before 13_000;
        cuCtxEnablePeerAccess from 4000 before 99_990;
        cuCtxDisablePeerAccess from 4000 before 99_990;
        cuMemAlloc from 3020 before 99_990;
        cuMemcpyHtoD from 3020 before 99_990;
        cuMemcpyDtoH from 3020 before 99_990;
        cuLaunchKernel from 4000 before 99_990;
        cuPointerGetAttribute from 4000 before 99_990;
        cuStreamGetCtx from 9020 before 12_050;
        cuStreamGetPriority from 5050 before 99_990;
        cuStreamBeginCapture from 10_010 before 99_990;
        cuStreamEndCapture from 10_000 before 99_990;
        cuStreamIsCapturing from 10_000 before 99_990;
    }
}

fn since(name: &str) -> c_int {
    SYMBOLS
        .iter()
        .find(|symbol| symbol.name == name)
        .map_or(c_int::MAX, |symbol| symbol.version)
}

/// Makes a call: on the machine that it names, when that lets it take place.
fn call(
    name: &'static str,
    named: Named,
    act: impl for<'a> FnOnce(&'a Machine, MutexGuard<'a, State>) -> Outcome,
) -> CUresult {
    let machine = named.machine();
    let outcome = machine.enter(name).and_then(|state| act(&machine, state));
    outcome.err().unwrap_or(CUresult::SUCCESS)
}

/// Where a caller wants a result.
struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// # Errors
    /// `INVALID_VALUE` for null.
    ///
    /// # Safety
    /// The pointer is null, or valid for a write until the call returns.
    unsafe fn new(pointer: *mut T) -> Outcome<Self> {
        NonNull::new(pointer)
            .map(Self)
            .ok_or(CUresult::INVALID_VALUE)
    }

    fn set(self, value: T) -> Outcome {
        // SAFETY: valid for a write (the promise of `new`); each is written at most once, during
        // the call.
        unsafe { self.0.write(value) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulation;

    #[test]
    fn every_symbol_of_the_table_is_there_in_its_version_and_no_older_one() {
        let machine = Machine::start(Simulation::default().version(13_050));
        for symbol in SYMBOLS {
            let address = |version| machine.address(symbol.name, version);
            assert!(!address(symbol.version).is_null(), "{}", symbol.name);
            assert!(address(symbol.version - 10).is_null(), "{}", symbol.name);
            assert!(address(13_060).is_null(), "{}", symbol.name);
        }
        assert!(machine.address("cuNothing", 12_000).is_null());
        assert!(machine.address("cuStreamGetCtx", 12_050).is_null());
    }

    #[test]
    fn an_older_driver_lacks_newer_symbols_and_any_driver_those_it_is_told_to_lack() {
        let machine = Machine::start(Simulation::default().version(12_030).missing(&["cuInit"]));
        assert!(machine.address("cuFuncGetParamInfo", 12_040).is_null());
        assert!(machine.address("cuInit", 2000).is_null());
        assert!(!machine.address("cuCtxGetId", 12_000).is_null());
    }
}
