//! Several contexts at once: of several devices, of one device twice, and kernels of one with memory of another.

mod common;

use common::{current, on, on_driver, second, simulated, stack};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, Error, Result};
use std::panic::AssertUnwindSafe;

/// The ordinals of four devices, as far as there are as many.
fn ordinals(driver: Driver) -> Result<[u32; 4]> {
    let count = driver.device_count()?;
    Ok([0, 1, 2, 3].map(|ordinal| ordinal % count))
}

/// Each context is of the device named in its place, the last one is current, and the stack is afterwards as it was.
#[test]
fn several_devices_in_their_order() {
    on_driver(|driver| {
        let all = ordinals(driver)?;
        let [first, second, third, fourth] = all;
        driver.with_two_devices([second, first], |a, b| {
            let found = [a.device().ordinal(), b.device().ordinal()];
            assert_eq!(found, [second, first]);
            assert_eq!(current(driver), b.as_raw());
            assert_eq!(stack(driver).len(), 2);
            Ok(())
        })?;
        assert_eq!(stack(driver), []);
        let sum = driver.with_three_devices([first, second, third], |a, b, c| {
            let buffers = (a.upload(&[1u32])?, b.upload(&[2u32])?, c.upload(&[3u32])?);
            Ok([
                buffers.0.to_vec()?,
                buffers.1.to_vec()?,
                buffers.2.to_vec()?,
            ]
            .concat())
        })?;
        assert_eq!(sum, [1, 2, 3]);
        driver.with_four_devices(all, |a, b, c, d| {
            let found = [
                a.device().ordinal(),
                b.device().ordinal(),
                c.device().ordinal(),
                d.device().ordinal(),
            ];
            assert_eq!(found, [first, second, third, fourth]);
            let there = a.upload(&[7u8; 5])?;
            let mut here = d.zeros::<u8>(5)?;
            a.transfer_to(d)?.copy(&there, &mut here)?;
            assert_eq!(here.to_vec()?, [7; 5]);
            Ok(())
        })
    });
}

/// Whatever the closure does, all contexts go, and one that cannot be had is an error that leaves none behind.
#[test]
fn several_devices_end_on_every_way_out() {
    on_driver(|driver| {
        let count = driver.device_count()?;
        let error = driver.with_three_devices([0, 0, count], |_, _, _| Ok(()));
        assert_eq!(
            error,
            Err(Error::BadOrdinal {
                asked: count,
                count
            })
        );
        assert_eq!(stack(driver), []);

        #[derive(Debug)]
        #[allow(dead_code)] // shown when the test fails
        enum Own {
            Cuda(Error),
            Text(&'static str),
        }
        impl From<Error> for Own {
            fn from(error: Error) -> Self {
                Self::Cuda(error)
            }
        }
        let last = second(driver)?;
        let result = driver.try_with_two_devices([0, last], |_, _| Err::<(), _>(Own::Text("mine")));
        assert!(matches!(result, Err(Own::Text("mine"))));
        let result = driver.try_with_four_devices([0, 0, 0, count], |_, _, _, _| Ok::<(), Own>(()));
        assert!(matches!(
            result,
            Err(Own::Cuda(Error::BadOrdinal { asked, .. })) if asked == count
        ));
        let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| {
            driver.with_four_devices([0, last, 0, last], |_, _, _, _| -> Result<()> {
                panic!("in the closure")
            })
        }));
        assert!(panicked.is_err());
        Ok(())
    });
}

/// One device named in all places: four scopes of one context.
#[test]
fn one_device_may_be_named_twice() {
    on_driver(|driver| {
        driver.with_four_devices([0; 4], |a, b, c, d| {
            assert_eq!(a.as_raw(), b.as_raw());
            assert_eq!(c.as_raw(), d.as_raw());
            let mut buffers = (a.zeros::<u32>(3)?, d.filled(3, 9u32)?);
            d.transfer_to(a)?.copy(&buffers.1, &mut buffers.0)?;
            assert_eq!(buffers.0.to_vec()?, [9; 3]);
            Ok(())
        })
    });
}

/// As many devices as there are: a thread and a scope for each.
#[test]
fn one_thread_for_each_device() {
    let devices = 5;
    let driver = simulated(Simulation {
        devices,
        ..Simulation::default()
    });
    on(driver, |driver| {
        let numbers: Vec<u32> = (0..1000).collect();
        let sums = std::thread::scope(|threads| {
            let workers: Vec<_> = numbers
                .chunks(200)
                .zip(0..)
                .map(|(part, ordinal)| {
                    threads.spawn(move || {
                        driver.with_device(ordinal, |ctx| {
                            Ok(ctx.upload(part)?.to_vec()?.iter().sum::<u32>())
                        })
                    })
                })
                .collect();
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap())
                .collect::<Result<Vec<u32>>>()
        })?;
        assert_eq!(sums.len(), 5);
        assert_eq!(sums.iter().sum::<u32>(), 499_500);
        Ok(())
    });
}
