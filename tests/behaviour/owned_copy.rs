//! Copies that outlive a scope and own their memory: waited for, awaited, dropped, forgotten.
//! Claims C5, C6, C11.

#![allow(unsafe_code)] // launches

use crate::common::{Gate, in_context, is_busy, on, real, simulated, turn};
use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Buffer, Context, Error, LaunchConfig, OwnedCopy, PinnedBuffer, Result, Stream};
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

const N: usize = 1 << 16;

/// How long a test watches for something that must not happen while a gate is shut.
const WATCH: Duration = Duration::from_millis(30);

/// Numbers that no other seed has in the same place.
fn numbers(seed: u32) -> Vec<u32> {
    (0..N as u32)
        .map(|i| i.wrapping_mul(2_654_435_761) ^ seed)
        .collect()
}

type Sides<'ctx> = (PinnedBuffer<'ctx, u32>, Buffer<'ctx, u32>);

fn sides(ctx: Context<'_>, seed: u32) -> Result<Sides<'_>> {
    Ok((ctx.pinned_from(&numbers(seed))?, ctx.zeros(N)?))
}

/// Behind a gate this allocates nothing: the driver might wait for it.
fn begin<'ctx>(stream: &Stream<'ctx>, (host, device): Sides<'ctx>) -> Result<OwnedCopy<'ctx, u32>> {
    Ok(stream.upload_owned(host, device)?)
}

fn upload<'ctx>(
    ctx: Context<'ctx>,
    stream: &Stream<'ctx>,
    seed: u32,
) -> Result<OwnedCopy<'ctx, u32>> {
    begin(stream, sides(ctx, seed)?)
}

/// Counts wake-ups, and says each of them.
struct Counter {
    wakes: AtomicUsize,
    sender: mpsc::Sender<()>,
}

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        let sender = self.sender.clone();
        // Whoever is told may count the wakers.
        drop(self);
        let _ = sender.send(());
    }
}

impl Counter {
    fn new() -> (Arc<Self>, mpsc::Receiver<()>) {
        let (sender, receiver) = mpsc::channel();
        let wakes = AtomicUsize::new(0);
        (Arc::new(Self { wakes, sender }), receiver)
    }

    fn wakes(&self) -> usize {
        self.wakes.load(Ordering::SeqCst)
    }
}

fn poll<F: Future + Unpin>(future: &mut F, counter: &Arc<Counter>) -> Poll<F::Output> {
    let waker = Waker::from(Arc::clone(counter));
    Pin::new(future).poll(&mut Task::from_waker(&waker))
}

#[test]
fn both_sides_come_back_from_wait() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let (mut host, device) = upload(ctx, &stream, 1)?.wait()?;
        assert_eq!(*host, numbers(1));
        assert_eq!(device.to_vec()?, numbers(1));
        host.fill(0);
        let (host, device) = stream.download_owned(host, device)?.wait()?;
        assert_eq!(*host, numbers(1));
        device.close().map_err(Error::from)
    });
}

#[test]
fn a_copy_is_in_the_order_of_its_stream() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let sides_2 = sides(ctx, 2)?;
        let gate = Gate::close(&stream);
        let copy = begin(&stream, sides_2)?;
        assert!(!copy.is_complete()?, "it waits for the gate");
        thread::scope(|threads| {
            threads.spawn(|| {
                thread::sleep(WATCH);
                gate.open();
            });
            let (host, device) = copy.wait()?;
            assert!(!is_busy(&stream));
            assert_eq!(device.to_vec()?, *host);
            Ok(())
        })
    });
}

#[test]
fn a_scope_waits_for_the_copies_of_its_stream() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let (copy, mut other) = (upload(ctx, &stream, 3)?, ctx.zeros::<u8>(9)?);
        stream.scope(|s| s.fill(&mut other.lend(s), 1))?;
        assert!(copy.is_complete()?);
        let second = stream.scope(|_| upload(ctx, &stream, 4))?;
        assert!(second.is_complete()?);
        assert_eq!(copy.wait()?.1.to_vec()?, numbers(3));
        assert_eq!(second.wait()?.1.to_vec()?, numbers(4));
        Ok(())
    });
}

