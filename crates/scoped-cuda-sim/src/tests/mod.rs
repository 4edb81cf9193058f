//! The simulated driver as a C program sees it: through the table of entry points.

#![allow(unsafe_code)] // raw driver calls

/// Calls an entry point of the table.
macro_rules! cu {
    ($program:expr, $name:ident $(, $argument:expr)*) => {
        // SAFETY: the pointers are null or valid for the call.
        unsafe { ($program.cu.$name)($($argument),*) }
    };
}

/// Calls an entry point that the table does not have.
macro_rules! more {
    ($program:expr, $name:ident $version:literal ($($type:ty),*) $(, $argument:expr)*) => {{
        let address = $program.machine.address(stringify!($name), $version);
        assert!(!address.is_null());
        // SAFETY: the signature is that of cuda.h.
        let call = unsafe { mem::transmute::<*const c_void, unsafe extern "C" fn($($type),*) -> CUresult>(address) };
        // SAFETY: the pointers are null or valid for the call.
        unsafe { call($($argument),*) }
    }};
}

mod context;
mod host;
mod kernel;
mod machine;
mod memory;
mod stream;

use super::*;
use scoped_cuda_sys::*;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::mpsc;
use std::{mem, ptr};

const PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .visible .entry add(.param .u64 to, .param .u32 n, .param .u32 by) .maxntid 256 { ret; }";

/// A machine, its entry points, and a context stack that must be empty in the end.
struct Program {
    machine: Machine,
    cu: Symbols,
}

impl Drop for Program {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.machine.stack_depth(), 0);
        }
    }
}

#[track_caller]
fn ok(code: CUresult) {
    assert_eq!(code, CUresult::SUCCESS);
}

fn program(simulation: Simulation) -> Program {
    let machine = Machine::start(simulation);
    machine.select();
    // SAFETY: the machine gives addresses of functions with the table's signatures.
    let cu =
        unsafe { Symbols::resolve(|symbol| machine.address(symbol.name, symbol.version)) }.unwrap();
    let program = Program { machine, cu };
    ok(cu!(program, cuInit, 0));
    program
}

/// A machine whose work runs only when somebody waits for it.
fn patient() -> Program {
    program(Simulation::default().latency(Duration::MAX))
}

impl Program {
    fn device(&self, ordinal: c_int) -> CUdevice {
        self.machine.first_ordinal() + ordinal
    }

    fn retain(&self, ordinal: c_int) -> CUcontext {
        let mut context = CUcontext::NULL;
        ok(cu!(
            self,
            cuDevicePrimaryCtxRetain,
            &raw mut context,
            self.device(ordinal)
        ));
        context
    }

    fn release(&self, ordinal: c_int) -> CUresult {
        cu!(self, cuDevicePrimaryCtxRelease, self.device(ordinal))
    }

    /// Runs `f` with a context current.
    fn within<R>(&self, context: CUcontext, f: impl FnOnce() -> R) -> R {
        ok(cu!(self, cuCtxPushCurrent, context));
        let result = f();
        ok(cu!(self, cuCtxPopCurrent, ptr::null_mut()));
        result
    }

    fn stream(&self, context: CUcontext) -> CUstream {
        let mut stream = CUstream::NULL;
        self.within(context, || {
            ok(cu!(
                self,
                cuStreamCreate,
                &raw mut stream,
                CU_STREAM_NON_BLOCKING
            ))
        });
        stream
    }

    fn event(&self, context: CUcontext) -> CUevent {
        let mut event = CUevent::NULL;
        self.within(context, || {
            ok(cu!(
                self,
                cuEventCreate,
                &raw mut event,
                CU_EVENT_DISABLE_TIMING
            ))
        });
        event
    }

    fn plain(&self, context: CUcontext, bytes: usize) -> CUdeviceptr {
        let mut address = 0;
        self.within(context, || {
            ok(more!(self, cuMemAlloc 3020 (*mut u64, usize), &raw mut address, bytes))
        });
        address
    }

