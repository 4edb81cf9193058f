//! Other code resets the primary context: memory of the pool comes back all the same, and every
//! call in the middle of a scope says what has happened. Claims C4, C6.

#![allow(unsafe_code)] // resets the context, launches

use crate::common::{PTX, simulated};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Error, InOut, LaunchConfig, Result};

/// Three rounds of a service that survives resets: nothing is left of any.
#[test]
fn memory_is_given_back_after_a_reset() {
    let driver = simulated(Simulation::default());
    let machine = driver.machine().unwrap();
    for round in 0..3 {
        let result = driver.with_device(0, |ctx| {
            let dropped = ctx.zeros::<u8>(1 << 20)?;
            let closed = ctx.zeros::<u8>(1 << 20)?;
            let rows = ctx.pitched_from(&[1u32, 2, 3, 4], scoped_cuda::Extent::new(2, 2))?;
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
