//! Raw calls, and what most tests start from: for each of two devices a context with a stream, an
//! event, memory and a kernel.

#![allow(dead_code)] // two test binaries use a part each

use crate::common::{PTX, on_driver, real};
use scoped_cuda::Driver;
use scoped_cuda::ffi::*;
use std::ffi::{CString, c_int, c_uint, c_void};
use std::mem;
use std::ptr;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

pub(crate) const SUCCESS: CUresult = CUresult::SUCCESS;
pub(crate) const INVALID_VALUE: CUresult = CUresult::INVALID_VALUE;
pub(crate) const INVALID_CONTEXT: CUresult = CUresult::INVALID_CONTEXT;
pub(crate) const INVALID_HANDLE: CUresult = CUresult::INVALID_HANDLE;
pub(crate) const CONTEXT_IS_DESTROYED: CUresult = CUresult::CONTEXT_IS_DESTROYED;
pub(crate) const NOT_READY: CUresult = CUresult::NOT_READY;

/// Bytes of each piece of memory of a [`Side`].
pub(crate) const BYTES: usize = 1 << 16;
/// How long a test watches for something that must not happen.
pub(crate) const WATCH: Duration = Duration::from_millis(30);

/// Calls an entry point of the crate's table.
macro_rules! cu {
    ($api:ident.$name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the pointers are null or valid for the call, and what the work uses is kept until
        // the test has waited for it. What else is wrong with the arguments, the driver was seen to
        // refuse.
        unsafe { ($api.cu.$name)($($argument),*) }
    };
}

/// Calls an entry point that the crate does not use.
macro_rules! more {
    ($api:ident.$name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: as for `cu`.
        unsafe { ($api.more.$name)($($argument),*) }
    };
}

macro_rules! more_symbols {
    ($($name:ident $version:literal ($($type:ty),*);)*) => {
        /// Entry points that the crate does not use.
        #[allow(non_snake_case)]
        #[derive(Clone, Copy)]
        pub(crate) struct More {
            $(pub(crate) $name: unsafe extern "C" fn($($type),*) -> CUresult,)*
        }

        impl More {
            fn of(driver: Driver) -> Self {
                Self {$(
                    $name: {
                        let address = driver.symbol(stringify!($name), $version);
                        assert!(!address.is_null(), "{}", stringify!($name));
                        // SAFETY: cuda.h declares these types for the entry point in this version.
                        unsafe { mem::transmute::<*const c_void, unsafe extern "C" fn($($type),*) -> CUresult>(address) }
                    },
                )*}
            }
        }
    };
}

more_symbols! {
    cuDevicePrimaryCtxGetState 7000 (CUdevice, *mut c_uint, *mut c_int);
    cuDevicePrimaryCtxSetFlags 11000 (CUdevice, c_uint);
    cuDevicePrimaryCtxReset 11000 (CUdevice);
    cuCtxCreate 3020 (*mut CUcontext, c_uint, CUdevice);
    cuCtxDestroy 4000 (CUcontext);
    cuCtxSetCurrent 4000 (CUcontext);
    cuCtxSynchronize 2000 ();
    cuCtxEnablePeerAccess 4000 (CUcontext, c_uint);
    cuCtxDisablePeerAccess 4000 (CUcontext);
    cuMemAlloc 3020 (*mut CUdeviceptr, usize);
    cuMemFree 3020 (CUdeviceptr);
    cuMemcpyHtoD 3020 (CUdeviceptr, *const c_void, usize);
    cuMemcpyDtoH 3020 (*mut c_void, CUdeviceptr, usize);
    cuPointerGetAttribute 4000 (*mut c_void, c_uint, CUdeviceptr);
    cuStreamGetCtx 9020 (CUstream, *mut CUcontext);
    cuLaunchHostFunc 10000 (CUstream, CUhostFn, *mut c_void);
    cuLaunchKernel 4000 (CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void, *mut *mut c_void);
    cuEventQuery 2000 (CUevent);
    cuEventSynchronize 2000 (CUevent);
}

/// The driver under test.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    pub(crate) driver: Driver,
    pub(crate) cu: &'static Symbols,
    pub(crate) more: More,
}

