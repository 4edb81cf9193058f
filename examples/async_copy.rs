//! Transfers as futures, under an executor of thirty lines: `cargo run --example async_copy`.
//!
//! Uses the real driver when the machine has one with a device, else the simulated one, and says
//! which.

mod common;

use scoped_cuda::sim::Simulation;
use scoped_cuda::{Context, Result, Stream};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{self, Poll, Wake, Waker};
use std::thread::{self, Thread};

const N: usize = 1 << 20;

fn main() -> Result<()> {
    let driver = common::driver(Simulation::default())?;
    driver.with_device(0, |ctx| {
        println!("device: {}", ctx.device().name()?);
        let streams = [ctx.new_stream()?, ctx.new_stream()?, ctx.new_stream()?];
        let round_trips = streams
            .iter()
            .zip(1u32..)
            .map(|(stream, seed)| round_trip(ctx, stream, seed));
        // The executor runs inside: futures carry the context's brand, and cannot leave it.
        let (results, polls) = block_on(join_all(round_trips));
        let bytes: usize = results.into_iter().sum::<Result<_>>()?;
        println!(
            "{bytes} bytes went there and back, each as it was; the task was polled {polls} times"
        );
        Ok(())
    })
}

/// Numbers to the device and back, through memory that each transfer owns while it runs.
async fn round_trip<'ctx>(ctx: Context<'ctx>, stream: &Stream<'ctx>, seed: u32) -> Result<usize> {
    let numbers: Vec<u32> = (0..N as u32).map(|i| i.wrapping_mul(seed)).collect();
    let host = ctx.pinned_from(&numbers)?;
    let (mut host, device) = stream.upload_owned(host, ctx.zeros(N)?)?.await?;
    host.fill(0);
    let (host, _) = stream.download_owned(host, device)?.await?;
    assert_eq!(*host, numbers);
    Ok(2 * host.size_bytes())
}

/// All futures side by side, in one task.
async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut pending: Vec<Pin<Box<F>>> = futures.map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = pending.iter().map(|_| None).collect();
    poll_fn(|task| {
        for (future, output) in pending.iter_mut().zip(&mut outputs) {
            if output.is_none() {
                if let Poll::Ready(value) = future.as_mut().poll(task) {
                    *output = Some(value);
                }
            }
        }
        match outputs.iter().all(Option::is_some) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread, which sleeps while there is nothing to do. Says how often it
/// polled.
fn block_on<F: Future>(future: F) -> (F::Output, usize) {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut task = task::Context::from_waker(&waker);
    let mut future = pin!(future);
    for polls in 1.. {
        if let Poll::Ready(output) = future.as_mut().poll(&mut task) {
            return (output, polls);
        }
        thread::park();
    }
    unreachable!("the future is polled until it is ready")
}
