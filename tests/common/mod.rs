//! What every behaviour test starts from: the driver that is under test, its kernels, and a gate
//! that holds a stream shut.
//!
//! `SCOPED_CUDA_TEST_DRIVER=sim` (the default) runs a test on a simulated machine of its own,
//! `=cuda` on the real driver; there a missing GPU is a failure. On a machine with one GPU the
//! second device of a test is that GPU again, in a scope of its own.

#![allow(dead_code)] // each test binary uses a part
#![allow(unsafe_code)] // asks the driver behind the crate's back, as other libraries in a process do

pub(crate) mod crashing_ptx;
pub(crate) mod launches;
pub(crate) mod link;
pub(crate) mod rows;

use scoped_cuda::ffi::{CUcontext, CUresult, CUstream};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Context, Driver, Result, Stream};
use std::ffi::c_void;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

/// The kernels of the tests, as PTX.
pub(crate) const PTX: scoped_cuda::Ptx<'static> = scoped_cuda::include_ptx!("kernels.ptx");

/// PTX that the driver compiles, as it has never seen it: what it finds in its cache on disk it
/// does not compile, and says nothing about.
pub(crate) fn never_seen(ptx: &str) -> String {
    let now = UNIX_EPOCH.elapsed().unwrap().as_nanos();
    let process = std::process::id();
    format!("{ptx}\n.visible .entry never_seen_{process}_{now}() {{ ret; }}\n")
}

/// Runs a test on the driver under test, on a thread whose context stack is empty and has to be so
/// again afterwards.
pub(crate) fn on_driver(test: impl FnOnce(Driver) -> Result<()>) {
    let driver = match real() {
        true => Driver::load().expect("SCOPED_CUDA_TEST_DRIVER=cuda needs a driver"),
        false => simulated(Simulation::default()),
    };
    on(driver, test);
}

/// The turn of a test on the real driver, where tests run one after the other: a test that holds a
/// stream shut may wait for a driver call, which waits for another test's `cuMemFreeHost` or
/// `cuModuleLoadDataEx`, which wait for all work of the device. And the log of teardown errors is
/// one for all.
pub(crate) fn turn(driver: Driver) -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    (!driver.is_simulated()).then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Runs a test on `driver`: see [`on_driver`] and [`turn`].
pub(crate) fn on(driver: Driver, test: impl FnOnce(Driver) -> Result<()>) {
    let _turn = turn(driver);
    assert!(
        driver.device_count().unwrap() > 0,
        "the tests need a device"
    );
    assert_eq!(
        stack(driver),
        [],
        "a test starts with an empty context stack"
    );
    test(driver).unwrap();
    assert_eq!(stack(driver), [], "a test ends with an empty context stack");
    assert_eq!(driver.take_teardown_errors(), [], "nothing failed unseen");
    if let Some(machine) = driver.machine() {
        assert_eq!(
            machine.violations(),
            Vec::<String>::new(),
            "nothing that the real driver leaves undefined"
        );
        assert_eq!(machine.live(), Default::default(), "nothing is left behind");
    }
}

/// Runs a test in a context of device 0.
pub(crate) fn in_context(test: impl for<'ctx> FnOnce(Context<'ctx>) -> Result<()>) {
    on_driver(|driver| driver.with_device(0, test));
}

/// Runs a test in contexts of two devices (or of one twice, when there is only one).
pub(crate) fn in_two_contexts(
    test: impl for<'a, 'b> FnOnce(Context<'a>, Context<'b>) -> Result<()>,
) {
    on_driver(|driver| {
        driver.with_device(0, |a| driver.with_device(second(driver)?, |b| test(a, b)))
    });
}

/// The ordinal of the second device.
pub(crate) fn second(driver: Driver) -> Result<u32> {
    Ok(driver.device_count()?.min(2) - 1)
}

