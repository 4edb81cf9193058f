//! Stream captures by other code in the process: this crate's waits wait, its allocations work, and
//! the capture stays whole. Claims C5, C7.

#![allow(unsafe_code)] // captures a stream behind the crate's back, as other libraries in a process do

use crate::common::{on, on_driver, simulated};
use scoped_cuda::ffi::{
    CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CUresult, CUstream,
    CUstreamCaptureMode,
};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Context, Driver, Result, Stream};
use std::ffi::c_void;
use std::{mem, ptr, thread};

/// Captures a stream until it is ended, as other code would.
struct Capture<'ctx> {
    driver: Driver,
    stream: Stream<'ctx>,
}

impl<'ctx> Capture<'ctx> {
    fn begin(ctx: Context<'ctx>, mode: CUstreamCaptureMode) -> Result<Self> {
        let (driver, stream) = (ctx.driver(), ctx.new_stream()?);
        let begin = driver.symbol("cuStreamBeginCapture", 10_010);
        assert!(!begin.is_null());
        // SAFETY: cuda.h declares this signature in this version.
        let begin = unsafe {
            mem::transmute::<
                *const c_void,
                unsafe extern "C" fn(CUstream, CUstreamCaptureMode) -> CUresult,
            >(begin)
        };
        // SAFETY: the stream is live, and nobody else uses it.
        let code = unsafe { begin(stream.as_raw(), mode) };
        assert_eq!(code, CUresult::SUCCESS);
        Ok(Self { driver, stream })
    }

    /// Ends the capture and returns what the driver says of it.
    fn end(self) -> CUresult {
        let end = self.driver.symbol("cuStreamEndCapture", 10_000);
        assert!(!end.is_null());
        // SAFETY: cuda.h declares this signature in this version.
        let end = unsafe {
            mem::transmute::<
                *const c_void,
                unsafe extern "C" fn(CUstream, *mut *mut c_void) -> CUresult,
            >(end)
        };
        let mut graph = ptr::null_mut();
        // SAFETY: the stream is live, and the pointer valid for the call. The graph is empty, and
        // left to the end of the process.
        unsafe { end(self.stream.as_raw(), &raw mut graph) }
    }
}

/// Every operation that waits, allocates or frees.
fn use_the_context(ctx: Context<'_>) -> Result<()> {
    let numbers = ctx.upload(&[1u32, 2, 3])?;
    let stream = ctx.new_stream()?;
    let mut back = ctx.pinned_zeros::<u32>(3)?;
    stream.scope(|s| s.read(&numbers, &mut back))?;
    assert_eq!(*back, [1, 2, 3]);
    assert!(stream.is_idle()?);
    let event = ctx.new_event()?;
    stream.scope(|s| s.record(&event))?;
    assert!(event.is_complete()?);
    event.synchronize()?;
    let copy = stream.download_owned(ctx.pinned_zeros(3)?, numbers)?;
    assert_eq!(*copy.wait()?.0, [1, 2, 3]);
    drop(ctx.managed_zeros::<u8>(100)?);
    ctx.trim_memory(0)
}

/// B160, B161: a capture in any mode, on this thread.
#[test]
fn a_capture_on_the_same_thread_disturbs_nobody_and_is_not_disturbed() {
    for mode in [
        CU_STREAM_CAPTURE_MODE_GLOBAL,
        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    ] {
        on_driver(|driver| {
            driver.with_device(0, |ctx| {
                let capture = Capture::begin(ctx, mode)?;
                use_the_context(ctx)?;
                assert_eq!(capture.end(), CUresult::SUCCESS, "mode {mode}");
                Ok(())
            })
        });
    }
}

/// The default mode of several libraries is the global one, which minds every thread.
#[test]
fn a_global_capture_on_another_thread_disturbs_nobody_and_is_not_disturbed() {
    on_driver(|driver| {
        driver.with_device(0, |ctx| {
            let capture = Capture::begin(ctx, CU_STREAM_CAPTURE_MODE_GLOBAL)?;
            thread::scope(|threads| {
                let other = threads.spawn(|| {
                    use_the_context(ctx)?;
                    // Opening and closing a context makes and destroys a pool.
                    driver.with_device(0, use_the_context)
                });
                other.join().unwrap()
            })?;
            assert_eq!(capture.end(), CUresult::SUCCESS);
            Ok(())
        })
    });
}

/// The same waits without this crate are refused, and break the capture: this is what it avoids.
#[test]
fn a_plain_wait_is_refused_and_breaks_the_capture() {
    on_driver(|driver| {
        driver.with_device(0, |ctx| {
            let stream = ctx.new_stream()?;
            let capture = Capture::begin(ctx, CU_STREAM_CAPTURE_MODE_GLOBAL)?;
            // SAFETY: the stream is live.
            let refused = unsafe { (driver.symbols().cuStreamSynchronize)(stream.as_raw()) };
            assert_eq!(refused, CUresult::STREAM_CAPTURE_UNSUPPORTED);
            assert!(refused.refuses_to_wait());
            assert_eq!(capture.end(), CUresult::STREAM_CAPTURE_INVALIDATED);
            Ok(())
        })
    });
}

/// A wait that is refused all the same is asked for again, and the work is as it is: done.
#[test]
fn a_wait_that_is_refused_is_not_a_failed_wait() {
    let driver = simulated(Simulation::default());
    on(driver, |driver| {
        let machine = driver.machine().unwrap();
        driver.with_device(0, |ctx| {
            let (stream, numbers) = (ctx.new_stream()?, ctx.upload(&[1u32, 2])?);
            for code in 900..=908 {
                let mut back = [0; 2];
                let result = stream.scope(|s| {
                    s.read(&numbers, &mut back)?;
                    // The scope asks whether its context is alive, then waits.
                    machine.fail_call(2, CUresult(code));
                    Ok(())
                });
                assert_eq!((result, back), (Ok(()), [1, 2]), "{code}");
                assert_eq!(machine.trace().last(), Some(&"cuStreamQuery"), "{code}");
            }
            Ok(())
        })
    });
}
