//! Work that owns what it uses: waited for, with and without a limit, awaited, dropped, forgotten.
//! Claims C1, C4, C5, C6, C11.

#![allow(unsafe_code)] // launches

use crate::common::{Gate, PTX, in_context, on_driver, second, simulated};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{
    Buffer, Context, Detached, Driver, Error, InOut, Kernel, LaunchConfig, PinnedBuffer, Plain,
    Result, Stream, Submitted, family,
};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

/// How long a test watches for something that must not happen while a gate is shut.
const WATCH: Duration = Duration::from_millis(20);

/// Longer than anything takes that happens at all.
const LONG: Duration = Duration::from_secs(20);

type Scale<'ctx> = Kernel<'ctx, (InOut<f32>, u32, f32)>;

/// All that a request needs: host memory that came in, the kernel, and where the answer goes.
struct Request<'ctx> {
    kernel: Arc<Scale<'ctx>>,
    input: Vec<f32>,
    device: Buffer<'ctx, f32>,
    answer: PinnedBuffer<'ctx, f32>,
    /// Counts destructors.
    dropped: Dropped,
}
family!(Request);

/// Counts its destructors.
#[derive(Default)]
struct Dropped(Arc<AtomicUsize>);

impl Dropped {
    fn counter(&self) -> impl Fn() -> usize + use<> {
        let counter = Arc::clone(&self.0);
        move || counter.load(Ordering::SeqCst)
    }
}

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn request<'ctx>(ctx: Context<'ctx>, number: u8) -> Result<Request<'ctx>> {
    let kernel = Arc::new(ctx.load_ptx(PTX)?.kernel("scale")?);
    let (input, device) = (vec![f32::from(number); 4], ctx.zeros(4)?);
    let (answer, dropped) = (ctx.pinned_zeros(4)?, Dropped::default());
    Ok(Request {
        kernel,
        input,
        device,
        answer,
        dropped,
    })
}

/// Doubles the input, on the device.
fn submit<'ctx>(
    stream: &Stream<'ctx>,
    request: Request<'ctx>,
) -> Result<Submitted<'ctx, Request<'ctx>>> {
    let work = stream.submit(request, |s, request| {
        let mut device = request.device.lend(s);
        s.write(&request.input, &mut device)?;
        let config = LaunchConfig::for_elements(4);
        // SAFETY: `scale` scales as many elements as it is told, and there are four.
        unsafe { s.launch(&request.kernel, config, (&mut device, 4, 2.0)) }?;
        s.read(&device, &mut request.answer)
    })?;
    Ok(work)
}

#[test]
fn requests_are_enqueued_without_a_wait() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let requests = [1, 2, 3].map(|number| request(ctx, number));
        let gate = Gate::close(&stream);
        let mut works = Vec::new();
        for request in requests {
            works.push(submit(&stream, request?)?);
        }
        for work in &works {
            assert!(!work.is_complete()?);
            assert!(!work.wait_for(Duration::from_millis(1))?);
        }
        gate.open();
        for (work, number) in works.into_iter().zip(1..) {
            assert!(work.wait_for(LONG)?);
            assert!(work.is_complete()?);
            let request = work.wait()?;
            assert_eq!(request.answer[..], [2.0 * number as f32; 4]);
            assert_eq!(request.dropped.counter()(), 0);
        }
        Ok(())
    });
}

/// C11: dropped in flight, it leaves everything to the context, which drops it when it is done.
#[test]
fn dropped_work_keeps_what_it_owns_until_it_is_done() {
    on_driver(|driver| {
        let gpu = driver.retain(0)?;
        let stream = gpu.with(|ctx| Ok(ctx.detach(ctx.new_stream()?)))?;
        let (gate, dropped) = stream.with(|ctx, stream| {
            let request = request(ctx, 1)?;
            let dropped = request.dropped.counter();
            let gate = Gate::close(stream);
            drop(submit(stream, request)?);
            Ok((gate, dropped))
        })?;
        gpu.with(|_| Ok(()))?;
        assert_eq!(dropped(), 0, "in flight");
        gate.open();
        stream.with(|_, stream| stream.scope(|_| Ok(())))?;
        gpu.with(|_| Ok(()))?;
        assert_eq!(dropped(), 1, "an entry after the end drops it");
        // What is done when it is dropped, is dropped at once.
        let dropped = stream.with(|ctx, stream| {
            let request = request(ctx, 2)?;
            let dropped = request.dropped.counter();
            let work = submit(stream, request)?;
            assert!(work.wait_for(LONG)?);
            drop(work);
            Ok(dropped())
        })?;
        assert_eq!(dropped, 1);
        Ok(())
    });
}

