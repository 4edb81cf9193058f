//! Events: recording, waiting, asking, times. Claims C2, C4, C5.

use crate::common::{Gate, in_context, in_two_contexts, simulated};
use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Error, Result, scope};
use std::thread;
use std::time::{Duration, Instant};

/// The driver answers "done" for an event that was never recorded, and does not wait for it. B35's
/// cousin: a wait that is none.
#[test]
fn what_was_never_recorded_is_an_error_and_not_a_success() {
    in_context(|ctx| {
        let (event, stream) = (ctx.new_event()?, ctx.new_stream()?);
        let (start, end) = (ctx.new_timed_event()?, ctx.new_timed_event()?);
        assert_eq!(event.is_complete(), Err(Error::EventNotRecorded));
        assert_eq!(event.synchronize(), Err(Error::EventNotRecorded));
        assert_eq!(
            stream.scope(|s| s.wait(&event)),
            Err(Error::EventNotRecorded)
        );
        assert_eq!(end.elapsed_since(&start), Err(Error::EventNotRecorded));
        stream.scope(|s| s.record(&end))?;
        assert_eq!(end.elapsed_since(&start), Err(Error::EventNotRecorded));
        assert_eq!(start.elapsed_since(&end), Err(Error::EventNotRecorded));
        assert!(end.is_complete()?);
        Ok(())
    });
}

/// Recorded in one scope, an event is asked in another and dropped at last; it is recorded again
/// and again.
#[test]
fn an_event_outlives_the_scope_it_was_recorded_in() {
    in_context(|ctx| {
        let (stream, other, event) = (ctx.new_stream()?, ctx.new_stream()?, ctx.new_event()?);
        for round in 0..3u32 {
            let mut buffer = ctx.zeros::<u32>(100)?;
            stream.scope(|s| {
                s.fill(&mut buffer.lend(s), round)?;
                s.record(&event)
            })?;
            assert!(event.is_complete()?, "the scope has waited");
            event.synchronize()?;
            other.scope(|s| s.wait(&event))?;
            assert_eq!(buffer.to_vec()?, [round; 100]);
        }
        Ok(())
    });
}

#[test]
fn an_event_is_pending_until_the_work_before_it_is_done() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let (event, start, end) = (
            ctx.new_event()?,
            ctx.new_timed_event()?,
            ctx.new_timed_event()?,
        );
        stream.scope(|s| {
            s.record(&start)?;
            let gate = Gate::close(&stream);
            s.record(&event)?;
            s.record(&end)?;
            assert!(!event.is_complete()?);
            assert!(!stream.is_idle()?);
            assert_eq!(end.elapsed_since(&start), Err(Error::EventPending));
            gate.open();
            event.synchronize()?;
            assert!(event.is_complete()?);
            end.synchronize()?;
            end.elapsed_since(&start).map(drop)
        })?;
        assert!(stream.is_idle()?);
        Ok(())
    });
}

/// B41, B80: work on another stream comes after the event, which a gate holds back.
#[test]
fn a_stream_waits_for_an_event() {
    in_context(|ctx| {
        let (first, second, event) = (ctx.new_stream()?, ctx.new_stream()?, ctx.new_event()?);
        let after = ctx.new_event()?;
        let (mut a, mut b) = (ctx.zeros::<u32>(1000)?, ctx.zeros::<u32>(1000)?);
        scope(|scope| {
            let gate = Gate::close(&first);
            scope.on(&first, |s| {
                s.fill(&mut a.lend(s), 1)?;
                s.record(&event)
            })?;
            scope.on(&second, |s| {
                s.wait(&event)?;
                s.fill(&mut b.lend(s), 2)?;
                s.record(&after)
            })?;
            thread::sleep(Duration::from_millis(20));
            assert!(
                !after.is_complete()?,
                "the second stream waits for the gate of the first"
            );
            gate.open();
            after.synchronize()?;
            assert!(event.is_complete()?, "which came before");
            Ok(())
        })?;
        assert_eq!((a.to_vec()?, b.to_vec()?), (vec![1; 1000], vec![2; 1000]));
        Ok(())
    });
}

