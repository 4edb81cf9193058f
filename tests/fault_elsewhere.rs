//! A fault on one device while another one writes host memory: one test, alone in its binary, because it ends the use of CUDA in the
//! process. Claims C5, C10.

#![allow(unsafe_code)] // launches

mod common;

use common::{PTX, real, second, simulated};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, InOut, LaunchConfig, scope};
use std::thread;
use std::time::{Duration, Instant};

/// The wait for a stream whose device has no fault fails at once with the fault of the other, and that proves that nothing is written
/// any more: host memory that was lent to a copy is the host's again.
#[test]
fn a_fault_on_one_device_has_stopped_the_copies_of_the_other() {
    const LEN: usize = 1 << 20;
    let driver = match real() {
        true => Driver::load().unwrap(),
        false => simulated(Simulation::default()),
    };
    let last = second(driver).unwrap();
    let result = driver.with_two_devices([0, last], |a, b| {
        let fault = a.load_ptx(PTX)?.kernel::<(InOut<u32>,)>("fault")?;
        let spin = b.load_ptx(PTX)?.kernel::<(u64,)>("spin")?;
        let (of_a, of_b) = (a.stream()?, b.stream()?);
        let mut target = a.zeros::<u32>(4)?;
        let source = b.filled(LEN, 1u32)?;
        let mut host = b.pinned_zeros::<u32>(LEN)?;
        let one = LaunchConfig::new([1; 3], [1; 3]);
        let start = Instant::now();
        let outcome = scope(|scope| {
            // The stream with the fault is the first that is waited for.
            scope.on(&of_a, |on_a| {
                scope.on(&of_b, |on_b| {
                    // The copy has to wait: a second or two, on a device whose clock is 1 to 2 GHz.
                    // SAFETY: it touches nothing.
                    unsafe { on_b.launch(&spin, one, (2_000_000_000,)) }?;
                    on_b.read(&source, &mut host)?;
                    let mut target = on_a.lend(&mut target);
                    // SAFETY: not safe at all: it stores to an address that nobody has, which is what this test is about. The device
                    // refuses, and no memory of this process is touched.
                    unsafe { on_a.launch(&fault, one, (&mut target,)) }
                })
            })
        });
        let waited = start.elapsed();
        assert!(outcome.is_err());
        let before = host.to_vec();
        thread::sleep(Duration::from_millis(if real() { 3000 } else { 600 }));
        println!(
            "waited for {waited:?}; {} had arrived",
            before.iter().sum::<u32>()
        );
        assert!(before == host.to_vec(), "the copy ran after the wait");
        outcome
    });
    assert_eq!(
        result.unwrap_err().driver_error().copied(),
        driver.fault(),
        "the fault is what was reported"
    );
}