/// C1: the last owner waits for what is left, and a destructor of the user's finds its context.
#[test]
fn the_last_owner_waits_for_work_that_was_dropped() {
    struct Reads<'ctx>(Buffer<'ctx, u32>, mpsc::Sender<Result<Vec<u32>>>);
    family!(Reads);
    impl Drop for Reads<'_> {
        fn drop(&mut self) {
            let again = self.0.context().owner();
            let read = again.with(|_| self.0.to_vec());
            self.1.send(read).unwrap();
        }
    }
    on_driver(|driver| {
        let (sender, receiver) = mpsc::channel();
        let gpu = driver.retain(0)?;
        let gate = gpu.with(|ctx| {
            let (stream, buffer) = (ctx.new_stream()?, ctx.zeros(2)?);
            let gate = Gate::close(&stream);
            drop(stream.submit(Reads(buffer, sender), |s, own| {
                s.fill(&mut own.0.lend(s), 7)
            })?);
            Ok(gate)
        })?;
        let dropping = thread::spawn(move || drop(gpu));
        assert!(receiver.recv_timeout(WATCH).is_err(), "it waits");
        gate.open();
        dropping.join().unwrap();
        assert_eq!(receiver.recv().unwrap()?, [7, 7]);
        if let Some(machine) = driver.machine() {
            assert_eq!(machine.live(), Default::default());
        }
        Ok(())
    });
}

#[test]
fn forgotten_work_leaks_what_it_owns() {
    let driver = simulated(Simulation::default());
    let machine = driver.machine().unwrap();
    driver
        .with_device(0, |ctx| {
            let (stream, buffer) = (ctx.new_stream()?, ctx.zeros::<u8>(4)?);
            let gate = Gate::close(&stream);
            mem::forget(stream.submit(buffer, |s, own| s.fill(&mut own.lend(s), 1))?);
            drop((stream, gate));
            Ok(())
        })
        .unwrap();
    assert_eq!(machine.live().allocations, 1);
    assert_eq!(machine.violations(), Vec::<String>::new());
}

/// What fails in the middle is not waited for: what was begun is handed back, in flight.
#[test]
fn work_that_is_not_enqueued_as_a_whole_is_handed_back_in_flight() {
    in_context(|ctx| {
        let (stream, two) = (ctx.new_stream()?, (ctx.zeros::<u32>(2)?, Plain(vec![0; 3])));
        let gate = Gate::close(&stream);
        let refused = stream.submit(two, |s, (device, host)| {
            let mut device = device.lend(s);
            s.fill(&mut device, 9)?;
            s.read(&device, &mut host.0)
        });
        let refused = *refused.unwrap_err();
        let sizes = Error::LengthMismatch {
            source_len: 2,
            destination_len: 3,
        };
        assert_eq!(refused.error, sizes);
        assert!(!refused.begun.is_complete()?, "the fill is in flight");
        gate.open();
        let (device, host) = refused.begun.wait()?;
        assert_eq!((device.to_vec()?, host.0), (vec![9, 9], vec![0; 3]));
        Ok(())
    });
}

#[test]
fn a_panic_in_the_closure_leaves_what_was_begun_to_the_context() {
    on_driver(|driver| {
        let gpu = driver.retain(0)?;
        let (gate, dropped) = gpu.with(|ctx| {
            let stream = ctx.new_stream()?;
            let request = request(ctx, 1)?;
            let dropped = request.dropped.counter();
            let gate = Gate::close(&stream);
            let panic = catch_unwind(AssertUnwindSafe(|| {
                let _ = stream.submit(request, |s, request| -> Result<()> {
                    let mut device = request.device.lend(s);
                    s.write(&request.input, &mut device)?;
                    panic!("half way")
                });
            }));
            assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"half way"));
            Ok((gate, dropped))
        })?;
        assert_eq!(dropped(), 0);
        gate.open();
        drop(gpu);
        assert_eq!(dropped(), 1);
        Ok(())
    });
}

#[test]
fn a_panic_in_a_host_function_is_an_error_that_gives_everything_back() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let work = stream.submit(ctx.zeros::<u32>(2)?, |s, own| {
            s.host(|| panic!("in the work"))?;
            s.fill(&mut own.lend(s), 3)
        })?;
        let failed = work.wait().unwrap_err();
        assert_eq!(
            failed.error,
            Error::CallbackPanicked {
                message: "in the work".to_owned()
            }
        );
        assert_eq!(failed.owned.unwrap().to_vec()?, [3, 3]);
        // Nobody waits: it goes to the log.
        let work = stream.submit(ctx.zeros::<u32>(2)?, |s, _| s.host(|| panic!("unheard")))?;
        assert!(work.wait_for(LONG)?);
        drop(work);
        let told = ctx.driver().take_teardown_errors();
        let told: Vec<_> = told.into_iter().map(|told| told.error).collect();
        assert_eq!(
            told,
            [Error::CallbackPanicked {
                message: "unheard".to_owned()
            }]
        );
        Ok(())
    });
}

