//! What a device says about its link to another.

use crate::common::{on, on_driver, simulated};
use scoped_cuda::Error;
use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::{Peers, Simulation};

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(result: Result<T, Error>) {
    let error = *result.unwrap_err().driver_error().expect("a driver error");
    assert_eq!(
        (error.code(), error.call()),
        (CUresult::INVALID_DEVICE, "cuDeviceGetP2PAttribute")
    );
}

/// Every pair of two devices has an answer, without a context, and asking leaves nothing.
#[test]
fn every_pair_has_an_answer() {
    on_driver(|driver| {
        let devices = driver.devices()?;
        if devices.len() == 1 {
            println!("one device: no pair to ask about");
        }
        for &from in &devices {
            for &to in devices.iter().filter(|&&to| to != from) {
                let (rank, atomics) = (from.peer_performance_rank(to)?, from.peer_atomics(to)?);
                assert!(rank >= 0, "{from:?} to {to:?}: rank {rank}");
                assert!(
                    from.can_access(to)? || !atomics,
                    "{from:?} to {to:?}: atomics need access"
                );
            }
        }
        Ok(())
    });
}

/// A device has no link to itself: no access, and an error for what only a link has.
#[test]
fn device_is_no_peer_of_itself() {
    on_driver(|driver| {
        for device in driver.devices()? {
            assert!(!device.can_access(device)?);
            assert_refused(device.peer_performance_rank(device));
            assert_refused(device.peer_atomics(device));
        }
        Ok(())
    });
}

/// The same inside a context, and from a thread without one.
#[test]
fn answers_do_not_depend_on_what_is_current() {
    on_driver(|driver| {
        let (first, last) = (
            driver.device(0)?,
            driver.device(driver.device_count()? - 1)?,
        );
        let ask = move || (first.peer_performance_rank(last), first.peer_atomics(last));
        let outside = ask();
        driver.with_device(0, |_| {
            assert_eq!(ask(), outside);
            std::thread::scope(|threads| {
                assert_eq!(threads.spawn(ask).join().unwrap(), outside);
            });
            Ok(())
        })
    });
}

/// B47: a link is directed, and one that is missing ranks behind one that is there.
#[test]
fn links_are_directed() {
    let driver = simulated(
        Simulation::default()
            .devices(3)
            .peers(Peers::Only(vec![(0, 1), (2, 0)])),
    );
    on(driver, |driver| {
        let devices = driver.devices()?;
        for (a, &from) in devices.iter().enumerate() {
            for (b, &to) in devices.iter().enumerate().filter(|&(b, _)| b != a) {
                let is_linked = [(0, 1), (2, 0)].contains(&(a, b));
                assert_eq!(from.can_access(to)?, is_linked, "{a} to {b}");
                assert_eq!(from.peer_atomics(to)?, is_linked, "{a} to {b}");
                let rank = from.peer_performance_rank(to)?;
                assert_eq!(rank, i32::from(!is_linked), "{a} to {b}");
            }
        }
        Ok(())
    });
}

/// Devices of two simulated machines have no link; neither machine answers for the other's.
#[test]
fn devices_of_two_machines_are_no_peers() {
    let [a, b] = [0, 1].map(|_| simulated(Simulation::default()).device(0).unwrap());
    assert_refused(a.peer_performance_rank(b));
    assert_refused(b.peer_atomics(a));
}

/// A call that the driver refuses is an error with its code.
#[test]
fn failed_call_is_named() {
    let driver = simulated(Simulation::default());
    let [a, b] = [0, 1].map(|ordinal| driver.device(ordinal).unwrap());
    let machine = driver.machine().unwrap();
    machine.fail_call(1, CUresult::INVALID_DEVICE);
    assert_refused(a.peer_performance_rank(b));
    assert_eq!(a.peer_performance_rank(b), Ok(0));
}