#[test]
fn many_copies_may_be_pending_on_one_stream() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let copies: Vec<_> = (0..10)
            .map(|i| upload(ctx, &stream, i))
            .collect::<Result<_>>()?;
        for (i, copy) in copies.into_iter().enumerate().rev() {
            assert_eq!(copy.wait()?.1.to_vec()?, numbers(i as u32));
        }
        Ok(())
    });
}

#[test]
fn a_copy_goes_to_another_thread() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let copy = upload(ctx, &stream, 5)?;
        thread::scope(|threads| {
            let worker = threads.spawn(move || copy.wait()?.1.to_vec());
            assert_eq!(worker.join().unwrap()?, numbers(5));
            Ok(())
        })
    });
}

#[test]
fn no_elements_need_no_driver_call() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let (host, device) = (ctx.pinned_zeros::<u32>(0)?, ctx.zeros::<u32>(0)?);
        let (counter, _woken) = Counter::new();
        let mut copy = stream.upload_owned(host, device)?;
        assert!(copy.is_complete()?);
        let Poll::Ready(sides) = poll(&mut copy, &counter) else {
            panic!("there is nothing to wait for")
        };
        let (host, device) = sides?;
        assert!(stream.download_owned(host, device)?.wait()?.0.is_empty());
        Ok(())
    });
}

#[test]
fn unequal_lengths_give_both_sides_back() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let (host, device) = (ctx.pinned_from(&[1u32, 2])?, ctx.upload(&[3u32, 4, 5])?);
        let refused = *stream.upload_owned(host, device).unwrap_err();
        let expected = Error::LengthMismatch {
            source_len: 2,
            destination_len: 3,
        };
        assert_eq!(refused.error, expected);
        let (host, device) = (refused.host, refused.device);
        let refused = stream.download_owned(host, device).unwrap_err();
        let expected = Error::LengthMismatch {
            source_len: 3,
            destination_len: 2,
        };
        assert_eq!(
            refused.to_string(),
            format!("the copy did not begin: {expected}")
        );
        assert_eq!(*refused.host, [1, 2]);
        assert_eq!(refused.device.to_vec()?, [3, 4, 5]);
        assert_eq!(Error::from(refused), expected);
        Ok(())
    });
}

/// The stream is not borrowed: what is pending in it goes on.
#[test]
fn closing_the_stream_does_not_end_its_copies() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let sides_6 = sides(ctx, 6)?;
        let sides_7 = sides(ctx, 7)?;
        let gate = Gate::close(&stream);
        let mut copies = [begin(&stream, sides_6)?, begin(&stream, sides_7)?];
        let (counter, woken) = Counter::new();
        assert!(poll(&mut copies[1], &counter).is_pending());
        stream.close()?;
        assert!(!copies[0].is_complete()?);
        gate.open();
        woken.recv().unwrap();
        let [first, mut second] = copies;
        let Poll::Ready(sides) = poll(&mut second, &counter) else {
            panic!("it was woken before the copy was done")
        };
        assert_eq!(sides?.1.to_vec()?, numbers(7));
        assert_eq!(first.wait()?.1.to_vec()?, numbers(6));
        Ok(())
    });
}

/// B68: a cancelled copy does not wait, and its memory is freed when it is done and not before.
#[test]
fn dropping_a_copy_keeps_its_memory_until_it_is_done() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let live = || ctx.driver().machine().map(|machine| machine.live());
        let before = live();
        let copy = upload(ctx, &stream, 8)?;
        drop(copy.wait()?);
        let idle = live();
        let sides_8 = sides(ctx, 8)?;
        let sides_10 = sides(ctx, 10)?;
        let gate = Gate::close(&stream);
        let copy = begin(&stream, sides_8)?;
        let running = live();
        drop(copy);
        assert_eq!(
            live(),
            running,
            "neither side is freed while the gate is shut"
        );
        // What is allocated now is other memory.
        let mut other = ctx.zeros::<u32>(N)?;
        other.write(&numbers(9))?;
        gate.open();
        stream.scope(|_| Ok(()))?;
        assert_eq!(other.to_vec()?, numbers(9));
        drop(other);
        // The next copy finds that this one is done.
        drop(begin(&stream, sides_10)?.wait()?);
        assert_eq!(
            live(),
            idle,
            "nothing was left, and the event was used again"
        );
        assert_eq!(
            before.map(|live| live.allocations),
            idle.map(|live| live.allocations)
        );
        Ok(())
    });
}

