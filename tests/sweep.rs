//! Every driver call of representative programs fails in turn, on the simulated driver: nothing panics, nothing is left behind but
//! what the failed call itself makes unavoidable, the error names the call, and the thread's context stack is as before.
//! Claims C3, C4, C5, C6, C10.

#![allow(unsafe_code)] // launches

mod common;

use common::{PTX, simulated, stack};
use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::{Live, Simulation};
use scoped_cuda::{
    Advice, Context, Driver, Error, Extent, HostRows, HostRowsMut, In, InOut, LaunchConfig, Result,
    Side, StreamOptions, Transfer, scope,
};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::time::Duration;

type Program = fn(Driver) -> Result<()>;

/// What a program panics with on purpose.
const ON_PURPOSE: &str = "on purpose";

/// Each operation of the crate is in one of these.
const PROGRAMS: &[(&str, Program)] = &[
    ("devices", devices),
    ("memory at rest", |driver| {
        driver.with_device(0, memory_at_rest)
    }),
    ("memory at rest, another context current", |driver| {
        driver.with_device(0, |ctx| driver.with_device(1, |_| memory_at_rest(ctx)))
    }),
    ("memory at rest, no context current", |driver| {
        driver.with_device(0, on_a_thread)
    }),
    ("host memory", |driver| driver.with_device(0, host_memory)),
    ("host memory, another context current", |driver| {
        driver.with_device(0, |ctx| driver.with_device(1, |_| host_memory(ctx)))
    }),
    ("managed memory", |driver| {
        driver.with_device(0, managed_memory)
    }),
    ("managed memory, another context current", |driver| {
        driver.with_device(0, |ctx| driver.with_device(1, |_| managed_memory(ctx)))
    }),
    ("closing host memory", |driver| {
        driver.with_device(0, closing_host_memory)
    }),
    ("rows at rest", |driver| driver.with_device(0, rows_at_rest)),
    ("rows at rest, another context current", |driver| {
        driver.with_device(0, |ctx| driver.with_device(1, |_| rows_at_rest(ctx)))
    }),
    ("rows in scopes", |driver| {
        driver.with_device(0, rows_in_scopes)
    }),
    ("closing", |driver| driver.with_device(0, closing)),
    ("one stream", |driver| driver.with_device(0, one_stream)),
    ("two streams", |driver| driver.with_device(0, two_streams)),
    ("events", |driver| driver.with_device(0, events)),
    ("events of two contexts", |driver| {
        driver.with_device(0, |a| driver.with_device(1, |b| events_of_two(a, b)))
    }),
    ("memory made in a scope", |driver| {
        driver.with_device(0, memory_made_in_a_scope)
    }),
    ("kernels", |driver| driver.with_device(0, kernels)),
    ("host functions", |driver| {
        driver.with_device(0, host_functions)
    }),
    ("owned copies", |driver| driver.with_device(0, owned_copies)),
    ("owned copies awaited", |driver| {
        driver.with_device(0, awaited_copies)
    }),
    ("owned copies dropped", |driver| {
        driver.with_device(0, dropped_copies)
    }),
    ("transfers", |driver| {
        driver.with_device(0, |a| driver.with_device(1, |b| transfers(a, b)))
    }),
    ("a panic in a scope", |driver| {
        driver.with_device(0, panicking)
    }),
    ("an error in a scope", |driver| {
        driver.with_device(0, |ctx| match failing(ctx) {
            Err(Error::NoDevice) => Ok(()),
            other => other,
        })
    }),
];

#[test]
fn programs_run_when_nothing_fails() {
    for (name, program) in PROGRAMS {
        let driver = simulated(simulation());
        assert_eq!(run(driver, *program), Outcome::Returned(Ok(())), "{name}");
        assert_eq!(driver.machine().unwrap().live(), Live::default(), "{name}");
        assert_eq!(driver.take_teardown_errors(), [], "{name}");
    }
}

