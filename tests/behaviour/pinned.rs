//! Page-locked host memory, at rest and in flight. Claims C1, C4, C5, C6, C9.

#![allow(unsafe_code)] // launches
#![allow(clippy::forget_non_drop)] // forgetting handles is what is tested

use crate::common::{Gate, PTX, in_context, in_two_contexts, is_busy, on_driver};
use scoped_cuda::{Buffer, Error, In, InOut, LaunchConfig, PinnedBuffer, Result, Stream, scope};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::thread;

#[test]
fn it_is_ordinary_memory_at_rest() {
    in_context(|ctx| {
        let mut pinned = ctx.pinned_zeros::<u32>(1000)?;
        assert_eq!((pinned.len(), pinned.size_bytes()), (1000, 4000));
        assert!(pinned.iter().all(|&x| x == 0), "zeroed before it is seen");
        pinned[999] = 7;
        pinned[..3].copy_from_slice(&[1, 2, 3]);
        assert_eq!(pinned.iter().sum::<u32>(), 13);
        let mut other = ctx.pinned_from(&pinned)?;
        other.sort_unstable();
        assert_eq!(other[996..], [1, 2, 3, 7]);
        assert_eq!(pinned[..4], [1, 2, 3, 0]);
        thread::scope(|threads| {
            threads.spawn(|| pinned.fill(5));
            threads.spawn(move || drop(other));
        });
        assert_eq!(*pinned, [5; 1000]);
        pinned.close().map_err(Error::from)
    });
}

#[test]
fn empty_memory_makes_no_driver_call() {
    in_context(|ctx| {
        let calls = || ctx.driver().machine().map(|machine| machine.calls());
        let before = calls();
        let mut none = ctx.pinned_zeros::<u64>(0)?;
        assert_eq!(*none, []);
        assert_eq!(
            (none.device_view().len(), none.device_view_mut().len()),
            (0, 0)
        );
        ctx.pinned_from::<u8>(&[])?.close()?;
        let unit = ctx.pinned_zeros::<[u8; 0]>(5)?;
        assert_eq!((unit.len(), unit.size_bytes()), (5, 0));
        drop((none, unit));
        assert_eq!(calls(), before);
        Ok(())
    });
}

#[test]
fn sizes_are_checked() {
    in_context(|ctx| {
        let len = usize::MAX / 4;
        let element_bytes = 8;
        let overflow = Error::SizeOverflow { len, element_bytes };
        assert_eq!(ctx.pinned_zeros::<u64>(len).unwrap_err(), overflow);
        let stream = ctx.new_stream()?;
        let mut buffer = ctx.zeros::<u8>(3)?;
        let pinned = ctx.pinned_zeros::<u8>(4)?;
        let error = stream.scope(|s| s.write(&pinned, &mut buffer.lend(s)));
        let (source_len, destination_len) = (4, 3);
        assert_eq!(
            error,
            Err(Error::LengthMismatch {
                source_len,
                destination_len
            })
        );
        Ok(())
    });
}

/// A reference to an element that is not aligned would be undefined behaviour.
#[test]
fn an_element_is_aligned_or_the_memory_refused() {
    const BYTES: usize = 1 << 21;

    #[derive(Clone, Copy)]
    #[repr(C, align(0x20_0000))]
    struct Large([u8; BYTES]);

    // SAFETY: bytes all through.
    unsafe impl bytemuck::Zeroable for Large {}
    // SAFETY: as above, without padding.
    unsafe impl bytemuck::Pod for Large {}

    in_context(|ctx| {
        match ctx.pinned_zeros::<Large>(1) {
            Ok(pinned) => {
                assert!(pinned.as_ptr().addr() % BYTES == 0 && pinned[0].0[BYTES - 1] == 0)
            }
            Err(Error::Misaligned { address, align }) => {
                assert!(align == BYTES && address % BYTES != 0);
            }
            Err(other) => return Err(other),
        }
        match ctx.managed_zeros::<Large>(1) {
            Ok(managed) => assert_eq!(managed.as_slice()?.as_ptr().addr() % BYTES, 0),
            Err(Error::Misaligned { align, .. }) => assert_eq!(align, BYTES),
            Err(other) => return Err(other),
        }
        Ok(())
    });
}

