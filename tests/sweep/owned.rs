//! What outlives closures: owned contexts.

use crate::Program;
use scoped_cuda::{Buffer, Context, Driver, Plain, Result, Stream, family};
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::time::Duration;

pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("an owned context", owned_context),
    (
        "an owner that goes in a host function",
        owner_in_a_host_function,
    ),
    ("detached values", detached_values),
    ("a detached copy", detached_copy),
    ("submitted work", |driver| driver.with_device(0, submitted)),
    ("submitted work on two streams", |driver| {
        driver.with_device(0, submitted_on_two_streams)
    }),
    ("submitted work awaited", |driver| {
        driver.with_device(0, awaited)
    }),
    ("submitted work dropped", |driver| {
        driver.with_device(0, dropped)
    }),
    ("submitted work that fails", |driver| {
        driver.with_device(0, fails)
    }),
];

fn owned_context(driver: Driver) -> Result<()> {
    let gpu = driver.retain(0)?;
    let sum = gpu.with(|ctx| {
        let numbers = ctx.upload(&[1u32, 2])?.to_vec()?;
        // Again, under another name, and by the device.
        gpu.with(|again| again.zeros::<u8>(4).map(drop))?;
        driver.with_device(0, |third| third.zeros::<u8>(4).map(drop))?;
        Ok(numbers[0] + numbers[1])
    })?;
    assert_eq!(sum, 3);
    let kept = driver.with_device(0, |ctx| Ok(ctx.owner()))?;
    drop(gpu);
    kept.with(|ctx| {
        ctx.new_stream()?;
        Ok(())
    })
}

fn owner_in_a_host_function(driver: Driver) -> Result<()> {
    let gpu = driver.retain(0)?;
    driver.with_device(0, |ctx| {
        let stream = ctx.new_stream()?;
        stream.scope(|s| s.host(move || drop(gpu)))
    })
}

struct Pair<'ctx> {
    stream: Stream<'ctx>,
    buffer: Buffer<'ctx, u32>,
}
family!(Pair);

fn detached_values(driver: Driver) -> Result<()> {
    let mut pair = driver.with_device(0, |ctx| {
        let (stream, buffer) = (ctx.new_stream()?, ctx.zeros(2)?);
        Ok(ctx.detach(Pair { stream, buffer }))
    })?;
    pair.with_mut(|_, Pair { stream, buffer }| stream.scope(|s| s.fill(&mut buffer.lend(s), 7)))?;
    let other = driver.with_device(1, |other| {
        assert!(pair.get(other).is_err());
        Ok(other.detach(other.zeros::<u8>(1)?))
    })?;
    let back = pair.with(|_, pair| pair.buffer.to_vec())?;
    assert_eq!(back, [7, 7]);
    // Dropped where no call may be made.
    let (sender, receiver) = mpsc::channel();
    sender.send(pair).unwrap();
    other.with(|ctx, _| {
        let stream = ctx.new_stream()?;
        stream.scope(|s| s.host(move || drop(receiver.recv())))
    })
}

fn detached_copy(driver: Driver) -> Result<()> {
    let copy = driver.with_device(0, |ctx| {
        let stream = ctx.new_stream()?;
        let (host, device) = (ctx.pinned_from(&[1u32, 2])?, ctx.zeros(2)?);
        Ok(ctx.detach(stream.upload_owned(host, device)?))
    })?;
    let (_host, device) = copy.owner().clone().with(|ctx| {
        let (host, device) = copy.into_inner(ctx)?.wait()?;
        Ok((ctx.detach(host), ctx.detach(device)))
    })?;
    assert_eq!(device.with(|_, device| device.to_vec())?, [1, 2]);
    Ok(())
}

fn submitted(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.new_stream()?;
    let owned = (ctx.zeros::<u32>(2)?, ctx.pinned_zeros::<u32>(2)?);
    let work = stream.submit(owned, |s, (device, host)| {
        let mut device = device.lend(s);
        s.fill(&mut device, 7)?;
        s.host(|| ())?;
        s.read(&device, host)
    });
    // What does not begin, or not as a whole, gives back what it owns.
    let work = work.map_err(|refused| {
        if let Ok((device, host)) = refused.begun.wait() {
            assert_eq!((device.len(), host.len()), (2, 2));
        }
        refused.error
    })?;
    // Asks once, whatever the answer is.
    work.wait_for(Duration::ZERO)?;
    let (_, host) = work.wait()?;
    assert_eq!(*host, [7, 7]);
    Ok(())
}

fn submitted_on_two_streams(ctx: Context<'_>) -> Result<()> {
    let owned = (
        [ctx.new_stream()?, ctx.new_stream()?],
        ctx.zeros::<u32>(2)?,
        ctx.pinned_zeros::<u32>(2)?,
    );
    let work = ctx.submit(owned, |scope, ([first, second], device, host)| {
        scope.on(first, |a| {
            let mut device = device.lend(a);
            a.fill(&mut device, 7)?;
            scope.on(second, |b| b.read(&device.hand_over(a, b)?, host))
        })
    })?;
    let (_, _, host) = work.wait()?;
    assert_eq!(*host, [7, 7]);
    Ok(())
}

/// Whatever fails, the future is woken or says so when it is polled: nothing hangs.
fn awaited(ctx: Context<'_>) -> Result<()> {
    struct Told(mpsc::Sender<()>);
    impl Wake for Told {
        fn wake(self: Arc<Self>) {
            let _ = self.0.send(());
        }
    }
    let (sender, woken) = mpsc::channel();
    let waker = Waker::from(Arc::new(Told(sender)));
    let mut task = Task::from_waker(&waker);
    let (stream, owned) = (ctx.new_stream()?, ctx.zeros::<u32>(2)?);
    let paused = crate::pending::pause(ctx);
    let mut work = stream.submit(owned, |s, own| s.fill(&mut own.lend(s), 7))?;
    let mut ended = Pin::new(&mut work).poll(&mut task);
    drop(paused);
    if ended.is_pending() {
        woken.recv().unwrap();
        ended = Pin::new(&mut work).poll(&mut task);
    }
    let Poll::Ready(ended) = ended else {
        panic!("it was woken before the end")
    };
    assert_eq!(ended?.to_vec()?, [7, 7]);
    Ok(())
}

/// The memory of work that nobody waits for is freed, by the next work or by the end of the
/// context.
fn dropped(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.new_stream()?;
    for _ in 0..2 {
        let owned = (ctx.zeros::<u32>(2)?, ctx.pinned_zeros::<u32>(2)?);
        let paused = crate::pending::pause(ctx);
        drop(stream.submit(owned, |s, (device, host)| s.read(&device.lend(s), host))?);
        drop(paused);
        stream.scope(|_| Ok(()))?;
    }
    Ok(())
}

fn fails(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.new_stream()?;
    let owned = (ctx.zeros::<u32>(2)?, Plain(vec![1, 2, 3]));
    let refused = stream.submit(owned, |s, (device, host)| {
        let mut device = device.lend(s);
        s.fill(&mut device, 7)?;
        s.write(&host.0, &mut device)
    });
    let refused = *refused.unwrap_err();
    if !matches!(refused.error, scoped_cuda::Error::LengthMismatch { .. }) {
        return Err(refused.error);
    }
    let (device, host) = refused.begun.wait()?;
    assert_eq!((device.to_vec()?, host.0), (vec![7, 7], vec![1, 2, 3]));
    Ok(())
}
