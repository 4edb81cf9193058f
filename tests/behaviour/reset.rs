//! Other code resets the primary context: memory of the pool comes back all the same, and every
//! call in the middle of a scope says what has happened. Claims C4, C6.

#![allow(unsafe_code)] // resets the context, launches

use crate::common::{PTX, simulated};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Error, Extent, InOut, LaunchConfig, Result, Transfer, scope};

/// Three rounds of a service that survives resets: nothing is left of any.
#[test]
fn memory_is_given_back_after_a_reset() {
    let driver = simulated(Simulation::default());
    let machine = driver.machine().unwrap();
    for round in 0..3 {
        let result = driver.with_device(0, |ctx| {
            let dropped = ctx.zeros::<u8>(1 << 20)?;
            let closed = ctx.zeros::<u8>(1 << 20)?;
            let rows = ctx.upload_rows(&[1u32, 2, 3, 4], Extent::new(2, 2))?;
            machine.reset_primary(0);
            drop((dropped, rows));
            closed.close()?;
            Ok(())
        });
        assert_eq!(result, Ok(()), "round {round}");
        assert_eq!(machine.live().allocations, 0, "round {round}");
    }
    // Streams and what else has gone with its context say so; memory does not.
    let told = driver.take_teardown_errors();
    assert!(
        told.iter()
            .all(|told| told.error == Error::ContextLost { ordinal: 0 }),
        "{told:?}"
    );
    assert_eq!(machine.violations(), Vec::<String>::new());
}

/// Every operation of a scope, after a reset in its middle.
#[test]
fn every_call_of_a_scope_tells_of_a_reset() {
    let driver = simulated(Simulation::default());
    let machine = driver.machine().unwrap();
    let lost = || Err::<(), _>(Error::ContextLost { ordinal: 0 });
    let result: Result<()> = driver.with_device(0, |ctx| {
        let scale = ctx
            .load_ptx(PTX)?
            .kernel::<(InOut<f32>, u32, f32)>("scale")?;
        let (stream, event) = (ctx.new_stream()?, ctx.new_event()?);
        let (mut x, mut host) = (ctx.zeros::<f32>(4)?, [0.0; 4]);
        stream.scope(|s| {
            let mut x = x.lend(s);
            machine.reset_primary(0);
            assert_eq!(s.fill(&mut x, 1.0), lost());
            assert_eq!(s.read(&x, &mut host), lost());
            assert_eq!(s.write(&[0.0; 4], &mut x), lost());
            assert_eq!(s.zeros::<u8>(5).map(drop), lost());
            assert_eq!(s.uninit::<u8>(5).map(drop), lost());
            assert_eq!(s.upload(&[1u8]).map(drop), lost());
            assert_eq!(s.host(|| ()), lost());
            assert_eq!(s.record(&event), lost());
            let one = LaunchConfig::for_elements(1);
            // SAFETY: `scale` scales one element, and there are four.
            assert_eq!(unsafe { s.launch(&scale, one, (&mut x, 1, 2.0)) }, lost());
            x.release(s).map(drop)
        })
    });
    assert_eq!(result, lost());
    assert_eq!(machine.live().allocations, 0);
}

/// Rows, graphs, what is handed to another stream, and copies to another device.
#[test]
fn every_other_call_of_a_scope_tells_of_a_reset_too() {
    let driver = simulated(Simulation::default());
    let machine = driver.machine().unwrap();
    let lost = || Err::<(), _>(Error::ContextLost { ordinal: 0 });
    let result: Result<()> = driver.with_two_devices([0, 1], |ctx, other| {
        let extent = Extent::new(2, 2);
        let mut rows = ctx.upload_rows(&[1u32, 2, 3, 4], extent)?;
        let (mut graph, fill) = ctx.graph(ctx.zeros::<u32>(4)?, |g, mut x| g.fill(&mut x, 1u32))?;
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let elsewhere = other.new_stream()?;
        let (mut x, mut there) = (ctx.zeros::<u32>(4)?, other.zeros::<u32>(4)?);
        let transfer = Transfer::staged(ctx, other)?;
        let mut host = [0; 4];
        let result = scope(|scope| {
            let on_first = scope.on(&first, |s| {
                let (mut rows, mut graph, x) = (rows.lend(s), graph.lend(s), x.lend(s));
                machine.reset_primary(0);
                assert_eq!(s.fill_rows(&mut rows, 1), lost());
                assert_eq!(s.read_rows(&rows, &mut host[..]), lost());
                assert_eq!(s.write_rows(&[0; 4][..], &mut rows), lost());
                assert_eq!(s.zeros_rows::<u8>(extent).map(drop), lost());
                assert_eq!(graph.launch(s), lost());
                assert_eq!(graph.upload(s), lost());
                let over = scope.on(&elsewhere, |b| {
                    let mut there = there.lend(b);
                    transfer.enqueue(s, &x, b, &mut there)
                });
                assert_eq!(over, lost());
                scope.on(&second, |b| x.hand_over(s, b).map(drop))
            });
            assert_eq!(on_first, lost());
            Ok(())
        });
        assert_eq!(result, lost());
        assert_eq!(graph.set_enabled(fill, false), lost());
        assert_eq!(graph.is_enabled(fill).map(drop), lost());
        assert_eq!(graph.change(|_, _| Ok(())), lost());
        assert_eq!(transfer.copy(&x, &mut there), lost());
        let build = ctx.graph((), |g, ()| g.join(&[]).map(drop));
        assert_eq!(build.map(drop), lost());
        assert_eq!(there.to_vec()?, [0; 4]);
        Ok(())
    });
    assert_eq!(result, Ok(()));
    assert_eq!(machine.live().allocations, 0);
    assert_eq!(machine.violations(), Vec::<String>::new());
}
