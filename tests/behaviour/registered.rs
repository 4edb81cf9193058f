//! The caller's own memory, page-locked for the length of a closure. Claims C4, C5, C6, C9.

use crate::common::{Gate, in_context, in_two_contexts, is_busy, on, simulated};
use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Context, Error, Result, Stream};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

/// Whether a read into `host` returns while the stream is held shut, which is what page-locking is
/// for.
fn fetch(stream: &Stream<'_>, value: u8, host: &mut [u8]) -> Result<()> {
    let ctx = stream.context();
    let buffer = ctx.filled(host.len(), value)?;
    stream.scope(|s| {
        let gate = Gate::close(s.stream());
        s.read(&buffer, host)?;
        assert!(is_busy(s.stream()), "the read is behind the gate");
        gate.open();
        Ok(())
    })
}

fn registrations(ctx: Context<'_>) -> usize {
    let machine = ctx.driver().machine();
    machine.map_or(0, |machine| machine.live().host_registrations)
}

/// B52: reads do not keep the host inside; each scope has waited when it returns.
#[test]
fn copies_of_registered_memory_do_not_block() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let mut host = vec![0u8; 100_000];
        let sum = ctx.with_registered(&mut host, |host| {
            fetch(&stream, 1, host)?;
            assert!(host.iter().all(|&x| x == 1));
            let (left, right) = host.split_at_mut(70_000);
            fetch(&stream, 2, right)?;
            left.fill(3);
            let back = ctx.upload(left)?.to_vec()?;
            Ok(back[0] + right[0])
        })?;
        assert_eq!(sum, 5);
        assert_eq!((host[0], host[99_999]), (3, 2));
        assert_eq!(registrations(ctx), 0);
        host.fill(7); // ordinary memory again
        assert_eq!(ctx.upload(&host)?.to_vec()?, host);
        Ok(())
    });
}

#[test]
fn it_ends_on_error_and_panic_too() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let mut host = vec![0u8; 10_000];
        let error = ctx.with_registered(&mut host, |host| {
            fetch(&stream, 1, host)?;
            Err::<(), _>(Error::NoDevice)
        });
        assert_eq!(error, Err(Error::NoDevice));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            ctx.with_registered(&mut host, |host| -> Result<()> {
                fetch(&stream, 2, host)?;
                panic_any(())
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(registrations(ctx), 0);
        // It could not be registered again if it still were.
        ctx.with_registered(&mut host, |host| fetch(&stream, 3, host))?;
        assert_eq!(host, [3; 10_000]);
        Ok(())
    });
}

#[test]
fn memory_is_registered_once_at_a_time() {
    fn is_refused(ctx: Context<'_>, host: &mut [u64], what: &str) {
        let asked = size_of_val(host);
        let error = ctx.with_registered(host, |_| Ok(())).unwrap_err();
        let Error::AlreadyRegistered { bytes, source } = error else {
            panic!("{what}: {error}");
        };
        assert_eq!((bytes, source.call()), (asked, "cuMemHostRegister"));
        assert_eq!(source.code(), CUresult::HOST_MEMORY_ALREADY_REGISTERED);
    }
    in_two_contexts(|ctx, other| {
        let mut host = vec![0u64; 100_000];
        ctx.with_registered(&mut host, |host| {
            is_refused(ctx, host, "again");
            is_refused(other, host, "in another context");
            Ok(())
        })?;
        other.with_registered(&mut host, |_| Ok(()))?;
        // Memory that the driver page-locked itself is refused with another code.
        let error = ctx
            .with_registered(&mut ctx.pinned_zeros::<u64>(1000)?, |_| Ok(()))
            .unwrap_err();
        let error = *error.driver_error().expect("a driver error");
        assert_eq!(
            (error.call(), error.code()),
            ("cuMemHostRegister", CUresult::INVALID_VALUE)
        );
        Ok(())
    });
}

#[test]
fn an_empty_slice_makes_no_driver_call() {
    in_context(|ctx| {
        let calls = || ctx.driver().machine().map(|machine| machine.calls());
        let before = calls();
        assert_eq!(
            ctx.with_registered::<u8, _>(&mut [], |host| Ok(host.len())),
            Ok(0)
        );
        assert_eq!(calls(), before);
        Ok(())
    });
}

/// What the closure says goes first; the failure to unlock is not lost.
#[test]
fn a_failed_unregister_is_reported_but_never_instead_of_the_closures_error() {
    let driver = simulated(Simulation::default());
    let machine = driver.machine().unwrap();
    let is_of_unregister = |error: &Error| {
        error.driver_error().map(|error| error.call()) == Some("cuMemHostUnregister")
    };
    on(driver, |driver| {
        driver.with_device(0, |ctx| {
            // The question whether the context is alive, then which one is current, then the call.
            let error = ctx.with_registered(&mut [0u8; 4], |_| {
                machine.fail_call(3, CUresult::UNKNOWN);
                Ok(())
            });
            assert!(is_of_unregister(&error.unwrap_err()));
            assert_eq!(driver.take_teardown_errors(), []);
            let error = ctx.with_registered(&mut [0u8; 5], |_| {
                machine.fail_call(3, CUresult::UNKNOWN);
                Err::<(), _>(Error::NoDevice)
            });
            assert_eq!(error, Err(Error::NoDevice));
            let kept = driver.take_teardown_errors();
            assert!(kept.len() == 1 && is_of_unregister(&kept[0].error));
            assert_eq!(machine.live().host_registrations, 2);
            Ok(())
        })
    });
}

#[test]
fn a_lost_context_took_its_registrations_with_it() {
    let driver = simulated(Simulation::default());
    let lost = driver.with_device(0, |ctx| {
        ctx.with_registered(&mut [0u8; 4], |_| {
            driver.machine().unwrap().reset_primary(0);
            Ok(())
        })
    });
    assert_eq!(lost, Err(Error::ContextLost { ordinal: 0 }));
    assert_eq!(driver.machine().unwrap().live().host_registrations, 0);
}
