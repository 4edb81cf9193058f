//! Values without their context's lifetime: kept anywhere, used inside their context alone, dropped
//! anywhere. Claims C1, C2, C4, C11.

use crate::common::{Gate, on_driver, second, simulated, stack};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{
    Buffer, Context, Detached, Driver, Error, Family, OwnedCopy, PinnedBuffer, Result, Stream,
    family,
};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::thread;

type Numbers = Buffer<'static, u32>;

fn numbers(driver: Driver, ordinal: u32, numbers: &[u32]) -> Result<Detached<Numbers>> {
    driver.with_device(ordinal, |ctx| Ok(ctx.detach(ctx.upload(numbers)?)))
}

struct Layer<'ctx> {
    stream: Stream<'ctx>,
    weights: Vec<Buffer<'ctx, f32>>,
    name: String,
}
family!(Layer);

#[test]
fn a_struct_of_ones_own_is_what_it_was_in_each_entry() {
    on_driver(|driver| {
        let gpu = driver.retain(0)?;
        let mut layer = gpu.with(|ctx| {
            let weights = vec![ctx.zeros(3)?, ctx.filled(3, 1.0)?];
            let (stream, name) = (ctx.new_stream()?, "first".to_owned());
            Ok(ctx.detach(Layer {
                stream,
                weights,
                name,
            }))
        })?;
        assert_eq!(layer.owner(), &gpu);
        for round in 1..=3u8 {
            let sum = gpu.with(|ctx| {
                let Layer {
                    stream,
                    weights,
                    name,
                } = layer.get_mut(ctx)?;
                assert_eq!(name, "first");
                let [to, from] = &mut weights[..] else {
                    panic!("two")
                };
                stream.scope(|s| s.copy(&*from, &mut to.lend(s)))?;
                from.fill(f32::from(round))?;
                Ok(to.to_vec()?.iter().sum::<f32>())
            })?;
            assert_eq!(sum, 3.0 * f32::from(round.max(2) - 1));
        }
        let layer = gpu.with(|ctx| Ok(layer.into_inner(ctx)?.weights.len()))?;
        assert_eq!(layer, 2);
        Ok(())
    });
}

#[test]
fn containers_of_values_are_detached_at_once() {
    on_driver(|driver| {
        let both = driver.with_device(0, |ctx| {
            let many = vec![Some(ctx.upload(&[1u32])?), None];
            Ok(ctx.detach((many, [ctx.pinned_from(&[2u32])?], ctx.new_event()?)))
        })?;
        both.with(|_ctx, (many, [pinned], event)| {
            let first = many[0].as_ref().map(Buffer::to_vec).transpose()?;
            assert_eq!((first, &pinned[..]), (Some(vec![1]), &[2][..]));
            assert_eq!(event.is_complete(), Err(Error::EventNotRecorded));
            Ok(())
        })
    });
}

#[test]
fn another_context_is_an_error_that_gives_the_value_back() {
    on_driver(|driver| {
        let other = second(driver)?;
        driver.with_device(other, |entered| {
            // On a machine with one device this is another context of that.
            let mut value = numbers(driver, 0, &[1, 2])?;
            let error = Error::WrongContext {
                of: 0,
                entered: other,
            };
            assert_eq!(value.get(entered).map(drop), Err(error.clone()));
            assert_eq!(value.get_mut(entered).map(drop), Err(error.clone()));
            let refused = value.into_inner(entered).unwrap_err();
            assert_eq!(refused.error, error);
            assert_eq!(refused.value.with(|_, value| value.to_vec())?, [1, 2]);
            Ok(())
        })
    });
}

/// Two contexts of one device: a scope that began before there was an owner has its own.
#[test]
fn two_contexts_of_one_device_are_told_apart() {
    on_driver(|driver| {
        driver.with_device(0, |before| {
            let own = before.upload(&[1u32])?;
            let value = driver.retain(0)?.with(|ctx| Ok(ctx.detach(ctx.upload(&[2u32])?)))?;
            let error = value.get(before).map(drop).unwrap_err();
            assert_eq!(
                error.to_string(),
                "the value is of a context of device 0, and another context of that device was entered"
            );
            let kept = before.detach(own);
            let sum = value.with(|ctx, two| {
                assert_eq!(kept.get(ctx).map(drop), Err(error.clone()));
                Ok(two.to_vec()?[0] + kept.with(|_, one| one.to_vec())?[0])
            })?;
            assert_eq!(sum, 3);
            Ok(())
        })
    });
}