/// B65, B68: the end of the context waits for what was dropped, here behind a gate that opens late.
#[test]
fn the_end_of_the_context_waits_for_dropped_copies() {
    let (closed, gate) = mpsc::channel::<Gate>();
    let opener = thread::spawn(move || {
        let gate = gate.recv().unwrap();
        thread::sleep(WATCH);
        gate.open();
    });
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let sides_11 = sides(ctx, 11)?;
        let gate = Gate::close(&stream);
        drop(begin(&stream, sides_11)?);
        closed.send(gate).unwrap();
        Ok(())
    });
    opener.join().unwrap();
}

/// B70: a forgotten copy leaks its memory: nobody frees it, uses it or waits for it.
#[test]
fn forgetting_a_copy_leaks_its_memory_and_nothing_else() {
    let driver = match real() {
        true => scoped_cuda::Driver::load().unwrap(),
        false => simulated(Simulation::default()),
    };
    let _turn = turn(driver);
    driver
        .with_device(0, |ctx| {
            // A second scope on the device: the context, and with it the copy, goes on after the
            // first.
            let pinned = ctx.pinned_from(&numbers(13))?;
            let (counter, _woken) = Counter::new();
            let gate = driver.with_device(0, |inner| {
                let stream = inner.new_stream()?;
                let sides_12 = sides(inner, 12)?;
                let gate = Gate::close(&stream);
                let mut copy = begin(&stream, sides_12)?;
                assert!(poll(&mut copy, &counter).is_pending());
                mem::forget(copy);
                Ok(gate)
            })?;
            let mut other = ctx.zeros::<u32>(N)?;
            other.write(&pinned)?;
            gate.open();
            thread::sleep(WATCH);
            assert_eq!(other.to_vec()?, numbers(13));
            assert_eq!(*pinned, numbers(13));
            assert_eq!(counter.wakes(), 0, "the wake-up ended with the scope");
            assert_eq!(
                Arc::strong_count(&counter),
                1 + 1,
                "the forgotten copy has one"
            );
            Ok(())
        })
        .unwrap();
    assert_eq!(driver.take_teardown_errors(), []);
    if let Some(machine) = driver.machine() {
        assert_eq!(machine.violations(), Vec::<String>::new());
        let live = machine.live();
        assert_eq!((live.allocations, live.bytes), (1, 4 * N), "{live:?}");
        assert_eq!((live.events, live.streams, live.retains), (0, 0, 0));
    }
}

/// OwnedCopy until the gate opens, woken once and then, and not polled meanwhile.
#[test]
fn a_future_is_woken_when_its_copy_is_done() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let sides_14 = sides(ctx, 14)?;
        let gate = Gate::close(&stream);
        let mut copy = begin(&stream, sides_14)?;
        let (counter, woken) = Counter::new();
        assert!(poll(&mut copy, &counter).is_pending());
        assert_eq!(
            woken.recv_timeout(WATCH),
            Err(mpsc::RecvTimeoutError::Timeout)
        );
        assert!(poll(&mut copy, &counter).is_pending());
        gate.open();
        woken.recv().unwrap();
        let Poll::Ready(sides) = poll(&mut copy, &counter) else {
            panic!("it was woken before the copy was done")
        };
        assert_eq!(sides?.1.to_vec()?, numbers(14));
        assert_eq!(counter.wakes(), 1);
        assert_eq!(Arc::strong_count(&counter), 1, "no waker is kept");
        let again = poll(&mut copy, &counter);
        assert!(matches!(again, Poll::Ready(Err(Error::CopyTaken))));
        assert!(copy.is_complete()?);
        Ok(())
    });
}

