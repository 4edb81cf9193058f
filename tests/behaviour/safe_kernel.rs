//! Kernels that were wrapped with their preconditions. Claims C5, C9.

#![allow(unsafe_code)] // vouches for kernels

use crate::common::{PTX, in_context, on_driver};
use scoped_cuda::kernel::Precondition;
use scoped_cuda::{Context, Error, Global, In, InOut, Kernel, LaunchConfig, Result, SafeKernel};

type Add = (In<u32>, InOut<u32>, u32);

const SHORT_X: &str = "n is at most the length of x";
const SHORT_Y: &str = "n is at most the length of y";

/// `add`, safe.
fn add<'ctx>(ctx: Context<'ctx>) -> Result<SafeKernel<'ctx, Add>> {
    let add = ctx.load_ptx(PTX)?.kernel::<Add>("add")?;
    // SAFETY: y[i] += x[i] for i below n only, whatever the grid.
    Ok(unsafe {
        add.assert_safe_when([
            (SHORT_X, |_, (x, _, n)| n as usize <= x),
            (SHORT_Y, |_, (_, y, n)| n as usize <= y),
        ])
    })
}

fn violated(kernel: &str, precondition: &'static str) -> Error {
    let kernel = kernel.into();
    Error::Precondition {
        kernel,
        precondition,
    }
}

#[test]
fn launch_needs_no_unsafe() {
    in_context(|ctx| {
        let (add, stream) = (add(ctx)?, ctx.new_stream()?);
        let (x, mut y) = (ctx.upload(&[1u32, 2, 3])?, ctx.upload(&[10u32, 20, 30])?);
        stream.scope(|s| {
            let mut y = y.lend(s);
            add.launch(s, LaunchConfig::for_elements(3), (&x, &mut y, 3))?;
            add.launch(
                s,
                LaunchConfig::for_elements(2),
                (x.slice(1..)?, &mut y.slice_mut(..2)?, 2),
            )
        })?;
        assert_eq!(y.to_vec()?, [13, 25, 33]);
        Ok(())
    });
}

#[test]
fn violated_precondition_is_named_and_nothing_is_launched() {
    in_context(|ctx| {
        let (add, stream) = (add(ctx)?, ctx.new_stream()?);
        let (x, mut y) = (ctx.upload(&[1u32, 2, 3])?, ctx.zeros::<u32>(2)?);
        let mut launch = |n| {
            stream.scope(|s| add.launch(s, LaunchConfig::for_elements(3), (&x, &mut y.lend(s), n)))
        };
        assert_eq!(
            launch(4),
            Err(violated("add", SHORT_X)),
            "the first that does not hold"
        );
        let error = launch(3).unwrap_err();
        assert_eq!(error, violated("add", SHORT_Y));
        assert_eq!(
            error.to_string(),
            "kernel `add` was not launched: this precondition does not hold: n is at most the length of y"
        );
        assert_eq!(launch(2), Ok(()));
        assert_eq!(y.to_vec()?, [1, 2]);
        let all: Vec<_> = add.preconditions().collect();
        assert_eq!(all, [SHORT_X, SHORT_Y]);
        Ok(())
    });
}

/// A precondition may be about the configuration; and a launch out of the order of its stream is
/// never safe.
#[test]
fn configuration_is_seen_too() {
    in_context(|ctx| {
        let one_block = "there is one block";
        let nothing = ctx.load_ptx(PTX)?.kernel::<()>("nothing")?;
        // SAFETY: it does nothing.
        let nothing =
            unsafe { nothing.assert_safe_when([(one_block, |config, ()| config.blocks() == 1)]) };
        let stream = ctx.new_stream()?;
        let launch = |config| stream.scope(|s| nothing.launch(s, config, ()));
        let shape = LaunchConfig::new([1; 3], [32, 1, 1]);
        assert_eq!(launch(shape), Ok(()));
        let two = LaunchConfig::new([1, 2, 1], [32, 1, 1]);
        assert_eq!(launch(two), Err(violated("nothing", one_block)));
        let in_order = "the launch does not overlap the one ahead of it";
        assert_eq!(
            launch(shape.overlapping_previous()),
            Err(violated("nothing", in_order))
        );
        Ok(())
    });
}

/// B121: an empty problem is a no-op, whatever the arguments.
#[test]
fn empty_problem_has_no_preconditions() {
    in_context(|ctx| {
        let (add, stream) = (add(ctx)?, ctx.new_stream()?);
        let (x, mut y) = (ctx.zeros::<u32>(0)?, ctx.zeros::<u32>(0)?);
        stream.scope(|s| add.launch(s, LaunchConfig::for_elements(0), (&x, &mut y.lend(s), 5)))
    });
}

#[test]
fn limits_are_checked_as_for_any_launch() {
    in_context(|ctx| {
        let (add, stream) = (add(ctx)?, ctx.new_stream()?);
        let (x, mut y) = (ctx.zeros::<u32>(1)?, ctx.zeros::<u32>(1)?);
        let error = stream.scope(|s| {
            let config = LaunchConfig::new([1; 3], [2048, 1, 1]);
            add.launch(s, config, (&x, &mut y.lend(s), 1))
        });
        let Err(Error::BadLaunch {
            value: 2048,
            limit: 1024,
            ..
        }) = error
        else {
            panic!("{error:?}")
        };
        Ok(())
    });
}