/// A panic of a user's destructor, in a frame that is none of its business.
#[test]
fn a_destructor_that_panics_later_is_contained() {
    struct Panics<'ctx>(Buffer<'ctx, u8>, #[expect(dead_code)] Dropped);
    family!(Panics);
    impl Drop for Panics<'_> {
        fn drop(&mut self) {
            panic!("later");
        }
    }
    on_driver(|driver| {
        let gpu = driver.retain(0)?;
        let stream = gpu.with(|ctx| Ok(ctx.detach(ctx.new_stream()?)))?;
        let own = Dropped::default();
        let dropped = own.counter();
        let gate = stream.with(|ctx, stream| {
            let own = Panics(ctx.zeros(1)?, own);
            let gate = Gate::close(stream);
            drop(stream.submit(own, |s, own| s.fill(&mut own.0.lend(s), 1))?);
            Ok(gate)
        })?;
        gate.open();
        stream.with(|_, stream| stream.scope(|_| Ok(())))?;
        gpu.with(|_| Ok(()))?;
        assert_eq!(dropped(), 1);
        Ok(())
    });
}

#[test]
fn a_stream_that_is_dropped_in_flight_goes_on() {
    in_context(|ctx| {
        let (stream, buffer) = (ctx.new_stream()?, ctx.zeros::<u32>(2)?);
        let gate = Gate::close(&stream);
        let work = stream.submit(buffer, |s, own| s.fill(&mut own.lend(s), 5))?;
        drop(stream);
        gate.open();
        assert_eq!(work.wait()?.to_vec()?, [5, 5]);
        Ok(())
    });
}

#[test]
fn work_over_several_streams_is_done_when_all_of_them_are() {
    in_context(|ctx| {
        let gated = ctx.new_stream()?;
        let owned = (
            [ctx.new_stream()?, gated],
            [ctx.zeros::<u32>(2)?, ctx.zeros(2)?],
        );
        let gate = Gate::close(&owned.0[1]);
        let work = ctx.submit(owned, |scope, ([first, second], [a, b])| {
            scope.on(first, |s| s.fill(&mut a.lend(s), 1))?;
            scope.on(second, |s| s.fill(&mut b.lend(s), 2))
        })?;
        assert!(!work.wait_for(WATCH)?, "the second is shut");
        gate.open();
        let (streams, [a, b]) = work.wait()?;
        assert_eq!((a.to_vec()?, b.to_vec()?), (vec![1, 1], vec![2, 2]));
        // Without any stream there is nothing to wait for.
        let work = ctx.submit((streams, a), |_, _| Ok(()))?;
        assert!(work.is_complete()?);
        assert_eq!(work.wait()?.1.to_vec()?, [1, 1]);
        Ok(())
    });
}

/// A device that hangs holds nobody who asked for a limit, and no other device.
#[test]
fn a_hang_is_met_within_the_limit() {
    on_driver(|driver| {
        let (gpu, other) = (driver.retain(0)?, driver.retain(second(driver)?)?);
        let stream = gpu.with(|ctx| Ok(ctx.detach(ctx.new_stream()?)))?;
        let mut late: Option<Detached<Submitted<'static, Buffer<'static, u32>>>> = None;
        let mut frame = Some(gpu.with(|ctx| Ok(ctx.detach(ctx.zeros::<u32>(4)?)))?);
        let mut hang = None;
        let mut done = 0;
        for period in 0..6 {
            if period == 3 {
                hang = Some(stream.with(|_, stream| Ok(Gate::close(stream)))?);
            }
            let Some(own) = frame.take() else { break };
            let work = stream.with(|ctx, stream| {
                let own = own.into_inner(ctx)?;
                let work = stream.submit(own, |s, own| s.fill(&mut own.lend(s), period))?;
                Ok(ctx.detach(work))
            })?;
            let limit = if hang.is_some() { WATCH } else { LONG };
            if work.with(|_, work| work.wait_for(limit))? {
                frame = Some(gpu.with(|ctx| Ok(ctx.detach(work.into_inner(ctx)?.wait()?)))?);
                done += 1;
            } else {
                late = Some(work);
            }
        }
        assert_eq!(done, 3);
        let late = late.expect("the fourth is late");
        // The other device, or the same one on another stream, goes on.
        let back = other.with(|ctx| ctx.upload(&[1u8, 2])?.to_vec())?;
        assert_eq!(back, [1, 2]);
        drop(late); // at once: it is left to the context
        hang.expect("it hangs").open();
        Ok(())
    });
}