/// What comes behind the copy on its stream does not hold up the wake-up.
#[test]
fn a_future_is_woken_before_later_work_of_its_stream() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let spin = ctx.load_ptx(crate::common::PTX)?.kernel::<(u64,)>("spin")?;
        let mut copy = upload(ctx, &stream, 15)?;
        let (launched, later) = mpsc::channel();
        thread::scope(|threads| {
            let worker = threads.spawn(|| {
                stream.scope(|s| {
                    // SAFETY: it touches no memory.
                    unsafe { s.launch(&spin, LaunchConfig::new([1; 3], [1; 3]), (1 << 30,)) }?;
                    launched.send(()).unwrap();
                    Ok(())
                })
            });
            later.recv().unwrap();
            let (counter, woken) = Counter::new();
            let ended = loop {
                match poll(&mut copy, &counter) {
                    Poll::Ready(ended) => break ended,
                    Poll::Pending => woken.recv().unwrap(),
                };
            };
            assert!(is_busy(&stream), "the kernel behind the copy still runs");
            worker.join().unwrap()?;
            assert_eq!(ended?.1.to_vec()?, numbers(15));
            Ok(())
        })
    });
}

#[test]
fn a_future_wakes_the_last_waker() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let sides_17 = sides(ctx, 17)?;
        let gate = Gate::close(&stream);
        let mut copy = begin(&stream, sides_17)?;
        let (first, _first_woken) = Counter::new();
        let (second, woken) = Counter::new();
        assert!(poll(&mut copy, &first).is_pending());
        assert!(poll(&mut copy, &second).is_pending());
        assert_eq!(Arc::strong_count(&first), 1, "the first waker is gone");
        gate.open();
        woken.recv().unwrap();
        assert_eq!((first.wakes(), second.wakes()), (0, 1));
        drop(copy.wait()?);
        Ok(())
    });
}

/// B68: and its waker goes at once.
#[test]
fn a_future_is_dropped_while_pending() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let sides_18 = sides(ctx, 18)?;
        let sides_19 = sides(ctx, 19)?;
        let gate = Gate::close(&stream);
        let mut copy = begin(&stream, sides_18)?;
        let (counter, _woken) = Counter::new();
        assert!(poll(&mut copy, &counter).is_pending());
        drop(copy);
        assert_eq!(Arc::strong_count(&counter), 1);
        // The next one has an event of its own, and is woken for itself only.
        let mut next = begin(&stream, sides_19)?;
        let (other, woken) = Counter::new();
        assert!(poll(&mut next, &other).is_pending());
        gate.open();
        woken.recv().unwrap();
        assert_eq!(next.wait()?.1.to_vec()?, numbers(19));
        assert_eq!((counter.wakes(), other.wakes()), (0, 1));
        Ok(())
    });
}

#[test]
fn a_waker_that_panics_is_nobody_elses_business() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("in a waker");
        }
    }
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let sides_20 = sides(ctx, 20)?;
        let gate = Gate::close(&stream);
        let mut copy = begin(&stream, sides_20)?;
        let waker = Waker::from(Arc::new(Panics));
        assert!(
            Pin::new(&mut copy)
                .poll(&mut Task::from_waker(&waker))
                .is_pending()
        );
        gate.open();
        assert_eq!(copy.wait()?.1.to_vec()?, numbers(20));
        Ok(())
    });
}

/// The driver calls no host function after a fault: whoever sees it wakes everybody. (On a
/// simulated machine.)
#[test]
fn a_fault_wakes_every_future() {
    let driver = simulated(Simulation::default());
    let result = driver.with_device(0, |ctx| {
        let stream = ctx.new_stream()?;
        let sides_21 = sides(ctx, 21)?;
        let sides_22 = sides(ctx, 22)?;
        let sides_23 = sides(ctx, 23)?;
        let gate = Gate::close(&stream);
        let mut copies = [begin(&stream, sides_21)?, begin(&stream, sides_22)?];
        let (counter, woken) = Counter::new();
        for copy in &mut copies {
            assert!(poll(copy, &counter).is_pending());
        }
        let machine = driver.machine().unwrap();
        machine.fail_call(1, CUresult::ECC_UNCORRECTABLE);
        thread::scope(|threads| {
            threads.spawn(|| ctx.zeros::<u8>(1).unwrap_err());
            woken.recv().unwrap();
            woken.recv().unwrap();
        });
        let first = driver.first_fault().unwrap();
        for copy in &mut copies {
            let Poll::Ready(result) = poll(copy, &counter) else {
                panic!("nothing will wake it again")
            };
            assert_eq!(result.unwrap_err(), Error::Poisoned { first });
        }
        gate.open();
        let refused = begin(&stream, sides_23).unwrap_err();
        assert_eq!(refused, Error::Poisoned { first });
        Ok(())
    });
    assert_eq!(result, Ok(()));
    assert_eq!(driver.take_teardown_errors(), []);
}

