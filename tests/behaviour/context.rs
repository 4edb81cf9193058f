//! Contexts: the thread's stack, nesting, threads, other libraries in between. Claims C1, C3.

use crate::common::{current, in_context, on_driver, push, second, set_current, simulated, stack};
use scoped_cuda::ffi::{CUcontext, CUresult};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn context_is_current_inside_and_not_after() {
    on_driver(|driver| {
        let raw = driver.with_device(0, |ctx| {
            assert_eq!(stack(driver), [ctx.as_raw()]);
            Ok(ctx.as_raw())
        })?;
        assert_ne!(raw, CUcontext::NULL);
        Ok(())
    });
}

#[test]
fn stack_is_restored_after_an_error() {
    on_driver(|driver| {
        let error = Error::NoDevice;
        assert_eq!(
            driver.with_device(0, |_| Err::<(), _>(error.clone())),
            Err(error)
        );
        assert_eq!(stack(driver), []);
        Ok(())
    });
}

#[test]
fn stack_is_restored_after_a_panic() {
    on_driver(|driver| {
        let panic = catch_unwind(AssertUnwindSafe(|| {
            driver.with_device(0, |ctx| -> Result<()> {
                let _buffer = ctx.zeros::<u8>(16)?;
                panic!("in the scope")
            })
        }));
        assert_eq!(
            panic.unwrap_err().downcast_ref::<&str>(),
            Some(&"in the scope")
        );
        assert_eq!(stack(driver), []);
        Ok(())
    });
}

#[test]
fn scopes_nest_on_one_device_and_on_two() {
    on_driver(|driver| {
        for inner_device in [0, second(driver)?] {
            driver.with_device(0, |outer| {
                let before = outer.upload(&[1u32])?;
                driver.with_device(inner_device, |inner| {
                    assert_eq!(stack(driver), [inner.as_raw(), outer.as_raw()]);
                    assert_eq!(inner.upload(&[2u32])?.to_vec()?, [2]);
                    assert_eq!(
                        before.to_vec()?,
                        [1],
                        "the outer scope works inside the inner one"
                    );
                    Ok(())
                })?;
                assert_eq!(stack(driver), [outer.as_raw()]);
                assert_eq!(before.to_vec()?, [1]);
                Ok(())
            })?;
        }
        Ok(())
    });
}

/// B21, B25, B26: what is made, used and dropped while another device's context is current lands on
/// its own device.
#[test]
fn every_call_binds_the_context_of_its_own_object() {
    on_driver(|driver| {
        driver.with_device(0, |first| {
            driver.with_device(second(driver)?, |second| {
                assert_eq!(current(driver), second.as_raw());
                let stream = first.new_stream()?;
                let mut buffer = first.upload(&[1u32, 2, 3])?;
                let module = first.load_ptx(crate::common::PTX)?;
                let free = first.free_memory_bytes()?;
                assert!(free <= first.device().total_memory_bytes()?);
                let mut host = [0; 3];
                stream.scope(|s| {
                    let mut memory = buffer.lend(s);
                    s.write(&[4, 5, 6], &mut memory)?;
                    s.read(&memory, &mut host)
                })?;
                assert_eq!(host, [4, 5, 6]);
                assert_eq!(buffer.to_vec()?, [4, 5, 6]);
                drop((stream, buffer, module));
                assert_eq!(stack(driver), [second.as_raw(), first.as_raw()]);
                Ok(())
            })
        })
    });
}

/// B21, as reported: open device 0, open device 1, then read what is on device 0.
#[test]
fn reading_back_after_another_device_was_opened() {
    on_driver(|driver| {
        driver.with_device(0, |first| {
            let buffer = first.upload(&[7u8; 100])?;
            driver.with_device(second(driver)?, |_| {
                assert_eq!(buffer.to_vec()?, [7; 100]);
                Ok(())
            })
        })
    });
}

/// B22: a thread that never made a context current.
#[test]
fn scoped_threads_use_the_context() {
    in_context(|ctx| {
        let buffer = ctx.upload(&[1u32, 2, 3])?;
        std::thread::scope(|threads| {
            let workers: Vec<_> = (0..4)
                .map(|_| {
                    threads.spawn(|| {
                        let driver = ctx.driver();
                        assert_eq!(stack(driver), []);
                        let stream = ctx.new_stream()?;
                        let mut own = ctx.zeros::<u32>(3)?;
                        stream.scope(|s| s.copy(&buffer, &mut own.lend(s)))?;
                        assert_eq!(stack(driver), [], "nothing is left current on the worker");
                        own.to_vec()
                    })
                })
                .collect();
            for worker in workers {
                assert_eq!(worker.join().unwrap()?, [1, 2, 3]);
            }
            Ok(())
        })
    });
}

#[test]
fn each_thread_opens_a_scope_of_its_own() {
    on_driver(|driver| {
        std::thread::scope(|threads| {
            let workers: Vec<_> = (0..4u32)
                .map(|i| {
                    threads.spawn(move || driver.with_device(0, |ctx| ctx.upload(&[i])?.to_vec()))
                })
                .collect();
            for (i, worker) in workers.into_iter().enumerate() {
                assert_eq!(worker.join().unwrap()?, [i as u32]);
            }
            Ok(())
        })
    });
}

