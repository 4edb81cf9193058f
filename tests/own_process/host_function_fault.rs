//! A fault with host functions pending: one test, alone in its binary, because it ends the use of
//! CUDA in the process. Claims C10, C11.

#![allow(unsafe_code)] // launches

use crate::common::{PTX, alone, real, simulated};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, Error, InOut, LaunchConfig};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// B152: what a host function captured is dropped exactly once when the driver never calls it.
#[test]
fn captures_are_dropped_once_when_a_fault_comes_first() {
    alone(
        "host_function_fault::captures_are_dropped_once_when_a_fault_comes_first",
        || {
            let driver = if real() {
                Driver::load().unwrap()
            } else {
                simulated(Simulation::default())
            };
            let (calls, drops) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            // What the end of the context says is not what this test is about.
            let _ = driver.with_device(0, |ctx| {
                let fault = ctx.load_ptx(PTX)?.kernel::<(InOut<u32>,)>("fault")?;
                let (stream, mut buffer) = (ctx.new_stream()?, ctx.zeros::<u32>(4)?);
                let error = stream
                    .scope(|s| {
                        let mut lent = buffer.lend(s);
                        // SAFETY: not safe at all: it stores to an address that nobody has, which
                        // is what this test is about. The device refuses, and no memory of this
                        // process is touched.
                        unsafe { s.launch(&fault, LaunchConfig::for_elements(1), (&mut lent,)) }?;
                        for _ in 0..3 {
                            let (calls, value) = (Arc::clone(&calls), Counted(Arc::clone(&drops)));
                            // The fault may be there already.
                            s.host(move || {
                                calls.fetch_add(1, Ordering::SeqCst);
                                drop(value);
                            })?;
                        }
                        Ok(())
                    })
                    .unwrap_err();
                assert!(error.driver_error().is_some(), "{error}");
                Ok(())
            });
            assert_eq!(calls.load(Ordering::SeqCst), 0, "none is called");
            let dropped = drops.load(Ordering::SeqCst);
            assert!((1..=3).contains(&dropped), "{dropped}");
            assert_eq!(Arc::strong_count(&drops), 1, "each is dropped, once");
            let first = driver.first_fault().expect("a fault is kept");
            assert_eq!(
                driver.with_device(0, |_| Ok(())),
                Err(Error::Poisoned { first })
            );
        },
    );
}