/// A wait is for the record before it: recording anew, or dropping the event, does not disturb it.
#[test]
fn a_wait_keeps_its_record() {
    in_context(|ctx| {
        let (first, second, third) = (ctx.new_stream()?, ctx.new_stream()?, ctx.new_stream()?);
        let (event, done) = (ctx.new_event()?, ctx.new_event()?);
        scope(|scope| {
            scope.on(&first, |s| s.record(&event))?;
            scope.on(&second, |s| s.wait(&event))?;
            // Behind a gate, the second record of the same event; the wait above is not for this
            // one.
            let gate = Gate::close(&third);
            scope.on(&third, |s| s.record(&event))?;
            scope.on(&second, |s| s.record(&done))?;
            done.synchronize()?;
            assert!(!event.is_complete()?);
            scope.on(&second, |s| s.wait(&event))?;
            drop(event);
            scope.on(&second, |s| s.record(&done))?;
            assert!(!done.is_complete()?, "the wait goes on without the event");
            gate.open();
            done.synchronize()
        })
    });
}

/// B35: recording needs the event's own context (its counterpart does not compile), waiting does
/// not.
#[test]
fn a_wait_crosses_contexts() {
    in_two_contexts(|a, b| {
        let (on_a, on_b) = (a.new_stream()?, b.new_stream()?);
        let (of_a, of_b) = (a.new_event()?, b.new_event()?);
        let mut memory = b.zeros::<u8>(64)?;
        scope(|scope| {
            let gate = Gate::close(&on_a);
            scope.on(&on_a, |s| s.record(&of_a))?;
            scope.on(&on_b, |s| {
                s.wait(&of_a)?;
                s.fill(&mut memory.lend(s), 3)?;
                s.record(&of_b)
            })?;
            assert!(!of_b.is_complete()?);
            gate.open();
            of_b.synchronize()?;
            assert!(of_a.is_complete()?);
            Ok(())
        })?;
        assert_eq!(memory.to_vec()?, [3; 64]);
        Ok(())
    });
}

#[test]
fn dropping_a_pending_event_is_fine() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let mut buffer = ctx.zeros::<u32>(10)?;
        stream.scope(|s| {
            let gate = Gate::close(&stream);
            let (event, timed) = (ctx.new_event()?, ctx.new_timed_event()?);
            s.record(&event)?;
            s.record(&timed)?;
            s.fill(&mut buffer.lend(s), 4)?;
            drop((event, timed));
            gate.open();
            Ok(())
        })?;
        assert_eq!(buffer.to_vec()?, [4; 10]);
        assert!(ctx.new_event()?.close().is_ok());
        assert!(ctx.new_timed_event()?.close().is_ok());
        Ok(())
    });
}

#[test]
fn time_passes_between_timed_events() {
    in_context(|ctx| {
        let (stream, start, end) = (
            ctx.new_stream()?,
            ctx.new_timed_event()?,
            ctx.new_timed_event()?,
        );
        let held = Duration::from_millis(10);
        let from = Instant::now();
        stream.scope(|s| {
            s.record(&start)?;
            start.synchronize()?;
            let gate = Gate::close(&stream);
            thread::sleep(held);
            gate.open();
            s.record(&end)
        })?;
        let (elapsed, host) = (end.elapsed_since(&start)?, from.elapsed());
        // The clocks of host and device need not agree to the last microsecond.
        let tolerance = Duration::from_millis(1);
        assert!(elapsed + tolerance >= held, "{elapsed:?}");
        assert!(elapsed <= host + tolerance, "{elapsed:?} of {host:?}");
        let Err(Error::EventOrder { by }) = start.elapsed_since(&end) else {
            panic!("the other way round is an error");
        };
        assert!(by.abs_diff(elapsed) < tolerance, "{by:?}");
        assert_eq!(end.elapsed_since(&end)?, Duration::ZERO);
        Ok(())
    });
}

/// Many threads wait for one event and record others, on streams of their own.
#[test]
fn threads_share_events() {
    in_context(|ctx| {
        let (first, ready) = (ctx.new_stream()?, ctx.new_event()?);
        let gate = scope(|scope| {
            let gate = Gate::close(&first);
            scope.on(&first, |s| s.record(&ready))?;
            let waited = thread::scope(|threads| {
                let workers: Vec<_> = (0..4)
                    .map(|_| {
                        threads.spawn(|| -> Result<bool> {
                            let (own, done) = (ctx.new_stream()?, ctx.new_event()?);
                            let pending = scope_on(&own, &ready, &done)?;
                            Ok(pending && done.is_complete()?)
                        })
                    })
                    .collect();
                thread::sleep(Duration::from_millis(20));
                gate.open();
                workers
                    .into_iter()
                    .map(|worker| worker.join().unwrap())
                    .collect::<Result<Vec<_>>>()
            })?;
            assert_eq!(waited, [true; 4]);
            Ok(gate)
        })?;
        drop(gate);
        Ok(())
    });
}