/// B52, B60: the call returns while the copy waits behind a gate, the scope does not; no handle is
/// needed for that.
#[test]
fn a_read_does_not_block_and_the_scope_waits() {
    in_context(|ctx| {
        let (stream, len) = (ctx.new_stream()?, 1 << 20);
        let mut buffer = ctx.filled(len, 3u32)?;
        let mut pinned = ctx.pinned_zeros::<u32>(len)?;
        stream.scope(|s| {
            let gate = Gate::close(s.stream());
            let lent = buffer.lend(s);
            s.read(&lent, &mut pinned)?;
            mem::forget(lent);
            assert!(is_busy(s.stream()), "the read is behind the gate");
            gate.open();
            Ok(())
        })?;
        assert!(!is_busy(&stream), "the scope has waited");
        assert!(pinned.iter().all(|&x| x == 3));
        Ok(())
    });
}

/// B50: the source of a copy cannot be written before the scope has waited, so the device sees what
/// was there.
#[test]
fn a_write_takes_what_was_there() {
    in_context(|ctx| {
        // More than what the driver would keep a copy of.
        let (stream, len) = (ctx.new_stream()?, 6 << 20);
        let mut buffer = ctx.zeros::<f32>(len)?;
        let mut pinned = ctx.pinned_from(&vec![1.0f32; len])?;
        stream.scope(|s| {
            let gate = Gate::close(s.stream());
            s.write(&pinned, &mut buffer.lend(s))?;
            assert!(is_busy(s.stream()));
            gate.open();
            Ok(())
        })?;
        pinned.fill(2.0);
        assert_eq!(buffer.to_vec()?, vec![1.0; len]);
        buffer.write(&pinned)?;
        pinned.fill(3.0);
        assert_eq!(buffer.to_vec()?, vec![2.0; len], "complete when it returns");
        buffer.read(&mut pinned)?;
        assert_eq!(*pinned, vec![2.0; len]);
        Ok(())
    });
}

#[test]
fn the_scope_waits_when_its_closure_fails_or_panics() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let mut buffer = ctx.filled(1000, 4u8)?;
        let mut pinned = ctx.pinned_zeros::<u8>(1000)?;
        let error = stream.scope(|s| {
            let gate = Gate::close(s.stream());
            s.read(&buffer.lend(s), &mut pinned)?;
            gate.open();
            Err::<(), _>(Error::NoDevice)
        });
        assert_eq!(error, Err(Error::NoDevice));
        assert_eq!(*pinned, [4; 1000]);
        pinned.fill(0);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            stream.scope(|s| -> Result<()> {
                let _gate = Gate::close(s.stream());
                s.read(&buffer.lend(s), &mut pinned)?;
                panic_any(()) // and the gate opens
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(*pinned, [4; 1000]);
        Ok(())
    });
}

#[test]
fn parts_go_to_different_streams() {
    in_context(|ctx| {
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let (a, b) = (ctx.filled(4, 1u8)?, ctx.filled(4, 2u8)?);
        let mut pinned = ctx.pinned_zeros::<u8>(8)?;
        let (left, right) = pinned.split_at_mut(4);
        scope(|scope| {
            scope.on(&first, |s| s.read(&a, left))?;
            scope.on(&second, |s| s.read(&b, right))
        })?;
        assert_eq!(*pinned, [1, 1, 1, 1, 2, 2, 2, 2]);
        Ok(())
    });
}

#[test]
fn kernels_and_fills_work_on_it_directly() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let add = module.kernel::<(In<u32>, InOut<u32>, u32)>("add")?;
        let stream = ctx.new_stream()?;
        let config = LaunchConfig::for_elements(4);
        let x = ctx.pinned_from(&[1u32, 2, 3, 4])?;
        let mut y = ctx.pinned_from(&[10u32; 4])?;
        let in_use = stream.scope(|s| {
            let mut y = y.lend(s);
            let x_device = x.device_view();
            // SAFETY: `add` stays below 4, which both have.
            unsafe { s.launch(&add, config, (x_device, &mut y, 4)) }?;
            // SAFETY: as above, below 2.
            unsafe { s.launch(&add, config, (x_device, &mut y.slice_mut(..2)?, 2)) }?;
            s.fill(&mut y.slice_mut(3..)?, 0)?;
            Ok(x[0]) // what a kernel only reads, the host may read too
        })?;
        assert_eq!((in_use, &*y), (1, &[12, 14, 13, 0][..]));
        Ok(())
    });
}

