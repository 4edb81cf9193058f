//! A control loop of 1 kHz (simulated: 100 Hz) on two devices, one of which hangs: `cargo run
//! --example control_loop`.
//!
//! Everything is allocated before the loop. A frame that is not back in time is left alone, and the
//! loop goes on with what it has: nothing in it waits longer than it says. Uses the real driver
//! when the machine has one with a device, else the simulated one, and says which.

#![allow(unsafe_code)] // promises once what the kernel does

mod common;

use scoped_cuda::sim::Simulation;
use scoped_cuda::{
    Buffer, Detached, In, InOut, LaunchConfig, OwnedContext, PinnedBuffer, Ptx, Result, SafeKernel,
    Stream, Submitted, family, include_ptx,
};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const SAXPY: Ptx<'_> = include_ptx!("saxpy.ptx");

const SAMPLES: usize = 64;
const FRAMES: u32 = 150;
/// The frame in which the first device hangs.
const HANG: u32 = 50;
/// So many frames in a row may be late before a device counts as hung.
const PATIENCE: u32 = 3;

type Saxpy<'ctx> = SafeKernel<'ctx, (In<f32>, InOut<f32>, f32, u32)>;

/// All memory of a frame. It moves into the frame's work, and out of it.
struct Frame<'ctx> {
    saxpy: Saxpy<'ctx>,
    samples: PinnedBuffer<'ctx, f32>,
    filtered: PinnedBuffer<'ctx, f32>,
    x: Buffer<'ctx, f32>,
    y: Buffer<'ctx, f32>,
}
family!(Frame);

/// What a device is at.
enum At<'ctx> {
    Rest(Frame<'ctx>),
    Work(Submitted<'ctx, Frame<'ctx>>),
    /// Between the two.
    Nothing,
}

struct Channel<'ctx> {
    stream: Stream<'ctx>,
    at: At<'ctx>,
    late: u32,
}
family!(Channel);

impl<'ctx> Channel<'ctx> {
    /// One frame: the filtered sample, or nothing when the device is late.
    fn step(&mut self, sample: f32, limit: Duration) -> Result<Option<f32>> {
        let mut frame = match std::mem::replace(&mut self.at, At::Nothing) {
            At::Rest(frame) => frame,
            // The frame of an earlier period. Is it back meanwhile?
            At::Work(work) if work.is_complete()? => work.wait()?,
            late => {
                (self.at, self.late) = (late, self.late + 1);
                return Ok(None);
            }
        };
        frame.samples.fill(sample);
        let work = self.stream.submit(frame, |s, frame| {
            let (mut x, mut y) = (frame.x.lend(s), frame.y.lend(s));
            s.write(&frame.samples, &mut x)?;
            s.fill(&mut y, 0.0)?;
            let config = LaunchConfig::for_elements(SAMPLES);
            frame
                .saxpy
                .launch(s, config, (&x, &mut y, 0.5, SAMPLES as u32))?;
            s.read(&y, &mut frame.filtered)
        })?;
        if !work.wait_for(limit)? {
            (self.at, self.late) = (At::Work(work), self.late + 1);
            return Ok(None);
        }
        let frame = work.wait()?;
        let filtered = frame.filtered[0];
        (self.at, self.late) = (At::Rest(frame), 0);
        Ok(Some(filtered))
    }
}

/// Everything that a device needs for its frames.
fn open(gpu: &OwnedContext) -> Result<Detached<Channel<'static>>> {
    gpu.with(|ctx| {
        let saxpy = ctx.load_ptx(SAXPY)?.kernel("saxpy")?;
        // SAFETY: `saxpy` reads x and updates y at indices below n, and touches nothing else.
        let saxpy = unsafe {
            saxpy.assert_safe_when([("n is at most both lengths", |_, (x, y, _, n)| {
                n as usize <= x && n as usize <= y
            })])
        };
        let frame = Frame {
            saxpy,
            samples: ctx.pinned_zeros(SAMPLES)?,
            filtered: ctx.pinned_zeros(SAMPLES)?,
            x: ctx.zeros(SAMPLES)?,
            y: ctx.zeros(SAMPLES)?,
        };
        let (stream, at) = (ctx.new_stream()?, At::Rest(frame));
        Ok(ctx.detach(Channel {
            stream,
            at,
            late: 0,
        }))
    })
}

/// Lets the stream hang until the sender is dropped.
fn hang(channel: &Detached<Channel<'static>>) -> Result<mpsc::Sender<()>> {
    let (sender, receiver) = mpsc::channel::<()>();
    channel.with(|_, channel| {
        let endless = channel
            .stream
            .submit((), |s, ()| s.host(move || while receiver.recv().is_ok() {}))?;
        drop(endless); // in flight: it is left to the context
        Ok(sender)
    })
}

fn main() -> Result<()> {
    let driver = common::driver(Simulation::default().latency(Duration::ZERO))?;
    // A simulated device is slower.
    let period = match driver.is_simulated() {
        true => Duration::from_millis(10),
        false => Duration::from_millis(1),
    };
    // What is left of the period is for the rest of the loop.
    let limit = period / 3;
    let last = driver.device_count()?.min(2) - 1;
    let gpus = [driver.retain(0)?, driver.retain(last)?];
    let mut channels = [open(&gpus[0])?, open(&gpus[1])?];
    let (mut hung, mut is_safe, mut worst) = (None, false, Duration::ZERO);
    let (mut back, mut next) = ([0_u32; 2], Instant::now());
    for number in 0..FRAMES {
        if number == HANG {
            hung = Some(hang(&channels[0])?);
        }
        let begin = Instant::now();
        for (channel, back) in channels.iter_mut().zip(&mut back) {
            let sample = number as f32;
            // Entered, whatever has become of the frames before.
            let filtered = channel.with_mut(|_, channel| channel.step(sample, limit))?;
            if let Some(filtered) = filtered {
                assert_eq!(filtered, 0.5 * sample);
                *back += 1;
            }
        }
        let late = channels[0].with(|_, channel| Ok(channel.late))?;
        if !is_safe && late >= PATIENCE {
            println!("frame {number}: device 0 is late, {late} times in a row, and given up");
            is_safe = true; // here a real loop moves its actuators to where they do no harm
        }
        worst = worst.max(begin.elapsed());
        next += period;
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    println!(
        "{FRAMES} frames, {} and {} back in time, the longest took {worst:?}",
        back[0], back[1]
    );
    // The end of the contexts waits for the work that is left: here the hang ends. A program whose
    // device never comes back keeps an owner in a `static`, which is not dropped.
    drop(hung);
    drop(channels);
    Ok(())
}