/// An owner and its values are one context, whoever is dropped first.
#[test]
fn a_value_keeps_its_context() {
    on_driver(|driver| {
        let value = numbers(driver, 0, &[5])?;
        let owner = value.owner().clone();
        assert_eq!(owner, driver.retain(0)?);
        drop(owner);
        driver.with_device(0, |ctx| {
            assert_eq!(value.get(ctx)?.to_vec()?, [5], "found by the device");
            Ok(())
        })?;
        thread::spawn(move || drop(value)).join().unwrap();
        if let Some(machine) = driver.machine() {
            assert_eq!(machine.live(), Default::default());
        }
        Ok(())
    });
}

#[test]
fn a_static_and_tasks_on_threads_have_it() {
    static KEPT: OnceLock<Mutex<Option<Detached<Layer<'static>>>>> = OnceLock::new();
    on_driver(|driver| {
        let layer = driver.with_device(0, |ctx| {
            let (stream, name) = (ctx.new_stream()?, String::new());
            let weights = vec![ctx.zeros(1000)?];
            Ok(ctx.detach(Layer {
                stream,
                weights,
                name,
            }))
        })?;
        let kept = KEPT.get_or_init(|| Mutex::new(Some(layer)));
        let workers: Vec<_> = (0..8u8)
            .map(|number| {
                thread::spawn(move || {
                    let mut kept = kept.lock().unwrap();
                    kept.as_mut().unwrap().with_mut(|_, layer| {
                        let weights = &mut layer.weights[0];
                        layer
                            .stream
                            .scope(|s| s.fill(&mut weights.lend(s), f32::from(number)))?;
                        assert_eq!(weights.to_vec()?, [f32::from(number); 1000]);
                        Ok(())
                    })
                })
            })
            .collect();
        for worker in workers {
            worker.join().unwrap()?;
        }
        drop(kept.lock().unwrap().take());
        Ok(())
    });
}

#[test]
fn threads_use_one_value_in_entries_of_their_own() {
    on_driver(|driver| {
        let value = Arc::new(numbers(driver, 0, &[1, 2, 3])?);
        let pool = Arc::new(driver.with_device(0, |ctx| {
            Ok(ctx.detach(Mutex::new(vec![ctx.zeros::<u32>(3)?])))
        })?);
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let (value, pool) = (Arc::clone(&value), Arc::clone(&pool));
                thread::spawn(move || {
                    value.with(|ctx, value| {
                        // What one thread has made in its entry, another one takes in its own.
                        let taken = pool.get(ctx)?.lock().unwrap().pop();
                        let mut own = match taken {
                            Some(own) => own,
                            None => ctx.zeros::<u32>(3)?,
                        };
                        own.copy_from(value)?;
                        assert_eq!(own.to_vec()?, [1, 2, 3]);
                        assert_ne!(stack(driver), []);
                        pool.get(ctx)?.lock().unwrap().push(own);
                        Ok(())
                    })
                })
            })
            .collect();
        for worker in workers {
            worker.join().unwrap()?;
        }
        let left = pool.with(|_, pool| Ok(pool.lock().unwrap().len()))?;
        assert!((1..=5).contains(&left), "{left}");
        Ok(())
    });
}

/// Two names of one context at once: values go from one to the other through what is detached.
#[test]
fn nested_entries_of_one_context_exchange_values() {
    on_driver(|driver| {
        let gpu = driver.retain(0)?;
        let (mut first, mut second) = (numbers(driver, 0, &[1])?, numbers(driver, 0, &[2])?);
        gpu.with(|outer| {
            let made = outer.upload(&[3u32])?;
            let before = mem::replace(first.get_mut(outer)?, made);
            gpu.with(|inner| {
                mem::swap(first.get_mut(inner)?, second.get_mut(inner)?);
                Ok(())
            })?;
            assert_eq!(second.get(outer)?.to_vec()?, [3]);
            assert_eq!(first.get(outer)?.to_vec()?, [2]);
            assert_eq!(before.to_vec()?, [1]);
            Ok(())
        })?;
        drop(gpu);
        assert_eq!(second.with(|_, value| value.to_vec())?, [3]);
        Ok(())
    });
}

/// The token itself: under another name it is the token of that entry.
#[test]
fn a_stored_token_is_of_the_entry_that_takes_it_out() {
    on_driver(|driver| {
        let gpu = driver.retain(0)?;
        let token = gpu.with(|ctx| Ok(ctx.detach(ctx)))?;
        drop(gpu);
        let back = token.with(|ctx, token| {
            let buffer = token.upload(&[1u8, 2])?;
            let mut other = ctx.zeros::<u8>(2)?;
            other.copy_from(&buffer)?; // one name
            other.to_vec()
        })?;
        assert_eq!(back, [1, 2]);
        Ok(())
    });
}