#[test]
fn work_of_a_context_that_was_reset_is_not_begun() {
    let driver = simulated(Simulation::default());
    let machine = driver.machine().unwrap();
    let result: Result<()> = driver.with_device(0, |ctx| {
        let (stream, owned) = (ctx.new_stream()?, ctx.zeros::<u8>(2)?);
        machine.reset_primary(0);
        let refused = *stream
            .submit(owned, |_, _| panic!("not called"))
            .unwrap_err();
        assert_eq!(refused.error, Error::ContextLost { ordinal: 0 });
        assert!(refused.begun.is_complete()?);
        assert_eq!(refused.begun.wait()?.len(), 2);
        Ok(())
    });
    assert_eq!(result, Ok(()));
    assert_eq!(machine.live().allocations, 0);
}

struct Told(mpsc::Sender<()>);

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        let sender = self.0.clone();
        drop(self);
        sender.send(()).unwrap();
    }
}

fn told() -> (Waker, mpsc::Receiver<()>) {
    let (sender, receiver) = mpsc::channel();
    (Waker::from(Arc::new(Told(sender))), receiver)
}

type Sides<'ctx> = (PinnedBuffer<'ctx, u32>, Buffer<'ctx, u32>);

/// Work behind a gate, without its context's lifetime.
fn detached(driver: Driver) -> Result<(Gate, Detached<Submitted<'static, Sides<'static>>>)> {
    driver.with_device(0, |ctx| {
        let (stream, sides) = (ctx.new_stream()?, (ctx.pinned_zeros(3)?, ctx.zeros(3)?));
        let gate = Gate::close(&stream);
        let work = stream.submit(sides, |s, (host, device)| {
            let mut device = device.lend(s);
            s.fill(&mut device, 8)?;
            s.read(&device, host)
        })?;
        Ok((gate, ctx.detach(work)))
    })
}

#[test]
fn detached_work_is_a_future_of_any_task() {
    fn is_task(_: &(impl Future + Send + 'static)) {}
    on_driver(|driver| {
        let (gate, work) = detached(driver)?;
        let (waker, woken) = told();
        let future = async move {
            let sides: Detached<Sides<'static>> = work.await?;
            sides.with(|_, (host, device)| Ok((host.to_vec(), device.to_vec()?)))
        };
        is_task(&future);
        let (sender, receiver) = mpsc::channel();
        let worker = thread::spawn(move || {
            let (mut future, mut task) = (pin!(future), Task::from_waker(&waker));
            assert!(future.as_mut().poll(&mut task).is_pending());
            sender.send(()).unwrap();
            woken.recv().unwrap();
            match future.poll(&mut task) {
                Poll::Ready(ended) => ended,
                Poll::Pending => panic!("it was woken"),
            }
        });
        receiver.recv().unwrap();
        gate.open();
        let sides: Result<_> = worker.join().unwrap();
        assert_eq!(sides?, (vec![8; 3], vec![8; 3]));
        Ok(())
    });
}

#[test]
fn a_future_that_is_dropped_is_left_to_the_context() {
    on_driver(|driver| {
        let gpu = driver.retain(0)?;
        let (gate, mut work) = detached(driver)?;
        let (waker, _woken) = told();
        let mut task = Task::from_waker(&waker);
        assert!(Pin::new(&mut work).poll(&mut task).is_pending());
        drop(work);
        if let Some(machine) = driver.machine() {
            assert_eq!(machine.live().allocations, 1, "in flight");
        }
        gate.open();
        drop(gpu);
        if let Some(machine) = driver.machine() {
            assert_eq!(machine.live(), Default::default());
        }
        Ok(())
    });
}

#[test]
fn work_polled_in_a_host_function_makes_no_call_and_goes_on() {
    on_driver(|driver| {
        let (gate, mut work) = detached(driver)?;
        gate.open();
        let (sender, receiver) = mpsc::channel();
        driver.with_device(0, |ctx| {
            ctx.new_stream()?.scope(|s| {
                s.host(move || {
                    let polled = Pin::new(&mut work).poll(&mut Task::from_waker(Waker::noop()));
                    let Poll::Ready(Err(failed)) = polled else {
                        panic!("refused")
                    };
                    sender
                        .send((failed.error, failed.owned.is_none(), work))
                        .unwrap();
                })
            })
        })?;
        let (error, is_kept, work) = receiver.recv().unwrap();
        assert_eq!((error, is_kept), (Error::InsideHostFunction, true));
        let (host, _) = driver.with_device(0, |ctx| {
            let (host, device) = work.into_inner(ctx)?.wait()?;
            Ok((host.to_vec(), device.to_vec()?))
        })?;
        assert_eq!(host, [8; 3]);
        Ok(())
    });
}

/// A future of a context's own closure, and one that is polled after its end.
#[test]
fn work_is_a_future_and_ends_once() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let mut work = stream.submit(ctx.zeros::<u32>(2)?, |s, own| s.fill(&mut own.lend(s), 1))?;
        assert!(work.wait_for(LONG)?);
        let mut task = Task::from_waker(Waker::noop());
        let Poll::Ready(owned) = Pin::new(&mut work).poll(&mut task) else {
            panic!("it is done")
        };
        assert_eq!(owned?.to_vec()?, [1, 1]);
        let Poll::Ready(Err(again)) = Pin::new(&mut work).poll(&mut task) else {
            panic!("it has ended")
        };
        assert_eq!(again.error, Error::CopyTaken);
        assert!(work.is_complete()?);
        Ok(())
    });
}

