//! Contexts that are owned: entered again and again, from any thread, and let go anywhere. Claims
//! C1, C3, C4, C11.

use crate::common::{Gate, current, on_driver, pop, push, second, set_current, simulated, stack};
use scoped_cuda::ffi::CUcontext;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, Error, OwnedContext, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

#[test]
fn what_was_current_is_current_again() {
    on_driver(|driver| {
        let gpu = driver.retain(0)?;
        let inside = gpu.with(|ctx| {
            assert_eq!(current(driver), ctx.as_raw());
            Ok(ctx.as_raw())
        })?;
        assert_eq!(inside, gpu.as_raw());
        assert_eq!(stack(driver), []);
        let error = Error::NoDevice;
        assert_eq!(gpu.with(|_| Err::<(), _>(error.clone())), Err(error));
        assert_eq!(stack(driver), []);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            gpu.with(|ctx| -> Result<()> {
                let _buffer = ctx.zeros::<u8>(16)?;
                panic!("inside")
            })
        }));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"inside"));
        assert_eq!(stack(driver), []);
        assert_eq!(gpu.with(|ctx| ctx.upload(&[1u32])?.to_vec())?, [1]);
        Ok(())
    });
}

/// The calls that make a context current, and none besides.
#[test]
fn entering_costs_what_makes_a_context_current() {
    let driver = simulated(Simulation::default());
    let machine = driver.machine().unwrap();
    let gpu = driver.retain(0).unwrap();
    let calls = |f: &dyn Fn()| {
        machine.clear_trace();
        f();
        machine.trace()
    };
    let outside = calls(&|| gpu.with(|_| Ok(())).unwrap());
    let enter = ["cuCtxGetId", "cuCtxGetCurrent", "cuCtxPushCurrent"];
    let leave = ["cuCtxPopCurrent", "cuCtxGetCurrent"];
    assert_eq!(outside, [&enter[..], &leave[..]].concat());
    push(driver, gpu.as_raw());
    let inside = calls(&|| gpu.with(|_| Ok(())).unwrap());
    assert_eq!(inside, ["cuCtxGetId", "cuCtxGetCurrent", "cuCtxGetCurrent"]);
    assert_eq!(pop(driver), gpu.as_raw());
    let by_device = calls(&|| driver.with_device(0, |_| Ok(())).unwrap());
    for made in [
        "cuDevicePrimaryCtxRetain",
        "cuMemPoolCreate",
        "cuStreamCreate",
    ] {
        assert!(!by_device.contains(&made), "{made}");
    }
}

#[test]
fn a_device_has_one_context_for_all_its_owners() {
    on_driver(|driver| {
        let (first, second) = (driver.retain(0)?, driver.retain(0)?);
        assert_eq!(first, second);
        first.with(|ctx| {
            ctx.limit_memory(Some(1 << 20));
            Ok(())
        })?;
        let refused = driver.with_device(0, |ctx| ctx.zeros::<u8>(2 << 20).map(drop));
        assert!(
            matches!(refused, Err(Error::OutOfMemory { cap: Some(_), .. })),
            "{refused:?}"
        );
        drop((first, second));
        // Without owners each call has one of its own again.
        driver.with_device(0, |ctx| ctx.zeros::<u8>(2 << 20).map(drop))
    });
}

/// A context that one closure was given lives on when somebody owns it, and is found by others.
#[test]
fn the_context_of_a_closure_can_be_kept() {
    on_driver(|driver| {
        let gpu = driver.with_device(0, |ctx| {
            let gpu = ctx.owner();
            assert_eq!(gpu, ctx.owner());
            Ok(gpu)
        })?;
        assert_eq!(gpu, driver.retain(0)?);
        assert_eq!(gpu.with(|ctx| Ok(ctx.owner()))?, gpu);
        assert_eq!(gpu.with(|ctx| ctx.upload(&[7u8])?.to_vec())?, [7]);
        Ok(())
    });
}

/// One that is kept while the device has a shared one already is another one, and says so.
#[test]
fn two_contexts_of_a_device_are_not_equal() {
    on_driver(|driver| {
        driver.with_device(0, |before| {
            let shared = driver.retain(0)?;
            let own = before.owner();
            assert_ne!(own, shared);
            assert_eq!(driver.retain(0)?, shared);
            assert_eq!(own.with(|ctx| ctx.upload(&[1u8])?.to_vec())?, [1]);
            assert_eq!(shared.with(|ctx| ctx.upload(&[2u8])?.to_vec())?, [2]);
            Ok(())
        })
    });
}