/// What can be borrowed for the whole of an entry is never given back: it may be stored.
#[test]
fn a_leaked_borrow_is_valid_in_later_entries() {
    struct Lent<'ctx>(&'ctx mut Buffer<'ctx, u32>);
    family!(Lent);
    let driver = simulated(Simulation::default());
    let lent = driver
        .with_device(0, |ctx| {
            let leaked = Box::leak(Box::new(ctx.upload(&[1u32, 2])?));
            Ok(ctx.detach(Lent(leaked)))
        })
        .unwrap();
    let mut lent = lent;
    for round in 0..3 {
        lent.with_mut(|_, Lent(buffer)| buffer.fill(round)).unwrap();
        let back = lent.with(|_, Lent(buffer)| buffer.to_vec()).unwrap();
        assert_eq!(back, [round; 2]);
    }
    drop(lent);
    let machine = driver.machine().unwrap();
    let live = machine.live();
    assert_eq!(
        (live.allocations, live.retains),
        (1, 0),
        "leaked, and nothing else"
    );
    assert_eq!(machine.violations(), Vec::<String>::new());
}

/// A family that says something else than it is called: whatever it names is checked as itself.
#[test]
fn a_family_that_lies_gains_nothing() {
    struct Liar;
    impl Family for Liar {
        type In<'ctx> = Option<&'static str>;
    }
    struct Says(Option<&'static str>);
    struct OfNothing;
    impl Family for OfNothing {
        type In<'ctx> = Says;
    }
    impl<'ctx> scoped_cuda::Attached<'ctx> for Says {
        type Family = OfNothing;
    }
    fn is_family<F: Family>() {}
    is_family::<Liar>();
    on_driver(|driver| {
        let mut value = driver.with_device(0, |ctx| Ok(ctx.detach(Says(None))))?;
        value.with_mut(|_, value| {
            value.0 = Some("no lifetime at all");
            Ok(())
        })?;
        assert_eq!(
            value.with(|_, value| Ok(value.0))?,
            Some("no lifetime at all")
        );
        Ok(())
    });
}

/// A closure that captured something of one entry, called in another.
#[test]
fn a_closure_that_captured_its_context_runs_in_later_entries() {
    struct Step<'ctx>(Box<dyn FnMut() -> Result<Vec<u32>> + Send + 'ctx>);
    family!(Step);
    on_driver(|driver| {
        let mut step = driver.with_device(0, |ctx| {
            let (stream, mut buffer) = (ctx.new_stream()?, ctx.zeros::<u32>(2)?);
            let mut calls = 0;
            let step = move || {
                calls += 1;
                stream.scope(|s| s.fill(&mut buffer.lend(s), calls))?;
                let fresh = ctx.upload(&[calls])?.to_vec()?;
                Ok([buffer.to_vec()?, fresh].concat())
            };
            Ok(ctx.detach(Step(Box::new(step))))
        })?;
        for calls in 1..4 {
            assert_eq!(step.with_mut(|_, step| (step.0)())?, [calls; 3]);
        }
        Ok(())
    });
}

/// What a destructor has read.
type Seen = Arc<Mutex<Vec<Result<Vec<u32>>>>>;

/// A struct whose own destructor uses the device.
struct Reads<'ctx> {
    buffer: Buffer<'ctx, u32>,
    seen: Seen,
    panics: bool,
}
family!(Reads);

impl Drop for Reads<'_> {
    fn drop(&mut self) {
        let again = self.buffer.context().owner();
        let read = again.with(|_| self.buffer.to_vec());
        self.seen.lock().unwrap().push(read);
        assert!(!self.panics, "dropped");
    }
}

fn reads(driver: Driver, panics: bool) -> Result<(Detached<Reads<'static>>, Seen)> {
    let seen = Seen::default();
    let value = driver.with_device(0, |ctx| {
        let (buffer, seen) = (ctx.upload(&[4u32, 5])?, Arc::clone(&seen));
        Ok(ctx.detach(Reads {
            buffer,
            seen,
            panics,
        }))
    })?;
    Ok((value, seen))
}

/// C4: the context is there while a destructor of the user's runs, wherever that is.
#[test]
fn a_destructor_of_the_users_finds_its_context() {
    on_driver(|driver| {
        let (value, seen) = reads(driver, false)?;
        thread::spawn(move || drop(value)).join().unwrap();
        assert_eq!(*seen.lock().unwrap(), [Ok(vec![4, 5])]);
        let (value, seen) = reads(driver, true)?;
        let panic = catch_unwind(AssertUnwindSafe(|| drop(value))).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"dropped"));
        assert_eq!(*seen.lock().unwrap(), [Ok(vec![4, 5])]);
        if let Some(machine) = driver.machine() {
            assert_eq!(machine.live(), Default::default(), "also after the panic");
        }
        Ok(())
    });
}

