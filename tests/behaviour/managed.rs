//! Managed memory, at rest and in flight. Claims C1, C4, C5, C6, C9.

#![allow(unsafe_code)] // launches

use crate::common::{Gate, PTX, in_context, in_two_contexts, is_busy, on, on_driver, simulated};
use scoped_cuda::memory::{MemoryAdvice, MemoryLocation};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Error, In, InOut, LaunchConfig};
use std::mem;

#[test]
fn host_and_device_take_turns() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let add = module.kernel::<(In<u32>, InOut<u32>, u32)>("add")?;
        let (stream, len) = (ctx.new_stream()?, 10_000);
        let x = ctx.managed_from(&vec![2u32; len])?;
        let mut y = ctx.managed_zeros::<u32>(len)?;
        assert!(y.as_slice()?.iter().all(|&y| y == 0), "zeroed");
        assert_eq!(
            (y.len(), y.size_bytes(), y.is_empty()),
            (len, 4 * len, false)
        );
        for round in 1..=3 {
            y.as_mut_slice()?[0] += 100;
            stream.scope(|s| {
                let mut y = y.lend(s);
                let config = LaunchConfig::for_elements(len);
                // SAFETY: `add` stays below `len`, which both have.
                unsafe { s.launch(&add, config, (&x, &mut y, len as u32)) }?;
                assert_eq!(
                    x.as_slice()?[0],
                    2,
                    "the host may read what a kernel only reads"
                );
                Ok(())
            })?;
            assert_eq!(y.to_vec()?, y.as_slice()?);
            assert_eq!(y.as_slice()?[0], 102 * round);
            assert!(y.as_slice()?[1..].iter().all(|&y| y == 2 * round));
        }
        y.close().map_err(Error::from)
    });
}

/// B138: the host has the memory back when the scope has waited.
#[test]
fn the_scope_waits_before_the_host_touches_it() {
    in_context(|ctx| {
        let (stream, mut managed) = (ctx.new_stream()?, ctx.managed_zeros::<u8>(1000)?);
        stream.scope(|s| {
            let gate = Gate::close(s.stream());
            let mut lent = managed.lend(s);
            s.fill(&mut lent, 9)?;
            assert!(is_busy(s.stream()));
            gate.open();
            Ok(())
        })?;
        assert_eq!(managed.as_slice()?, [9; 1000]);
        Ok(())
    });
}

/// B138: without concurrent access the host could touch nothing while any kernel runs, so there is
/// no managed memory there.
#[test]
fn a_device_without_concurrent_access_has_no_managed_memory() {
    let driver = simulated(Simulation::default().concurrent_managed_access(false));
    on(driver, |driver| {
        driver.with_device(1, |ctx| {
            let unsupported = Error::ManagedUnsupported { ordinal: 0 };
            assert_eq!(ctx.managed_zeros::<u8>(4).unwrap_err(), unsupported);
            assert_eq!(ctx.managed_from(&[1u8]).unwrap_err(), unsupported);
            Ok(())
        })
    });
}

#[test]
fn it_is_memory_of_the_device_in_every_copy() {
    in_two_contexts(|ctx, other| {
        let stream = ctx.new_stream()?;
        let mut managed = ctx.managed_from(&[1u16, 2, 3])?;
        let mut buffer = ctx.zeros::<u16>(3)?;
        buffer.copy_from(&managed.device_view())?;
        managed.device_view_mut().slice_mut(1..)?.write(&[8, 9])?;
        assert_eq!(managed.device_view().to_vec()?, [1, 8, 9]);
        stream.scope(|s| s.copy(&buffer, &mut managed.lend(s)))?;
        assert_eq!(managed.as_slice()?, [1, 2, 3]);
        let mut there = other.zeros::<u16>(3)?;
        let transfer = ctx.transfer_to(other)?;
        transfer.copy(&managed.device_view(), &mut there)?; // the other context is current
        assert_eq!(there.to_vec()?, [1, 2, 3]);
        there.write(&[0; 3])?;
        // And none.
        std::thread::scope(|threads| {
            let there = &mut there;
            let (source, buffer) = (managed.device_view(), &mut buffer);
            let worker = threads.spawn(move || {
                transfer.copy(&source, there)?;
                buffer.copy_from(&source)
            });
            worker.join().unwrap()
        })?;
        assert_eq!(there.to_vec()?, [1, 2, 3]);
        stream.scope(|s| {
            let mut buffer = buffer.lend(s);
            s.write(managed.as_slice()?, &mut buffer)
        })?;
        Ok(())
    });
}