/// The objects of one device.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub(crate) device: CUdevice,
    /// The primary context.
    pub(crate) context: CUcontext,
    pub(crate) stream: CUstream,
    pub(crate) event: CUevent,
    pub(crate) pool: CUmemoryPool,
    /// Memory of the pool.
    pub(crate) pooled: [CUdeviceptr; 2],
    /// Memory of `cuMemAlloc`.
    pub(crate) plain: [CUdeviceptr; 2],
    /// The kernels of all tests.
    pub(crate) module: CUmodule,
    /// A kernel without parameters that does nothing.
    pub(crate) nothing: CUfunction,
}

/// Holds a stream shut until it is dropped. One at a time: see `order`.
pub(crate) struct Gate {
    _open: mpsc::Sender<()>,
}

/// Runs a test that starts with no context alive. Primary contexts belong to the process, so tests
/// on the real driver take turns.
pub(crate) fn on_api(test: impl FnOnce(Api)) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = real().then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner));
    on_driver(|driver| {
        test(Api::of(driver));
        Ok(())
    });
}

/// Runs a test with the objects of device 0 and, when there is one, of device 1. No context is
/// current.
pub(crate) fn on_sides(test: impl FnOnce(Api, &[Side])) {
    on_api(|api| {
        let count = api.driver.device_count().unwrap().min(2);
        let sides: Vec<Side> = (0..count).map(|ordinal| api.side(ordinal)).collect();
        test(api, &sides);
        sides.into_iter().for_each(|side| api.close(side));
    });
}

/// Runs a test that asks what happens between two devices. With one device there is nothing to ask,
/// and the test says so.
pub(crate) fn on_two(test: impl FnOnce(Api, Side, Side)) {
    on_sides(|api, sides| match *sides {
        [a, b] => test(api, a, b),
        _ => one_device_only(),
    });
}

pub(crate) fn one_device_only() {
    let name = std::thread::current().name().map(str::to_owned);
    println!("not run, for want of a second device: {name:?}");
}

#[track_caller]
pub(crate) fn ok(code: CUresult) {
    assert_eq!(code, SUCCESS);
}

impl Api {
    pub(crate) fn of(driver: Driver) -> Self {
        Self {
            driver,
            cu: driver.symbols(),
            more: More::of(driver),
        }
    }

    /// Makes a call on objects of the first side with no context current, with that of the other
    /// device (when there is one) and with its own, and compares the answers.
    #[track_caller]
    pub(crate) fn answers(
        self,
        sides: &[Side],
        [none, other, own]: [CUresult; 3],
        mut call: impl FnMut() -> CUresult,
    ) {
        assert_eq!(call(), none, "no context current");
        if let Some(away) = sides.get(1) {
            assert_eq!(
                self.within(away.context, &mut call),
                other,
                "another device's current"
            );
        }
        assert_eq!(self.within(sides[0].context, call), own, "its own current");
    }

    /// Runs `f` with a context current.
    #[track_caller]
    pub(crate) fn within<R>(self, context: CUcontext, f: impl FnOnce() -> R) -> R {
        ok(cu!(self.cuCtxPushCurrent(context)));
        let result = f();
        let mut popped = CUcontext::NULL;
        ok(cu!(self.cuCtxPopCurrent(&raw mut popped)));
        assert_eq!(popped, context);
        result
    }

    pub(crate) fn device(self, ordinal: u32) -> CUdevice {
        self.driver.device(ordinal).unwrap().as_raw()
    }

    pub(crate) fn current(self) -> CUcontext {
        let mut context = CUcontext::NULL;
        ok(cu!(self.cuCtxGetCurrent(&raw mut context)));
        context
    }

    pub(crate) fn retain(self, device: CUdevice) -> CUcontext {
        let mut context = CUcontext::NULL;
        ok(cu!(self.cuDevicePrimaryCtxRetain(&raw mut context, device)));
        context
    }

    pub(crate) fn release(self, device: CUdevice) -> CUresult {
        cu!(self.cuDevicePrimaryCtxRelease(device))
    }

    /// The flags of a primary context, and whether it is active.
    pub(crate) fn state(self, device: CUdevice) -> (c_uint, c_int) {
        let (mut flags, mut active) = (99, 99);
        ok(more!(self.cuDevicePrimaryCtxGetState(
            device,
            &raw mut flags,
            &raw mut active
        )));
        (flags, active)
    }

    /// What `cuCtxGetId` answers, and the id, or what was there before.
    pub(crate) fn id(self, context: CUcontext) -> (CUresult, u64) {
        let mut id = UNTOUCHED;
        let code = cu!(self.cuCtxGetId(context, &raw mut id));
        (code, id)
    }