/// `weigh` multiplies by a `__constant__` table of its module.
type Weigh = (InOut<f32>, u32);

fn weigh<'ctx>(ctx: Context<'ctx>) -> Result<(Kernel<'ctx, Weigh>, Global<'ctx, f32>)> {
    let module = ctx.load_ptx(PTX)?;
    let table = module.global::<f32>("weights", 4)?;
    Ok((module.kernel("weigh")?, table))
}

const SHORT: Precondition<Weigh> = ("n is at most the length of x", |_, (x, n)| n as usize <= x);

/// The kernel owns the handle of the table: it is written between scopes only.
#[test]
fn constant_is_written_between_scopes() {
    in_context(|ctx| {
        let (kernel, table) = weigh(ctx)?;
        // SAFETY: x[i] *= weights[i % 4] for i below n only; it touches no other variable.
        let mut scale = unsafe { kernel.assert_safe_when_reading(table, [SHORT]) };
        let (stream, mut x) = (ctx.new_stream()?, ctx.upload(&[1.0f32; 4])?);
        for table in [[1.0, 2.0, 3.0, 4.0], [10.0; 4]] {
            scale.variables_mut().write(&table)?;
            stream
                .scope(|s| scale.launch(s, LaunchConfig::for_elements(4), (&mut x.lend(s), 4)))?;
        }
        assert_eq!(x.to_vec()?, [10.0, 20.0, 30.0, 40.0]);
        assert_eq!(scale.variables().to_vec()?, [10.0; 4]);
        let (kernel, table) = scale.into_parts();
        assert_eq!((kernel.name(), table.len()), ("weigh", 4));
        Ok(())
    });
}

/// Kernels that borrow the handle share the table, and may read it at once.
#[test]
fn constant_is_shared_by_kernels_that_borrow_it() {
    in_context(|ctx| {
        let (kernel, mut table) = weigh(ctx)?;
        table.write(&[2.0; 4])?;
        // SAFETY: as above.
        let scale = unsafe { kernel.assert_safe_when_reading(&table, [SHORT]) };
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let (mut x, mut y) = (ctx.upload(&[1.0f32])?, ctx.upload(&[2.0f32])?);
        let one = LaunchConfig::for_elements(1);
        scoped_cuda::scope(|scope| {
            scope.on(&first, |s| scale.launch(s, one, (&mut x.lend(s), 1)))?;
            scope.on(&second, |s| scale.launch(s, one, (&mut y.lend(s), 1)))?;
            assert_eq!(table.to_vec()?, [2.0; 4], "the host reads too");
            Ok(())
        })?;
        assert_eq!((x.to_vec()?, y.to_vec()?), (vec![2.0], vec![4.0]));
        Ok(())
    });
}

/// Modules and kernels are used from scoped threads as they are.
#[test]
fn threads_share_modules_and_kernels() {
    on_driver(|driver| {
        driver.with_device(0, |ctx| {
            let module = ctx.load_ptx(PTX)?;
            let shared = add(ctx)?;
            std::thread::scope(|threads| {
                let workers: Vec<_> = (0..4)
                    .map(|number| {
                        let (module, shared) = (&module, &shared);
                        threads.spawn(move || -> Result<Vec<u32>> {
                            let own = module.kernel::<Add>("add")?;
                            let (stream, x) = (ctx.new_stream()?, ctx.filled(8, number)?);
                            let mut y = ctx.filled(8, 100u32)?;
                            let config = LaunchConfig::for_elements(8);
                            stream.scope(|s| {
                                let mut y = y.lend(s);
                                for _ in 0..50 {
                                    shared.launch(s, config, (&x, &mut y, 8))?;
                                    // SAFETY: `add` stays below n, which both have.
                                    unsafe { s.launch(&own, config, (&x, &mut y, 8)) }?;
                                }
                                Ok(())
                            })?;
                            y.to_vec()
                        })
                    })
                    .collect();
                for (number, worker) in (0..).zip(workers) {
                    assert_eq!(worker.join().unwrap()?, [100 + 100 * number; 8]);
                }
                Ok(())
            })
        })
    });
}

/// A host body that panics is a fault of the simulated device, not of the program; a precondition
/// that panics is the program's, and its scope waits all the same.
#[test]
fn panic_in_a_precondition_leaves_nothing_behind() {
    in_context(|ctx| {
        let nothing = ctx.load_ptx(PTX)?.kernel::<()>("nothing")?;
        // SAFETY: it does nothing.
        let nothing =
            unsafe { nothing.assert_safe_when([("never", |_, ()| panic!("on purpose"))]) };
        let (stream, mut x) = (ctx.new_stream()?, ctx.zeros::<u32>(1)?);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            stream.scope(|s| {
                s.fill(&mut x.lend(s), 3)?;
                nothing.launch(s, LaunchConfig::for_elements(1), ())
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(x.to_vec()?, [3]);
        Ok(())
    });
}
