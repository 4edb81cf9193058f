//! A fault on one device while another one writes host memory: one test, alone in its binary, because it ends the use of CUDA in the
//! process. Claims C5, C10.

#![allow(unsafe_code)] // launches

mod common;

use common::{PTX, real, second, simulated};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, Extent, InOut, LaunchConfig, scope};
use std::thread;
use std::time::Duration;

/// The wait for a stream whose device has no fault fails at once with the fault of the other, and that proves that nothing is written
/// any more: host memory that was lent to a copy is the host's again.
#[test]
fn a_fault_on_one_device_has_stopped_the_copies_of_the_other() {
    // Rows of four bytes, which the device copies one by one: slow, so that the fault comes in the middle.
    let (driver, rows) = match real() {
        true => (Driver::load().unwrap(), 1 << 23),
        false => (simulated(Simulation::default()), 1 << 12),
    };
    let last = second(driver).unwrap();
    let result = driver.with_two_devices([0, last], |a, b| {
        let fault = a.load_ptx(PTX)?.kernel::<(InOut<u32>,)>("fault")?;
        let (of_a, of_b) = (a.stream()?, b.stream()?);
        let mut target = a.zeros::<u32>(4)?;
        let mut source = b.pitched_zeros::<u32>(Extent::new(1, rows))?;
        source.view_mut().fill(1)?;
        let mut host = b.pinned_zeros::<u32>(rows)?;
        let outcome = scope(|scope| {
            // The stream with the fault is the first that is waited for.
            scope.on(&of_a, |on_a| {
                scope.on(&of_b, |on_b| {
                    on_b.read_rows(&source, &mut host[..])?;
                    let mut target = on_a.lend(&mut target);
                    // SAFETY: not safe at all: it stores to an address that nobody has, which is what this test is about. The device
                    // refuses, and no memory of this process is touched.
                    unsafe { on_a.launch(&fault, LaunchConfig::for_elements(1), (&mut target,)) }
                })
            })
        });
        // A few elements from everywhere, in no time beside the copy.
        let sample = || host.iter().step_by(rows / 4096).copied().collect();
        let first: Vec<u32> = sample();
        assert!(outcome.is_err());
        thread::sleep(Duration::from_millis(500));
        let second: Vec<u32> = sample();
        let arrived = first.iter().filter(|&&word| word == 1).count();
        println!("{arrived} of {} samples had arrived", first.len());
        assert!(first == second, "the copy went on after the wait");
        outcome
    });
    assert_eq!(
        result.unwrap_err().driver_error().copied(),
        driver.fault(),
        "the fault is what was reported"
    );
}