#[test]
fn any_call_may_fail() {
    for code in [
        CUresult::UNKNOWN,
        CUresult::OUT_OF_MEMORY,
        CUresult::INVALID_HANDLE,
    ] {
        for_each_call(code, |what, driver, outcome, failed| {
            let machine = driver.machine().unwrap();
            let mut named: Vec<Error> = driver
                .take_teardown_errors()
                .into_iter()
                .map(|entry| entry.error)
                .collect();
            let Outcome::Returned(result) = outcome else {
                panic!("{what}: {outcome:?}")
            };
            let was_told = result.is_err();
            named.extend(result.err());
            let is_named = named.iter().any(|error| names(error, failed));
            // The question whether a context is still alive is asked on the side; without an answer the operation itself decides.
            assert!(is_named || failed == "cuCtxGetId", "{what}: {named:?}");
            assert_eq!(machine.violations(), Vec::<String>::new(), "{what}");
            assert_left_behind(&what, machine.live(), failed, was_told);
        });
    }
}

/// After a fault nothing is asked of the driver but what puts the thread and the retain count right.
#[test]
fn any_call_may_be_the_one_that_reports_a_fault() {
    for_each_call(
        CUresult::ILLEGAL_ADDRESS,
        |what, driver, outcome, failed| {
            let fault = driver
                .fault()
                .unwrap_or_else(|| panic!("{what}: no fault is kept"));
            assert_eq!(
                (fault.call(), fault.code()),
                (failed, CUresult::ILLEGAL_ADDRESS),
                "{what}"
            );
            let Outcome::Returned(result) = outcome else {
                panic!("{what}: {outcome:?}")
            };
            // The last calls of a program are in destructors, which are quiet.
            match result {
                Ok(()) => {}
                Err(error) => assert!(names(&error, failed), "{what}: {error}"),
            }
            assert_eq!(
                driver.take_teardown_errors(),
                [],
                "{what}: teardown is quiet"
            );
            let machine = driver.machine().unwrap();
            machine.clear_trace();
            let error = driver.with_device(0, |_| Ok(())).unwrap_err();
            assert_eq!(error, Error::Poisoned { first: fault }, "{what}");
            assert_eq!(
                machine.trace(),
                Vec::<&str>::new(),
                "{what}: the driver is not asked again"
            );
            let unreleased = usize::from(failed == "cuDevicePrimaryCtxRelease");
            assert_eq!(machine.live().retains, unreleased, "{what}");
        },
    );
}

/// A driver that refuses memory is asked how much it has; what that question comes to does not hide the refusal.
#[test]
fn a_refusal_is_told_whatever_the_question_after_it_comes_to() {
    for (call, failed) in [(2, "cuCtxGetCurrent"), (3, "cuMemGetInfo")] {
        for code in [CUresult::UNKNOWN, CUresult::ILLEGAL_ADDRESS] {
            let driver = simulated(simulation());
            let machine = driver.machine().unwrap();
            let error = driver.with_device(0, |ctx| {
                machine.clear_trace();
                machine.fail_call(call, code);
                ctx.uninit::<u8>(1 << 40).map(drop)
            });
            let Err(Error::OutOfMemory {
                asked,
                free: None,
                source: Some(source),
                ..
            }) = error
            else {
                panic!("{failed}: {error:?}")
            };
            assert_eq!((asked, source.call()), (1 << 40, "cuMemAllocFromPoolAsync"));
            assert_eq!(machine.trace()[call as usize - 1], failed);
            assert_eq!(driver.fault().is_some(), code.is_sticky());
            let _ = driver.take_teardown_errors();
        }
    }
}

#[derive(PartialEq, Debug)]
enum Outcome {
    Returned(Result<()>),
    Panicked(String),
}

