//! Device memory at rest: sizes, lengths, empty and huge, reading and writing. Claims C4, C6, C7,
//! C9.

use crate::common::in_context;
use scoped_cuda::Error;
use scoped_cuda::memory::{Memory, MemoryUsage};

#[test]
fn upload_comes_back() {
    in_context(|ctx| {
        let host: Vec<u64> = (0..100_000).map(|i| i * i).collect();
        let buffer = ctx.upload(&host)?;
        assert_eq!((buffer.len(), buffer.size_bytes()), (100_000, 800_000));
        assert_eq!(buffer.to_vec()?, host);
        Ok(())
    });
}

#[test]
fn zeros_are_zero_and_filled_is_full() {
    in_context(|ctx| {
        // Leave something behind that a missing fill would show.
        drop(ctx.filled(4096, 0xAAu8)?);
        assert_eq!(ctx.zeros::<u32>(1000)?.to_vec()?, [0; 1000]);
        assert_eq!(ctx.filled(1000, 0x12u8)?.to_vec()?, [0x12; 1000]);
        assert_eq!(ctx.filled(1001, -3i16)?.to_vec()?, [-3; 1001]);
        assert_eq!(ctx.filled(999, 1.5f32)?.to_vec()?, [1.5; 999]);
        assert_eq!(
            ctx.filled(10, 1.5f64)?.to_vec()?,
            [1.5; 10],
            "8 bytes: no memset of that width"
        );
        assert_eq!(ctx.filled(10, [1u8, 2, 3])?.to_vec()?, [[1, 2, 3]; 10]);
        Ok(())
    });
}

/// B123: nothing of length zero asks the driver.
#[test]
fn empty_memory_is_ordinary() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let mut empty = ctx.upload::<f32>(&[])?;
        assert_eq!((empty.len(), empty.as_raw()), (0, 0));
        empty.write(&[])?;
        assert!(empty.to_vec()?.is_empty());
        let mut other = ctx.zeros::<f32>(0)?;
        other.copy_from(&empty)?;
        assert_eq!(ctx.filled(0, 7u8)?.to_vec()?, []);
        assert_eq!(ctx.uninit::<u8>(0)?.len(), 0);
        let mut host = [];
        stream.scope(|s| {
            let mut lent = other.lend(s);
            s.fill(&mut lent, 1.0)?;
            s.write(&[], &mut lent)?;
            s.copy(&empty, &mut lent)?;
            s.read(&lent, &mut host)?;
            assert!(s.zeros::<u32>(0)?.is_empty());
            Ok(())
        })
    });
}

/// B126: the number of bytes does not wrap.
#[test]
fn huge_lengths_are_refused() {
    in_context(|ctx| {
        let len = usize::MAX / 4 + 1;
        assert_eq!(
            ctx.zeros::<u32>(len).unwrap_err(),
            Error::SizeOverflow {
                len,
                element_bytes: 4
            }
        );
        assert_eq!(
            ctx.filled(len, 0u64).unwrap_err(),
            Error::SizeOverflow {
                len,
                element_bytes: 8
            }
        );
        assert_eq!(
            ctx.uninit::<[u8; 3]>(len).unwrap_err(),
            Error::SizeOverflow {
                len,
                element_bytes: 3
            }
        );
        let stream = ctx.new_stream()?;
        let error = stream.scope(|s| s.zeros::<u32>(len).map(drop)).unwrap_err();
        assert_eq!(
            error,
            Error::SizeOverflow {
                len,
                element_bytes: 4
            }
        );
        Ok(())
    });
}

#[test]
fn more_than_the_device_has_is_out_of_memory() {
    in_context(|ctx| {
        let asked = 1 << 45;
        let error = ctx.zeros::<u8>(asked).unwrap_err();
        let Error::OutOfMemory {
            ordinal: 0,
            asked: told,
            free: Some(free),
            cap: None,
            source: Some(source),
        } = error.clone()
        else {
            panic!("{error:?}");
        };
        assert_eq!(
            (told, source.call(), source.name()),
            (asked, "cuMemAllocFromPoolAsync", "CUDA_ERROR_OUT_OF_MEMORY")
        );
        assert!(free > 0 && free <= ctx.device().total_memory_bytes()?);
        let text = error.to_string();
        assert!(
            text.starts_with(&format!(
                "device 0 cannot allocate {asked} bytes: {free} are free; cuMemAlloc"
            )),
            "{text}"
        );
        assert_eq!(
            ctx.zeros::<u8>(16)?.to_vec()?,
            [0; 16],
            "and smaller allocations still work"
        );
        Ok(())
    });
}