/// Under unified addressing a copy takes page-locked memory for either side, whatever context is
/// current.
#[test]
fn device_copies_work_on_it_directly() {
    fn use_it<'a, 'b>(
        stream: &Stream<'a>,
        buffer: &mut Buffer<'a, u32>,
        pinned: &mut PinnedBuffer<'a, u32>,
        there: &mut Buffer<'b, u32>,
    ) -> Result<()> {
        let (ctx, other) = (stream.context(), there.context());
        pinned.copy_from_slice(&[1, 2, 3, 4]);
        let mut back = [0; 4];
        stream.scope(|s| {
            let mut on_device = pinned.lend(s);
            let mut buffer = buffer.lend(s);
            s.copy(&on_device, &mut buffer)?;
            s.fill(&mut buffer.slice_mut(..1)?, 9)?;
            s.copy(&buffer, &mut on_device)?;
            s.fill(&mut on_device.slice_mut(3..)?, 8)?;
            s.read(&on_device, &mut back)
        })?;
        assert_eq!((back, &**pinned), ([9, 2, 3, 8], &[9, 2, 3, 8][..]));
        ctx.transfer_to(other)?.copy(&pinned.device_view(), there)?;
        assert_eq!(there.to_vec()?, [9, 2, 3, 8]);
        there.write(&[4, 3, 2, 1])?;
        other
            .transfer_to(ctx)?
            .copy(there, &mut pinned.device_view_mut())?;
        assert_eq!(**pinned, [4, 3, 2, 1]);
        buffer.copy_from(&pinned.device_view())?;
        assert_eq!(buffer.to_vec()?, [4, 3, 2, 1]);
        Ok(())
    }
    in_two_contexts(|ctx, other| {
        let (stream, mut buffer) = (ctx.new_stream()?, ctx.zeros(4)?);
        let (mut pinned, mut there) = (ctx.pinned_zeros(4)?, other.zeros(4)?);
        use_it(&stream, &mut buffer, &mut pinned, &mut there)?; // the other one
        thread::scope(|threads| {
            let use_it = || use_it(&stream, &mut buffer, &mut pinned, &mut there);
            threads.spawn(use_it).join().unwrap() // none
        })
    });
}

/// Memory of one context is the host's for all: copies of another device take it.
#[test]
fn every_device_copies_from_it() {
    in_two_contexts(|a, b| {
        let pinned = a.pinned_from(&[5u8, 6])?;
        assert_eq!(b.upload(&pinned)?.to_vec()?, [5, 6]);
        let stream = b.new_stream()?;
        let mut buffer = b.zeros::<u8>(2)?;
        stream.scope(|s| s.write(&pinned, &mut buffer.lend(s)))?;
        assert_eq!(buffer.to_vec()?, [5, 6]);
        assert_eq!(pinned.context().device(), a.device());
        Ok(())
    });
}

#[test]
fn write_combined_memory_is_written_and_copied_from() {
    in_context(|ctx| {
        let (stream, mut buffer) = (ctx.new_stream()?, ctx.zeros::<u32>(1000)?);
        let mut combined = ctx.write_combined_from(&[1u32; 1000])?;
        combined.write_at(998, &[7, 8])?;
        stream.scope(|s| {
            let gate = Gate::close(s.stream());
            s.write(&combined, &mut buffer.lend(s))?;
            assert!(is_busy(s.stream()));
            gate.open();
            Ok(())
        })?;
        assert_eq!(buffer.to_vec()?[997..], [1, 7, 8]);
        assert_eq!(combined[997..], [1, 7, 8], "slow, but it can be read");
        let (source_len, destination_len) = (1, 1000);
        let mismatch = Error::LengthMismatch {
            source_len,
            destination_len,
        };
        assert_eq!(combined.write(&[1]), Err(mismatch));
        let (start, end, len) = (999, 1001, 1000);
        let outside = Error::OutOfRange { start, end, len };
        assert_eq!(combined.write_at(999, &[1, 2]), Err(outside));
        assert!(combined.write_at(usize::MAX, &[1, 2]).is_err());
        combined.write(&[3; 1000])?;
        assert_eq!(ctx.upload(&combined)?.to_vec()?, [3; 1000]);
        ctx.write_combined_from::<u8>(&[])?.write(&[])?;
        combined.close().map_err(Error::from)
    });
}

/// B60: what a forgotten buffer costs is its memory, until the context ends.
#[test]
fn forgetting_it_leaks_and_nothing_else() {
    on_driver(|driver| {
        driver.with_device(0, |ctx| {
            mem::forget(ctx.pinned_from(&[1u8; 100])?);
            Ok(())
        })
    });
}