/// Runs each program once for each of its calls, with that call failing with `code`.
fn for_each_call(code: CUresult, check: impl Fn(String, Driver, Outcome, &'static str)) {
    for (name, program) in PROGRAMS {
        let clean = simulated(simulation());
        let machine = clean.machine().unwrap();
        let setup = machine.calls();
        run(clean, *program);
        let calls = machine.calls() - setup;
        assert!(calls > 10, "{name} makes {calls} calls");
        for call in 1..=calls {
            let driver = simulated(simulation());
            let machine = driver.machine().unwrap();
            machine.clear_trace();
            machine.fail_call(call, code);
            let outcome = run(driver, *program);
            let failed = machine.trace()[call as usize - 1];
            let what = format!(
                "{name}: call {call} of {calls}, {failed}, returned {}",
                code.0
            );
            assert_eq!(stack(driver), [], "{what}");
            check(what, driver, outcome, failed);
        }
    }
}

fn simulation() -> Simulation {
    Simulation {
        latency: Duration::from_micros(20),
        ..Simulation::default()
    }
}

fn run(driver: Driver, program: Program) -> Outcome {
    match catch_unwind(AssertUnwindSafe(|| program(driver))) {
        Ok(result) => Outcome::Returned(result),
        Err(panic) => match panic.downcast_ref::<&str>() {
            Some(&ON_PURPOSE) => Outcome::Returned(Ok(())),
            Some(text) => Outcome::Panicked((*text).to_owned()),
            None => Outcome::Panicked("not a &str".to_owned()),
        },
    }
}

/// Whether an error is about a failure of `call`.
fn names(error: &Error, call: &str) -> bool {
    match error {
        Error::BadPtx { reason, .. } => reason.contains(call),
        other => other
            .driver_error()
            .is_some_and(|error| error.call() == call),
    }
}

/// What stays behind when `failed` did not do its work; nothing else may.
fn assert_left_behind(what: &str, live: Live, failed: &str, was_told: bool) {
    // What a failed free, destroy or release leaves is what it was asked to remove.
    let expected = match failed {
        // An object that `close` could not free was handed back, and dropping it freed it.
        "cuMemFreeAsync" if was_told => Live::default(),
        "cuMemFreeAsync" => Live {
            allocations: 1,
            bytes: live.bytes,
            ..Live::default()
        },
        "cuMemPoolDestroy" => Live {
            pools: 1,
            ..Live::default()
        },
        "cuModuleUnload" => Live {
            modules: 1,
            ..Live::default()
        },
        "cuDevicePrimaryCtxRelease" => Live {
            retains: 1,
            contexts: 1,
            ..Live::default()
        },
        // Streams and events end with their context at the latest.
        _ => Live::default(),
    };
    // A module ends with its context too.
    let expected = if failed == "cuModuleUnload" && live.modules == 0 {
        Live::default()
    } else {
        expected
    };
    assert_eq!(live, expected, "{what}");
}

fn devices(driver: Driver) -> Result<()> {
    for device in driver.devices()? {
        device.name()?;
        device.uuid()?;
        device.compute_capability()?;
        device.total_memory()?;
        device.free_memory()?;
        device.pci_bus_id()?;
    }
    let (first, second) = (driver.device(0)?, driver.device(1)?);
    first.can_access(second)?;
    first.peer_performance_rank(second)?;
    first.peer_atomics(second).map(drop)
}

fn memory_at_rest(ctx: Context<'_>) -> Result<()> {
    ctx.free_memory()?;
    let source = ctx.upload(&[1u32, 2, 3, 4])?;
    let mut buffer = ctx.zeros::<u32>(4)?;
    buffer.copy_from(&source)?;
    buffer.slice_mut(1..3)?.write(&[7, 8])?;
    assert_eq!(buffer.to_vec()?, [1, 7, 8, 4]);
    for byte in ctx.filled(3, 9u8)?.to_vec()? {
        assert_eq!(byte, 9);
    }
    ctx.filled(3, 9u16)?;
    ctx.filled(3, 9.0f64)?;
    ctx.memory_usage()?;
    ctx.trim_memory(0)?;
    ctx.uninit::<u8>(1000).map(drop)
}

fn host_memory(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.stream()?;
    let source = ctx.pinned_from(&[1u32, 2, 3, 4])?;
    let mut back = ctx.pinned_zeros::<u32>(4)?;
    let mut buffer = ctx.zeros::<u32>(4)?;
    let mut combined = ctx.write_combined_from(&[0u32; 4])?;
    combined.write(&source)?;
    stream.scope(|s| {
        let mut buffer = s.lend(&mut buffer);
        s.write(&combined, &mut buffer)?;
        s.read(&buffer, &mut back)
    })?;
    assert_eq!(*back, *source);
    stream.scope(|s| {
        let mut back = s.lend_pinned(&mut back)?;
        s.fill(&mut back.slice_mut(2..)?, 9)
    })?;
    assert_eq!(*back, [1, 2, 9, 9]);
    let mut host = [0u32; 4];
    let sum = ctx.with_registered(&mut host, |host| {
        stream.scope(|s| s.read(back.mapped()?, host))?;
        Ok(host.iter().sum::<u32>())
    })?;
    assert_eq!((sum, host), (21, [1, 2, 9, 9]));
    Ok(())
}

fn managed_memory(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.stream()?;
    let mut managed = ctx.managed_from(&[1u32, 2, 3, 4])?;
    managed.advise(Advice::PreferredLocation(Some(Side::Device)))?;
    managed.prefetch(Side::Device)?;
    stream.scope(|s| {
        let mut managed = s.lend_managed(&mut managed);
        s.fill(&mut managed.slice_mut(2..)?, 9)?;
        s.prefetch(&managed, Side::Host)
    })?;
    assert_eq!(managed.as_slice()?, [1, 2, 9, 9]);
    managed.as_mut_slice()?.copy_from_slice(&[5; 4]);
    let zeros = ctx.managed_zeros::<u32>(4)?;
    managed.view_mut().copy_from(&zeros.view())?;
    assert_eq!(managed.as_slice()?, [0; 4]);
    Ok(())
}

/// As [`closing`].
fn closing_host_memory(ctx: Context<'_>) -> Result<()> {
    let pinned = ctx.pinned_from(&[1u8, 2])?;
    if let Err((pinned, error)) = pinned.close() {
        assert_eq!(*pinned, [1, 2]);
        return Err(error);
    }
    let managed = ctx.managed_from(&[1u8, 2])?;
    if let Err((managed, error)) = managed.close() {
        if ctx.driver().fault().is_none() {
            assert_eq!(managed.as_slice()?, [1, 2]);
        }
        return Err(error);
    }
    Ok(())
}

fn rows_at_rest(ctx: Context<'_>) -> Result<()> {
    let (image, volume) = (Extent::new(3, 2), Extent::new(3, 2).slices(2));
    for extent in [image, volume] {
        let host: Vec<u32> = (0..extent.elements().unwrap() as u32).collect();
        let source = ctx.upload_pitched(&host, extent)?;
        let mut rows = ctx.pitched_zeros::<u32>(extent)?;
        rows.copy_from(&source)?;
        rows.region_mut(..1, 1.., ..)?.fill(9)?;
        let mut strided = vec![7; 10 * extent.height * extent.depth];
        rows.read(HostRowsMut::strided(&mut strided, extent, 10)?)?;
        assert_eq!(strided[..14], [0, 1, 2, 7, 7, 7, 7, 7, 7, 7, 9, 4, 5, 7]);
        rows.write(HostRows::strided(&strided, extent, 10)?)?;
        assert_eq!(rows.to_vec()?[..6], [0, 1, 2, 9, 4, 5]);
    }
    ctx.pitched_zeros::<u8>(image)?.fill(1)?;
    ctx.pitched_zeros::<u16>(volume)?.fill(1)?;
    let rows = ctx.pitched_zeros::<u8>(image)?;
    if let Err((rows, error)) = rows.close() {
        if ctx.driver().fault().is_none() {
            assert_eq!(rows.to_vec()?, [0; 6]);
        }
        return Err(error);
    }
    Ok(())
}

fn rows_in_scopes(ctx: Context<'_>) -> Result<()> {
    let (first, second) = (ctx.stream()?, ctx.stream()?);
    let extent = Extent::new(3, 2).slices(2);
    let (source, mut back) = ([4u32; 12], [0; 12]);
    let mut rows = ctx.pitched_zeros::<u32>(extent)?;
    scope(|scope| {
        scope.on(&first, |a| {
            let mut scratch = a.pitched_zeros::<u32>(extent)?;
            let mut lent = a.lend_pitched(&mut rows);
            a.write_rows(&source, &mut lent)?;
            a.fill_rows(&mut lent.region_mut(.., ..1, ..)?, 5)?;
            a.copy_rows(&lent, &mut scratch)?;
            scope.on(&second, |b| {
                let scratch = b.take(a, scratch)?;
                b.read_rows(&scratch, &mut back)
            })
        })
    })?;
    assert_eq!(back, [5, 5, 5, 4, 4, 4, 5, 5, 5, 4, 4, 4]);
    Ok(())
}

fn on_a_thread(ctx: Context<'_>) -> Result<()> {
    std::thread::scope(|threads| {
        let worker = threads.spawn(|| {
            let result = memory_at_rest(ctx);
            // Not a driver call: that would be one more to fail.
            assert_eq!(
                ctx.driver().machine().map(|machine| machine.stack_depth()),
                Some(0)
            );
            result
        });
        worker.join().unwrap()
    })
}

/// B147: an object that could not be closed comes back and is still what it was.
fn closing(ctx: Context<'_>) -> Result<()> {
    let buffer = ctx.upload(&[1u8, 2])?;
    if let Err((buffer, error)) = buffer.close() {
        if ctx.driver().fault().is_none() {
            assert_eq!(buffer.to_vec()?, [1, 2]);
        }
        return Err(error);
    }
    let stream = ctx.stream()?;
    if let Err((stream, error)) = stream.close() {
        if ctx.driver().fault().is_none() {
            stream.scope(|_| Ok(()))?;
        }
        return Err(error);
    }
    for event in [ctx.event()?, ctx.event()?] {
        if let Err((event, error)) = event.close() {
            assert_eq!(event.is_complete(), Err(Error::EventNotRecorded));
            return Err(error);
        }
    }
    ctx.timed_event()?.close().map_err(|(_, error)| error)
}

fn one_stream(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.stream()?;
    let mut buffer = ctx.zeros::<u32>(4)?;
    let (source, mut back) = ([1, 2, 3, 4], [0; 4]);
    stream.scope(|s| {
        let mut lent = s.lend(&mut buffer);
        s.write(&source, &mut lent)?;
        let mut scratch = s.zeros::<u32>(4)?;
        s.copy(&lent, &mut scratch)?;
        s.fill(&mut lent, 5)?;
        s.fill(&mut s.zeros::<u16>(4)?, 5)?;
        s.fill(&mut s.zeros::<u8>(4)?, 5)?;
        s.read(&scratch, &mut back)
    })?;
    assert_eq!(back, source);
    Ok(())
}

fn two_streams(ctx: Context<'_>) -> Result<()> {
    let (first, second) = (ctx.stream()?, ctx.stream()?);
    let mut back = [0; 4];
    scope(|scope| {
        scope.on(&first, |a| {
            let mut memory = a.zeros::<u32>(4)?;
            a.fill(&mut memory, 6)?;
            scope.on(&second, |b| {
                let memory = b.take(a, memory)?;
                b.read(&memory, &mut back)
            })
        })
    })?;
    assert_eq!(back, [6; 4]);
    Ok(())
}

fn events(ctx: Context<'_>) -> Result<()> {
    let (first, event) = (ctx.stream()?, ctx.event()?);
    let second = ctx.stream_with(StreamOptions {
        priority: -1,
        name: Some("second"),
    })?;
    let (start, end) = (ctx.timed_event()?, ctx.timed_event()?);
    let mut buffer = ctx.zeros::<u32>(4)?;
    scope(|scope| {
        scope.on(&first, |s| {
            s.record(&start)?;
            s.fill(&mut s.lend(&mut buffer), 1)?;
            s.record(&event)
        })?;
        scope.on(&second, |s| {
            s.wait(&event)?;
            s.record(&end)
        })?;
        event.is_complete()?;
        first.is_idle()?;
        end.synchronize()
    })?;
    end.elapsed_since(&start).map(drop)
}

fn events_of_two(a: Context<'_>, b: Context<'_>) -> Result<()> {
    let (of_a, of_b, event) = (a.stream()?, b.stream()?, a.event()?);
    scope(|scope| {
        scope.on(&of_a, |s| s.record(&event))?;
        scope.on(&of_b, |s| s.wait(&event))
    })
}

fn memory_made_in_a_scope(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.stream()?;
    let host = [1u32, 2, 3, 4];
    let mut buffer = ctx.zeros::<u32>(4)?;
    let (made, early) = stream.scope(|s| {
        let made = s.upload(&host)?;
        let mut lent = s.lend(&mut buffer);
        s.copy(&made, &mut lent)?;
        let early = s.finish(lent)?.view().to_vec()?;
        let memory = s.uninit(4)?;
        drop(s.write_init(&host, memory)?);
        Ok((s.finish(made)?, early))
    })?;
    assert_eq!((made.to_vec()?, early), (host.to_vec(), host.to_vec()));
    Ok(())
}

fn kernels(ctx: Context<'_>) -> Result<()> {
    let module = ctx.load_ptx(PTX)?;
    module.parameters("add")?;
    let add = module.kernel::<(In<u32>, InOut<u32>, u32)>("add")?;
    drop(module);
    let stream = ctx.stream()?;
    let x = ctx.filled(4, 1u32)?;
    let mut y = ctx.filled(4, 2u32)?;
    stream.scope(|s| {
        let mut y = s.lend(&mut y);
        // SAFETY: `add` stays below 4, which both have.
        unsafe { s.launch(&add, LaunchConfig::for_elements(4), (&x, &mut y, 4)) }
    })?;
    assert_eq!(y.to_vec()?, [3; 4]);
    Ok(())
}

/// B152: whether it was called, refused or given up, a host function is dropped, before its scope returns.
fn host_functions(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.stream()?;
    let mut buffer = ctx.zeros::<u32>(4)?;
    let held = Arc::new(());
    let result = stream.scope(|s| {
        let mut lent = s.lend(&mut buffer);
        for i in 0..3 {
            s.fill(&mut lent, i)?;
            let held = Arc::clone(&held);
            s.host(move || drop(held))?;
        }
        Ok(())
    });
    assert_eq!(Arc::strong_count(&held), 1);
    result
}

fn owned_copies(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.stream()?;
    let (host, device) = (ctx.pinned_from(&[1u32, 2])?, ctx.zeros(2)?);
    // What does not begin gives both sides back, as they were.
    let upload = stream.upload_owned(host, device).map_err(|refused| {
        assert_eq!(*refused.host, [1, 2]);
        refused.error
    })?;
    upload.is_complete()?;
    let (mut host, device) = upload.wait()?;
    host.fill(0);
    let (host, _) = stream.download_owned(host, device)?.wait()?;
    assert_eq!(*host, [1, 2]);
    Ok(())
}

/// Lets no work run until the sender is dropped; for a while only, because a copy that fails to begin waits for its stream.
fn pause(ctx: Context<'_>) -> Option<mpsc::Sender<()>> {
    let paused = ctx.driver().machine()?.pause();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = receiver.recv_timeout(Duration::from_millis(100));
        drop(paused);
    });
    Some(sender)
}