#[test]
fn entries_nest_with_themselves_and_with_other_devices() {
    on_driver(|driver| {
        let (gpu0, gpu1) = (driver.retain(0)?, driver.retain(second(driver)?)?);
        gpu0.with(|a| {
            let source = a.upload(&[1u32, 2, 3])?;
            gpu1.with(|b| {
                assert_eq!(current(driver), b.as_raw());
                let mut there = b.zeros::<u32>(3)?;
                a.transfer_to(b)?.copy(&source, &mut there)?;
                assert_eq!(there.to_vec()?, [1, 2, 3]);
                // The same context under a second name.
                gpu0.with(|again| {
                    assert_eq!(current(driver), a.as_raw());
                    let same = again.same_context(a)?;
                    let mut copy = again.zeros::<u32>(3)?;
                    copy.copy_from(&same.slice_of(&source))?;
                    assert_eq!(copy.to_vec()?, [1, 2, 3]);
                    driver.with_device(0, |third| third.upload(&[4u8])?.to_vec().map(drop))
                })?;
                assert_eq!(current(driver), b.as_raw());
                Ok(())
            })
        })
    });
}

/// C3: as `with_device` does it, for what other code is likely to do to the stack.
#[test]
fn foreign_changes_of_the_stack_are_undone() {
    type Meddle = fn(Driver, CUcontext, CUcontext);
    let meddling: [(&str, Meddle); 4] = [
        ("replaces the entry", |driver, _, other| {
            set_current(driver, other);
        }),
        ("removes the entry", |driver, _, _| {
            set_current(driver, CUcontext::NULL);
        }),
        ("adds an entry", |driver, _, other| push(driver, other)),
        ("replaces it by the same", |driver, own, _| {
            set_current(driver, own);
        }),
    ];
    on_driver(|driver| {
        let (gpu, other) = (driver.retain(0)?, driver.retain(second(driver)?)?);
        let (own, foreign) = (gpu.as_raw(), other.as_raw());
        let before = [vec![], vec![foreign], vec![own], vec![foreign, own]];
        for before in before {
            before.iter().rev().for_each(|&entry| push(driver, entry));
            for (what, meddle) in meddling {
                gpu.with(|ctx| {
                    let buffer = ctx.upload(&[1u8, 2])?;
                    meddle(driver, own, foreign);
                    assert_eq!(buffer.to_vec()?, [1, 2], "{what}");
                    Ok(())
                })?;
                if own != foreign {
                    assert_eq!(stack(driver), before, "{what}");
                }
                assert_eq!(
                    current(driver),
                    before.first().copied().unwrap_or(CUcontext::NULL),
                    "{what}"
                );
            }
            while current(driver) != CUcontext::NULL {
                pop(driver);
            }
        }
        // An empty stack is empty again, whatever was put on it.
        gpu.with(|_| {
            (0..3).for_each(|_| push(driver, foreign));
            Ok(())
        })?;
        assert_eq!(stack(driver), []);
        gpu.with(|_| {
            (0..9).for_each(|_| set_current(driver, CUcontext::NULL));
            Ok(())
        })?;
        assert_eq!(stack(driver), []);
        Ok(())
    });
}

#[test]
fn threads_share_an_owner_and_the_last_one_lets_go() {
    on_driver(|driver| {
        let barrier = Arc::new(Barrier::new(8));
        let workers: Vec<_> = (0..8u32)
            .map(|number| {
                let barrier = Arc::clone(&barrier);
                thread::spawn(move || -> Result<OwnedContext> {
                    barrier.wait();
                    // All of them make it at once; one is kept.
                    let gpu = driver.retain(0)?;
                    let back = gpu.with(|ctx| ctx.upload(&[number; 9])?.to_vec())?;
                    assert_eq!(back, [number; 9]);
                    assert_eq!(stack(driver), []);
                    Ok(gpu)
                })
            })
            .collect();
        let mut owners = Vec::new();
        for worker in workers {
            owners.push(worker.join().unwrap()?);
        }
        assert!(owners.iter().all(|owner| *owner == owners[0]));
        // On a thread that never made a context current.
        thread::spawn(move || {
            drop(owners);
            assert_eq!(stack(driver), []);
        })
        .join()
        .unwrap();
        assert_eq!(driver.take_teardown_errors(), []);
        if let Some(machine) = driver.machine() {
            assert_eq!(machine.live(), Default::default());
        }
        Ok(())
    });
}

