//! A fault while a future is pending: one test, alone in its binary, because it ends the use of
//! CUDA in the process. Claims C10, C11.

#![allow(unsafe_code)] // launches

use crate::common::{Gate, PTX, alone, real, simulated};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, Error, InOut, LaunchConfig};
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

struct Told(mpsc::Sender<()>);

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(());
    }
}

/// The driver never calls the host function that would have woken the future; the scope that sees
/// the fault does it.
#[test]
fn a_fault_wakes_a_future_that_the_driver_forgets() {
    alone(
        "owned_copy_fault::a_fault_wakes_a_future_that_the_driver_forgets",
        || {
            let driver = if real() {
                Driver::load().unwrap()
            } else {
                simulated(Simulation::default())
            };
            // What the end of the context says is not what this test is about.
            let _ = driver.with_device(0, |ctx| {
                let fault = ctx.load_ptx(PTX)?.kernel::<(InOut<u32>,)>("fault")?;
                let (held, stream) = (ctx.new_stream()?, ctx.new_stream()?);
                let mut buffer = ctx.zeros::<u32>(4)?;
                let (host, device) = (ctx.pinned_from(&[1u32, 2])?, ctx.zeros(2)?);
                let gate = Gate::close(&held);
                let mut copy = held.upload_owned(host, device)?;
                let (sender, woken) = mpsc::channel();
                let waker = Waker::from(Arc::new(Told(sender)));
                let mut task = Task::from_waker(&waker);
                assert!(Pin::new(&mut copy).poll(&mut task).is_pending());
                // The gate stays shut until the future was woken, or for long enough to fail.
                let (done, is_done) = mpsc::channel::<()>();
                let opener = thread::spawn(move || {
                    let _ = is_done.recv_timeout(Duration::from_secs(20));
                    gate.open();
                });
                stream
                    .scope(|s| {
                        let mut lent = buffer.lend(s);
                        // SAFETY: not safe at all: it stores to an address that nobody has, which
                        // is what this test is about. The device refuses, and no memory of this
                        // process is touched.
                        unsafe { s.launch(&fault, LaunchConfig::for_elements(1), (&mut lent,)) }
                    })
                    .unwrap_err();
                let first = driver.first_fault().expect("a fault is kept");
                woken.try_recv().expect("woken by the scope");
                let Poll::Ready(result) = Pin::new(&mut copy).poll(&mut task) else {
                    panic!("nothing will wake it again")
                };
                assert_eq!(result.unwrap_err(), Error::Poisoned { first });
                drop(done);
                opener.join().unwrap();
                Ok(())
            });
            assert!(driver.first_fault().is_some());
            assert_eq!(driver.take_teardown_errors(), [], "teardown is quiet");
        },
    );
}
