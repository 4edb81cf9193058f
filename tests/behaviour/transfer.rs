//! Copies between contexts. Claims C2, C3, C8.

use crate::common::{Gate, in_two_contexts, is_busy, on, second, simulated, stack};
use scoped_cuda::sim::{Peers, Simulation};
use scoped_cuda::{Buffer, Context, Driver, Error, Extent, Result, ScopedStream, Transfer, scope};
use std::time::Duration;

const N: usize = 100_003;

/// Distinct bytes, so that a shifted or partial copy shows.
fn pattern(salt: u32) -> Vec<u32> {
    (0..N as u32)
        .map(|i| i.wrapping_mul(2_654_435_761).wrapping_add(salt))
        .collect()
}

/// Staged and, where the devices can, direct tokens.
fn tokens<'a, 'b>(a: Context<'a>, b: Context<'b>) -> Result<Vec<Transfer<'a, 'b>>> {
    let mut tokens = vec![Transfer::staged(a, b)?];
    match Transfer::direct(a, b) {
        Ok(token) => tokens.push(token),
        Err(Error::PeerUnsupported { .. }) => {
            println!("no peer access between these devices: staged only");
            assert!(!b.device().can_access(a.device())?, "refused without need");
        }
        Err(error) => return Err(error),
    }
    Ok(tokens)
}

#[test]
fn at_rest_in_both_directions() {
    in_two_contexts(|a, b| {
        let (on_a, on_b) = (a.upload(&pattern(1))?, b.upload(&pattern(2))?);
        let (mut to_a, mut to_b) = (a.zeros::<u32>(N)?, b.zeros::<u32>(N)?);
        for token in tokens(a, b)? {
            token.copy(&on_a, &mut to_b)?;
            assert_eq!(to_b.to_vec()?, pattern(1), "{token:?}");
            to_b.write(&pattern(0))?;
        }
        for token in tokens(b, a)? {
            token.copy(&on_b, &mut to_a)?;
            assert_eq!(to_a.to_vec()?, pattern(2), "{token:?}");
            to_a.write(&pattern(0))?;
        }
        Ok(())
    });
}

#[test]
fn views_and_lengths() {
    in_two_contexts(|a, b| {
        let source = a.upload(&[1u8, 2, 3, 4])?;
        let mut destination = b.zeros::<u8>(4)?;
        let token = a.transfer_to(b)?;
        token.copy(&source.slice(1..3)?, &mut destination.slice_mut(2..)?)?;
        assert_eq!(destination.to_vec()?, [0, 0, 2, 3]);
        let error = token
            .copy(&source.slice(1..)?, &mut destination)
            .unwrap_err();
        assert_eq!(
            error,
            Error::LengthMismatch {
                source_len: 3,
                destination_len: 4
            }
        );
        token.copy(&source.slice(..0)?, &mut destination.slice_mut(..0)?)
    });
}

/// Copies from `a` to `b` and back: staged and direct, at rest and enqueued, pool memory and
/// page-locked memory.
fn copy_both_ways<'a, 'b>(driver: Driver, a: Context<'a>, b: Context<'b>) -> Result<()> {
    let before = stack(driver);
    let source = a.upload(&pattern(3))?;
    let mut there = b.zeros::<u32>(N)?;
    let mut back = a.zeros::<u32>(N)?;
    for (token, home) in tokens(a, b)?.into_iter().zip(tokens(b, a)?) {
        token.copy(&source, &mut there)?;
        home.copy(&there, &mut back)?;
        assert_eq!(there.to_vec()?, pattern(3));
        assert_eq!(back.to_vec()?, pattern(3));
        let (of_a, of_b) = (a.new_stream()?, b.new_stream()?);
        back.write(&pattern(0))?;
        scope(|scope| {
            scope.on(&of_a, |a| {
                scope.on(&of_b, |b| {
                    let (mut there, mut back) = (there.lend(b), back.lend(a));
                    home.enqueue(b, &there, a, &mut back)?;
                    b.fill(&mut there, 0)
                })
            })
        })?;
        assert_eq!(
            back.to_vec()?,
            pattern(3),
            "the source was cleared after the copy"
        );
        assert_eq!(there.to_vec()?, vec![0; N]);

        let (pinned, mut pinned_back) = (a.pinned_from(&pattern(4))?, a.pinned_zeros(N)?);
        token.copy(&pinned.device_view(), &mut there)?;
        assert_eq!(there.to_vec()?, pattern(4));
        home.copy(&there, &mut pinned_back.device_view_mut())?;
        assert_eq!(*pinned_back, pattern(4));
    }
    assert_eq!(stack(driver), before);
    Ok(())
}