    /// A context of `cuCtxCreate`, which is current then.
    pub(crate) fn create(self, device: CUdevice) -> CUcontext {
        let mut context = CUcontext::NULL;
        ok(more!(self.cuCtxCreate(&raw mut context, 0, device)));
        assert_eq!(self.current(), context);
        context
    }

    /// A stream of the current context.
    pub(crate) fn stream(self) -> CUstream {
        let mut stream = CUstream::NULL;
        ok(cu!(
            self.cuStreamCreate(&raw mut stream, CU_STREAM_NON_BLOCKING)
        ));
        stream
    }

    /// An event of the current context.
    pub(crate) fn event(self) -> CUevent {
        let mut event = CUevent::NULL;
        ok(cu!(
            self.cuEventCreate(&raw mut event, CU_EVENT_DISABLE_TIMING)
        ));
        event
    }

    /// Memory of the current context.
    pub(crate) fn plain(self, bytes: usize) -> CUdeviceptr {
        let mut address = 0;
        ok(more!(self.cuMemAlloc(&raw mut address, bytes)));
        address
    }

    pub(crate) fn pool(self, device: CUdevice) -> CUmemoryPool {
        let mut pool = CUmemoryPool::NULL;
        let properties = pool_of(device);
        ok(cu!(
            self.cuMemPoolCreate(&raw mut pool, &raw const properties)
        ));
        ok(self.keep(pool));
        pool
    }

