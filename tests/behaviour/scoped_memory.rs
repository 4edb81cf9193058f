//! Memory that is made in a scope, that leaves it, and that is dropped in it. Claims C5, C6, C7.

#![allow(unsafe_code)] // enqueues a call as another library does

use crate::common::{Gate, in_context, is_busy};
use scoped_cuda::ffi::{CUdeviceptr, CUresult};
use scoped_cuda::{Error, Result, Stream, scope};
use std::sync::mpsc;
use std::time::Duration;

/// How long a gate stays shut that another thread opens.
const WATCH: Duration = Duration::from_millis(30);

/// B65, B72: what comes back from a scope is at rest: nothing is pending on it, and it outlives the
/// scope.
#[test]
fn finished_memory_leaves_the_scope() {
    in_context(|ctx| {
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let host = vec![3u32; 1 << 16];
        let mut out = ctx.zeros::<u32>(1 << 16)?;
        let memory = scope(|scope| {
            scope.on(&first, |a| {
                scope.on(&second, |b| {
                    let mut memory = a.upload(&host)?;
                    a.fill(&mut memory.slice_mut(..1)?, 4)?;
                    let mut memory = memory.hand_over(a, b)?;
                    b.fill(&mut memory.slice_mut(1..2)?, 5)?;
                    let mut memory = memory.release(b)?;
                    assert!(!is_busy(&second), "it has waited");
                    // At rest: the context's own stream may use it, and the first stream too,
                    // without a hand-over.
                    memory.slice_mut(2..3)?.write(&[6])?;
                    assert_eq!(memory.slice(..4)?.to_vec()?, [4, 5, 6, 3]);
                    Ok(memory)
                })
            })
        })?;
        first.scope(|s| s.copy(&memory, &mut out.lend(s)))?;
        // Freed on the service stream, after which a new allocation may get the same memory.
        drop(memory);
        drop(ctx.filled(1 << 16, 9u32)?);
        assert_eq!(out.slice(..4)?.to_vec()?, [4, 5, 6, 3]);
        Ok(())
    });
}

/// `finish` waits for one stream: another, which a gate holds, goes on.
#[test]
fn finish_waits_for_its_own_stream_only() {
    in_context(|ctx| {
        let (held, free) = (ctx.new_stream()?, ctx.new_stream()?);
        let (mut a, mut b) = (ctx.zeros::<u32>(8)?, ctx.zeros::<u32>(8)?);
        let (head, tail) = b.as_mut_slice().split_at_mut(4)?;
        scope(|scope| {
            scope.on(&held, |h| {
                let gate = Gate::close(&held);
                h.fill(&mut a.lend(h), 1)?;
                scope.on(&free, |f| {
                    let mut part = head.lend(f);
                    f.fill(&mut part, 2)?;
                    let mut part = part.release(f)?;
                    assert!(is_busy(&held));
                    assert_eq!(part.as_slice().to_vec()?, [2; 4]);
                    part.slice_mut(1..2)?.write(&[7])?;
                    // Lent anew, to the other stream, which need not wait for anybody.
                    let mut part = part.lend(h);
                    h.fill(&mut part.slice_mut(3..)?, 8)?;
                    f.fill(&mut tail.lend(f), 9)
                })?;
                gate.open();
                Ok(())
            })
        })?;
        assert_eq!(a.to_vec()?, [1; 8]);
        assert_eq!(b.to_vec()?, [2, 7, 2, 8, 9, 9, 9, 9]);
        Ok(())
    });
}

/// B65: the wait of `finish` is for the streams that had the memory before, too.
#[test]
fn finish_waits_for_whoever_had_the_memory() {
    in_context(|ctx| {
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let (closed, gate) = mpsc::channel();
        let opener = std::thread::spawn(move || {
            let gate: Gate = gate.recv().unwrap();
            std::thread::sleep(WATCH);
            gate.open();
        });
        let memory = scope(|scope| {
            scope.on(&first, |a| {
                scope.on(&second, |b| {
                    let mut memory = a.zeros::<u32>(1000)?;
                    closed.send(Gate::close(&first)).unwrap();
                    a.fill(&mut memory, 5)?;
                    let memory = memory.hand_over(a, b)?;
                    let memory = memory.release(b)?;
                    assert_eq!(memory.to_vec()?, [5; 1000]);
                    Ok(memory)
                })
            })
        })?;
        opener.join().unwrap();
        assert_eq!(memory.to_vec()?, [5; 1000]);
        Ok(())
    });
}

#[test]
fn memory_without_content_gets_some() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let host = [1u64, 2, 3];
        let (from_host, filled) = stream.scope(|s| {
            let memory = s.uninit::<u64>(3)?;
            let short = s.uninit::<u64>(2)?;
            assert_eq!(
                s.write_init(&host, short).unwrap_err(),
                Error::LengthMismatch {
                    source_len: 3,
                    destination_len: 2
                }
            );
            let from_host = s.write_init(&host, memory)?;
            #[allow(unsafe_code)]
            // SAFETY: the next line writes every element.
            let mut filled = unsafe { s.uninit::<u32>(3)?.assume_init() };
            s.fill(&mut filled, 7)?;
            assert!(s.upload::<u8>(&[])?.is_empty());
            Ok((from_host.release(s)?, filled.release(s)?))
        })?;
        assert_eq!(
            (from_host.to_vec()?, filled.to_vec()?),
            (host.to_vec(), vec![7; 3])
        );
        Ok(())
    });
}