/// Runs [`copy_both_ways`] with each of the contexts that matter current, and with none.
fn whatever_is_current<'a, 'b>(a: Context<'a>, b: Context<'b>) -> Result<()> {
    let driver = a.driver();
    copy_both_ways(driver, a, b)?; // the destination's is current
    copy_both_ways(driver, b, a)?; // the source's is current
    let third = driver.device_count()? - 1;
    driver.with_device(third, |_| copy_both_ways(driver, a, b))?;
    std::thread::scope(|threads| {
        let nothing_current = threads.spawn(|| copy_both_ways(driver, a, b));
        nothing_current.join().unwrap()
    })
}

/// B21, B45 and the crashes of the driver itself: whatever context is current, bytes arrive and the
/// stack stays.
#[test]
fn bytes_arrive_whatever_is_current() {
    in_two_contexts(whatever_is_current);
}

/// The same on three devices of which some reach each other, in one direction.
#[test]
fn bytes_arrive_over_any_topology() {
    for links in [
        vec![],
        vec![(1, 0)],
        vec![(0, 1), (2, 1)],
        vec![(1, 0), (0, 1), (0, 2)],
    ] {
        let peers = Peers::Only(links);
        let driver = simulated(Simulation::default().devices(3).peers(peers));
        on(driver, |driver| {
            driver.with_three_devices([0, 1, 2], |a, b, c| {
                whatever_is_current(a, b)?;
                whatever_is_current(b, c)?;
                whatever_is_current(c, a)
            })
        });
    }
}

/// B41, B45: the destination's stream waits for arrival; the copy waits for what the destination
/// was given before.
#[test]
fn enqueued_copy_is_ordered_on_both_streams() {
    in_two_contexts(|a, b| {
        let (of_a, of_b) = (a.new_stream()?, b.new_stream()?);
        let mut source = a.zeros::<u32>(N)?;
        let mut destination = b.zeros::<u32>(N)?;
        let mut arrived = b.zeros::<u32>(N)?;
        for token in tokens(a, b)? {
            scope(|scope| {
                scope.on(&of_a, |on_a| {
                    scope.on(&of_b, |on_b| {
                        let mut source = source.lend(on_a);
                        let mut destination = destination.lend(on_b);
                        let mut arrived = arrived.lend(on_b);
                        on_b.fill(&mut destination, 1)?;
                        // The source's stream is held shut: nothing after this may be seen before
                        // the gate opens.
                        let gate = Gate::close(&of_a);
                        on_a.fill(&mut source, 7)?;
                        token.enqueue(on_a, &source, on_b, &mut destination)?;
                        on_b.copy(&destination, &mut arrived)?;
                        on_a.fill(&mut source, 8)?;
                        std::thread::sleep(Duration::from_millis(30));
                        assert!(
                            is_busy(&of_b),
                            "the destination's stream waits for the source's"
                        );
                        gate.open();
                        Ok(())
                    })
                })
            })?;
            assert_eq!(arrived.to_vec()?, vec![7; N], "{token:?}");
            assert_eq!(source.to_vec()?, vec![8; N], "{token:?}");
        }
        Ok(())
    });
}

#[test]
fn copy_waits_for_the_destination_to_be_free() {
    in_two_contexts(|a, b| {
        let (of_a, of_b) = (a.new_stream()?, b.new_stream()?);
        let mut source = a.filled(N, 7u32)?;
        let mut destination = b.zeros::<u32>(N)?;
        let mut earlier = b.zeros::<u32>(N)?;
        let token = a.transfer_to(b)?;
        scope(|scope| {
            scope.on(&of_a, |on_a| {
                scope.on(&of_b, |on_b| {
                    let (source, mut destination) = (source.lend(on_a), destination.lend(on_b));
                    let gate = Gate::close(&of_b);
                    on_b.copy(&destination, &mut earlier.lend(on_b))?;
                    token.enqueue(on_a, &source, on_b, &mut destination)?;
                    std::thread::sleep(Duration::from_millis(30));
                    assert!(
                        is_busy(&of_a),
                        "the copy waits for the destination's stream"
                    );
                    gate.open();
                    Ok(())
                })
            })
        })?;
        assert_eq!(
            earlier.to_vec()?,
            vec![0; N],
            "what was read before the copy"
        );
        assert_eq!(destination.to_vec()?, vec![7; N]);
        Ok(())
    });
}

