//! Host functions: their place in a stream's order, their captures, their panics. Claims C5, C11.

use crate::common::{Gate, in_context, in_two_contexts, is_busy, on, simulated};
use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, Error, Result, scope};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// Counts how often it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A value and the count of its drops.
fn counted() -> (Counted, Arc<AtomicUsize>) {
    let drops = Arc::new(AtomicUsize::new(0));
    (Counted(Arc::clone(&drops)), drops)
}

#[test]
fn host_functions_run_in_the_order_of_their_stream() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let order = Arc::new(Mutex::new(Vec::new()));
        stream.scope(|s| {
            for i in 0..10 {
                let order = Arc::clone(&order);
                s.host(move || order.lock().unwrap().push(i))?;
            }
            Ok(())
        })?;
        assert_eq!(*order.lock().unwrap(), (0..10).collect::<Vec<_>>());
        Ok(())
    });
}

#[test]
fn a_host_function_waits_for_earlier_work_and_holds_up_later_work() {
    in_context(|ctx| {
        let (stream, mut buffer) = (ctx.new_stream()?, ctx.zeros::<u32>(1000)?);
        let (report, reported) = mpsc::channel();
        let (resume, resumed) = mpsc::channel::<()>();
        let mut back = vec![0; 1000];
        stream.scope(|s| {
            let mut lent = buffer.lend(s);
            let gate = Gate::close(&stream);
            s.host(move || {
                report.send(()).unwrap();
                resumed.recv().unwrap();
            })?;
            s.fill(&mut lent, 7)?;
            assert_eq!(
                reported.recv_timeout(Duration::from_millis(20)),
                Err(mpsc::RecvTimeoutError::Timeout),
                "it runs behind the gate"
            );
            gate.open();
            reported.recv().unwrap();
            assert!(is_busy(&stream), "the fill waits for it");
            resume.send(()).unwrap();
            s.read(&lent, &mut back)
        })?;
        assert_eq!(back, [7; 1000]);
        Ok(())
    });
}

#[test]
fn captures_are_dropped_once_before_the_scope_returns() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let (value, drops) = counted();
        stream.scope(|s| s.host(move || drop(value)))?;
        assert_eq!(drops.load(Ordering::SeqCst), 1);
        let (value, drops) = counted();
        stream
            .scope(|s| {
                s.host(move || {
                    let _value = value;
                    panic!("with a capture");
                })
            })
            .unwrap_err();
        assert_eq!(drops.load(Ordering::SeqCst), 1);
        Ok(())
    });
}

/// B105: a panic does not reach the driver; the scope that waits reports it, and the stream goes
/// on.
#[test]
fn a_panic_is_the_error_of_the_scope_that_waits() {
    in_context(|ctx| {
        let (stream, mut buffer) = (ctx.new_stream()?, ctx.zeros::<u32>(4)?);
        let error = stream
            .scope(|s| {
                s.host(|| panic!("number {}", 1))?;
                s.fill(&mut buffer.lend(s), 3)
            })
            .unwrap_err();
        let message = "number 1".to_owned();
        assert_eq!(error, Error::CallbackPanicked { message });
        assert_eq!(error.to_string(), "a host function panicked: number 1");
        assert_eq!(buffer.to_vec()?, [3; 4], "later work ran");
        stream.scope(|s| s.host(|| ()))?;
        let error = scope(|scope| scope.on(&stream, |s| s.host(|| panic!("text")))).unwrap_err();
        let message = "text".to_owned();
        assert_eq!(error, Error::CallbackPanicked { message });
        let odd = stream.scope(|s| s.host(|| std::panic::panic_any(5)));
        let message = "(not text)".to_owned();
        assert_eq!(odd, Err(Error::CallbackPanicked { message }));
        Ok(())
    });
}

/// A panic whose payload panics when it is dropped.
#[test]
fn a_panic_in_the_drop_of_a_panic_goes_nowhere() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in the drop of the payload");
        }
    }
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let result = stream.scope(|s| s.host(|| std::panic::panic_any(Bomb)));
        let message = "(not text)".to_owned();
        assert_eq!(result, Err(Error::CallbackPanicked { message }));
        Ok(())
    });
}

#[test]
fn the_earliest_error_is_reported_and_the_others_are_kept() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let panicked = |text: &str| Error::CallbackPanicked {
            message: text.to_owned(),
        };
        let result: Result<()> = stream.scope(|s| {
            s.host(|| panic!("second"))?;
            Err(Error::NoDevice)
        });
        assert_eq!(result, Err(Error::NoDevice));
        let result = stream.scope(|s| {
            s.host(|| panic!("third"))?;
            s.host(|| panic!("fourth"))
        });
        assert_eq!(result, Err(panicked("third")));
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            stream.scope(|s| -> Result<()> {
                s.host(|| panic!("sixth"))?;
                panic!("fifth")
            })
        }));
        assert_eq!(unwound.unwrap_err().downcast_ref(), Some(&"fifth"));
        let kept: Vec<_> = ctx
            .driver()
            .take_teardown_errors()
            .into_iter()
            .map(|entry| (entry.ordinal, entry.error))
            .collect();
        let expected = ["second", "fourth", "sixth"].map(|text| (0, panicked(text)));
        assert_eq!(kept, expected);
        Ok(())
    });
}