/// Whether the tests run on the real driver.
pub(crate) fn real() -> bool {
    match std::env::var("SCOPED_CUDA_TEST_DRIVER").as_deref() {
        Ok("cuda") => true,
        Ok("sim") | Err(_) => false,
        Ok(other) => panic!("SCOPED_CUDA_TEST_DRIVER is sim or cuda, not {other}"),
    }
}

/// A simulated machine with the kernels of the tests.
pub(crate) fn simulated(simulation: Simulation) -> Driver {
    let driver = Driver::simulated(simulation).unwrap();
    register(driver);
    driver
}

/// The kernels run from their PTX, but for the one that takes a device's time.
pub(crate) fn register(driver: Driver) {
    let Some(machine) = driver.machine() else {
        return;
    };
    // At 5 GHz.
    machine.kernel("spin", |call| {
        std::thread::sleep(Duration::from_nanos(call.scalar::<u64>(0) / 5));
    });
}

/// The calling thread's context stack, the top first. Takes it apart and puts it together again.
pub(crate) fn stack(driver: Driver) -> Vec<CUcontext> {
    let mut entries = Vec::new();
    while current(driver) != CUcontext::NULL {
        entries.push(pop(driver));
    }
    entries
        .iter()
        .rev()
        .for_each(|&context| push(driver, context));
    entries
}

/// The context that is current on the calling thread.
pub(crate) fn current(driver: Driver) -> CUcontext {
    let mut context = CUcontext::NULL;
    // SAFETY: the out-pointer is valid for the call.
    let result = unsafe { (driver.symbols().cuCtxGetCurrent)(&raw mut context) };
    assert_eq!(result, CUresult::SUCCESS);
    context
}

/// `cuCtxPushCurrent`.
pub(crate) fn push(driver: Driver, context: CUcontext) {
    // SAFETY: the handle came from the driver.
    let result = unsafe { (driver.symbols().cuCtxPushCurrent)(context) };
    assert_eq!(result, CUresult::SUCCESS);
}

/// `cuCtxPopCurrent`.
pub(crate) fn pop(driver: Driver) -> CUcontext {
    let mut context = CUcontext::NULL;
    // SAFETY: the out-pointer is valid for the call.
    let result = unsafe { (driver.symbols().cuCtxPopCurrent)(&raw mut context) };
    assert_eq!(result, CUresult::SUCCESS);
    context
}

/// `cuCtxSetCurrent`, which this crate never calls: what other libraries do.
pub(crate) fn set_current(driver: Driver, context: CUcontext) {
    type SetCurrent = unsafe extern "C" fn(CUcontext) -> CUresult;
    let address = driver.symbol("cuCtxSetCurrent", 4000);
    assert!(!address.is_null());
    // SAFETY: cuda.h declares `CUresult cuCtxSetCurrent(CUcontext)`.
    let set = unsafe { mem::transmute::<*const c_void, SetCurrent>(address) };
    // SAFETY: the handle came from the driver, or is null.
    assert_eq!(unsafe { set(context) }, CUresult::SUCCESS);
}

/// A context of another library (`cuCtxCreate`), not current, and the call that destroys it.
pub(crate) fn created_context(driver: Driver, ordinal: u32) -> (CUcontext, impl FnOnce()) {
    type Create = unsafe extern "C" fn(*mut CUcontext, u32, i32) -> CUresult;
    type Destroy = unsafe extern "C" fn(CUcontext) -> CUresult;
    let device = driver.device(ordinal).unwrap().as_raw();
    let (create, destroy) = (
        driver.symbol("cuCtxCreate", 3020),
        driver.symbol("cuCtxDestroy", 4000),
    );
    assert!(!create.is_null() && !destroy.is_null());
    // SAFETY: cuda.h declares `CUresult cuCtxCreate(CUcontext *, unsigned, CUdevice)` for CUDA 3.2.
    let create = unsafe { mem::transmute::<*const c_void, Create>(create) };
    // SAFETY: cuda.h declares `CUresult cuCtxDestroy(CUcontext)`.
    let destroy = unsafe { mem::transmute::<*const c_void, Destroy>(destroy) };
    let mut context = CUcontext::NULL;
    // SAFETY: the out-pointer is valid for the call.
    let result = unsafe { create(&raw mut context, 0, device) };
    assert_eq!(result, CUresult::SUCCESS);
    assert_eq!(pop(driver), context, "creating makes it current");
    // SAFETY: created above and destroyed once.
    let destroy = move || unsafe { destroy(context) };
    (context, move || assert_eq!(destroy(), CUresult::SUCCESS))
}