#[test]
fn chunks_go_to_different_streams() {
    in_context(|ctx| {
        let streams: Vec<_> = (0..3).map(|_| ctx.new_stream()).collect::<Result<_>>()?;
        let mut buffer = ctx.zeros::<u32>(1000)?;
        let chunks = buffer.as_mut_slice().chunks_mut(300)?;
        scope(|scope| {
            for (i, chunk) in chunks.enumerate() {
                scope.on(&streams[i % 3], |s| s.fill(&mut chunk.lend(s), i as u32))?;
            }
            Ok(())
        })?;
        let expected: Vec<_> = (0..1000u32).map(|i| i / 300).collect();
        assert_eq!(buffer.to_vec()?, expected);
        Ok(())
    });
}

/// B72: memory dropped on another thread is freed in the order of the stream that uses it.
#[test]
fn dropping_on_another_thread_frees_in_order() {
    in_context(|ctx| {
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let mut out = ctx.zeros::<u32>(1 << 16)?;
        scope(|scope| {
            scope.on(&first, |a| {
                let mut memory = a.zeros::<u32>(1 << 16)?;
                let gate = Gate::close(&first);
                a.fill(&mut memory, 9)?;
                a.copy(&memory, &mut out.lend(a))?;
                std::thread::scope(|threads| drop(threads.spawn(move || drop(memory))));
                // What comes next may get the same memory; the work above has not run yet.
                scope.on(&second, |b| {
                    let mut next = b.zeros::<u32>(1 << 16)?;
                    b.fill(&mut next, 1)
                })?;
                gate.open();
                Ok(())
            })
        })?;
        assert_eq!(out.to_vec()?, vec![9; 1 << 16]);
        Ok(())
    });
}

/// B80: an upload is an operation of its stream, at the size at which the driver's own synchronous
/// copy was stale every time.
#[test]
fn what_is_uploaded_in_a_scope_is_there_for_what_comes_next() {
    in_context(|ctx| {
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let mut host = vec![0u32; 1 << 18];
        let (mut own, mut other) = (ctx.zeros::<u32>(1 << 18)?, ctx.zeros::<u32>(1 << 18)?);
        for round in 1..10 {
            host.fill(round);
            scope(|scope| {
                scope.on(&first, |a| {
                    let memory = a.upload(&host)?;
                    a.copy(&memory, &mut own.lend(a))?;
                    scope.on(&second, |b| {
                        let memory = memory.hand_over(a, b)?;
                        b.copy(&memory, &mut other.lend(b))
                    })
                })
            })?;
            assert_eq!(own.to_vec()?, host, "round {round}");
            assert_eq!(other.to_vec()?, host, "round {round}");
        }
        Ok(())
    });
}

/// A raw call on the scope's stream, with the address that the handle tells, runs in its order, and
/// the scope waits for it.
#[test]
fn raw_call_on_lent_memory_is_in_order() {
    fn memset(stream: &Stream<'_>, address: CUdeviceptr, value: u32, count: usize) {
        let symbols = stream.context().driver().symbols();
        // SAFETY: the callers pass `count` elements in the order of this stream, which its scope
        // waits for.
        let code = unsafe { (symbols.cuMemsetD32Async)(address, value, count, stream.as_raw()) };
        assert_eq!(code, CUresult::SUCCESS);
    }

    in_context(|ctx| {
        let (stream, mut buffer) = (ctx.new_stream()?, ctx.zeros::<u32>(8)?);
        let (at_rest, mut host, mut made) = (buffer.as_raw(), [0; 8], [0; 8]);
        stream.scope(|s| {
            let mut memory = buffer.lend(s);
            assert_eq!(memory.as_raw(), at_rest);
            let mut own = s.zeros::<u32>(8)?;
            let gate = Gate::close(&stream);
            s.fill(&mut memory, 1)?;
            memset(s.stream(), memory.as_raw(), 2, 4);
            let part = memory.slice_mut(6..)?;
            assert_eq!(part.as_raw(), at_rest + 6 * 4);
            memset(s.stream(), part.as_raw(), 3, part.len());
            memset(s.stream(), own.as_raw(), 4, 8);
            s.fill(&mut own.slice_mut(..1)?, 5)?;
            gate.open();
            s.read(&memory, &mut host)?;
            s.read(&own, &mut made)
        })?;
        assert_eq!(host, [2, 2, 2, 2, 1, 1, 3, 3]);
        assert_eq!(made, [5, 4, 4, 4, 4, 4, 4, 4]);
        Ok(())
    });
}