/// What other crates get wrong: a copy that reads past the shorter side.
#[test]
fn lengths_have_to_agree() {
    in_context(|ctx| {
        let mismatch = |source_len, destination_len| {
            Err(Error::LengthMismatch {
                source_len,
                destination_len,
            })
        };
        let mut buffer = ctx.upload(&[1u8, 2, 3])?;
        assert_eq!(buffer.read(&mut [0; 4]), mismatch(3, 4));
        assert_eq!(buffer.read(&mut [0; 2]), mismatch(3, 2));
        assert_eq!(buffer.write(&[0; 4]), mismatch(4, 3));
        let longer = ctx.zeros::<u8>(4)?;
        assert_eq!(buffer.copy_from(&longer), mismatch(4, 3));
        assert_eq!(buffer.to_vec()?, [1, 2, 3], "nothing was written");
        let stream = ctx.new_stream()?;
        let (host, mut back) = ([0u8; 4], [0u8; 2]);
        stream.scope(|s| {
            let mut lent = buffer.lend(s);
            assert_eq!(s.write(&host, &mut lent), mismatch(4, 3));
            assert_eq!(s.copy(&longer, &mut lent), mismatch(4, 3));
            assert_eq!(s.read(&lent, &mut back), mismatch(3, 2));
            Ok(())
        })?;
        assert_eq!(buffer.to_vec()?, [1, 2, 3], "nothing was written");
        Ok(())
    });
}

#[test]
fn views_are_parts() {
    in_context(|ctx| {
        let mut buffer = ctx.upload(&[0u16, 1, 2, 3, 4, 5])?;
        assert_eq!(buffer.slice(2..4)?.to_vec()?, [2, 3]);
        assert_eq!(buffer.slice(1..)?.slice(..2)?.to_vec()?, [1, 2]);
        buffer.slice_mut(4..)?.write(&[40, 50])?;
        let (mut head, mut tail) = buffer.as_mut_slice().split_at_mut(3)?;
        tail.slice_mut(0..1)?
            .copy_from(&head.as_slice().slice(1..2)?)?;
        head.write(&[7, 8, 9])?;
        assert_eq!(buffer.to_vec()?, [7, 8, 9, 1, 40, 50]);
        assert_eq!(
            buffer.slice(4..7).unwrap_err(),
            Error::OutOfRange {
                start: 4,
                end: 7,
                len: 6
            }
        );
        assert_eq!(
            buffer.slice_mut(7..).unwrap_err(),
            Error::OutOfRange {
                start: 7,
                end: 6,
                len: 6
            }
        );
        assert_eq!(
            buffer.as_mut_slice().split_at_mut(7).unwrap_err(),
            Error::OutOfRange {
                start: 7,
                end: 6,
                len: 6
            }
        );
        Ok(())
    });
}

#[test]
fn buffers_are_copied_on_the_device() {
    in_context(|ctx| {
        let source = ctx.upload(&[1.0f64, 2.0, 3.0])?;
        let mut destination = ctx.zeros::<f64>(3)?;
        destination.copy_from(&source)?;
        assert_eq!(destination.to_vec()?, [1.0, 2.0, 3.0]);
        destination.slice_mut(..1)?.copy_from(&source.slice(2..)?)?;
        assert_eq!(destination.to_vec()?, [3.0, 2.0, 3.0]);
        Ok(())
    });
}