    fn pool(&self, ordinal: c_int) -> CUmemoryPool {
        let properties = CUmemPoolProps {
            allocType: CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: 0,
            location: CUmemLocation {
                type_: CU_MEM_LOCATION_TYPE_DEVICE,
                id: self.device(ordinal),
            },
            win32SecurityAttributes: ptr::null_mut(),
            maxSize: 0,
            usage: 0,
            reserved: [0; 54],
        };
        let mut pool = CUmemoryPool::NULL;
        ok(cu!(
            self,
            cuMemPoolCreate,
            &raw mut pool,
            &raw const properties
        ));
        pool
    }

    fn allocate(&self, pool: CUmemoryPool, stream: CUstream, bytes: usize) -> CUdeviceptr {
        let mut address = 0;
        ok(cu!(
            self,
            cuMemAllocFromPoolAsync,
            &raw mut address,
            bytes,
            pool,
            stream
        ));
        address
    }

    fn sync(&self, stream: CUstream) -> CUresult {
        cu!(self, cuStreamSynchronize, stream)
    }

    /// The bytes of plain memory.
    fn read(&self, address: CUdeviceptr, stream: CUstream) -> [u8; 4] {
        let mut bytes = [0; 4];
        ok(cu!(
            self,
            cuMemcpyDtoHAsync,
            (&raw mut bytes).cast(),
            address,
            4,
            stream
        ));
        bytes
    }

    fn launch(&self, function: CUfunction, stream: CUstream, to: u64, n: u32, by: u32) -> CUresult {
        let (mut to, mut n, mut by) = (to, n, by);
        let mut values = [
            (&raw mut to).cast::<c_void>(),
            (&raw mut n).cast(),
            (&raw mut by).cast(),
        ];
        self.launch_as(function, stream, (1, 64, 0), values.as_mut_ptr())
    }

    /// With blocks, threads and bytes of shared memory.
    fn launch_as(
        &self,
        function: CUfunction,
        stream: CUstream,
        (blocks, threads, bytes): (c_uint, c_uint, c_uint),
        values: *mut *mut c_void,
    ) -> CUresult {
        let config = CUlaunchConfig {
            gridDimX: blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: bytes,
            hStream: stream,
            attrs: ptr::null_mut(),
            numAttrs: 0,
        };
        cu!(
            self,
            cuLaunchKernelEx,
            &raw const config,
            function,
            values,
            ptr::null_mut()
        )
    }

    fn load(&self, context: CUcontext, ptx: &str) -> Result<CUmodule, (CUresult, String)> {
        let ptx = CString::new(ptx).unwrap();
        let mut module = CUmodule::NULL;
        let mut log = [0 as c_char; 200];
        let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = [
            log.as_mut_ptr().cast::<c_void>(),
            ptr::without_provenance_mut(log.len()),
        ];
        let image = ptx.as_ptr().cast();
        let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
        let code = self.within(context, || {
            cu!(
                self,
                cuModuleLoadDataEx,
                &raw mut module,
                image,
                2,
                options,
                values
            )
        });
        if code == CUresult::SUCCESS {
            return Ok(module);
        }
        // SAFETY: the log is an array that was all zero and of which the driver leaves the last
        // byte so.
        let log = unsafe { CStr::from_ptr(log.as_ptr()) };
        Err((code, log.to_str().unwrap().to_owned()))
    }

    fn function(&self, context: CUcontext) -> CUfunction {
        let module = self.load(context, PTX).unwrap();
        let mut function = CUfunction::NULL;
        ok(cu!(
            self,
            cuModuleGetFunction,
            &raw mut function,
            module,
            c"add".as_ptr()
        ));
        function
    }

    fn adds(&self) {
        self.machine.kernel("add", |call| {
            let (n, by) = (call.scalar::<u32>(1) as usize, call.scalar::<u32>(2));
            let values: Vec<u32> = call
                .load_n::<u32>(0, n)
                .iter()
                .map(|value| value + by)
                .collect();
            call.store(0, &values);
        });
    }
}