/// Other code replaces, removes or adds entries in the middle of a scope, and the stack is
/// afterwards what it was before the scope.
#[test]
fn foreign_changes_of_the_stack_are_undone() {
    type Meddle = fn(Driver, CUcontext, CUcontext);
    let meddling: [(&str, Meddle); 5] = [
        ("replaces the entry", |driver, _, other| {
            set_current(driver, other)
        }),
        ("removes the entry", |driver, _, _| {
            set_current(driver, CUcontext::NULL)
        }),
        ("removes everything", |driver, _, _| {
            (0..9).for_each(|_| set_current(driver, CUcontext::NULL))
        }),
        ("adds entries", |driver, own, other| {
            [own, other].into_iter().for_each(|c| push(driver, c))
        }),
        ("replaces it by the same", |driver, own, _| {
            set_current(driver, own)
        }),
    ];
    on_driver(|driver| {
        driver.with_device(second(driver)?, |other| {
            // The caller's stack: [other], [other, other], then with the scope's own context below.
            for extra in 0..2 {
                (0..extra).for_each(|_| push(driver, other.as_raw()));
                let before = stack(driver);
                for (what, meddle) in meddling {
                    driver.with_device(0, |ctx| {
                        let stream = ctx.new_stream()?;
                        let mut buffer = ctx.upload(&[1u8, 2])?;
                        meddle(driver, ctx.as_raw(), other.as_raw());
                        let meddled = stack(driver);
                        assert_eq!(buffer.to_vec()?, [1, 2], "{what}");
                        stream.scope(|s| s.fill(&mut buffer.lend(s), 9))?;
                        assert_eq!(
                            ctx.upload(&[3u8])?.to_vec()?,
                            [3],
                            "{what}: new objects go to the scope's device"
                        );
                        assert_eq!(buffer.to_vec()?, [9, 9], "{what}");
                        assert_eq!(
                            stack(driver),
                            meddled,
                            "{what}: each call leaves the stack as it found it"
                        );
                        Ok(())
                    })?;
                    assert_eq!(stack(driver), before, "{what}");
                }
                (0..extra).for_each(|_| assert_eq!(crate::common::pop(driver), other.as_raw()));
            }
            Ok(())
        })
    });
}

/// B02: another library holds the primary context as well; closing the scope does not take it away.
#[test]
fn primary_context_stays_alive_for_others() {
    on_driver(|driver| {
        driver.with_device(0, |outer| {
            let buffer = outer.upload(&[5u8])?;
            driver.with_device(0, |inner| inner.zeros::<u8>(1).map(drop))?;
            assert_eq!(buffer.to_vec()?, [5], "the inner release was not the last");
            Ok(())
        })
    });
}

/// B33: a context that dies while a scope is open on top of it is not made current again when the
/// scope ends.
#[test]
fn dead_context_is_not_bound_again() {
    on_driver(|driver| {
        driver.with_device(0, |ctx| {
            let (other, destroy) = crate::common::created_context(driver, second(driver)?);
            push(driver, other);
            driver.with_device(0, |_| {
                destroy();
                Ok(())
            })?;
            assert_eq!(stack(driver), [ctx.as_raw()]);
            Ok(())
        })
    });
}

/// B82: opening fails half way, at whatever call, and depth and top are unchanged.
#[test]
fn failed_open_leaves_the_stack() {
    let driver = simulated(Simulation::default());
    crate::common::on(driver, |driver| {
        driver.with_device(1, |outer| {
            let machine = driver.machine().unwrap();
            let before = machine.live();
            for call in 1.. {
                let (start, mut opened_after) = (machine.calls(), 0);
                machine.fail_call(call, CUresult::OUT_OF_MEMORY);
                let result = driver.with_device(0, |_| {
                    machine.fail_call(0, CUresult::SUCCESS); // takes it back
                    opened_after = machine.calls() - start;
                    Ok(())
                });
                assert_eq!(stack(driver), [outer.as_raw()], "call {call}: {result:?}");
                assert_eq!(machine.live(), before, "call {call}: {result:?}");
                let _ = driver.take_teardown_errors();
                if (1..call).contains(&opened_after) {
                    assert!(call > 15, "only {call} calls were tried");
                    break;
                }
            }
            Ok(())
        })
    });
}

#[test]
fn errors_of_the_callers_own_type_pass_through() {
    #[derive(Debug, PartialEq)]
    enum Mine {
        Cuda(Error),
        Other,
    }
    impl From<Error> for Mine {
        fn from(error: Error) -> Self {
            Self::Cuda(error)
        }
    }
    on_driver(|driver| {
        assert_eq!(
            driver.try_with_device(0, |_| Err::<(), _>(Mine::Other)),
            Err(Mine::Other)
        );
        let count = driver.device_count()?;
        assert_eq!(
            driver.try_with_device(count, |_| Ok(())),
            Err(Mine::Cuda(Error::BadOrdinal {
                asked: count,
                count
            }))
        );
        Ok(())
    });
}