/// B61, B80: a transfer at rest is complete when it returns, whatever stream uses the memory next.
#[test]
fn upload_is_complete_for_every_stream() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        // 1 MiB: the size at which the driver's own synchronous copy was stale every time.
        let mut host = vec![0u32; 1 << 18];
        let (mut buffer, mut copy) = (ctx.zeros::<u32>(host.len())?, ctx.zeros::<u32>(host.len())?);
        for round in 1..20 {
            host.fill(round);
            buffer.write(&host)?;
            stream.scope(|s| s.copy(&buffer, &mut copy.lend(s)))?;
            assert_eq!(copy.to_vec()?, host, "round {round}");
        }
        Ok(())
    });
}

/// B147: a free that works says so; the one that fails is in `tests/sweep`.
#[test]
fn close_frees() {
    in_context(|ctx| {
        let buffer = ctx.zeros::<u8>(1 << 20)?;
        assert!(buffer.close().is_ok());
        assert!(ctx.zeros::<u8>(0)?.close().is_ok());
        assert!(ctx.new_stream()?.close().is_ok());
        Ok(())
    });
}

#[test]
fn uninitialised_memory_is_usable_once_written() {
    in_context(|ctx| {
        let buffer = ctx.uninit::<u32>(3)?;
        #[allow(unsafe_code)]
        // SAFETY: the next line writes every element before anything reads one.
        let mut buffer = unsafe { buffer.assume_init() };
        buffer.write(&[1, 2, 3])?;
        assert_eq!(buffer.to_vec()?, [1, 2, 3]);
        Ok(())
    });
}

/// Memory that was freed is handed out again, and what is live is not touched by that.
#[test]
fn allocations_do_not_overlap() {
    in_context(|ctx| {
        let mut live = Vec::new();
        for round in 0..50u32 {
            live.push((round, ctx.filled(1000 + round as usize, round)?));
            drop(ctx.filled(1000, u32::MAX)?);
            if round % 3 == 0 {
                live.swap_remove(live.len() / 2);
            }
        }
        for (round, buffer) in &live {
            assert_eq!(buffer.to_vec()?, vec![*round; 1000 + *round as usize]);
        }
        Ok(())
    });
}

#[test]
fn traits_describe_the_memory() {
    in_context(|ctx| {
        let buffer = ctx.zeros::<u32>(8)?;
        let view = buffer.slice(2..)?;
        assert_eq!(
            (Memory::len(&view), view.as_raw()),
            (6, buffer.as_raw() + 8)
        );
        assert_eq!(
            format!("{view:?}"),
            format!("Slice(device 0, 6 x u32, {:#x})", buffer.as_raw() + 8)
        );
        Ok(())
    });
}

/// The limit counts what was asked for, over all copies of the token, and what is freed counts no
/// more.
#[test]
fn a_limit_refuses_what_would_be_more() {
    in_context(|ctx| {
        let refused = |asked, left, cap| Error::OutOfMemory {
            ordinal: 0,
            asked,
            free: Some(left),
            cap: Some(cap),
            source: None,
        };
        let before = ctx.zeros::<u8>(400)?;
        ctx.limit_memory(Some(1000));
        let at_the_limit = ctx.zeros::<u32>(150)?;
        assert_eq!(ctx.zeros::<u8>(1).unwrap_err(), refused(1, 0, 1000));
        assert_eq!(ctx.uninit::<u8>(0)?.len(), 0, "nothing is always possible");
        drop(before);
        assert_eq!(
            ctx.upload(&[0u64; 51]).unwrap_err(),
            refused(408, 400, 1000)
        );
        assert_eq!(ctx.filled(50, 7u64)?.to_vec()?, [7; 50]);
        assert!(at_the_limit.close().is_ok());
        assert_eq!(ctx.zeros::<u8>(1000)?.to_vec()?, [0; 1000]);

        let kept = ctx.zeros::<u8>(900)?;
        ctx.limit_memory(Some(500));
        assert_eq!(ctx.zeros::<u8>(1).unwrap_err(), refused(1, 0, 500));
        assert_eq!(kept.to_vec()?, [0; 900], "what is there stays");
        ctx.limit_memory(None);
        ctx.zeros::<u8>(10_000).map(drop)
    });
}