#[test]
fn prefetches_and_advice_change_no_value() {
    in_context(|ctx| {
        let (stream, mut managed) = (ctx.new_stream()?, ctx.managed_from(&[4u32; 100_000])?);
        for side in [MemoryLocation::Device, MemoryLocation::Host] {
            for advice in [
                MemoryAdvice::ReadMostly(true),
                MemoryAdvice::ReadMostly(false),
                MemoryAdvice::PreferredLocation(Some(side)),
                MemoryAdvice::PreferredLocation(None),
                MemoryAdvice::AccessedBy(side),
                MemoryAdvice::NotAccessedBy(side),
            ] {
                managed.advise(advice)?;
            }
            managed.prefetch(side)?;
            assert!(managed.as_slice()?.iter().all(|&x| x == 4));
            stream.scope(|s| {
                s.prefetch(managed.device_view().slice(10..20)?, side)?;
                Ok(())
            })?;
            stream.scope(|s| {
                let mut lent = managed.lend(s);
                s.prefetch(&lent, side)?;
                s.fill(&mut lent, 4)?;
                s.prefetch(&lent, MemoryLocation::Host)
            })?;
        }
        assert_eq!(managed.as_slice()?, vec![4; 100_000]);
        Ok(())
    });
}

#[test]
fn empty_memory_makes_no_driver_call() {
    in_context(|ctx| {
        let calls = || ctx.driver().machine().map(|machine| machine.calls());
        let before = calls();
        let mut none = ctx.managed_zeros::<u64>(0)?;
        assert!(none.as_slice()?.is_empty() && none.as_mut_slice()?.is_empty());
        none.prefetch(MemoryLocation::Device)?;
        none.advise(MemoryAdvice::ReadMostly(true))?;
        none.close()?;
        drop(ctx.managed_from::<u8>(&[])?);
        assert_eq!(calls(), before);
        Ok(())
    });
}

#[test]
fn sizes_are_checked() {
    in_context(|ctx| {
        let (len, element_bytes) = (usize::MAX / 4, 8);
        let overflow = Error::SizeOverflow { len, element_bytes };
        assert_eq!(ctx.managed_zeros::<u64>(len).unwrap_err(), overflow);
        Ok(())
    });
}

/// The memory goes with its context: the host is told, where it asks.
#[test]
fn a_lost_context_is_told() {
    let driver = simulated(Simulation::default());
    let result = driver.with_device(0, |ctx| {
        let mut managed = ctx.managed_zeros::<u8>(4)?;
        driver.machine().unwrap().reset_primary(0);
        let lost = Error::ContextLost { ordinal: 0 };
        assert_eq!(managed.as_slice().unwrap_err(), lost);
        assert_eq!(managed.as_mut_slice().unwrap_err(), lost);
        assert_eq!(managed.advise(MemoryAdvice::ReadMostly(true)), Err(lost));
        Ok(())
    });
    drop(result);
}

#[test]
fn forgetting_it_leaks_and_nothing_else() {
    on_driver(|driver| {
        driver.with_device(0, |ctx| {
            mem::forget(ctx.managed_from(&[1u8; 100])?);
            Ok(())
        })
    });
}

/// A driver without the calls that only make things faster.
#[test]
fn a_driver_without_prefetches_says_so() {
    let driver = simulated(Simulation::default().missing(&["cuMemPrefetchAsync", "cuMemAdvise"]));
    on(driver, |driver| {
        driver.with_device(0, |ctx| {
            let managed = ctx.managed_zeros::<u8>(4)?;
            let missing = |error| matches!(error, Error::SymbolMissing { .. });
            assert!(missing(managed.prefetch(MemoryLocation::Host).unwrap_err()));
            assert!(missing(
                managed.advise(MemoryAdvice::ReadMostly(true)).unwrap_err()
            ));
            Ok(())
        })
    });
}
