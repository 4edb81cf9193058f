//! Work in flight: waiting, order, hand-over between streams. Claims C5, C6.

use crate::common::{Gate, in_context, in_two_contexts, is_busy};
use scoped_cuda::{Error, Result, Stream, StreamOptions, scope};
use std::ffi::c_void;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;

/// How long a test watches for something that must not happen while a gate is shut.
const WATCH: Duration = Duration::from_millis(30);

/// Runs `in_scope` in a scope whose stream is gated, and checks that the scope does not return
/// before the gate opens.
fn returns_only_after_the_gate(in_scope: impl FnOnce() -> Result<()> + Send) -> Result<()> {
    let mut outcome = Ok(());
    let result = &mut outcome;
    in_context(move |ctx| {
        let stream = ctx.new_stream()?;
        let (sender, receiver) = mpsc::channel();
        let (closed, gate) = mpsc::channel();
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let scoped = stream.scope(|_| {
                    closed.send(Gate::close(&stream)).unwrap();
                    in_scope()
                });
                *result = scoped;
                sender.send(is_busy(&stream)).unwrap();
            });
            let gate = gate.recv().unwrap();
            let early = receiver.recv_timeout(WATCH);
            assert_eq!(
                early,
                Err(mpsc::RecvTimeoutError::Timeout),
                "the scope did not wait"
            );
            gate.open();
            assert!(
                !receiver.recv().unwrap(),
                "the stream is idle after the scope"
            );
        });
        Ok(())
    });
    outcome
}

#[test]
fn scope_waits_on_ok() {
    assert_eq!(returns_only_after_the_gate(|| Ok(())), Ok(()));
}

/// B152: the wait comes before the report.
#[test]
fn scope_waits_on_error() {
    assert_eq!(
        returns_only_after_the_gate(|| Err(Error::NoDevice)),
        Err(Error::NoDevice)
    );
}

#[test]
fn scope_waits_on_panic() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let (closed, gate) = mpsc::channel();
        let opener = std::thread::spawn(move || {
            let gate: Gate = gate.recv().unwrap();
            std::thread::sleep(WATCH);
            gate.open();
        });
        let panic = catch_unwind(AssertUnwindSafe(|| {
            stream.scope(|_| -> Result<()> {
                closed.send(Gate::close(&stream)).unwrap();
                panic!("in the scope")
            })
        }));
        assert_eq!(
            panic.unwrap_err().downcast_ref::<&str>(),
            Some(&"in the scope")
        );
        assert!(!is_busy(&stream), "the panic left the scope after the wait");
        opener.join().unwrap();
        Ok(())
    });
}

/// B60, B70: forgetting everything that a scope gave out changes nothing: the wait is the scope's
/// own.
#[test]
fn forgetting_handles_does_not_lose_the_wait() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let mut buffer = ctx.zeros::<u32>(4)?;
        let host = [1, 2, 3, 4];
        stream.scope(|s| {
            let mut lent = buffer.lend(s);
            s.write(&host, &mut lent)?;
            #[allow(clippy::forget_non_drop)] // whatever it is, it is forgotten
            mem::forget(lent);
            Ok(())
        })?;
        assert!(!is_busy(&stream));
        assert_eq!(buffer.to_vec()?, host);
        Ok(())
    });
}

#[test]
fn work_on_one_stream_runs_in_program_order() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let mut buffer = ctx.zeros::<u8>(1000)?;
        let (host, mut first, mut second) = (vec![2u8; 1000], vec![0; 1000], vec![0; 1000]);
        stream.scope(|s| {
            let mut lent = buffer.lend(s);
            s.fill(&mut lent, 1)?;
            s.read(&lent, &mut first)?;
            s.write(&host, &mut lent)?;
            s.read(&lent, &mut second)?;
            s.fill(&mut lent, 3)
        })?;
        assert_eq!((first, second), (vec![1; 1000], vec![2; 1000]));
        assert_eq!(buffer.to_vec()?, [3; 1000]);
        Ok(())
    });
}

#[test]
fn fill_has_three_widths() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let (mut bytes, mut halves, mut words) = (ctx.zeros(5)?, ctx.zeros(5)?, ctx.zeros(5)?);
        stream.scope(|s| {
            s.fill(&mut bytes.lend(s), -1i8)?;
            s.fill(&mut halves.lend(s), 0x1234u16)?;
            s.fill(&mut words.lend(s).slice_mut(1..4)?, 2.5f32)
        })?;
        assert_eq!(bytes.to_vec()?, [-1; 5]);
        assert_eq!(halves.to_vec()?, [0x1234; 5]);
        assert_eq!(words.to_vec()?, [0.0, 2.5, 2.5, 2.5, 0.0]);
        Ok(())
    });
}

