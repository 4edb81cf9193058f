//! A fault on one device while another one works. After it every wait in the process returns at
//! once with the fault, on the other device too, whose work goes on. Each case is a process of its
//! own, because it ends the use of CUDA there. Claims C5, C10.

#![allow(unsafe_code)] // launches

use crate::common::{PTX, real, simulated};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, Error, InOut, LaunchConfig, Result, scope};
use std::env;
use std::process::{Command, Output};

/// Tells a child which case it is.
const CASE: &str = "SCOPED_CUDA_FAULT_ELSEWHERE";
const ONE: LaunchConfig = LaunchConfig::new([1; 3], [1; 3]);

fn driver() -> Driver {
    match real() {
        true => Driver::load().unwrap(),
        false => simulated(Simulation::default()),
    }
}

/// Runs a case in a child, which is this test binary and runs the test `child`.
fn run(case: &str) -> Output {
    Command::new(env::current_exe().unwrap())
        .args([
            "fault_elsewhere::child",
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CASE, case)
        .output()
        .unwrap()
}

/// What a child does; in the parent, nothing.
#[test]
fn child() {
    let result = match env::var(CASE).as_deref() {
        Ok("busy") => other_device_is_busy(),
        Ok("idle") => other_device_is_idle(),
        _ => return,
    };
    println!("returned {result:?}");
}

/// Device 1 copies to host memory, after a second or two, when device 0 has a fault.
fn other_device_is_busy() -> Result<()> {
    driver().with_two_devices([0, 1], |a, b| {
        let fault = a.load_ptx(PTX)?.kernel::<(InOut<u32>,)>("fault")?;
        let spin = b.load_ptx(PTX)?.kernel::<(u64,)>("spin")?;
        let (of_a, of_b) = (a.new_stream()?, b.new_stream()?);
        let mut target = a.zeros::<u32>(4)?;
        let source = b.filled(1 << 20, 1u32)?;
        let mut host = b.pinned_zeros::<u32>(1 << 20)?;
        scope(|scope| {
            scope.on(&of_a, |on_a| {
                scope.on(&of_b, |on_b| {
                    // SAFETY: it touches nothing.
                    unsafe { on_b.launch(&spin, ONE, (2_000_000_000,)) }?;
                    on_b.read(&source, &mut host)?;
                    let mut target = target.lend(on_a);
                    // SAFETY: not safe at all: it stores to an address that nobody has, which is
                    // what this test is about. The device refuses, and no memory of this process is
                    // touched.
                    unsafe { on_a.launch(&fault, ONE, (&mut target,)) }
                })
            })
        })
    })
}

/// Device 1 has a context, and has done what it was given, when device 0 has a fault.
fn other_device_is_idle() -> Result<()> {
    let driver = driver();
    let result = driver.with_two_devices([0, 1], |a, b| {
        let fault = a.load_ptx(PTX)?.kernel::<(InOut<u32>,)>("fault")?;
        let (of_a, of_b) = (a.new_stream()?, b.new_stream()?);
        let (mut target, mut other) = (a.zeros::<u32>(4)?, b.zeros::<u32>(4)?);
        of_b.scope(|s| s.fill(&mut other.lend(s), 1))?;
        of_a.scope(|s| {
            let mut target = target.lend(s);
            // SAFETY: as above.
            unsafe { s.launch(&fault, ONE, (&mut target,)) }
        })
    });
    assert!(matches!(result, Err(Error::Driver(_))), "{result:?}");
    let first = driver.first_fault().unwrap();
    let after = driver.with_device(1, |_| Ok(()));
    assert_eq!(after, Err(Error::Poisoned { first }));
    result
}

/// Whether there are two devices. With one the cases are not what they are about.
fn has_two_devices() -> bool {
    let has = driver().device_count().unwrap() > 1;
    if !has {
        println!("not run, for want of a second device");
    }
    has
}

/// Memory that the other device may still write cannot be given back: there is nothing left but to
/// end the process.
#[test]
fn memory_of_a_device_that_may_go_on_is_not_given_back() {
    if !has_two_devices() {
        return;
    }
    let output = run("busy");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(
        text.contains("(the answer is a fault, and may be one of another device): aborting"),
        "{text}"
    );
    assert!(!String::from_utf8_lossy(&output.stdout).contains("returned"));
}

/// A device without work in flight has no fault, so it is the other one's, whose work has stopped.
#[test]
fn fault_is_of_the_only_device_with_work() {
    if !has_two_devices() {
        return;
    }
    let output = run("idle");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("returned Err(Driver("), "{text}");
}