/// Holds a stream shut: what is enqueued after [`Gate::close`] runs after [`open`](Self::open).
///
/// The real driver runs the host functions of all streams of a context one at a time: close one
/// gate at a time.
pub(crate) struct Gate {
    is_open: Arc<(Mutex<bool>, Condvar)>,
}

impl Gate {
    /// Enqueues a host function that waits.
    pub(crate) fn close(stream: &Stream<'_>) -> Self {
        type HostFunction = unsafe extern "C" fn(*mut c_void);
        type LaunchHostFunc = unsafe extern "C" fn(CUstream, HostFunction, *mut c_void) -> CUresult;

        unsafe extern "C" fn wait(gate: *mut c_void) {
            // SAFETY: `close` passes a counted reference, once.
            let gate = unsafe { Arc::from_raw(gate.cast::<(Mutex<bool>, Condvar)>()) };
            let open = gate.0.lock().unwrap();
            drop(gate.1.wait_while(open, |open| !*open).unwrap());
        }

        let is_open = Arc::new((Mutex::new(false), Condvar::new()));
        let address = stream.context().driver().symbol("cuLaunchHostFunc", 10_000);
        assert!(!address.is_null());
        // SAFETY: cuda.h declares `CUresult cuLaunchHostFunc(CUstream, CUhostFn, void *)`.
        let launch = unsafe { mem::transmute::<*const c_void, LaunchHostFunc>(address) };
        let gate = Arc::into_raw(Arc::clone(&is_open)).cast_mut().cast();
        // SAFETY: the stream is live; `wait` takes over the reference.
        let result = unsafe { launch(stream.as_raw(), wait, gate) };
        assert_eq!(result, CUresult::SUCCESS);
        Self { is_open }
    }

    /// Lets the stream go on.
    pub(crate) fn open(&self) {
        *self.is_open.0.lock().unwrap() = true;
        self.is_open.1.notify_all();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // A test that fails must not hang.
        self.open();
    }
}

/// Whether a stream has work left (`cuStreamQuery`).
pub(crate) fn is_busy(stream: &Stream<'_>) -> bool {
    // SAFETY: the stream is live.
    match unsafe { (stream.context().driver().symbols().cuStreamQuery)(stream.as_raw()) } {
        CUresult::SUCCESS => false,
        CUresult::NOT_READY => true,
        other => panic!("cuStreamQuery: {other:?}"),
    }
}

/// Tells a child process which test it runs.
const ALONE: &str = "SCOPED_CUDA_TEST_ALONE";

/// Runs `test` in a process of its own: the test binary again, which runs the test `name` alone.
pub(crate) fn alone(name: &str, test: impl FnOnce()) {
    if std::env::var(ALONE).as_deref() == Ok(name) {
        return test();
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(ALONE, name)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("test result: ok. 1 passed"),
        "{}\n{said}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

/// PTX of a test: written with the test, or by a compiler and then spoiled by it.
pub(crate) fn ptx(text: &str) -> scoped_cuda::Ptx<'_> {
    // SAFETY: not always so: some tests are about text that no compiler writes. What is known to
    // crash the driver's compiler is refused, and what may is loaded in a process of its own.
    unsafe { scoped_cuda::Ptx::from_compiler(text) }
}