/// Both sides are dropped while the copy waits for a stream that is shut, and other streams take
/// new memory: not that of the copy.
#[test]
fn memory_is_freed_behind_an_enqueued_copy() {
    in_two_contexts(|a, b| {
        let (of_a, of_b, more_of_a, more_of_b) = (
            a.new_stream()?,
            b.new_stream()?,
            a.new_stream()?,
            b.new_stream()?,
        );
        let mut arrived = b.zeros::<u32>(N)?;
        for token in tokens(a, b)? {
            let (taken_a, taken_b) = scope(|scope| {
                scope.on(&of_a, |on_a| {
                    scope.on(&of_b, |on_b| {
                        let mut arrived = arrived.lend(on_b);
                        let gate = Gate::close(&of_a);
                        let mut source = on_a.zeros::<u32>(N)?;
                        let mut destination = on_b.zeros::<u32>(N)?;
                        on_a.fill(&mut source, 7)?;
                        token.enqueue(on_a, &source, on_b, &mut destination)?;
                        on_b.copy(&destination, &mut arrived)?;
                        drop((source, destination));
                        scope.on(&more_of_a, |more_a| {
                            scope.on(&more_of_b, |more_b| {
                                let (mut on_a, mut on_b) = (more_a.zeros(N)?, more_b.zeros(N)?);
                                more_a.fill(&mut on_a, 8u32)?;
                                more_b.fill(&mut on_b, 9u32)?;
                                gate.open();
                                Ok((on_a.release(more_a)?, on_b.release(more_b)?))
                            })
                        })
                    })
                })
            })?;
            assert_eq!(arrived.to_vec()?, vec![7; N], "{token:?}");
            assert_eq!(taken_a.to_vec()?, vec![8; N], "{token:?}");
            assert_eq!(taken_b.to_vec()?, vec![9; N], "{token:?}");
        }
        Ok(())
    });
}

/// Two threads enqueue on the same two streams, each in its direction: no copy misses what came
/// before it on either stream.
#[test]
fn two_threads_enqueue_in_opposite_directions() {
    const ROUNDS: u32 = 100;
    /// Sends the number of each round, and overwrites it behind the copy.
    fn send<'a, 'b, 's, 'o, 'scope>(
        token: Transfer<'a, 'b>,
        from: ScopedStream<'s, 'scope, 'a>,
        to: ScopedStream<'o, 'scope, 'b>,
        source: &'scope mut Buffer<'a, u32>,
        destination: &'scope mut Buffer<'b, u32>,
    ) -> Result<()> {
        let (mut source, mut destination) = (source.lend(from), destination.lend(to));
        for round in 0..ROUNDS as usize {
            from.fill(&mut source.slice_mut(round..)?, round as u32)?;
            let mut there = destination.slice_mut(round..=round)?;
            token.enqueue(from, &source.slice(round..=round)?, to, &mut there)?;
            from.fill(&mut source, u32::MAX)?;
        }
        Ok(())
    }

    in_two_contexts(|a, b| {
        let (of_a, of_b) = (a.new_stream()?, b.new_stream()?);
        let (there, back) = (a.transfer_to(b)?, b.transfer_to(a)?);
        let (mut from_a, mut to_a) = (a.zeros(N)?, a.zeros(ROUNDS as usize)?);
        let (mut from_b, mut to_b) = (b.zeros(N)?, b.zeros(ROUNDS as usize)?);
        scope(|scope| {
            scope.on(&of_a, |on_a| {
                scope.on(&of_b, |on_b| {
                    std::thread::scope(|threads| {
                        let (from_a, to_b) = (&mut from_a, &mut to_b);
                        let other = threads.spawn(move || send(there, on_a, on_b, from_a, to_b));
                        let own = send(back, on_b, on_a, &mut from_b, &mut to_a);
                        other.join().unwrap().and(own)
                    })
                })
            })
        })?;
        let sent: Vec<u32> = (0..ROUNDS).collect();
        assert_eq!(to_a.to_vec()?, sent);
        assert_eq!(to_b.to_vec()?, sent);
        Ok(())
    });
}

