//! Upload, compute and download at the same time, on three streams: `cargo run --release --example
//! pipeline [FILE] [--check]`.
//!
//! The input, a file or generated data, passes through the device in chunks. Three device buffers
//! go round: while one is filled, the kernel works on the second and the third is emptied. The run
//! takes about as long as its slowest stage alone. With `--check` it fails on a real device when it
//! takes much longer than that.
//!
//! Uses the real driver when the machine has one with a device, else the simulated one, and says
//! which.

#![allow(unsafe_code)] // vouches for a kernel

mod common;

use scoped_cuda::sim::Simulation;
use scoped_cuda::{
    Buffer, InOut, LaunchConfig, LentSlice, Result, ScopedStream, Stream, WithLen, kernels, scope,
};
use std::time::{Duration, Instant};
use std::{env, error, fs, iter, thread};

kernels! {
    /// Written by hand; `pipeline.cu` is the same kernel in CUDA C++.
    struct Mix<'ctx>;

    // SAFETY: `mix` updates words at indices below their number only.
    unsafe extern "pipeline.ptx" {
        safe fn mix(words: WithLen<InOut<u32>, u32>, rounds: u32) when {};
    }
}

/// Of the overlap efficiency, for `--check`.
const GOAL: f64 = 0.9;

fn main() -> Result<(), Box<dyn error::Error>> {
    let is_option = |argument: &String| argument == "--check";
    let (check, paths): (Vec<_>, Vec<_>) = env::args().skip(1).partition(is_option);
    let file = paths.first().map(fs::read).transpose()?;
    if file.as_ref().is_some_and(Vec::is_empty) {
        println!("the file is empty: there is nothing to do");
        return Ok(());
    }
    // The simulated driver runs the kernel on the CPU, so there is less to do. Chunks are small, so
    // that little time passes while the pipeline fills and empties, and large enough (8 MiB) that
    // starting a copy costs little of the copy.
    let driver = common::driver(Simulation::default())?;
    let (words, chunk, rounds) = match driver.is_simulated() {
        false => (512 << 20, 2 << 20, 32),
        true => (1 << 20, 16 << 10, 4),
    };
    let efficiency = driver.with_device(0, |ctx| {
        let bytes = file.as_ref().map_or(4 * words, Vec::len);
        // The last word of a file may be cut short: zeros fill it up.
        let mut input = ctx.pinned_zeros::<u32>(bytes.div_ceil(4))?;
        match &file {
            Some(file) => bytemuck::cast_slice_mut(&mut input)[..bytes].copy_from_slice(file),
            None => input.iter_mut().zip(0..).for_each(|(word, i)| *word = i),
        }
        let mut output = ctx.pinned_zeros::<u32>(input.len())?;
        let mut pipeline = Pipeline {
            streams: [ctx.new_stream()?, ctx.new_stream()?, ctx.new_stream()?],
            ring: [ctx.zeros(chunk)?, ctx.zeros(chunk)?, ctx.zeros(chunk)?],
            chunk,
            mix: Mix::load(ctx)?,
            rounds,
        };
        println!("device: {}", ctx.device().name()?);
        println!("{bytes} bytes in chunks of {}", 4 * chunk);

        let mut best = [Duration::MAX; 4];
        for repetition in 0..4 {
            let upload = timed(|| pipeline.upload_alone(&input))?;
            let compute = timed(|| pipeline.compute_alone(&input))?;
            let download = timed(|| pipeline.download_alone(&mut output))?;
            output.fill(0); // so that what is right afterwards is this run's
            let all = timed(|| pipeline.run(&input, &mut output))?;
            // The first repetition warms up: the driver loads a kernel when it is first launched.
            if repetition > 0 {
                let times = [upload, compute, download, all].into_iter();
                best.iter_mut().zip(times).for_each(|(b, t)| *b = t.min(*b));
            }
        }
        verify(&input, &output, rounds);
        Ok(report(best))
    })?;
    if !check.is_empty() && driver.machine().is_none() && efficiency < GOAL {
        return Err(format!("the overlap efficiency is below {GOAL}").into());
    }
    Ok(())
}

