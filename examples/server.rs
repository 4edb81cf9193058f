//! A long-lived service on several devices: `cargo run --example server`.
//!
//! Requests come over a channel. Each becomes a task that submits its work to a device and awaits
//! it, so a device has many requests in flight at once, and one thread for each device serves them
//! all. When the channel is closed, the threads finish what they have begun. The executor has forty
//! lines and could be any other. Uses the real driver when the machine has one with a device, else
//! the simulated one, and says which.

#![allow(unsafe_code)] // promises once what the kernel does

mod common;

use scoped_cuda::sim::Simulation;
use scoped_cuda::{
    Buffer, Detached, Driver, Error, In, InOut, LaunchConfig, OwnedContext, PinnedBuffer, Ptx,
    Result, SafeKernel, Stream, family, include_ptx,
};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

const SAXPY: Ptx<'_> = include_ptx!("saxpy.ptx");
const REQUESTS: u16 = 200;

type Saxpy<'ctx> = SafeKernel<'ctx, (In<f32>, InOut<f32>, f32, u32)>;

/// What a device has for all requests.
struct Parts<'ctx> {
    saxpy: Arc<Saxpy<'ctx>>,
    stream: Stream<'ctx>,
}
family!(Parts);

/// What one request uses. Work in flight owns it.
struct Job<'ctx> {
    saxpy: Arc<Saxpy<'ctx>>,
    numbers: PinnedBuffer<'ctx, f32>,
    x: Buffer<'ctx, f32>,
    y: Buffer<'ctx, f32>,
}
family!(Job);

#[derive(Clone)]
struct Gpu {
    context: OwnedContext,
    parts: Arc<Detached<Parts<'static>>>,
}

/// Numbers to be doubled, and where they go.
struct Request {
    numbers: Vec<f32>,
    reply: mpsc::Sender<Result<Vec<f32>>>,
}

impl Gpu {
    fn open(driver: Driver, ordinal: u32) -> Result<Self> {
        let context = driver.retain(ordinal)?;
        let parts = context.with(|ctx| {
            let saxpy = ctx.load_ptx(SAXPY)?.kernel("saxpy")?;
            // SAFETY: `saxpy` reads x and updates y at indices below n, and touches nothing else.
            let saxpy = unsafe {
                saxpy.assert_safe_when([("n is at most both lengths", |_, (x, y, _, n)| {
                    n as usize <= x && n as usize <= y
                })])
            };
            let (saxpy, stream) = (Arc::new(saxpy), ctx.new_stream()?);
            Ok(ctx.detach(Parts { saxpy, stream }))
        })?;
        let parts = Arc::new(parts);
        Ok(Self { context, parts })
    }

    /// A task of any executor: it borrows nothing, and holds no context over its `await`.
    async fn double(self, numbers: Vec<f32>) -> Result<Vec<f32>> {
        let work = self.context.with(|ctx| {
            let Parts { saxpy, stream } = self.parts.get(ctx)?;
            let n = numbers.len();
            let job = Job {
                saxpy: Arc::clone(saxpy),
                numbers: ctx.pinned_from(&numbers)?,
                x: ctx.zeros(n)?,
                y: ctx.zeros(n)?,
            };
            let work = stream.submit(job, |s, job| {
                let (mut x, mut y) = (job.x.lend(s), job.y.lend(s));
                s.write(&job.numbers, &mut x)?;
                let config = LaunchConfig::for_elements(n);
                job.saxpy.launch(s, config, (&x, &mut y, 2.0, n as u32))
            })?;
            Ok(ctx.detach(work))
        })?;
        let job = work.await?;
        job.with(|_, job| job.y.to_vec())
    }
}

/// Serves requests until there are no more, and all that were begun are done.
fn serve(gpu: &Gpu, requests: &Mutex<mpsc::Receiver<Request>>) -> usize {
    let (mut tasks, mut served) = (Tasks::new(), 0);
    let mut is_open = true;
    while is_open || !tasks.is_empty() {
        let next = requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .try_recv();
        match next {
            Ok(Request { numbers, reply }) => {
                let doubled = gpu.clone().double(numbers);
                tasks.spawn(async move {
                    // Whoever asked may have gone.
                    let _ = reply.send(doubled.await);
                });
            }
            Err(mpsc::TryRecvError::Disconnected) => is_open = false,
            Err(mpsc::TryRecvError::Empty) => thread::park_timeout(Duration::from_micros(50)),
        }
        served += tasks.poll();
    }
    served
}

/// Tasks of one thread, which polls them between requests.
struct Tasks {
    all: Vec<Pin<Box<dyn Future<Output = ()> + Send>>>,
    woken: Arc<Woken>,
}

/// Wakes the thread that polls.
struct Woken(Thread);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Tasks {
    fn new() -> Self {
        let woken = Arc::new(Woken(thread::current()));
        Self {
            all: Vec::new(),
            woken,
        }
    }

    fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.all.push(Box::pin(task));
    }

    /// Polls all, and says how many are done.
    fn poll(&mut self) -> usize {
        let waker = Waker::from(Arc::clone(&self.woken));
        let (mut task, before) = (Context::from_waker(&waker), self.all.len());
        self.all
            .retain_mut(|future| future.as_mut().poll(&mut task) == Poll::Pending);
        before - self.all.len()
    }
}

fn main() -> Result<()> {
    let driver = common::driver(Simulation::default())?;
    let gpus = (0..driver.device_count()?).map(|ordinal| Gpu::open(driver, ordinal));
    let gpus = gpus.collect::<Result<Vec<_>>>()?;
    let (ask, requests) = mpsc::channel();
    let requests = Arc::new(Mutex::new(requests));
    let threads: Vec<_> = gpus
        .into_iter()
        .map(|gpu| {
            let requests = Arc::clone(&requests);
            thread::spawn(move || serve(&gpu, &requests))
        })
        .collect();

    let mut replies = Vec::new();
    for number in 0..REQUESTS {
        let (reply, receiver) = mpsc::channel();
        let numbers = vec![f32::from(number); 8];
        ask.send(Request { numbers, reply })
            .expect("the service is there");
        replies.push(receiver);
    }
    drop(ask); // no more requests: the service ends when it has answered
    for (number, reply) in (0..REQUESTS).zip(replies) {
        let numbers = reply.recv().unwrap_or(Err(Error::CopyTaken))?;
        assert_eq!(numbers, [2.0 * f32::from(number); 8]);
    }
    for (ordinal, thread) in threads.into_iter().enumerate() {
        let served = thread.join().expect("a thread of the service panicked");
        println!("device {ordinal} served {served} of {REQUESTS} requests");
    }
    Ok(())
}
