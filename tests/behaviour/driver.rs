//! The driver and its devices: loading, what is missing, what can be asked. Claim C9 for ordinals.

#![allow(unsafe_code)] // loads libraries by name and makes a driver of its own

use crate::common::{on_driver, real};
use scoped_cuda::error::Version;
use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Attribute, ComputeCapability, Driver, Error};
use std::collections::HashSet;

/// B156: no library is an error that says what was tried, and the program runs on.
#[test]
fn missing_library_is_named() {
    let names = ["libno-such-driver.so.1", "libnor-this-one.so"];
    // SAFETY: there is no such library.
    let Error::NoDriver { tried } = unsafe { Driver::load_from(&names) }.unwrap_err() else {
        panic!("another error")
    };
    assert_eq!(tried.len(), 2);
    assert!(
        tried
            .iter()
            .zip(names)
            .all(|(tried, name)| tried.starts_with(name)),
        "{tried:?}"
    );
}

/// The system's driver, or the error of a machine without one; never a simulated one instead.
#[test]
fn load_is_the_same_from_many_threads() {
    let loaded: Vec<_> = std::thread::scope(|threads| {
        let loads: Vec<_> = (0..8).map(|_| threads.spawn(Driver::load)).collect();
        loads.into_iter().map(|load| load.join().unwrap()).collect()
    });
    for load in &loaded {
        match (load, &loaded[0]) {
            (Ok(driver), Ok(first)) => assert_eq!((driver, driver.is_simulated()), (first, false)),
            (Err(error), Err(first)) => assert_eq!(error, first),
            different => panic!("{different:?}"),
        }
    }
    assert!(loaded[0].is_ok() || !real());
}

/// B154: a required symbol that is missing is an error at load that names both versions.
#[test]
fn missing_required_symbol_is_named() {
    let simulation = Simulation::default().missing(&["cuLaunchKernelEx"]);
    let error = Driver::simulated(simulation).unwrap_err();
    let (needs, driver) = (Version(11_060), Version(13_000));
    assert_eq!(
        error,
        Error::SymbolMissing {
            name: "cuLaunchKernelEx",
            needs,
            driver
        }
    );
    assert_eq!(
        error.to_string(),
        "the driver (CUDA 13.0) has no `cuLaunchKernelEx`, which appeared in CUDA 11.6"
    );
}

#[test]
fn old_driver_is_refused_with_both_versions() {
    let error = Driver::simulated(Simulation::default().version(11_080)).unwrap_err();
    assert_eq!(
        error,
        Error::DriverTooOld {
            needs: Version(12_000),
            found: Version(11_080)
        }
    );
    assert_eq!(
        error.to_string(),
        "the driver supports CUDA 11.8, this crate needs CUDA 12.0 or newer"
    );
}

#[test]
fn oldest_supported_driver_loads() {
    let driver = Driver::simulated(Simulation::default().version(12_000)).unwrap();
    assert_eq!(driver.version(), Version(12_000));
    assert_eq!(
        driver.with_device(0, |ctx| ctx.upload(&[1u8])?.to_vec()),
        Ok(vec![1])
    );
}

#[test]
fn driver_of_no_symbols_at_all_is_an_error() {
    // SAFETY: every address is null.
    let error = unsafe { Driver::from_symbols(|_, _| std::ptr::null()) }.unwrap_err();
    assert_eq!(
        error,
        Error::DriverTooOld {
            needs: Version(12_000),
            found: Version(0)
        }
    );
}

/// B155: a machine without a device is an error when a device is asked for, and not before.
#[test]
fn no_device_is_an_error_on_use() {
    let driver = Driver::simulated(Simulation::default().devices(0)).unwrap();
    assert_eq!(driver.device_count(), Ok(0));
    assert_eq!(driver.devices(), Ok(vec![]));
    assert_eq!(driver.device(0).unwrap_err(), Error::NoDevice);
    assert_eq!(driver.with_device(3, |_| Ok(())), Err(Error::NoDevice));
}

