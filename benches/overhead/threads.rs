//! Launches from several threads at once, each on a stream of its own: does the crate stand in the
//! way?

#![allow(unsafe_code)] // the raw side, and launches

use crate::measure::{Rounds, Verdict, median};
use crate::operations::{Lab, elements, launch_raw, pointer_to};
use crate::raw::{launch_kernel, succeed};
use scoped_cuda::{Buffer, InOut, Kernel, LaunchConfig, Result, Stream};
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

/// Numbers of threads. The goal is for the last: there the crate launches at least this part of
/// what the raw driver does.
const THREADS: [usize; 5] = [1, 2, 4, 8, 16];
const GOAL: f64 = 0.95;
/// Launches of a thread between two waits: few enough that the stream's queue never makes the
/// caller wait.
const BATCH: usize = 200;
/// Batches of a thread in one measurement.
const BATCHES: usize = 10;

const HEADER: &str = "
launches of 8 arguments by so many threads, each on its own stream; waits included
threads                                    raw per ms crate per ms   crate / raw                  goal
-----------------------------------------------------------------------------------------------------------";

type Kernel8<'ctx> = Kernel<'ctx, (InOut<f32>, u32, u32, u32, u32, u32, u32, u32)>;

/// What one thread works with, on either side.
struct Worker<'ctx> {
    stream: Stream<'ctx>,
    memory: Buffer<'ctx, f32>,
}

/// Measures and prints every number of threads; the number of goals missed.
pub(crate) fn table<'ctx>(lab: &Lab<'ctx>, rounds: Rounds) -> Result<usize> {
    println!("{HEADER}");
    let kernel: Kernel8<'ctx> = lab.module.kernel("take8")?;
    let mut missed = 0;
    for count in THREADS {
        let mut workers = (0..count)
            .map(|_| {
                let (stream, memory) = (lab.ctx.new_stream()?, lab.ctx.zeros(elements())?);
                Ok(Worker { stream, memory })
            })
            .collect::<Result<Vec<_>>>()?;
        let by_hand = |worker: &mut Worker<'ctx>| by_hand(lab, &kernel, worker);
        let by_crate = |worker: &mut Worker<'ctx>| by_crate(&kernel, worker);
        let mut pairs = Vec::new();
        for round in 0..rounds.of_threads() {
            // Which goes first alternates.
            pairs.push(if round % 2 == 0 {
                let raw = launches_per_ms(&mut workers, by_hand)?;
                (raw, launches_per_ms(&mut workers, by_crate)?)
            } else {
                let ours = launches_per_ms(&mut workers, by_crate)?;
                (launches_per_ms(&mut workers, by_hand)?, ours)
            });
        }
        let raw = median(pairs.iter().map(|(raw, _)| *raw).collect());
        let ours = median(pairs.iter().map(|(_, ours)| *ours).collect());
        let ratio = median(pairs.iter().map(|(raw, ours)| ours / raw).collect());
        let is_judged = Some(&count) == THREADS.last();
        let verdict = is_judged.then(|| Verdict::of(ratio >= GOAL, &format!(">= {GOAL}")));
        let text = verdict.as_ref().map_or("", Verdict::text);
        println!("{count:<42}{raw:>11.0} {ours:>12.0} {ratio:>13.3}{text:>22}");
        missed += usize::from(verdict.is_some_and(|verdict| verdict.is_missed()));
    }
    Ok(missed)
}

/// Runs `work`, which launches `BATCH` times `BATCHES`, on a thread for each worker, all at once.
fn launches_per_ms<'ctx>(
    workers: &mut [Worker<'ctx>],
    work: impl Fn(&mut Worker<'ctx>) -> Result<()> + Sync,
) -> Result<f64> {
    let launches = workers.len() * BATCH * BATCHES;
    let barrier = Barrier::new(workers.len());
    let spans = thread::scope(|threads| {
        let running: Vec<_> = workers
            .iter_mut()
            .map(|worker| {
                threads.spawn(|| {
                    barrier.wait();
                    let start = Instant::now();
                    work(worker).map(|()| (start, Instant::now()))
                })
            })
            .collect();
        let ended = running.into_iter().map(|thread| match thread.join() {
            Ok(span) => span,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ended.collect::<Result<Vec<_>>>()
    })?;
    let start = spans.iter().map(|span| span.0).min();
    let end = spans.iter().map(|span| span.1).max();
    let elapsed = start.zip(end).map_or(0.0, |(start, end)| {
        end.duration_since(start).as_secs_f64() * 1e3
    });
    Ok(launches as f64 / elapsed)
}

fn by_crate<'ctx>(kernel: &Kernel8<'ctx>, worker: &mut Worker<'ctx>) -> Result<()> {
    let Worker { stream, memory } = worker;
    let n = black_box(0);
    for _ in 0..BATCHES {
        stream.scope(|s| {
            let mut memory = memory.lend(s);
            for _ in 0..BATCH {
                let config = LaunchConfig::for_elements(elements());
                let arguments = (&mut memory, n, n, n, n, n, n, n);
                // SAFETY: the kernel touches nothing.
                unsafe { s.launch(kernel, config, arguments) }?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn by_hand<'ctx>(lab: &Lab<'ctx>, kernel: &Kernel8<'ctx>, worker: &mut Worker<'ctx>) -> Result<()> {
    let (stream, address, n) = (
        worker.stream.as_raw(),
        worker.memory.as_raw(),
        black_box(0_u32),
    );
    let call = launch_kernel(lab.ctx.driver());
    for _ in 0..BATCHES {
        for _ in 0..BATCH {
            let mut pointers = [pointer_to(&n); 8];
            pointers[0] = pointer_to(&address);
            // SAFETY: there is a pointer for each of the 8 parameters, to a value of its size.
            unsafe { launch_raw(call, stream, kernel.as_raw(), &mut pointers) }?;
        }
        // SAFETY: the stream is live.
        succeed(unsafe { (lab.symbols.cuStreamSynchronize)(stream) })?;
    }
    Ok(())
}