/// Whatever fails, the future is woken or says so when it is polled: nothing hangs. Nothing runs between the polls but what is meant
/// to, so that the calls are the same each time.
fn awaited_copies(ctx: Context<'_>) -> Result<()> {
    struct Told(mpsc::Sender<()>);
    impl Wake for Told {
        fn wake(self: Arc<Self>) {
            let _ = self.0.send(());
        }
    }
    let (sender, woken) = mpsc::channel();
    let waker = Waker::from(Arc::new(Told(sender)));
    let mut task = Task::from_waker(&waker);
    let stream = ctx.stream()?;
    let mut sides = (ctx.pinned_from(&[1u32, 2])?, ctx.zeros(2)?);
    for _ in 0..2 {
        let paused = pause(ctx);
        let mut upload = stream.upload_owned(sides.0, sides.1)?;
        let mut ended = Pin::new(&mut upload).poll(&mut task);
        drop(paused);
        if ended.is_pending() {
            woken.recv().unwrap();
            ended = Pin::new(&mut upload).poll(&mut task);
        }
        let Poll::Ready(ended) = ended else {
            panic!("it was woken before the end")
        };
        sides = ended?;
    }
    assert_eq!(sides.1.to_vec()?, [1, 2]);
    Ok(())
}

/// B68: the memory of cancelled copies is freed, by the next copy or by the end of the context.
fn dropped_copies(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.stream()?;
    let (host, device) = (ctx.pinned_from(&[1u32, 2])?, ctx.zeros(2)?);
    let paused = pause(ctx);
    drop(stream.upload_owned(host, device)?);
    drop(paused);
    let (host, device) = (ctx.pinned_from(&[1u32, 2])?, ctx.zeros(2)?);
    stream.scope(|_| Ok(()))?;
    let _paused = pause(ctx);
    drop(stream.download_owned(host, device)?);
    Ok(())
}