/// C2: the closure has nothing but what is owned, the stream's context, and what it makes itself.
#[test]
fn memory_made_in_the_closure_lives_as_long_as_its_work() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let owned = (ctx.zeros::<u32>(4)?, ctx.pinned_zeros::<u32>(4)?);
        let work = stream.submit(owned, |s, (device, host)| {
            let mut scratch = s.zeros::<u32>(4)?;
            s.fill(&mut scratch, 6)?;
            let mut device = device.lend(s);
            s.copy(&scratch, &mut device)?;
            s.read(&device, host)
        })?;
        assert_eq!(work.wait()?.1[..], [6; 4]);
        Ok(())
    });
}

/// C6: memory that a closure consumes is freed in the order of its stream.
#[test]
fn memory_that_is_given_to_a_stream_is_freed_behind_its_use() {
    on_driver(|driver| {
        let gpu = driver.retain(0)?;
        gpu.with(|ctx| {
            let stream = ctx.new_stream()?;
            let (input, owned) = (ctx.filled(1000, 4u32)?, ctx.zeros::<u32>(1000)?);
            let gate = Gate::close(&stream);
            let work = stream.submit(owned, move |s, own| {
                let input = input.give(s);
                s.copy(&input, &mut own.lend(s))
            })?;
            assert!(!work.is_complete()?);
            gate.open();
            assert_eq!(work.wait()?.to_vec()?, [4; 1000]);
            let used = ctx.zeros::<u32>(1000)?;
            let used = stream.scope(|s| {
                let mut used = used.give(s);
                s.fill(&mut used, 5)?;
                used.release(s)
            })?;
            assert_eq!(used.to_vec()?, [5; 1000]);
            Ok(())
        })
    });
}

/// C1: a destructor that leaves more work to its context, which waits for that as well.
#[test]
fn work_that_is_left_by_a_destructor_is_waited_for_too() {
    struct Again<'ctx> {
        parts: Option<(Arc<Stream<'ctx>>, Buffer<'ctx, u32>)>,
        left: u32,
        done: mpsc::Sender<u32>,
    }
    family!(Again);
    fn begin(again: Again<'_>) -> Result<()> {
        let stream = again.parts.as_ref().map(|parts| Arc::clone(&parts.0));
        let work = stream.expect("parts").submit(again, |s, again| {
            let (_, buffer) = again.parts.as_mut().expect("parts");
            s.fill(&mut buffer.lend(s), again.left)
        })?;
        drop(work);
        Ok(())
    }
    impl Drop for Again<'_> {
        fn drop(&mut self) {
            let (left, done) = (self.left, self.done.clone());
            let (stream, buffer) = self.parts.take().expect("parts");
            done.send(buffer.to_vec().expect("its context is there")[0])
                .unwrap();
            if left > 0 {
                let parts = Some((stream, buffer));
                begin(Again {
                    parts,
                    left: left - 1,
                    done,
                })
                .expect("its context is there");
            }
        }
    }
    on_driver(|driver| {
        let (done, receiver) = mpsc::channel();
        let gpu = driver.retain(0)?;
        gpu.with(|ctx| {
            let parts = Some((Arc::new(ctx.new_stream()?), ctx.zeros(2)?));
            begin(Again {
                parts,
                left: 3,
                done,
            })
        })?;
        drop(gpu);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [3, 2, 1, 0]);
        if let Some(machine) = driver.machine() {
            assert_eq!(machine.live(), Default::default());
        }
        Ok(())
    });
}