#[test]
fn a_limit_counts_memory_of_scopes_and_of_all_threads() {
    in_context(|ctx| {
        ctx.limit_memory(Some(4096));
        let stream = ctx.new_stream()?;
        stream.scope(|s| {
            let memory = s.zeros::<u8>(4000)?;
            let error = s.uninit::<u8>(97).unwrap_err();
            assert!(matches!(error, Error::OutOfMemory { free: Some(96), .. }));
            drop(memory);
            s.zeros::<u8>(4096).map(drop)
        })?;
        let kept = std::sync::Mutex::new(Vec::new());
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    while let Ok(buffer) = ctx.zeros::<u8>(100) {
                        kept.lock().unwrap().push(buffer);
                    }
                });
            }
        });
        assert_eq!(kept.into_inner().unwrap().len(), 40);
        ctx.zeros::<u8>(4096).map(drop)
    });
}

/// A failed allocation does not count.
#[test]
fn a_limit_above_what_the_device_has_leaves_the_refusal_to_the_driver() {
    in_context(|ctx| {
        let cap = 1 << 50;
        ctx.limit_memory(Some(cap));
        for _ in 0..3 {
            let error = ctx.zeros::<u8>(1 << 49).unwrap_err();
            assert!(
                matches!(error, Error::OutOfMemory { cap: Some(told), source: Some(_), .. } if told == cap),
                "{error}"
            );
        }
        Ok(())
    });
}

#[test]
fn usage_says_what_the_pool_holds() {
    const MIB: usize = 1 << 20;
    in_context(|ctx| {
        let before = ctx.memory_usage()?;
        assert_eq!((before.used_bytes, before.used_high_bytes), (0, 0));
        let (first, second) = (ctx.zeros::<u8>(100 * MIB)?, ctx.zeros::<u8>(50 * MIB)?);
        let full = ctx.memory_usage()?;
        assert!(
            (150 * MIB..=160 * MIB).contains(&full.used_bytes),
            "{full:?}"
        );
        assert!(
            full.reserved_bytes >= full.used_bytes && full.used_high_bytes >= full.used_bytes,
            "{full:?}"
        );
        drop(first);
        // Waits for the stream on which the memory is freed.
        ctx.uninit::<u8>(1)?;
        let half = ctx.memory_usage()?;
        assert!((50 * MIB..=60 * MIB).contains(&half.used_bytes), "{half:?}");
        assert_eq!(
            half,
            MemoryUsage {
                used_bytes: half.used_bytes,
                ..full
            },
            "the pool keeps what was freed"
        );
        ctx.trim_memory(0)?;
        let trimmed = ctx.memory_usage()?;
        assert!(trimmed.reserved_bytes < full.reserved_bytes, "{trimmed:?}");
        assert!(trimmed.reserved_bytes >= trimmed.used_bytes, "{trimmed:?}");
        assert_eq!(trimmed.reserved_high_bytes, full.reserved_high_bytes);
        assert_eq!(
            second.slice(..4)?.to_vec()?,
            [0; 4],
            "what is allocated stays"
        );
        Ok(())
    });
}

#[test]
fn chunks_are_all_of_it_and_do_not_overlap() {
    in_context(|ctx| {
        let mut buffer = ctx.zeros::<u16>(10)?;
        let mut chunks = buffer.as_mut_slice().chunks_mut(4)?;
        assert_eq!(chunks.len(), 3);
        let mut parts = Vec::new();
        while let Some(chunk) = chunks.next() {
            assert_eq!(chunks.len(), 2 - parts.len());
            parts.push(chunk);
        }
        assert!(chunks.next().is_none(), "it stays at its end");
        assert_eq!(
            parts.iter().map(|part| part.len()).collect::<Vec<_>>(),
            [4, 4, 2]
        );
        // Written in another order than they came.
        for (i, part) in parts.iter_mut().enumerate().rev() {
            part.write(&vec![i as u16 + 1; part.len()])?;
        }
        assert_eq!(buffer.to_vec()?, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3]);
        assert_eq!(buffer.as_mut_slice().chunks_mut(usize::MAX)?.count(), 1);
        assert_eq!(
            buffer.as_mut_slice().chunks_mut(0).unwrap_err(),
            Error::EmptyChunks
        );
        assert_eq!(ctx.zeros::<u8>(0)?.as_mut_slice().chunks_mut(3)?.count(), 0);
        Ok(())
    });
}
