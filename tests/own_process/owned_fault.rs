//! A fault while work that owns what it uses is in flight, with owned contexts and detached values
//! around it. Claims C1, C4, C10, C11.

#![allow(unsafe_code)] // launches

use crate::common::{Gate, PTX, alone, real, simulated, stack};
use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Buffer, Driver, Error, InOut, Kernel, LaunchConfig, Submitted, family};

struct Bad<'ctx> {
    kernel: Kernel<'ctx, (InOut<u32>,)>,
    buffer: Buffer<'ctx, u32>,
}
family!(Bad);

/// The error of work, and whether it gave back what it owned.
fn told<A>(work: Submitted<'_, A>) -> Option<(Error, bool)> {
    let failed = work.wait().err()?;
    Some((failed.error, failed.owned.is_some()))
}

#[test]
fn work_that_faults_gives_back_what_it_owned_and_everything_is_dropped_quietly() {
    alone(
        "owned_fault::work_that_faults_gives_back_what_it_owned_and_everything_is_dropped_quietly",
        || {
            let driver = match real() {
                true => Driver::load().unwrap(),
                false => simulated(Simulation::default()),
            };
            let gpu = driver.retain(0).unwrap();
            let (stream, kept) = gpu
                .with(|ctx| {
                    Ok((
                        ctx.detach(ctx.new_stream()?),
                        ctx.detach(ctx.zeros::<u8>(9)?),
                    ))
                })
                .unwrap();
            let submit = || {
                stream.with(|ctx, stream| {
                    let kernel = ctx.load_ptx(PTX)?.kernel("fault")?;
                    let bad = Bad {
                        kernel,
                        buffer: ctx.zeros(4)?,
                    };
                    let work = stream.submit(bad, |s, Bad { kernel, buffer }| {
                        let one = LaunchConfig::for_elements(1);
                        // SAFETY: not safe at all: it stores to an address that nobody has, which
                        // is what this test is about. The device refuses, and no memory of this
                        // process is touched.
                        unsafe { s.launch(kernel, one, (&mut buffer.lend(s),)) }
                    })?;
                    Ok(ctx.detach(work))
                })
            };
            let work = submit().unwrap();
            let failed = gpu.with(|ctx| Ok(told(work.into_inner(ctx)?))).unwrap();
            let (error, is_given_back) = failed.expect("a fault");
            let first = *error.driver_error().expect("a driver error");
            assert_eq!(first.code(), CUresult::ILLEGAL_ADDRESS);
            assert!(is_given_back, "no other device can have had it");
            // From now on nothing is asked of the driver.
            let poisoned = Error::Poisoned { first };
            assert_eq!(gpu.with(|_| Ok(())), Err(poisoned.clone()));
            assert_eq!(driver.retain(0).unwrap_err(), poisoned);
            assert_eq!(submit().map(drop), Err(poisoned));
            std::thread::spawn(move || drop((gpu, kept, stream)))
                .join()
                .unwrap();
            assert_eq!(driver.take_teardown_errors(), []);
            assert_eq!(stack(driver), []);
        },
    );
}

/// While another device works, a fault proves nothing: what the work owns is kept, and the process
/// goes on, because nobody lent it anything.
#[test]
fn a_fault_elsewhere_leaves_owned_work_where_it_is() {
    alone(
        "owned_fault::a_fault_elsewhere_leaves_owned_work_where_it_is",
        || {
            let driver = match real() {
                true => Driver::load().unwrap(),
                false => simulated(Simulation::default()),
            };
            if driver.device_count().unwrap() < 2 {
                return;
            }
            let (gpu, other) = (driver.retain(0).unwrap(), driver.retain(1).unwrap());
            let (gate, late) = other
                .with(|ctx| {
                    let (stream, host) = (ctx.new_stream()?, ctx.pinned_zeros::<u32>(4)?);
                    let owned = (ctx.zeros::<u32>(4)?, host);
                    let gate = Gate::close(&stream);
                    let work = stream.submit(owned, |s, (device, host)| {
                        let mut device = device.lend(s);
                        s.fill(&mut device, 7)?;
                        s.read(&device, host)
                    })?;
                    Ok((gate, ctx.detach(work)))
                })
                .unwrap();
            let failed = gpu
                .with(|ctx| {
                    let kernel = ctx.load_ptx(PTX)?.kernel("fault")?;
                    let bad = Bad {
                        kernel,
                        buffer: ctx.zeros(4)?,
                    };
                    let work = ctx.new_stream()?.submit(bad, |s, Bad { kernel, buffer }| {
                        let one = LaunchConfig::for_elements(1);
                        // SAFETY: as above.
                        unsafe { s.launch(kernel, one, (&mut buffer.lend(s),)) }
                    })?;
                    Ok(told(work))
                })
                .unwrap()
                .expect("a fault");
            let (error, is_given_back) = failed;
            let first = *error.driver_error().expect("a driver error");
            assert_eq!(first.code(), CUresult::ILLEGAL_ADDRESS);
            assert!(!is_given_back, "the driver does not say whose it was");
            // The healthy device's work can be left alone as well.
            let poisoned = Error::Poisoned { first };
            assert_eq!(other.with(|_| Ok(())), Err(poisoned));
            drop(late);
            gate.open();
            drop((gpu, other));
            assert_eq!(stack(driver), []);
        },
    );
}