struct Pipeline<'ctx> {
    streams: [Stream<'ctx>; 3],
    /// Of one chunk each, and as many as there are stages, so that each stage always has one.
    ring: [Buffer<'ctx, u32>; 3],
    /// Words of a chunk.
    chunk: usize,
    mix: Mix<'ctx>,
    rounds: u32,
}

impl Pipeline<'_> {
    /// All stages at the same time.
    ///
    /// In each step every buffer moves on by one stream, then every stream works on what it got:
    /// the upload on chunk `i`, the kernel on chunk `i - 1`, the download on chunk `i - 2`. All of
    /// it is only enqueued here; the scope waits at its end, so host memory is lent for the whole
    /// run, in parts that do not overlap.
    fn run(&mut self, input: &[u32], output: &mut [u32]) -> Result<()> {
        let [up, compute, down] = &self.streams;
        let [a, b, c] = &mut self.ring;
        let (mix, rounds, chunk) = (&self.mix, self.rounds, self.chunk);
        // Before its first chunk and after its last one a stage has empty ones, for which there is
        // no driver call.
        let sources = input.chunks(chunk).chain([&[][..], &[]]);
        let lens = input.chunks(chunk).map(<[u32]>::len);
        let lens = iter::once(0).chain(lens).chain([0]);
        let targets = iter::repeat_with(<&mut [u32]>::default).take(2);
        let targets = targets.chain(output.chunks_mut(chunk));

        scope(|scope| {
            scope.on(up, |up| {
                scope.on(compute, |compute| {
                    scope.on(down, |down| {
                        let (mut filled, mut mixed, mut emptied) =
                            (a.lend(up), b.lend(compute), c.lend(down));
                        for ((source, len), target) in sources.zip(lens).zip(targets) {
                            // `take` waits for all that the other stream was given so far. So all
                            // buffers move before any work of this step is enqueued: else a stage
                            // would also wait for its neighbour's work on the next chunk, and the
                            // stages would run one after the other.
                            (emptied, mixed, filled) = (
                                mixed.hand_over(compute, down)?,
                                filled.hand_over(up, compute)?,
                                emptied.hand_over(down, up)?,
                            );
                            up.write(source, &mut filled.slice_mut(..source.len())?)?;
                            launch(compute, mix, &mut mixed, len, rounds)?;
                            down.read(&emptied.slice(..target.len())?, target)?;
                        }
                        Ok(())
                    })
                })
            })
        })
    }

    fn upload_alone(&mut self, input: &[u32]) -> Result<()> {
        self.streams[0].scope(|s| {
            let mut ring = self.ring.each_mut().map(|buffer| buffer.lend(s));
            for (i, part) in input.chunks(self.chunk).enumerate() {
                s.write(part, &mut ring[i % 3].slice_mut(..part.len())?)?;
            }
            Ok(())
        })
    }

    fn compute_alone(&mut self, input: &[u32]) -> Result<()> {
        self.streams[1].scope(|s| {
            let mut ring = self.ring.each_mut().map(|buffer| buffer.lend(s));
            for (i, part) in input.chunks(self.chunk).enumerate() {
                launch(s, &self.mix, &mut ring[i % 3], part.len(), self.rounds)?;
            }
            Ok(())
        })
    }

    fn download_alone(&mut self, output: &mut [u32]) -> Result<()> {
        self.streams[2].scope(|s| {
            let ring = self.ring.each_mut().map(|buffer| buffer.lend(s));
            for (i, part) in output.chunks_mut(self.chunk).enumerate() {
                s.read(&ring[i % 3].slice(..part.len())?, part)?;
            }
            Ok(())
        })
    }
}

/// Mixes the first `len` words of a buffer.
fn launch<'s, 'scope, 'ctx>(
    stream: ScopedStream<'s, 'scope, 'ctx>,
    mix: &'scope Mix<'ctx>,
    buffer: &mut LentSlice<'s, 'scope, 'ctx, u32>,
    len: usize,
    rounds: u32,
) -> Result<()> {
    let (config, mut words) = (LaunchConfig::for_elements(len), buffer.slice_mut(..len)?);
    mix.mix(stream, config, &mut words, rounds)
}

/// What the kernel does to a word.
fn mix(word: u32, rounds: u32) -> u32 {
    (0..rounds).fold(word, |mut x, _| {
        x = x.wrapping_add(0x9e37_79b9);
        x = (x ^ (x >> 16)).wrapping_mul(0x21f0_aaad);
        x = (x ^ (x >> 15)).wrapping_mul(0xd35a_2d97);
        x ^ (x >> 15)
    })
}

/// Panics unless every word of `output` is what the CPU makes of `input`.
fn verify(input: &[u32], output: &[u32], rounds: u32) {
    let share = input.len().div_ceil(16);
    let shares = input.chunks(share).zip(output.chunks(share));
    thread::scope(|threads| {
        shares.for_each(|(input, output)| {
            threads.spawn(move || {
                let mut pairs = input.iter().zip(output);
                let wrong = pairs.find(|&(&i, &o)| mix(i, rounds) != o);
                assert_eq!(wrong, None, "input and output of a wrong word");
            });
        });
    });
    println!("every word is right");
}

fn timed(f: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    f()?; // a scope: it has waited for the work
    Ok(start.elapsed())
}

/// Prints the times of upload, compute, download and pipeline, and returns how well the stages
/// overlap.
fn report(times: [Duration; 4]) -> f64 {
    let stages = times.iter().zip(["upload", "compute", "download"]);
    for (time, stage) in stages.clone() {
        println!("{stage} alone: {time:.2?}");
    }
    let (slowest, stage) = stages.max().expect("there are three");
    let efficiency = slowest.as_secs_f64() / times[3].as_secs_f64();
    print!("overlap efficiency: {efficiency:.2} (slowest stage: {stage} {slowest:.2?}, ");
    println!("pipeline {:.2?})", times[3]);
    efficiency
}