/// B41 (the orderly half): the taking stream waits for the giving one, which a gate holds back.
#[test]
fn taking_over_waits_for_the_other_stream() {
    in_context(|ctx| {
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let mut buffer = ctx.zeros::<u32>(1 << 16)?;
        let mut copy = ctx.zeros::<u32>(1 << 16)?;
        scope(|scope| {
            scope.on(&first, |a| {
                let mut memory = buffer.lend(a);
                let gate = Gate::close(&first);
                a.fill(&mut memory, 5)?;
                scope.on(&second, |b| {
                    let memory = memory.hand_over(a, b)?;
                    b.copy(&memory, &mut copy.lend(b))?;
                    std::thread::sleep(WATCH);
                    assert!(
                        is_busy(&second),
                        "the second stream waits for the gate of the first"
                    );
                    gate.open();
                    Ok(())
                })
            })
        })?;
        assert_eq!(copy.to_vec()?, vec![5; 1 << 16]);
        Ok(())
    });
}

#[test]
fn memory_goes_back_and_forth() {
    in_context(|ctx| {
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let module = ctx.load_ptx(crate::common::PTX)?;
        let add = module.kernel::<(scoped_cuda::In<u32>, scoped_cuda::InOut<u32>, u32)>("add")?;
        let one = ctx.filled(1000, 1u32)?;
        let mut sum = ctx.zeros::<u32>(1000)?;
        scope(|scope| {
            scope.on(&first, |a| {
                scope.on(&second, |b| {
                    let mut memory = sum.lend(a);
                    for _ in 0..25 {
                        let config = scoped_cuda::LaunchConfig::for_elements(1000);
                        #[allow(unsafe_code)]
                        // SAFETY: `add` reads and updates indices below 1000, which both have.
                        unsafe { a.launch(&add, config, (&one, &mut memory, 1000)) }?;
                        let mut there = memory.hand_over(a, b)?;
                        #[allow(unsafe_code)]
                        // SAFETY: as above.
                        unsafe { b.launch(&add, config, (&one, &mut there, 1000)) }?;
                        memory = there.hand_over(b, a)?;
                    }
                    Ok(())
                })
            })
        })?;
        assert_eq!(sum.to_vec()?, [50; 1000]);
        Ok(())
    });
}

/// B65, B72: memory allocated in a scope is freed in the order of the stream that used it last.
#[test]
fn dropping_in_a_scope_frees_in_order() {
    in_context(|ctx| {
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let mut out = ctx.zeros::<u32>(1 << 16)?;
        scope(|scope| {
            scope.on(&first, |a| {
                scope.on(&second, |b| {
                    let mut memory = a.zeros::<u32>(1 << 16)?;
                    a.fill(&mut memory, 9)?;
                    let memory = memory.hand_over(a, b)?;
                    let gate = Gate::close(&second);
                    b.copy(&memory, &mut out.lend(b))?;
                    drop(memory);
                    // What comes next may get the same memory; the copy above has not run yet.
                    let mut next = a.zeros::<u32>(1 << 16)?;
                    a.fill(&mut next, 1)?;
                    gate.open();
                    Ok(())
                })
            })
        })?;
        assert_eq!(out.to_vec()?, vec![9; 1 << 16]);
        Ok(())
    });
}

#[test]
fn many_streams_share_what_is_only_read() {
    in_context(|ctx| {
        let streams: Vec<_> = (0..5).map(|_| ctx.new_stream()).collect::<Result<_>>()?;
        let source = ctx.upload(&[1u16, 2, 3])?;
        let mut copies = (0..5)
            .map(|_| ctx.zeros::<u16>(3))
            .collect::<Result<Vec<_>>>()?;
        scope(|scope| {
            for (stream, copy) in streams.iter().zip(&mut copies) {
                scope.on(stream, |s| s.copy(&source, &mut copy.lend(s)))?;
            }
            Ok(())
        })?;
        for copy in &copies {
            assert_eq!(copy.to_vec()?, [1, 2, 3]);
        }
        Ok(())
    });
}

#[test]
fn parts_of_a_buffer_go_to_different_streams() {
    in_context(|ctx| {
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let mut buffer = ctx.zeros::<u32>(10)?;
        let (head, tail) = buffer.as_mut_slice().split_at_mut(4)?;
        scope(|scope| {
            scope.on(&first, |s| s.fill(&mut head.lend(s), 1))?;
            scope.on(&second, |s| s.fill(&mut tail.lend(s), 2))
        })?;
        assert_eq!(buffer.to_vec()?, [1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
        Ok(())
    });
}

#[test]
fn one_scope_spans_contexts() {
    in_two_contexts(|a, b| {
        let (on_a, on_b) = (a.new_stream()?, b.new_stream()?);
        let (mut of_a, mut of_b) = (a.zeros::<u8>(9)?, b.zeros::<u8>(9)?);
        scope(|scope| {
            scope.on(&on_a, |s| s.fill(&mut of_a.lend(s), 1))?;
            scope.on(&on_b, |s| s.fill(&mut of_b.lend(s), 2))
        })?;
        assert_eq!((of_a.to_vec()?, of_b.to_vec()?), (vec![1; 9], vec![2; 9]));
        Ok(())
    });
}

#[test]
fn threads_share_a_stream() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        std::thread::scope(|threads| {
            let workers: Vec<_> = (0..4u32)
                .map(|i| {
                    let stream = &stream;
                    threads.spawn(move || {
                        let mut own = ctx.zeros::<u32>(1000)?;
                        stream.scope(|s| s.fill(&mut own.lend(s), i))?;
                        own.to_vec()
                    })
                })
                .collect();
            for (i, worker) in workers.into_iter().enumerate() {
                assert_eq!(worker.join().unwrap()?, [i as u32; 1000]);
            }
            Ok(())
        })
    });
}

