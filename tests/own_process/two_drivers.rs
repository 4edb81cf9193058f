//! One driver library under two values of `Driver`: what is true of the process is true of both.
//! Claims C5, C10.

#![allow(unsafe_code)] // launches, a driver behind functions of its own

use crate::common::{PTX, alone, real, simulated};
use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, Error, InOut, LaunchConfig};

/// The driver under test a second time, behind entry points that a program may put before it.
/// Neither value is a simulated driver for the crate, as it is with a real one.
fn twice() -> [Driver; 2] {
    let driver = match real() {
        true => Driver::load().unwrap(),
        false => simulated(Simulation::default()),
    };
    // SAFETY: the functions are those of a driver that lives as long as the process.
    [0; 2].map(|_| unsafe { Driver::from_symbols(move |n, v| driver.symbol(n, v)) }.unwrap())
}

/// C10: after a fault, nobody asks the driver for anything.
#[test]
fn a_fault_that_one_driver_saw_is_a_fault_for_the_other() {
    alone(
        "two_drivers::a_fault_that_one_driver_saw_is_a_fault_for_the_other",
        || {
            let [one, other] = twice();
            assert_ne!(one, other);
            let error = one
                .with_device(0, |ctx| {
                    let fault = ctx.load_ptx(PTX)?.kernel::<(InOut<u32>,)>("fault")?;
                    let (stream, mut buffer) = (ctx.new_stream()?, ctx.zeros::<u32>(4)?);
                    stream.scope(|s| {
                        let mut lent = buffer.lend(s);
                        // SAFETY: not safe at all: it stores to an address that nobody has, which
                        // is what this test is about. The device refuses, and no memory is touched.
                        unsafe { s.launch(&fault, LaunchConfig::for_elements(1), (&mut lent,)) }
                    })
                })
                .unwrap_err();
            let first = *error.driver_error().unwrap();
            assert_eq!(first.code(), CUresult::ILLEGAL_ADDRESS);
            assert_eq!(other.first_fault(), Some(first));
            let refused = other.with_device(0, |_| Ok(()));
            assert_eq!(refused, Err(Error::Poisoned { first }));
        },
    );
}