/// Memory allocated before and after the token was made is reachable.
#[test]
fn direct_token_covers_later_allocations() {
    in_two_contexts(|a, b| {
        let before = a.upload(&[1u8; 100])?;
        let Some(direct) = tokens(a, b)?.into_iter().find(|token| token.is_direct()) else {
            return Ok(());
        };
        let after = a.upload(&vec![2u8; 64 << 20])?;
        let mut to: Buffer<'_, u8> = b.zeros(100)?;
        direct.copy(&before, &mut to)?;
        assert_eq!(to.to_vec()?, [1; 100]);
        let mut to = b.zeros::<u8>(64 << 20)?;
        direct.copy(&after, &mut to)?;
        assert_eq!(to.to_vec()?, vec![2; 64 << 20]);
        Ok(())
    });
}

/// B47: asking is not enabling. Peer access is directed, and a staged token works without.
#[test]
fn peer_access_is_asked_for() {
    let peers = Peers::Only(vec![(1, 0)]);
    let driver = simulated(Simulation::default().devices(3).peers(peers));
    on(driver, |driver| {
        driver.with_device(0, |a| {
            driver.with_device(1, |b| {
                driver.with_device(2, |c| {
                    // From 0 to 1, device 1 reads the memory of device 0.
                    assert!(Transfer::direct(a, b)?.is_direct());
                    let refused = |from, to| Error::PeerUnsupported { from, to };
                    assert_eq!(Transfer::direct(b, a).unwrap_err(), refused(0, 1));
                    assert_eq!(Transfer::direct(a, c).unwrap_err(), refused(2, 0));
                    assert!(a.transfer_to(b)?.is_direct());
                    assert!(!b.transfer_to(a)?.is_direct());
                    let source = b.upload(&[1u8, 2, 3])?;
                    let mut destination = a.zeros::<u8>(3)?;
                    b.transfer_to(a)?.copy(&source, &mut destination)?;
                    assert_eq!(destination.to_vec()?, [1, 2, 3]);
                    let mut third = c.zeros::<u8>(3)?;
                    Transfer::staged(b, c)?.copy(&source, &mut third)?;
                    assert_eq!(third.to_vec()?, [1, 2, 3]);
                    Ok(())
                })
            })
        })
    });
}

/// B43: what is sent arrives, on whatever path, and the token is the one that was asked.
#[test]
fn a_healthy_path_is_verified() {
    in_two_contexts(|a, b| {
        // Before a direct token makes the staged ones fast too.
        assert!(!Transfer::staged(a, b)?.verify()?.is_direct());
        for token in tokens(a, b)? {
            assert_eq!(token.verify()?.is_direct(), token.is_direct());
        }
        for token in tokens(b, a)? {
            assert_eq!(token.verify()?.is_direct(), token.is_direct());
        }
        Ok(())
    });
}

/// B43, pytorch/pytorch#84803: the peer path is reported as available and delivers zeros, without
/// an error.
#[test]
fn a_path_that_delivers_zeros_is_found() {
    let driver = corrupting();
    on(driver, |driver| {
        assert!(driver.device(1)?.can_access(driver.device(0)?)?);
        driver.with_device(0, |a| {
            driver.with_device(1, |b| {
                let direct = Transfer::direct(a, b)?;
                let source = a.upload(&[1u8, 2, 3])?;
                let mut destination = b.filled(3, 9u8)?;
                direct.copy(&source, &mut destination)?;
                assert_eq!(destination.to_vec()?, [0; 3], "nothing but a check tells");
                assert_eq!(direct.verify().unwrap_err(), unreliable(0, 1));
                assert_eq!(a.transfer_to(b)?.verify().unwrap_err(), unreliable(0, 1));
                Ok(())
            })
        })
    });
}

/// B43: the way back is looked at too: a direct token opens both.
#[test]
fn a_path_that_is_broken_one_way_only_is_found_either_way() {
    let driver = simulated(Simulation::default().corrupts_peer_copies(Peers::Only(vec![(1, 0)])));
    on(driver, |driver| {
        driver.with_device(0, |a| {
            driver.with_device(1, |b| {
                assert_eq!(
                    Transfer::direct(a, b)?.verify().unwrap_err(),
                    unreliable(1, 0)
                );
                assert_eq!(
                    Transfer::direct(b, a)?.verify().unwrap_err(),
                    unreliable(1, 0)
                );
                Ok(())
            })
        })
    });
}

