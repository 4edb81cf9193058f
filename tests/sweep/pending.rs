//! Copies that own both sides and outlive their scope.

use crate::Program;
use scoped_cuda::{Context, Result};
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::time::Duration;

pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("owned copies", |driver| driver.with_device(0, owned_copies)),
    ("owned copies awaited", |driver| {
        driver.with_device(0, awaited_copies)
    }),
    ("owned copies dropped", |driver| {
        driver.with_device(0, dropped_copies)
    }),
];

fn owned_copies(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.new_stream()?;
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

/// Lets no work run until the sender is dropped; for a while only, because a copy that fails to
/// begin waits for its stream.
pub(crate) fn pause(ctx: Context<'_>) -> Option<mpsc::Sender<()>> {
    let paused = ctx.driver().machine()?.pause();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = receiver.recv_timeout(Duration::from_millis(100));
        drop(paused);
    });
    Some(sender)
}

/// Whatever fails, the future is woken or says so when it is polled: nothing hangs. Nothing runs
/// between the polls but what is meant to, so that the calls are the same each time.
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
    let stream = ctx.new_stream()?;
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
    let stream = ctx.new_stream()?;
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
