//! Several contexts at once: of several devices, of one device twice, and kernels of one with
//! memory of another.

#![allow(unsafe_code)] // launches

use crate::common::{
    Gate, PTX, current, in_context, in_two_contexts, is_busy, on, on_driver, second, simulated,
    stack,
};
use scoped_cuda::sim::{Peers, Simulation};
use scoped_cuda::{
    Context, Driver, Error, Extent, In, InOut, LaunchConfig, Out, Result, Transfer, scope,
};
use std::panic::AssertUnwindSafe;

type StorePair = (Out<u32>, [u32; 2]);
type Add = (In<u32>, InOut<u32>, u32);

/// The ordinals of four devices, as far as there are as many.
fn ordinals(driver: Driver) -> Result<[u32; 4]> {
    let count = driver.device_count()?;
    Ok([0, 1, 2, 3].map(|ordinal| ordinal % count))
}

/// Each context is of the device named in its place, the last one is current, and the stack is
/// afterwards as it was.
#[test]
fn several_devices_in_their_order() {
    on_driver(|driver| {
        let all = ordinals(driver)?;
        let [first, second, third, fourth] = all;
        driver.with_two_devices([second, first], |a, b| {
            let found = [a.device().ordinal(), b.device().ordinal()];
            assert_eq!(found, [second, first]);
            assert_eq!(current(driver), b.as_raw());
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

/// Whatever the closure does, all contexts go, and one that cannot be had is an error that leaves
/// none behind.
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
    let driver = simulated(Simulation::default().devices(devices));
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

/// Copies at rest, kernels and copies in flight, and a buffer that is freed in its own scope
/// afterwards.
#[test]
fn memory_of_one_scope_is_used_in_another_of_the_same_context() {
    in_context(|ctx| {
        let driver = ctx.driver();
        let mut table = ctx.upload(&[1u32, 2, 3, 4])?;
        let sums = driver.with_device(0, |inner| {
            let same = inner.same_context(ctx)?;
            let mut here = inner.zeros::<u32>(4)?;
            here.copy_from(&same.slice_of(&table))?;
            assert_eq!(here.to_vec()?, [1, 2, 3, 4]);
            same.slice_of_mut(&mut table)
                .slice_mut(1..3)?
                .write(&[20, 30])?;
            assert_eq!(table.to_vec()?, [1, 20, 30, 4]);
            assert_eq!(same.slice_of(&table).slice(2..)?.to_vec()?, [30, 4]);

            let stream = inner.new_stream()?;
            let add = inner.load_ptx(PTX)?.kernel::<Add>("add")?;
            let config = LaunchConfig::for_elements(4);
            stream.scope(|s| {
                let mut here = here.lend(s);
                // SAFETY: `add` reads and updates the first n elements, and both have 4.
                unsafe { s.launch(&add, config, (same.slice_of(&table), &mut here, 4)) }
            })?;
            assert_eq!(here.to_vec()?, [2, 22, 33, 8]);
            let mut back = [0; 4];
            stream.scope(|s| {
                let mut there = same.slice_of_mut(&mut table).lend(s);
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
        let stream = ctx.new_stream()?;
        driver.with_device(0, |inner| {
            let same = ctx.same_context(inner)?;
            let mut short_lived = inner.zeros::<u32>(4)?;
            stream.scope(|s| {
                let gate = Gate::close(&stream);
                let mut memory = same.slice_of_mut(&mut short_lived).lend(s);
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

/// Memory that was made in the other scope at this moment and copied by an owned copy, over a
/// transfer token, goes the same ways.
#[test]
fn memory_of_another_scope_is_memory_like_any_other() {
    in_two_contexts(|a, b| {
        a.driver().with_device(0, |again| {
            let source = a.upload(&[1u8, 2, 3])?;
            let same = again.same_context(a)?;
            let mut destination = b.zeros::<u8>(3)?;
            again
                .transfer_to(b)?
                .copy(&same.slice_of(&source), &mut destination)?;
            assert_eq!(destination.to_vec()?, [1, 2, 3]);
            let mut empty = a.zeros::<u8>(0)?;
            assert_eq!(same.slice_of(&empty).to_vec()?, []);
            assert!(same.slice_of_mut(&mut empty).is_empty());

            let mut image = a.upload_rows(&[1u8, 2, 3, 4], Extent::new(2, 2))?;
            let mut column = again.zeros_rows::<u8>(Extent::new(1, 2))?;
            column.copy_from(&same.pitched(&image).region(1.., .., ..)?)?;
            assert_eq!(column.to_vec()?, [2, 4]);
            same.pitched_mut(&mut image)
                .region_mut(..1, .., ..)?
                .fill(9)?;
            assert_eq!(image.to_vec()?, [9, 2, 9, 4]);
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

/// A context that other code has reset is not the same as the one that was retained after it,
/// although the driver's handle is.
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

/// A direct token, or `None` (and a word about it) where the devices have no peer access.
fn direct<'a, 'b>(a: Context<'a>, b: Context<'b>) -> Result<Option<Transfer<'a, 'b>>> {
    match Transfer::direct(a, b) {
        Err(Error::PeerUnsupported { .. }) => {
            println!("no peer access between these devices");
            assert!(!b.device().can_access(a.device())?, "refused without need");
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// B47: a kernel of one device reads and writes memory of the other, over the token that opened it.
#[test]
fn kernel_reaches_memory_of_another_device() {
    in_two_contexts(|a, b| {
        let Some(token) = direct(a, b)? else {
            return Ok(());
        };
        const N: usize = 10_007;
        let values: Vec<u32> = (0..N as u32).map(|i| i * 3 + 1).collect();
        let mut far = a.upload(&values)?;
        let mut near = b.filled(N, 5u32)?;
        let module = b.load_ptx(PTX)?;
        let add = module.kernel::<Add>("add")?;
        let store_pair = module.kernel::<StorePair>("store_pair")?;
        let (stream, n) = (b.new_stream()?, N as u32);
        let config = LaunchConfig::for_elements(N);
        let there = token.peer_slice(&far)?;
        stream.scope(|s| {
            let mut near = near.lend(s);
            // SAFETY: `add` reads and updates the first n elements, and both have N.
            unsafe { s.launch(&add, config, (there, &mut near, n)) }
        })?;
        let sums: Vec<u32> = values.iter().map(|x| x + 5).collect();
        assert_eq!(near.to_vec()?, sums);

        let there = token.peer_slice_mut(&mut far)?;
        stream.scope(|s| {
            let mut there = there.lend(s);
            // SAFETY: as above.
            unsafe { s.launch(&add, config, (&near, &mut there, n)) }
        })?;
        let twice: Vec<u32> = values.iter().map(|x| 2 * x + 5).collect();
        assert_eq!(far.to_vec()?, twice);

        // Written and then read by two kernels of one stream, in parts.
        let (mut head, tail) = (token.peer_slice_mut(&mut far)?, b.zeros::<u32>(2)?);
        let (head, rest) = head.reborrow().split_at_mut(2)?;
        let mut tail = tail;
        assert_eq!((head.len(), rest.len()), (2, N - 2));
        stream.scope(|s| {
            let (mut head, mut tail) = (head.lend(s), tail.lend(s));
            let two = LaunchConfig::for_elements(2);
            // SAFETY: `store_pair` writes two elements, and there are two.
            unsafe {
                s.launch(
                    &store_pair,
                    LaunchConfig::for_elements(1),
                    (&mut head, [7, 8]),
                )
            }?;
            // SAFETY: as above.
            unsafe { s.launch(&add, two, (&head, &mut tail, 2)) }
        })?;
        assert_eq!(tail.to_vec()?, [7, 8]);
        assert_eq!(far.slice(..3)?.to_vec()?, [7, 8, twice[2]]);
        let part = token.peer_slice(&far)?.slice(1..3)?;
        assert_eq!((part.len(), part.as_raw()), (2, far.as_raw() + 4));
        assert!(token.peer_slice(&far)?.slice(N..=N).is_err());
        assert!(token.peer_slice(&a.zeros::<u32>(0)?)?.is_empty());
        Ok(())
    });
}

/// B41: memory of another device goes from stream to stream as memory of one's own does, and comes
/// back to rest inside the scope.
#[test]
fn memory_of_another_device_is_handed_over_in_order() {
    in_two_contexts(|a, b| {
        let Some(token) = direct(a, b)? else {
            return Ok(());
        };
        let mut far = a.upload(&[1u32, 2])?;
        let (mut first_sum, mut second_sum) = (b.zeros::<u32>(2)?, b.zeros::<u32>(2)?);
        let module = b.load_ptx(PTX)?;
        let add = module.kernel::<Add>("add")?;
        let store_pair = module.kernel::<StorePair>("store_pair")?;
        let (one, two) = (b.new_stream()?, b.new_stream()?);
        let (single, pair) = (LaunchConfig::for_elements(1), LaunchConfig::for_elements(2));
        // Once beforehand: a kernel's first launch may load it, and that may wait for a stream that
        // is held shut.
        one.scope(|s| {
            let mut sum = first_sum.lend(s);
            // SAFETY: `store_pair` writes two elements, and there are two.
            unsafe { s.launch(&store_pair, single, (&mut sum, [0, 0])) }?;
            // SAFETY: `add` reads and updates two elements, and there are two.
            unsafe { s.launch(&add, pair, (&second_sum, &mut sum, 2)) }
        })?;
        let there = token.peer_slice_mut(&mut far)?;
        scope(|scope| {
            scope.on(&one, |one_s| {
                scope.on(&two, |two_s| {
                    let mut there = there.lend(one_s);
                    let mut first_sum = first_sum.lend(one_s);
                    let mut second_sum = second_sum.lend(two_s);
                    let gate = Gate::close(&one);
                    // SAFETY: `store_pair` writes two elements, and there are two.
                    unsafe { one_s.launch(&store_pair, single, (&mut there, [30, 40])) }?;
                    // SAFETY: `add` reads and updates two elements, and there are two.
                    unsafe { one_s.launch(&add, pair, (&there, &mut first_sum, 2)) }?;
                    let there = there.hand_over(one_s, two_s)?;
                    // SAFETY: as above.
                    unsafe { two_s.launch(&add, pair, (&there, &mut second_sum, 2)) }?;
                    assert!(is_busy(&two), "the second stream waits for the first");
                    gate.open();
                    let there = there.release(two_s)?;
                    let mut there = there.lend(two_s);
                    // SAFETY: as above.
                    unsafe { two_s.launch(&store_pair, single, (&mut there, [5, 6])) }
                })
            })
        })?;
        assert_eq!(first_sum.to_vec()?, [30, 40]);
        assert_eq!(second_sum.to_vec()?, [30, 40]);
        assert_eq!(far.to_vec()?, [5, 6]);
        Ok(())
    });
}

/// Whatever is current, and memory that was allocated after the token was made.
#[test]
fn memory_is_reached_whatever_is_current() {
    fn reach<'a, 'b>(a: Context<'a>, b: Context<'b>) -> Result<()> {
        let Some(token) = direct(a, b)? else {
            return Ok(());
        };
        let before = stack(a.driver());
        let far = a.upload(&[1u32, 2, 3])?;
        let mut near = b.zeros::<u32>(3)?;
        let add = b.load_ptx(PTX)?;
        let add = add.kernel::<Add>("add")?;
        let there = token.peer_slice(&far)?;
        b.new_stream()?.scope(|s| {
            let mut near = near.lend(s);
            // SAFETY: `add` reads and updates three elements, and both have 3.
            unsafe { s.launch(&add, LaunchConfig::for_elements(3), (there, &mut near, 3)) }
        })?;
        assert_eq!(near.to_vec()?, [1, 2, 3]);
        assert_eq!(stack(a.driver()), before);
        Ok(())
    }

    in_two_contexts(|a, b| {
        reach(a, b)?;
        reach(b, a)?;
        let driver = a.driver();
        driver.with_device(driver.device_count()? - 1, |_| reach(a, b))?;
        std::thread::scope(|threads| threads.spawn(|| reach(a, b)).join().unwrap())
    });
}

/// A staged token reaches nothing, even if a direct one of the same contexts exists; nor does one
/// of the other direction.
#[test]
fn staged_token_does_not_reach() {
    let driver = simulated(Simulation::default().peers(Peers::Only(vec![(1, 0)])));
    on(driver, |driver| {
        driver.with_two_devices([0, 1], |a, b| {
            let mut far = a.upload(&[1u32])?;
            Transfer::direct(a, b)?.peer_slice(&far)?;
            let staged = Transfer::staged(a, b)?;
            let refused = Error::NotDirect { from: 0, to: 1 };
            assert_eq!(staged.peer_slice(&far).unwrap_err(), refused);
            assert_eq!(staged.peer_slice_mut(&mut far).unwrap_err(), refused);
            // The devices have access in one direction only.
            let error = b
                .transfer_to(a)?
                .peer_slice(&b.upload(&[1u32])?)
                .unwrap_err();
            assert_eq!(error, Error::NotDirect { from: 1, to: 0 });
            Ok(())
        })
    });
}

/// A context that other code has reset has no memory to reach.
#[test]
fn memory_of_a_lost_context_is_not_reached() {
    let driver = simulated(Simulation::default());
    let outcome = driver.with_two_devices([0, 1], |a, b| {
        let (mut far, token) = (a.upload(&[1u32])?, Transfer::direct(a, b)?);
        driver.machine().unwrap().reset_primary(0);
        let lost = Error::ContextLost { ordinal: 0 };
        assert_eq!(token.peer_slice(&far).unwrap_err(), lost);
        assert_eq!(token.peer_slice_mut(&mut far).unwrap_err(), lost);
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

/// Images, parts of them and volumes, in both directions and whatever the token is; nothing between
/// the rows is touched.
#[test]
fn rows_are_copied_between_devices() {
    fn copies<'a, 'b>(a: Context<'a>, b: Context<'b>) -> Result<()> {
        let mut tokens = vec![Transfer::staged(a, b)?];
        tokens.extend(direct(a, b)?);
        for token in tokens {
            let extent = Extent::new(5, 4).slices(3);
            let values: Vec<u16> = (1..=60).collect();
            let source = a.upload_rows(&values, extent)?;
            let mut volume = b.zeros_rows::<u16>(extent)?;
            token.copy_rows(&source, &mut volume)?;
            assert_eq!(volume.to_vec()?, values, "{token:?}");

            let mut part = b.zeros_rows::<u16>(extent)?;
            token.copy_rows(
                &source.region(1..4, 2..4, 1..3)?,
                &mut part.region_mut(2..5, 0..2, 0..2)?,
            )?;
            let arrived = part.to_vec()?;
            for (i, &found) in arrived.iter().enumerate() {
                let (x, y, z) = (i % 5, i / 5 % 4, i / 20);
                let expected = match (2..5).contains(&x) && y < 2 && z < 2 {
                    true => values[(x - 1) + (y + 2) * 5 + (z + 1) * 20],
                    false => 0,
                };
                assert_eq!(found, expected, "{token:?} {x} {y} {z}");
            }

            let mut row = b.zeros_rows::<u16>(Extent::new(5, 1))?;
            token.copy_rows(&source.region(.., 3..4, 2..3)?, &mut row)?;
            assert_eq!(row.to_vec()?, [56, 57, 58, 59, 60]);
            let error = token
                .copy_rows(&source.region(..4, 3..4, 2..3)?, &mut row)
                .unwrap_err();
            assert_eq!(
                error,
                Error::ExtentMismatch {
                    source_extent: Extent::new(4, 1),
                    destination_extent: Extent::new(5, 1)
                }
            );
            let nothing = a.zeros_rows::<u16>(Extent::new(0, 7))?;
            let mut empty = b.zeros_rows::<u16>(Extent::new(0, 7))?;
            token.copy_rows(&nothing, &mut empty)?;
        }
        Ok(())
    }

    in_two_contexts(|a, b| {
        copies(a, b)?;
        copies(b, a)?;
        let driver = a.driver();
        driver.with_device(driver.device_count()? - 1, |_| copies(a, b))?;
        std::thread::scope(|threads| threads.spawn(|| copies(a, b)).join().unwrap())
    });
}

/// B41, B45, for rows: the destination's stream waits for arrival, and the source may be
/// overwritten behind the copy.
#[test]
fn enqueued_rows_are_ordered_on_both_streams() {
    in_two_contexts(|a, b| {
        let (of_a, of_b) = (a.new_stream()?, b.new_stream()?);
        let extent = Extent::new(77, 9);
        let mut source = a.zeros_rows::<u32>(extent)?;
        let mut destination = b.zeros_rows::<u32>(extent)?;
        let mut arrived = b.zeros_rows::<u32>(extent)?;
        for token in [Transfer::staged(a, b)?, a.transfer_to(b)?] {
            scope(|scope| {
                scope.on(&of_a, |on_a| {
                    scope.on(&of_b, |on_b| {
                        let mut source = source.lend(on_a);
                        let mut destination = destination.lend(on_b);
                        on_b.fill_rows(&mut destination, 1)?;
                        let gate = Gate::close(&of_a);
                        on_a.fill_rows(&mut source, 7)?;
                        let part = source.region(..50, 2.., ..)?;
                        let mut there = destination.region_mut(20..70, ..7, ..)?;
                        token.enqueue_rows(on_a, &part, on_b, &mut there)?;
                        on_b.copy_rows(&destination, &mut arrived.lend(on_b))?;
                        on_a.fill_rows(&mut source, 8)?;
                        gate.open();
                        Ok(())
                    })
                })
            })?;
            for (i, &value) in arrived.to_vec()?.iter().enumerate() {
                let (x, y) = (i % 77, i / 77);
                let expected = if (20..70).contains(&x) && y < 7 { 7 } else { 1 };
                assert_eq!(value, expected, "{token:?} {x} {y}");
            }
            assert_eq!(source.to_vec()?, vec![8; 77 * 9], "{token:?}");
        }
        Ok(())
    });
}
