//! Several contexts at once: of several devices, of one device twice, and kernels of one with memory of another.

#![allow(unsafe_code)] // launches

mod common;

use common::{
    Gate, PTX, current, in_context, in_two_contexts, is_busy, on, on_driver, second, simulated,
    stack,
};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, Error, In, InOut, LaunchConfig, Result};
use std::panic::AssertUnwindSafe;

type Add = (In<u32>, InOut<u32>, u32);

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

/// Copies at rest, kernels and copies in flight, and a buffer that is freed in its own scope afterwards.
#[test]
fn memory_of_one_scope_is_used_in_another_of_the_same_context() {
    in_context(|ctx| {
        let driver = ctx.driver();
        let mut table = ctx.upload(&[1u32, 2, 3, 4])?;
        let sums = driver.with_device(0, |inner| {
            let same = inner.same_context(ctx)?;
            let mut here = inner.zeros::<u32>(4)?;
            here.copy_from(&same.buffer(&table))?;
            assert_eq!(here.to_vec()?, [1, 2, 3, 4]);
            same.buffer_mut(&mut table)
                .slice_mut(1..3)?
                .write(&[20, 30])?;
            assert_eq!(table.to_vec()?, [1, 20, 30, 4]);
            assert_eq!(same.buffer(&table).slice(2..)?.to_vec()?, [30, 4]);

            let stream = inner.stream()?;
            let add = inner.load_ptx(PTX)?.kernel::<Add>("add")?;
            let config = LaunchConfig::for_elements(4);
            stream.scope(|s| {
                let mut here = s.lend(&mut here);
                // SAFETY: `add` reads and updates the first n elements, and both have 4.
                unsafe { s.launch(&add, config, (same.buffer(&table), &mut here, 4)) }
            })?;
            assert_eq!(here.to_vec()?, [2, 22, 33, 8]);
            let mut back = [0; 4];
            stream.scope(|s| {
                let mut there = s.lend_view(same.buffer_mut(&mut table));
                // SAFETY: as above.
                unsafe { s.launch(&add, config, (&here, &mut there, 4)) }?;
                s.read(&there, &mut back)
            })?;
            assert_eq!(back, [3, 42, 63, 12]);
            table.to_vec() // in its own scope again
        })?;
        assert_eq!(sums, [3, 42, 63, 12]);
        assert_eq!(table.to_vec()?, sums);

        // The other way: memory of the inner scope, in flight on a stream of the outer one.
        let stream = ctx.stream()?;
        driver.with_device(0, |inner| {
            let same = ctx.same_context(inner)?;
            let mut short_lived = inner.zeros::<u32>(4)?;
            stream.scope(|s| {
                let gate = Gate::close(&stream);
                let mut memory = s.lend_view(same.buffer_mut(&mut short_lived));
                s.fill(&mut memory, 5)?;
                assert!(is_busy(&stream));
                gate.open();
                Ok(())
            })?;
            assert_eq!(short_lived.to_vec()?, [5; 4]);
            Ok(())
        })
    });
}

/// Memory that was made in the other scope at this moment and copied by an owned copy, over a transfer token, goes the same ways.
#[test]
fn memory_of_another_scope_is_memory_like_any_other() {
    in_two_contexts(|a, b| {
        a.driver().with_device(0, |again| {
            let source = a.upload(&[1u8, 2, 3])?;
            let same = again.same_context(a)?;
            let mut destination = b.zeros::<u8>(3)?;
            again
                .transfer_to(b)?
                .copy(&same.buffer(&source), &mut destination)?;
            assert_eq!(destination.to_vec()?, [1, 2, 3]);
            let mut empty = a.zeros::<u8>(0)?;
            assert_eq!(same.buffer(&empty).to_vec()?, []);
            assert!(same.buffer_mut(&mut empty).is_empty());
            assert_eq!(format!("{same:?}"), "SameContext(device 0)");
            Ok(())
        })
    });
}

/// Two devices and two drivers are told apart.
#[test]
fn different_contexts_are_not_the_same() {
    let [driver, other] = [0, 1].map(|_| simulated(Simulation::default()));
    on(driver, |driver| {
        driver.with_two_devices([0, 1], |a, b| {
            let error = a.same_context(b).unwrap_err();
            assert_eq!(
                error,
                Error::DifferentContexts {
                    first: 0,
                    second: 1
                }
            );
            a.same_context(a)?;
            other.with_device(0, |c| {
                assert_eq!(a.same_context(c).unwrap_err(), Error::DifferentDrivers);
                Ok(())
            })
        })
    });
}

/// A context that other code has reset is not the same as the one that was retained after it, although the driver's handle is.
#[test]
fn context_made_anew_is_not_the_same() {
    let driver = simulated(Simulation::default());
    on(driver, |driver| {
        let result = driver.with_device(0, |before| {
            driver.machine().unwrap().reset_primary(0);
            driver.with_device(0, |after| {
                assert_eq!(before.as_raw(), after.as_raw());
                let lost = Error::ContextLost { ordinal: 0 };
                assert_eq!(before.same_context(after).unwrap_err(), lost);
                assert_eq!(after.same_context(before).unwrap_err(), lost);
                after.same_context(after).map(|_| ())
            })
        });
        assert_eq!(result, Ok(()));
        assert!(
            !driver.take_teardown_errors().is_empty(),
            "the objects of the first scope went with it"
        );
        Ok(())
    });
}