/// C11: no driver call in a host function. The scope whose host function it was lets go.
#[test]
fn the_last_owner_may_go_in_a_host_function() {
    on_driver(|driver| {
        let (gpu, last) = (driver.retain(0)?, driver.retain(second(driver)?)?);
        let owner = last.clone();
        let (sender, receiver) = mpsc::channel();
        gpu.with(|ctx| {
            ctx.new_stream()?.scope(|s| {
                s.host(move || {
                    let refused = last.with(|_| Ok(()));
                    drop((owner, last));
                    sender.send(refused).unwrap();
                })
            })
        })?;
        assert_eq!(receiver.recv(), Ok(Err(Error::InsideHostFunction)));
        if let Some(machine) = driver.machine() {
            assert_eq!(
                machine.live().retains,
                1,
                "the one is released, the other is not"
            );
        }
        Ok(())
    });
}

/// C5, C6: what was dropped in flight is not waited for by the closure, but by the last owner.
#[test]
fn the_last_owner_waits_for_copies_that_were_dropped_in_flight() {
    on_driver(|driver| {
        let gpu = driver.retain(0)?;
        let gate = gpu.with(|ctx| {
            let stream = ctx.new_stream()?;
            let sides = (ctx.pinned_from(&[1u32, 2, 3])?, ctx.zeros(3)?);
            let gate = Gate::close(&stream);
            drop(stream.upload_owned(sides.0, sides.1)?);
            Ok(gate)
        })?;
        let (sender, is_gone) = mpsc::channel();
        let dropping = thread::spawn(move || {
            drop(gpu);
            sender.send(()).unwrap();
        });
        let early = is_gone.recv_timeout(std::time::Duration::from_millis(30));
        assert_eq!(early, Err(mpsc::RecvTimeoutError::Timeout));
        gate.open();
        is_gone.recv().unwrap();
        dropping.join().unwrap();
        Ok(())
    });
}

#[test]
fn an_owner_of_a_context_that_was_reset_says_so_and_another_is_made() {
    let driver = simulated(Simulation::default());
    let machine = driver.machine().unwrap();
    let gpu = driver.retain(0).unwrap();
    machine.reset_primary(0);
    let lost = || Err::<(), _>(Error::ContextLost { ordinal: 0 });
    assert_eq!(gpu.with(|_| Ok(())), lost());
    let again = driver.retain(0).unwrap();
    assert_ne!(gpu, again);
    let back = again.with(|ctx| ctx.upload(&[1u8, 2])?.to_vec()).unwrap();
    assert_eq!(back, [1, 2]);
    assert_eq!(gpu.with(|_| Ok(())), lost());
    let by_device = driver.with_device(0, |ctx| Ok(ctx.owner())).unwrap();
    assert_eq!(by_device, again);
    drop((gpu, again, by_device));
    assert_eq!(machine.live().allocations, 0);
    assert_eq!(machine.violations(), Vec::<String>::new());
    assert_eq!(stack(driver), []);
}

#[test]
fn owners_of_different_drivers_are_different() {
    let drivers = [(); 2].map(|()| simulated(Simulation::default()));
    let owners = drivers.map(|driver| driver.retain(0).unwrap());
    assert_ne!(owners[0], owners[1]);
    let back = |owner: &OwnedContext| owner.with(|ctx| ctx.upload(&[1u8])?.to_vec());
    assert_eq!(owners.each_ref().map(back), [Ok(vec![1]), Ok(vec![1])]);
    drop(owners);
    for driver in drivers {
        assert_eq!(driver.machine().unwrap().live(), Default::default());
    }
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    on_driver(|driver| {
        let error = driver.retain(u32::MAX).unwrap_err();
        assert!(matches!(
            error,
            Error::BadOrdinal {
                asked: u32::MAX,
                ..
            }
        ));
        assert_eq!(driver.device_count()?, driver.devices()?.len() as u32);
        Ok(())
    });
}