/// Two scopes on one stream, in two threads: each is told of its own host functions, although
/// either waits for both.
#[test]
fn a_panic_belongs_to_the_scope_that_enqueued_the_function() {
    in_context(|ctx| {
        let stream = &ctx.new_stream()?;
        let (enqueued, is_enqueued) = mpsc::channel();
        let (ended, has_ended) = mpsc::channel::<()>();
        std::thread::scope(|threads| {
            let worker = threads.spawn(move || {
                stream.scope(|s| {
                    s.host(|| panic!("the worker's"))?;
                    enqueued.send(()).unwrap();
                    has_ended.recv().unwrap();
                    Ok(())
                })
            });
            is_enqueued.recv().unwrap();
            assert_eq!(stream.scope(|s| s.host(|| ())), Ok(()));
            ended.send(()).unwrap();
            let message = "the worker's".to_owned();
            let expected = Err(Error::CallbackPanicked { message });
            assert_eq!(worker.join().unwrap(), expected);
        });
        Ok(())
    });
}

#[test]
fn a_scope_over_two_contexts_is_told_of_both() {
    in_two_contexts(|a, b| {
        let (first, second) = (a.new_stream()?, b.new_stream()?);
        let result = scope(|scope| {
            scope.on(&first, |s| s.host(|| ()))?;
            scope.on(&second, |s| s.host(|| panic!("of the second")))
        });
        let message = "of the second".to_owned();
        assert_eq!(result, Err(Error::CallbackPanicked { message }));
        Ok(())
    });
}

/// The crate refuses before the driver is asked.
#[test]
fn a_host_function_may_not_ask_for_anything() {
    in_context(|ctx| {
        let (driver, device, stream) = (ctx.driver(), ctx.device(), ctx.new_stream()?);
        let (send, receive) = mpsc::channel();
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&calls);
        stream.scope(|s| {
            s.host(move || {
                let count = || {
                    driver
                        .machine()
                        .map_or(0, |machine| machine.calls() as usize)
                };
                let before = count();
                let all: [Result<()>; 13] = [
                    driver.device_count().map(drop),
                    driver.device(0).map(drop),
                    driver.devices().map(drop),
                    driver.with_device(0, |_| Ok(())),
                    driver.try_with_device(0, |_| Ok(())),
                    Driver::simulated(Simulation::default()).map(drop),
                    device.name().map(drop),
                    device.uuid().map(drop),
                    device.compute_capability().map(drop),
                    device.total_memory_bytes().map(drop),
                    device.pci_bus_id().map(drop),
                    device.attribute(scoped_cuda::Attribute::WarpSize).map(drop),
                    device.can_access(device).map(drop),
                ];
                counter.store(count() - before, Ordering::SeqCst);
                send.send(all).unwrap();
            })
        })?;
        for result in receive.recv().unwrap() {
            assert_eq!(result, Err(Error::InsideHostFunction));
        }
        assert_eq!(calls.load(Ordering::SeqCst), 0);
        assert_eq!(driver.device(0)?, device, "outside again");
        Ok(())
    });
}

/// B152: a failed enqueue drops the function, once and on the spot. (On a simulated machine, which
/// can be made to fail.)
#[test]
fn a_failed_enqueue_drops_the_captures() {
    on(simulated(Simulation::default()), |driver| {
        driver.with_device(0, |ctx| {
            let stream = ctx.new_stream()?;
            let (value, drops) = counted();
            let result = stream.scope(|s| {
                ctx.driver()
                    .machine()
                    .unwrap()
                    .fail_call(1, CUresult::UNKNOWN);
                let result = s.host(move || drop(value));
                assert_eq!(drops.load(Ordering::SeqCst), 1);
                result
            });
            let error = *result.unwrap_err().driver_error().unwrap();
            assert_eq!(
                (error.code(), error.call()),
                (CUresult::UNKNOWN, "cuLaunchHostFunc")
            );
            stream.scope(|_| Ok(()))
        })
    });
}

/// After a fault the driver never calls what is pending. (On a simulated machine;
/// `host_function_fault.rs` has the real driver.)
#[test]
fn a_fault_drops_the_captures_of_pending_functions() {
    let driver = simulated(Simulation::default());
    let (first, first_drops) = counted();
    let (second, second_drops) = counted();
    let called = Arc::new(AtomicUsize::new(0));
    let result = driver.with_device(0, |ctx| {
        let stream = ctx.new_stream()?;
        let result = stream.scope(|s| {
            let gate = Gate::close(&stream);
            for value in [first, second] {
                let called = Arc::clone(&called);
                s.host(move || {
                    called.fetch_add(1, Ordering::SeqCst);
                    drop(value);
                })?;
            }
            let machine = ctx.driver().machine().unwrap();
            machine.fail_call(1, CUresult::ECC_UNCORRECTABLE);
            s.zeros::<u8>(1).unwrap_err();
            // The gate's own function still runs; it is not in the table.
            gate.open();
            Ok(())
        });
        assert_eq!(first_drops.load(Ordering::SeqCst), 1);
        assert_eq!(second_drops.load(Ordering::SeqCst), 1);
        result
    });
    assert!(matches!(result, Err(Error::Poisoned { .. })), "{result:?}");
    assert_eq!(called.load(Ordering::SeqCst), 0);
}

/// A function that is running when a fault comes is waited for, although the driver does not do so.
#[test]
fn a_running_function_is_waited_for_after_a_fault() {
    let driver = simulated(Simulation::default());
    let (value, drops) = counted();
    let result = driver.with_device(0, |ctx| {
        let stream = ctx.new_stream()?;
        let (report, reported) = mpsc::channel();
        let result = stream.scope(|s| {
            s.host(move || {
                report.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(20));
                drop(value);
            })?;
            s.host(|| unreachable!("the fault comes first"))?;
            let zeros = || s.zeros::<u8>(1).map(drop);
            reported.recv().unwrap();
            let machine = ctx.driver().machine().unwrap();
            machine.fail_call(1, CUresult::ILLEGAL_ADDRESS);
            zeros()
        });
        assert_eq!(drops.load(Ordering::SeqCst), 1);
        result
    });
    assert!(result.is_err());
}
