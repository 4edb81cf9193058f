//! `mem::forget` of everything: what it costs is what was forgotten, and nothing else breaks.
//! Claims C4, C5, C6.
//!
//! On the real driver these tests leak on purpose, device memory too.

#![allow(clippy::forget_non_drop, forgetting_copy_types)] // whatever it is, it is forgotten

use crate::common::{PTX, real, simulated, stack, turn};
use scoped_cuda::ffi::CUcontext;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Context, Driver, Extent, In, InOut, Result, Transfer, scope};
use std::mem::forget;

/// Runs a program that forgets, and says what was left on a simulated machine: device allocations
/// and page-locked host memory.
fn left_by(program: impl for<'ctx> FnOnce(Context<'ctx>) -> Result<()>) -> Option<(usize, usize)> {
    let driver = match real() {
        true => Driver::load().unwrap(),
        false => simulated(Simulation::default()),
    };
    let _turn = turn(driver);
    driver.with_device(0, program).unwrap();
    assert_eq!(stack(driver), Vec::<CUcontext>::new());
    assert_eq!(driver.take_teardown_errors(), []);
    // A second scope works as if nothing had been.
    assert_eq!(
        driver.with_device(0, |ctx| ctx.upload(&[7u8])?.to_vec()),
        Ok(vec![7])
    );
    let machine = driver.machine()?;
    assert_eq!(machine.violations(), Vec::<String>::new());
    let live = machine.live();
    // Streams, events and modules end with their context.
    assert_eq!(
        (live.retains, live.streams, live.events, live.modules),
        (0, 0, 0, 0)
    );
    Some((live.allocations, live.host_allocations))
}

#[test]
fn forgetting_objects_leaks_at_most_their_memory() {
    let left = left_by(|ctx| {
        forget(ctx.new_stream()?);
        forget(ctx.new_event()?);
        forget(ctx.new_timed_event()?);
        let module = ctx.load_ptx(PTX)?;
        forget(module.kernel::<(In<u32>, InOut<u32>, u32)>("add")?);
        forget(module);
        forget(ctx.upload(&[1u8, 2, 3])?);
        forget(ctx.uninit::<f32>(10)?);
        forget(ctx.zeros_rows::<u16>(Extent::new(3, 2))?);
        forget(Transfer::staged(ctx, ctx)?);
        Ok(())
    });
    assert_eq!(left, (!real()).then_some((3, 0)));
}

#[test]
fn forgetting_host_memory_leaks_it_until_its_context_ends() {
    let left = left_by(|ctx| {
        forget(ctx.pinned_zeros::<u8>(10)?);
        forget(ctx.write_combined_from(&[1u8, 2])?);
        forget(ctx.managed_zeros::<u8>(10)?);
        Ok(())
    });
    assert_eq!(left, (!real()).then_some((0, 0)));
}

/// B60, B70: what a scope gives out can be forgotten; what was lent comes back when the scope has
/// waited.
#[test]
fn forgetting_what_a_scope_gave_out_loses_neither_the_wait_nor_the_loan() {
    let left = left_by(|ctx| {
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let mut lent = ctx.zeros::<u32>(1 << 16)?;
        let mut rows = ctx.zeros_rows::<u32>(Extent::new(5, 2))?;
        let mut pinned = ctx.pinned_zeros::<u32>(4)?;
        let (source, mut back) = (vec![5; 1 << 16], [0; 4]);
        scope(|scope| {
            scope.on(&first, |a| {
                let mut memory = lent.lend(a);
                a.write(&source, &mut memory)?;
                let handed = scope.on(&second, |b| {
                    let memory = memory.hand_over(a, b)?;
                    b.read(&memory.slice(..4)?, &mut back)?;
                    forget(memory);
                    Ok(())
                });
                forget(a.zeros::<u8>(100)?); // this one is lost
                forget(rows.lend(a));
                forget(pinned.lend(a));
                forget(a);
                handed
            })
        })?;
        assert_eq!(back, [5; 4]);
        assert_eq!(lent.to_vec()?, source);
        assert_eq!(rows.to_vec()?, [0; 10]);
        assert_eq!(*pinned, [0; 4]);
        Ok(())
    });
    assert_eq!(left, (!real()).then_some((1, 0)));
}