#[test]
fn ordinal_past_the_last_is_refused() {
    on_driver(|driver| {
        let count = driver.device_count()?;
        for asked in [count, count + 1, 1 << 31, u32::MAX] {
            assert_eq!(
                driver.device(asked).unwrap_err(),
                Error::BadOrdinal { asked, count }
            );
            assert_eq!(
                driver.with_device(asked, |_| Ok(())),
                Err(Error::BadOrdinal { asked, count })
            );
        }
        Ok(())
    });
}

#[test]
fn devices_can_be_asked() {
    on_driver(|driver| {
        let devices = driver.devices()?;
        assert_eq!(devices.len() as u32, driver.device_count()?);
        let (mut uuids, mut places) = (HashSet::new(), HashSet::new());
        for (ordinal, device) in devices.iter().enumerate() {
            assert_eq!(device.ordinal(), ordinal as u32);
            assert!(!device.name()?.is_empty());
            assert!(device.compute_capability()? >= ComputeCapability::new(5, 0));
            let total = device.total_memory_bytes()?;
            assert!(total > 0);
            assert_eq!(device.attribute(Attribute::WarpSize)?, 32);
            assert!(device.attribute(Attribute::MultiprocessorCount)? > 0);
            let uuid = device.uuid()?.to_string();
            assert!(uuid.starts_with("GPU-") && uuid.len() == 40, "{uuid}");
            assert!(uuids.insert(uuid), "no two devices have one uuid");
            let place = device.pci_bus_id()?;
            assert!(
                place.ends_with(".0") && place.matches(':').count() == 2,
                "{place}"
            );
            assert!(places.insert(place), "no two devices are in one place");
        }
        Ok(())
    });
}

#[test]
fn every_attribute_has_an_answer_or_an_error() {
    on_driver(|driver| {
        let device = driver.device(0)?;
        let mut answered = 0;
        for &attribute in Attribute::ALL {
            match device.attribute(attribute) {
                Ok(_) => answered += 1,
                Err(error) => {
                    let error = *error.driver_error().expect("a driver error");
                    assert_eq!(
                        (error.code(), error.call()),
                        (CUresult::INVALID_VALUE, "cuDeviceGetAttribute")
                    );
                }
            }
        }
        assert!(answered > 100, "{answered} attributes");
        Ok(())
    });
}

#[test]
fn driver_error_speaks() {
    let driver = Driver::simulated(Simulation::default()).unwrap();
    driver
        .machine()
        .unwrap()
        .fail_call(1, CUresult::INVALID_VALUE);
    let error = driver.device_count().unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("cuDeviceGetCount returned CUDA_ERROR_INVALID_VALUE (1): "),
        "{text}"
    );
}

/// A code that nobody knows is a value like any other.
#[test]
fn unknown_code_is_an_ordinary_error() {
    let driver = Driver::simulated(Simulation::default()).unwrap();
    driver.machine().unwrap().fail_call(1, CUresult(54_321));
    let error = driver.device_count().unwrap_err();
    assert_eq!(error.driver_error().unwrap().code(), CUresult(54_321));
    assert!(error.to_string().contains("54321"), "{error}");
}

#[test]
fn simulated_machines_do_not_meet() {
    let [a, b] =
        [1, 3].map(|devices| Driver::simulated(Simulation::default().devices(devices)).unwrap());
    assert_ne!(a, b);
    a.with_device(0, |ctx| {
        let _buffer = ctx.zeros::<u8>(1000)?;
        assert_eq!((a.device_count()?, b.device_count()?), (1, 3));
        assert_eq!(b.machine().unwrap().live(), Default::default());
        b.machine().unwrap().fail_call(1, CUresult::ILLEGAL_ADDRESS);
        assert!(b.device_count().is_err());
        assert!(a.with_device(0, |ctx| ctx.upload(&[1u8])?.to_vec()).is_ok());
        Ok(())
    })
    .unwrap();
}

/// A handle says nothing that a panic could leave half done.
#[test]
fn a_panic_is_caught_around_a_context() {
    on_driver(|driver| {
        let caught = std::panic::catch_unwind(|| {
            driver.with_device(0, |ctx| {
                let _buffer = ctx.zeros::<u8>(1)?;
                panic!("inside");
                #[allow(unreachable_code)] // says what the closure returns
                Ok(())
            })
        });
        assert!(caught.is_err());
        driver.with_device(0, |ctx| ctx.zeros::<u8>(1).map(drop))
    });
}