fn transfers(a: Context<'_>, b: Context<'_>) -> Result<()> {
    let source = a.upload(&[1u8, 2, 3])?;
    let mut destination = b.zeros::<u8>(3)?;
    let mut back = a.zeros::<u8>(3)?;
    Transfer::staged(a, b)?.copy(&source, &mut destination)?;
    Transfer::direct(b, a)?.copy(&destination, &mut back)?;
    assert_eq!(back.to_vec()?, [1, 2, 3]);
    let (of_a, of_b) = (a.stream()?, b.stream()?);
    let home = b.transfer_to(a)?;
    scope(|scope| {
        scope.on(&of_a, |on_a| {
            scope.on(&of_b, |on_b| {
                let mut destination = on_b.lend(&mut destination);
                on_b.fill(&mut destination, 4)?;
                home.enqueue(on_b, &destination, on_a, &mut on_a.lend(&mut back))
            })
        })
    })?;
    assert_eq!(back.to_vec()?, [4; 3]);
    Ok(())
}

/// The driver's failure is reported by a teardown or not at all: the panic goes first.
fn panicking(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.stream()?;
    let mut buffer = ctx.zeros::<u32>(4)?;
    stream.scope(|s| {
        let mut lent = s.lend(&mut buffer);
        let mut scratch = s.zeros::<u32>(4)?;
        s.fill(&mut scratch, 1)?;
        s.copy(&scratch, &mut lent)?;
        panic_any(ON_PURPOSE)
    })
}

fn failing(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.stream()?;
    let mut buffer = ctx.zeros::<u32>(4)?;
    stream.scope(|s| {
        s.fill(&mut s.lend(&mut buffer), 1)?;
        Err(Error::NoDevice)
    })
}
