//! One driver library under two values of `Driver`: what is true of the process is true of both.
//! Claims C5, C10.

#![allow(unsafe_code)] // launches, a driver behind functions of its own

use crate::common::{PTX, alone, real, simulated};
use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, Error, InOut, LaunchConfig, Result, scope};
use std::env;
use std::process::{Command, Output};

const ONE: LaunchConfig = LaunchConfig::new([1; 3], [1; 3]);

/// Tells a child which case it is.
const CASE: &str = "SCOPED_CUDA_TWO_DRIVERS";

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

/// Device 1 copies to host memory through `b`, after a second or two, when device 0 has a fault,
/// which `a` sees.
fn fault_of_one_while_the_other_copies(a: Driver, b: Driver) -> Result<()> {
    a.with_device(0, |of_a| {
        b.with_device(1, |of_b| {
            let fault = of_a.load_ptx(PTX)?.kernel::<(InOut<u32>,)>("fault")?;
            let spin = of_b.load_ptx(PTX)?.kernel::<(u64,)>("spin")?;
            let (on_a, on_b) = (of_a.new_stream()?, of_b.new_stream()?);
            let mut target = of_a.zeros::<u32>(4)?;
            let source = of_b.filled(1 << 20, 1u32)?;
            let mut host = of_b.pinned_zeros::<u32>(1 << 20)?;
            scope(|scope| {
                scope.on(&on_a, |a| {
                    scope.on(&on_b, |b| {
                        // SAFETY: it touches nothing.
                        unsafe { b.launch(&spin, ONE, (2_000_000_000,)) }?;
                        b.read(&source, &mut host)?;
                        let mut target = target.lend(a);
                        // SAFETY: not safe at all: it stores to an address that nobody has, which
                        // is what this test is about. The device refuses, and no memory is touched.
                        unsafe { a.launch(&fault, ONE, (&mut target,)) }
                    })
                })
            })
        })
    })
}

/// What a child does; in the parent, nothing.
#[test]
fn child() {
    let [one, other] = match env::var(CASE).as_deref() {
        Ok("one") => [twice()[0]; 2],
        Ok("two") => twice(),
        _ => return,
    };
    let result = fault_of_one_while_the_other_copies(one, other);
    println!("returned {result:?}");
}

fn run(case: &str) -> Output {
    Command::new(env::current_exe().unwrap())
        .args([
            "two_drivers::child",
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CASE, case)
        .output()
        .unwrap()
}

/// C5: the work of one driver is work in flight for the other, so that a fault is no proof. It
/// makes no difference whether there are one or two.
#[test]
fn work_of_one_driver_is_in_flight_for_the_other() {
    let devices = match real() {
        true => Driver::load().unwrap(),
        false => simulated(Simulation::default()),
    };
    if devices.device_count().unwrap() < 2 {
        println!("not run, for want of a second device");
        return;
    }
    for case in ["one", "two"] {
        let output = run(case);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{case}");
        assert!(
            errors.contains("(the answer is a fault, and may be one of another device): aborting"),
            "{case}: {errors}"
        );
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!said.contains("returned"), "{case}: {said}");
    }
}