/// B43: the way around it. A staged token is one only between contexts without a direct one.
#[test]
fn a_staged_token_goes_around_a_broken_path() {
    let driver = corrupting();
    on(driver, |driver| {
        for _ in 0..2 {
            driver.with_device(0, |a| {
                driver.with_device(1, |b| {
                    let (staged, home) = (Transfer::staged(a, b)?, Transfer::staged(b, a)?);
                    assert!(!staged.verify()?.is_direct());
                    home.verify()?;
                    // From here on the driver copies directly, either way.
                    Transfer::direct(a, b)?;
                    assert_eq!(staged.verify().unwrap_err(), unreliable(0, 1));
                    assert_eq!(home.verify().unwrap_err(), unreliable(1, 0));
                    // Between other contexts of the same devices it does not.
                    driver.with_device(0, |a| {
                        driver.with_device(1, |b| Transfer::staged(a, b)?.verify().map(drop))
                    })
                })
            })?;
        }
        // Within a device there is no path to be broken.
        driver.with_device(0, |a| {
            driver.with_device(0, |b| Transfer::direct(a, b)?.verify().map(drop))
        })
    });
}

/// A machine whose peer path is broken.
fn corrupting() -> Driver {
    simulated(Simulation::default().corrupts_peer_copies(Peers::All))
}

fn unreliable(from: u32, to: u32) -> Error {
    Error::PeerUnreliable { from, to }
}

/// Other code resets one of two contexts, and a third party retains it anew, under the same handle.
/// The driver is not asked about what is gone: not by a copy, nor by a scope that begins, nor by a
/// wait for an event.
#[test]
fn what_begins_when_one_of_the_contexts_is_lost_says_so() {
    for ordinal in [0, 1] {
        let driver = simulated(Simulation::default());
        let lost = || Err(Error::ContextLost { ordinal });
        let outcome = driver.with_two_devices([0, 1], |a, b| {
            let extent = Extent::new(4, 4);
            let (source, image) = (a.filled(16, 7u8)?, a.zeros_rows::<u8>(extent)?);
            let (mut to, mut image_to) = (b.zeros::<u8>(16)?, b.zeros_rows::<u8>(extent)?);
            let mut pinned = b.pinned_zeros::<u8>(16)?;
            let mut mapped = pinned.device_view_mut();
            let (of_a, of_b, token) = (a.new_stream()?, b.new_stream()?, a.transfer_to(b)?);
            let (event_a, event_b) = (a.new_event()?, b.new_event()?);
            of_a.scope(|s| s.record(&event_a))?;
            of_b.scope(|s| s.record(&event_b))?;

            let mut refused = || {
                assert_eq!(token.copy(&source, &mut to), lost());
                assert_eq!(token.copy(&source, &mut mapped), lost());
                assert_eq!(token.copy_rows(&image, &mut image_to), lost());
                let both = scope(|scope| {
                    scope.on(&of_a, |_| {
                        scope.on(&of_b, |_| -> Result<()> { panic!("one of them is gone") })
                    })
                });
                assert_eq!(both, lost());
                let waited = match ordinal {
                    0 => of_b.scope(|s| s.wait(&event_a)),
                    _ => of_a.scope(|s| s.wait(&event_b)),
                };
                assert_eq!(waited, lost());
                Ok(())
            };
            driver.machine().unwrap().reset_primary(ordinal);
            refused()?;
            driver.with_device(ordinal, |_| refused())
        });
        assert_eq!(outcome, Ok(()));
        assert_eq!(driver.machine().unwrap().violations(), [""; 0]);
    }
}

#[test]
fn two_scopes_of_one_device() {
    crate::common::on_driver(|driver| {
        driver.with_device(0, |a| {
            driver.with_device(0, |b| {
                let source = a.upload(&pattern(9))?;
                let mut destination = b.zeros::<u32>(N)?;
                assert!(Transfer::direct(a, b)?.is_direct());
                a.transfer_to(b)?.copy(&source, &mut destination)?;
                assert_eq!(destination.to_vec()?, pattern(9));
                Ok(())
            })
        })?;
        assert!(second(driver)? < driver.device_count()?);
        Ok(())
    });
}

/// Contexts of two drivers have different brands, as any two have; that they are of two drivers
/// only shows at run time.
#[test]
fn contexts_of_two_drivers_do_not_meet() {
    let [a, b] = [0, 1].map(|_| simulated(Simulation::default()));
    a.with_device(0, |of_a| {
        b.with_device(0, |of_b| {
            assert_eq!(
                Transfer::staged(of_a, of_b).unwrap_err(),
                Error::DifferentDrivers
            );
            assert_eq!(
                Transfer::direct(of_a, of_b).unwrap_err(),
                Error::DifferentDrivers
            );
            assert_eq!(of_a.transfer_to(of_b).unwrap_err(), Error::DifferentDrivers);
            Ok(())
        })
    })
    .unwrap();
}