/// A context that other code resets ends its copies, and whoever sees it wakes everybody. (On a
/// simulated machine.)
#[test]
fn a_reset_context_wakes_every_future() {
    let driver = simulated(Simulation::default());
    let result = driver.with_device(0, |ctx| {
        let stream = ctx.new_stream()?;
        let sides_24 = sides(ctx, 24)?;
        let sides_25 = sides(ctx, 25)?;
        let gate = Gate::close(&stream);
        let (mut polled, waited) = (begin(&stream, sides_24)?, begin(&stream, sides_25)?);
        let (counter, woken) = Counter::new();
        assert!(poll(&mut polled, &counter).is_pending());
        driver.machine().unwrap().reset_primary(0);
        gate.open();
        let lost = Error::ContextLost { ordinal: 0 };
        assert_eq!(waited.wait().unwrap_err(), lost);
        woken.recv().unwrap();
        let Poll::Ready(result) = poll(&mut polled, &counter) else {
            panic!("nothing will wake it again")
        };
        assert_eq!(result.unwrap_err(), lost);
        Err::<(), _>(lost)
    });
    assert_eq!(result, Err(Error::ContextLost { ordinal: 0 }));
    drop(driver.take_teardown_errors());
    assert_eq!(driver.machine().unwrap().violations(), Vec::<String>::new());
}

/// A wait that fails and proves nothing does not abort: the memory is owned, so it is kept until
/// something proves the end. (On a simulated machine.)
#[test]
fn a_wait_that_proves_nothing_keeps_the_memory() {
    on(simulated(Simulation::default()), |driver| {
        driver.with_device(0, |ctx| {
            let machine = driver.machine().unwrap();
            let stream = ctx.new_stream()?;
            let sides_26 = sides(ctx, 26)?;
            let gate = Gate::close(&stream);
            let copy = begin(&stream, sides_26)?;
            let live = machine.live();
            // cuCtxGetId, cuEventSynchronize, cuEventQuery
            machine.fail_call(2, CUresult::UNKNOWN);
            machine.fail_call(3, CUresult::UNKNOWN);
            let error = *copy.wait().unwrap_err().driver_error().unwrap();
            assert_eq!(
                (error.code(), error.call()),
                (CUresult::UNKNOWN, "cuEventSynchronize")
            );
            assert_eq!(machine.live(), live, "the copy runs still");
            gate.open();
            Ok(())
        })
    });
}

/// An answer that refuses to answer, because of other code's capture, is no failure of the copy:
/// nothing is lost, and the same question is answered later.
#[test]
fn a_question_that_is_refused_is_not_a_failure() {
    let driver = simulated(Simulation::default());
    on(driver, |driver| {
        let machine = driver.machine().unwrap();
        driver.with_device(0, |ctx| {
            let stream = ctx.new_stream()?;
            for code in 900..=908 {
                let mut copy = upload(ctx, &stream, code)?;
                machine.fail_call(1, CUresult(code));
                assert_eq!(copy.is_complete(), Ok(false), "{code}");
                let (counter, woken) = Counter::new();
                machine.fail_call(1, CUresult(code));
                assert!(poll(&mut copy, &counter).is_pending(), "{code}");
                woken.recv().unwrap();
                machine.fail_call(2, CUresult(code));
                let (host, device) = copy.wait()?;
                assert_eq!(*host, numbers(code), "{code}");
                assert_eq!(device.to_vec()?, numbers(code), "{code}");
            }
            Ok(())
        })
    });
}