fn scope_on<'ctx>(
    own: &scoped_cuda::Stream<'ctx>,
    ready: &scoped_cuda::Event<'ctx>,
    done: &scoped_cuda::Event<'ctx>,
) -> Result<bool> {
    own.scope(|s| {
        s.wait(ready)?;
        s.record(done)?;
        ready.synchronize()?;
        ready.is_complete()
    })
}

/// The driver's own name for what this crate refuses: B35 in C.
#[test]
fn the_driver_refuses_to_record_across_contexts() {
    in_two_contexts(|a, b| {
        let (event, stream) = (a.new_event()?, b.new_stream()?);
        #[allow(unsafe_code)]
        // SAFETY: both are live; that they are of two contexts is what the driver is asked about.
        let code = unsafe { (a.driver().symbols().cuEventRecord)(event.as_raw(), stream.as_raw()) };
        // On a machine with one GPU both are the same primary context, and there is nothing to
        // refuse.
        if a.device() != b.device() {
            assert_eq!(code, CUresult::INVALID_HANDLE);
        }
        Ok(())
    });
}

#[test]
fn events_say_what_they_are() {
    in_context(|ctx| {
        let (event, timed) = (ctx.new_event()?, ctx.new_timed_event()?);
        let at = |raw: scoped_cuda::ffi::CUevent| format!("Event(device 0, {:p})", raw.as_ptr());
        assert_eq!(format!("{event:?}"), at(event.as_raw()));
        assert_eq!(format!("{timed:?}"), format!("Timed{}", at(timed.as_raw())));
        assert_eq!(timed.context().device(), ctx.device());
        Ok(())
    });
}

/// Other code in the process resets the primary context: that is an error of its own, without a
/// call that might crash in the driver.
#[test]
fn events_and_streams_of_a_context_that_was_reset_say_so() {
    let driver = simulated(Simulation::default());
    let machine = driver.machine().unwrap();
    let lost = Error::ContextLost { ordinal: 0 };
    let outcome = driver.with_device(0, |ctx| {
        let (stream, start, end) = (
            ctx.new_stream()?,
            ctx.new_timed_event()?,
            ctx.new_timed_event()?,
        );
        let finished = stream.scope(|s| {
            s.record(&start)?;
            s.record(&end)?;
            let memory = s.zeros::<u32>(8)?;
            machine.reset_primary(0);
            assert_eq!(memory.release(s).unwrap_err(), lost);
            Ok(())
        });
        assert_eq!(finished, Err(lost.clone()));
        assert_eq!(end.is_complete(), Err(lost.clone()));
        assert_eq!(end.synchronize(), Err(lost.clone()));
        assert_eq!(end.elapsed_since(&start), Err(lost.clone()));
        assert_eq!(stream.is_idle(), Err(lost.clone()));
        assert_eq!(end.close().unwrap_err().error, lost);
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
    let unseen = driver.take_teardown_errors();
    assert!(unseen.iter().all(|entry| entry.error == lost), "{unseen:?}");
    assert_eq!(machine.violations(), Vec::<String>::new());
}

/// Neither driver knows the other's handles: an event of another driver is refused before one gets
/// to see it.
#[test]
fn a_wait_does_not_cross_drivers() {
    let [first, second] = [(); 2].map(|()| simulated(Simulation::default()));
    first
        .with_device(0, |a| {
            second.with_device(0, |b| {
                let (of_a, of_b, event) = (a.new_stream()?, b.new_stream()?, a.new_event()?);
                of_a.scope(|s| s.record(&event))?;
                let machine = second.machine().unwrap();
                of_b.scope(|s| {
                    machine.clear_trace();
                    assert_eq!(s.wait(&event), Err(Error::DifferentDrivers));
                    assert_eq!(machine.trace(), Vec::<&str>::new());
                    Ok(())
                })
            })
        })
        .unwrap();
}