/// C11: dropped where no driver call is allowed, it is put aside, and the end of the scope drops
/// it.
#[test]
fn a_value_dropped_in_a_host_function_is_dropped_by_the_scope() {
    on_driver(|driver| {
        for panics in [false, true] {
            let (value, seen) = reads(driver, panics)?;
            let in_function = Arc::clone(&seen);
            driver.with_device(second(driver)?, |ctx| {
                let stream = ctx.new_stream()?;
                stream.scope(|s| {
                    s.host(move || {
                        assert_eq!(
                            value.with(|_, value| value.buffer.to_vec()),
                            Err(Error::InsideHostFunction)
                        );
                        drop(value);
                        assert_eq!(in_function.lock().unwrap().len(), 0, "not here");
                    })
                })
            })?;
            assert_eq!(*seen.lock().unwrap(), [Ok(vec![4, 5])]);
        }
        Ok(())
    });
}

#[test]
fn a_value_of_a_context_that_was_reset_says_so_and_is_dropped_quietly() {
    let driver = simulated(Simulation::default());
    let machine = driver.machine().unwrap();
    let value = numbers(driver, 0, &[1]).unwrap();
    machine.reset_primary(0);
    let lost = Error::ContextLost { ordinal: 0 };
    assert_eq!(value.with(|_, value| value.to_vec()), Err(lost));
    let again = driver.retain(0).unwrap();
    let refused = again.with(|ctx| value.get(ctx).map(drop));
    assert_eq!(refused, Err(Error::WrongContext { of: 0, entered: 0 }));
    drop((value, again));
    assert_eq!(machine.live().allocations, 0);
    assert_eq!(machine.violations(), Vec::<String>::new());
}

struct Told(AtomicUsize, mpsc::Sender<()>);

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        let sender = self.1.clone();
        drop(self);
        sender.send(()).unwrap();
    }
}

fn told() -> (Waker, mpsc::Receiver<()>) {
    let (sender, receiver) = mpsc::channel();
    (
        Waker::from(Arc::new(Told(AtomicUsize::new(0), sender))),
        receiver,
    )
}

type Copy = OwnedCopy<'static, u32>;

fn upload(driver: Driver) -> Result<(Gate, Detached<Copy>)> {
    driver.with_device(0, |ctx| {
        let stream = ctx.new_stream()?;
        let (host, device) = (ctx.pinned_from(&[1u32, 2, 3])?, ctx.zeros(3)?);
        let gate = Gate::close(&stream);
        Ok((gate, ctx.detach(stream.upload_owned(host, device)?)))
    })
}

#[test]
fn a_copy_in_flight_is_a_future_of_any_task() {
    fn is_task(_: &(impl Future + Send + 'static)) {}
    on_driver(|driver| {
        let (gate, copy) = upload(driver)?;
        let (waker, woken) = told();
        let future = async move {
            let sides: Detached<(PinnedBuffer<'static, u32>, Numbers)> = copy.await?;
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
                Poll::Ready(sides) => sides,
                Poll::Pending => panic!("it was woken"),
            }
        });
        receiver.recv().unwrap();
        gate.open();
        let sides = worker.join().unwrap()?;
        assert_eq!(sides, (vec![1, 2, 3], vec![1, 2, 3]));
        Ok(())
    });
}

/// Cancelled: the context has the memory until the copy is done, and goes with it.
#[test]
fn a_future_that_is_dropped_in_flight_leaves_its_memory_to_the_context() {
    on_driver(|driver| {
        let gpu = driver.retain(0)?;
        let (gate, mut copy) = upload(driver)?;
        let (waker, _woken) = told();
        assert!(
            Pin::new(&mut copy)
                .poll(&mut Task::from_waker(&waker))
                .is_pending()
        );
        drop(copy);
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
fn a_future_polled_in_a_host_function_makes_no_call() {
    on_driver(|driver| {
        let (gate, mut copy) = upload(driver)?;
        gate.open();
        let (sender, receiver) = mpsc::channel();
        driver.with_device(0, |ctx: Context<'_>| {
            ctx.new_stream()?.scope(|s| {
                s.host(move || {
                    let mut task = Task::from_waker(Waker::noop());
                    let polled = Pin::new(&mut copy)
                        .poll(&mut task)
                        .map(|done| done.map(drop));
                    sender.send((polled, copy)).unwrap();
                })
            })
        })?;
        let (polled, copy) = receiver.recv().unwrap();
        assert_eq!(polled, Poll::Ready(Err(Error::InsideHostFunction)));
        let back = driver.with_device(0, |ctx| copy.into_inner(ctx)?.wait()?.1.to_vec())?;
        assert_eq!(back, [1, 2, 3]);
        Ok(())
    });
}