/// The priority that the driver has for a stream (`cuStreamGetPriority`, which the crate does not
/// call).
#[allow(unsafe_code)]
fn priority_of(stream: &Stream<'_>) -> i32 {
    use scoped_cuda::ffi::{CUresult, CUstream};
    type GetPriority = unsafe extern "C" fn(CUstream, *mut i32) -> CUresult;
    let address = stream
        .context()
        .driver()
        .symbol("cuStreamGetPriority", 5050);
    assert!(!address.is_null());
    // SAFETY: cuda.h declares `CUresult cuStreamGetPriority(CUstream, int *)`.
    let get = unsafe { mem::transmute::<*const c_void, GetPriority>(address) };
    let mut priority = i32::MIN;
    // SAFETY: the stream is live and the out-pointer valid for the call.
    let code = unsafe { get(stream.as_raw(), &raw mut priority) };
    assert_eq!(code, CUresult::SUCCESS);
    priority
}

/// The driver moves a priority out of range into it and says nothing; this crate says what there
/// is.
#[test]
fn priorities_are_what_was_asked_for_or_an_error() {
    in_context(|ctx| {
        let there_are = ctx.stream_priorities()?;
        assert!(there_are.contains(&0), "{there_are:?}");
        for priority in there_are.clone() {
            let options = StreamOptions::default().priority(priority);
            assert_eq!(priority_of(&ctx.new_stream_with(options)?), priority);
        }
        let (greatest, least) = (*there_are.start(), *there_are.end());
        for asked in [greatest - 1, least + 1, i32::MIN, i32::MAX] {
            let options = StreamOptions::default().priority(asked);
            assert_eq!(
                ctx.new_stream_with(options).unwrap_err(),
                Error::BadPriority {
                    asked,
                    least,
                    greatest
                }
            );
        }
        assert_eq!(priority_of(&ctx.new_stream()?), 0);
        Ok(())
    });
}

#[test]
fn a_stream_with_a_name_says_it() {
    in_context(|ctx| {
        let name = String::from("results");
        let options = StreamOptions::default().name(&name);
        let stream = ctx.new_stream_with(options)?;
        drop(name);
        assert_eq!(stream.name(), Some("results"));
        let raw = stream.as_raw().as_ptr();
        assert_eq!(
            format!("{stream:?}"),
            format!("Stream(\"results\", device 0, {raw:p})")
        );
        let mut buffer = ctx.zeros::<u32>(3)?;
        stream.scope(|s| s.fill(&mut buffer.lend(s), 1))?;
        assert_eq!(buffer.to_vec()?, [1; 3]);
        assert!(stream.close().is_ok());
        assert_eq!(ctx.new_stream()?.name(), None);
        Ok(())
    });
}

#[test]
fn a_stream_is_idle_outside_scopes() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        assert!(stream.is_idle()?);
        stream.scope(|_| {
            let gate = Gate::close(&stream);
            assert!(!stream.is_idle()?);
            gate.open();
            Ok(())
        })?;
        assert!(stream.is_idle()?);
        Ok(())
    });
}

#[test]
fn threads_work_in_one_scope() {
    in_context(|ctx| {
        let streams = (0..4)
            .map(|_| ctx.new_stream())
            .collect::<Result<Vec<_>>>()?;
        let mut buffer = ctx.zeros::<u32>(4000)?;
        let parts: Vec<_> = buffer.as_mut_slice().chunks_mut(1000)?.collect();
        scope(|scope| {
            std::thread::scope(|threads| {
                let workers: Vec<_> = (0..)
                    .zip(parts)
                    .zip(&streams)
                    .map(|((value, part), stream)| {
                        threads
                            .spawn(move || scope.on(stream, |s| s.fill(&mut part.lend(s), value)))
                    })
                    .collect();
                workers
                    .into_iter()
                    .try_for_each(|worker| worker.join().unwrap())
            })
        })?;
        let expected: Vec<u32> = (0..4000).map(|i| i / 1000).collect();
        assert_eq!(buffer.to_vec()?, expected);
        Ok(())
    });
}