    /// Makes a pool keep its memory.
    pub(crate) fn keep(self, pool: CUmemoryPool) -> CUresult {
        let mut all = u64::MAX;
        let value = (&raw mut all).cast();
        cu!(self.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, value))
    }

    /// Lets a device use the memory of a pool.
    pub(crate) fn admit(self, pool: CUmemoryPool, device: CUdevice) -> CUresult {
        let access = CUmemAccessDesc {
            location: CUmemLocation {
                type_: CU_MEM_LOCATION_TYPE_DEVICE,
                id: device,
            },
            flags: CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        cu!(self.cuMemPoolSetAccess(pool, &raw const access, 1))
    }

    /// Memory of a pool, when the stream has allocated it.
    pub(crate) fn pooled(self, pool: CUmemoryPool, bytes: usize, stream: CUstream) -> CUdeviceptr {
        let mut address = 0;
        ok(cu!(self.cuMemAllocFromPoolAsync(
            &raw mut address,
            bytes,
            pool,
            stream
        )));
        ok(self.sync(stream));
        address
    }

    pub(crate) fn sync(self, stream: CUstream) -> CUresult {
        cu!(self.cuStreamSynchronize(stream))
    }

    /// Loads PTX into the current context.
    pub(crate) fn load(self, ptx: &str) -> CUmodule {
        let (ptx, mut module) = (CString::new(ptx).unwrap(), CUmodule::NULL);
        ok(cu!(self.cuModuleLoadDataEx(
            &raw mut module,
            ptx.as_ptr().cast(),
            0,
            ptr::null_mut(),
            ptr::null_mut()
        )));
        module
    }

    pub(crate) fn function(self, module: CUmodule, name: &str) -> CUfunction {
        let (name, mut function) = (CString::new(name).unwrap(), CUfunction::NULL);
        ok(cu!(self.cuModuleGetFunction(
            &raw mut function,
            module,
            name.as_ptr()
        )));
        function
    }

    /// Launches a kernel without parameters, in one block of one thread.
    pub(crate) fn launch(self, function: CUfunction, stream: CUstream) -> CUresult {
        self.launch_as(function, stream, [1; 3], [1; 3], 0)
    }

    pub(crate) fn launch_as(
        self,
        function: CUfunction,
        stream: CUstream,
        grid: [c_uint; 3],
        block: [c_uint; 3],
        shared_bytes: c_uint,
    ) -> CUresult {
        more!(self.cuLaunchKernel(
            function,
            grid[0],
            grid[1],
            grid[2],
            block[0],
            block[1],
            block[2],
            shared_bytes,
            stream,
            ptr::null_mut(),
            ptr::null_mut()
        ))
    }

    /// Enqueues a host function.
    pub(crate) fn host(self, stream: CUstream, f: impl FnOnce() + Send + 'static) -> CUresult {
        type Function = Box<dyn FnOnce() + Send>;

        unsafe extern "C" fn run(data: *mut c_void) {
            // SAFETY: `host` passes a box, and the driver calls a host function once at most.
            let function = unsafe { Box::from_raw(data.cast::<Function>()) };
            function();
        }

        let function: Box<Function> = Box::new(Box::new(f));
        more!(self.cuLaunchHostFunc(stream, run, Box::into_raw(function).cast()))
    }

    /// Holds an idle stream shut: what is enqueued later runs after the gate was dropped.
    pub(crate) fn gate(self, stream: CUstream) -> Gate {
        let (entered, enters) = mpsc::channel();
        let gate = self.gate_behind(stream, move || _ = entered.send(()));
        enters.recv().unwrap();
        gate
    }

    /// A gate behind the work of a stream, which calls `entered` when the stream has come to it.
    pub(crate) fn gate_behind(
        self,
        stream: CUstream,
        entered: impl FnOnce() + Send + 'static,
    ) -> Gate {
        let (open, shut) = mpsc::channel();
        ok(self.host(stream, move || {
            entered();
            _ = shut.recv();
        }));
        Gate { _open: open }
    }

    /// The first bytes of memory of a context.
    pub(crate) fn bytes(self, side: Side, address: CUdeviceptr) -> [u8; 4] {
        let mut bytes = [0; 4];
        let to = (&raw mut bytes).cast();
        ok(self.within(side.context, || {
            cu!(self.cuMemcpyDtoHAsync(to, address, 4, side.stream))
        }));
        ok(self.sync(side.stream));
        bytes
    }

    /// `cuPointerGetAttribute` for an attribute of type `T`.
    pub(crate) fn attribute<T>(
        self,
        attribute: c_uint,
        address: CUdeviceptr,
        mut value: T,
    ) -> (CUresult, T) {
        let to = (&raw mut value).cast();
        let code = more!(self.cuPointerGetAttribute(to, attribute, address));
        (code, value)
    }

    /// The device that an address belongs to.
    pub(crate) fn device_of(self, address: CUdeviceptr) -> CUdevice {
        let (code, device) = self.attribute(POINTER_DEVICE_ORDINAL, address, -1);
        ok(code);
        device
    }

    /// Makes the objects of a device.
    pub(crate) fn side(self, ordinal: u32) -> Side {
        let device = self.device(ordinal);
        let context = self.retain(device);
        self.within(context, || {
            let (stream, pool) = (self.stream(), self.pool(device));
            let module = self.load(PTX.as_str());
            Side {
                device,
                context,
                stream,
                event: self.event(),
                pool,
                pooled: [(); 2].map(|()| self.pooled(pool, BYTES, stream)),
                plain: [(); 2].map(|()| self.plain(BYTES)),
                module,
                nothing: self.function(module, "nothing"),
            }
        })
    }

    pub(crate) fn close(self, side: Side) {
        ok(self.sync(side.stream));
        for address in side.plain {
            ok(more!(self.cuMemFree(address)));
        }
        for address in side.pooled {
            ok(cu!(self.cuMemFreeAsync(address, side.stream)));
        }
        ok(self.sync(side.stream));
        ok(cu!(self.cuMemPoolDestroy(side.pool)));
        ok(cu!(self.cuModuleUnload(side.module)));
        ok(cu!(self.cuEventDestroy(side.event)));
        ok(cu!(self.cuStreamDestroy(side.stream)));
        ok(self.release(side.device));
    }
}

/// What an out-variable holds before a call.
pub(crate) const UNTOUCHED: u64 = 777;

/// `CUpointer_attribute`: the context of an address.
pub(crate) const POINTER_CONTEXT: c_uint = 1;
/// `CUpointer_attribute`: what kind of memory is there.
pub(crate) const POINTER_MEMORY_TYPE: c_uint = 2;
/// `CUpointer_attribute`: the device of an address.
pub(crate) const POINTER_DEVICE_ORDINAL: c_uint = 9;

/// The properties of a pool of ordinary memory of a device.
pub(crate) fn pool_of(device: CUdevice) -> CUmemPoolProps {
    CUmemPoolProps {
        allocType: CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes: 0,
        location: CUmemLocation {
            type_: CU_MEM_LOCATION_TYPE_DEVICE,
            id: device,
        },
        win32SecurityAttributes: ptr::null_mut(),
        maxSize: 0,
        usage: 0,
        reserved: [0; 54],
    }
}
