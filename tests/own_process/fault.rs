//! A fault on the device ends the use of CUDA in this process. Claims C4, C5, C10.

#![allow(unsafe_code)] // launches

use crate::common::{PTX, alone, real, simulated, stack};
use scoped_cuda::error::CloseError;
use scoped_cuda::ffi::{CUcontext, CUresult};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, Error, InOut, LaunchConfig};

/// B140, B143: the fault is reported once, with its call, by the scope that waits; then every call
/// is `Poisoned` with that fault, destructors are silent and nothing panics.
#[test]
fn fault_is_reported_once_and_kept() {
    alone("fault::fault_is_reported_once_and_kept", || {
        let driver = if real() {
            Driver::load().unwrap()
        } else {
            simulated(Simulation::default())
        };
        let result = driver.with_device(0, |ctx| {
            let fault = ctx.load_ptx(PTX)?.kernel::<(InOut<u32>,)>("fault")?;
            let stream = ctx.new_stream()?;
            let mut buffer = ctx.zeros::<u32>(4)?;
            let other = ctx.upload(&[1u8; 1000])?;
            let error = stream
                .scope(|s| {
                    let mut lent = buffer.lend(s);
                    // SAFETY: not safe at all: it stores to an address that nobody has, which is
                    // what this test is about. The device refuses, and no memory of this process is
                    // touched.
                    unsafe { s.launch(&fault, LaunchConfig::for_elements(1), (&mut lent,)) }
                })
                .unwrap_err();
            let first = *error.driver_error().expect("a driver error");
            assert_eq!(
                (first.code(), first.call()),
                (CUresult::ILLEGAL_ADDRESS, "cuStreamSynchronize")
            );
            assert_eq!(driver.first_fault(), Some(first));
            let poisoned = Error::Poisoned { first };
            assert_eq!(ctx.zeros::<u8>(1).unwrap_err(), poisoned);
            assert_eq!(other.to_vec().unwrap_err(), poisoned);
            assert_eq!(ctx.new_stream().unwrap_err(), poisoned);
            assert_eq!(
                stream.scope(|s| s.zeros::<u8>(1).map(drop)).unwrap_err(),
                poisoned
            );
            assert_eq!(ctx.load_ptx(PTX).unwrap_err(), poisoned);
            let CloseError {
                value: _buffer,
                error,
                ..
            } = other.close().unwrap_err();
            assert_eq!(error, poisoned);
            Err::<(), _>(error)
        });
        let first = driver.first_fault().expect("a fault is kept");
        assert_eq!(result, Err(Error::Poisoned { first }));
        assert_eq!(
            driver.with_device(0, |_| Ok(())),
            Err(Error::Poisoned { first })
        );
        assert_eq!(driver.take_teardown_errors(), [], "teardown is quiet");
        assert_eq!(
            stack(driver),
            Vec::<CUcontext>::new(),
            "the thread is as it was"
        );
    });
}
