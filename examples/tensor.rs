//! A small tensor library on owned contexts: `cargo run --example tensor`.
//!
//! Devices are in a `static`, tensors are values without lifetimes that cross threads, and
//! operations do not wait: they are written down, and a device gets all that has gathered in one
//! piece of work, which owns the memory of the device's tensors while it is in flight. Only reading
//! waits. Uses the real driver when the machine has one with a device, else the simulated one, and
//! says which.

#![allow(unsafe_code)] // promises once what the kernel does

mod common;

use scoped_cuda::sim::Simulation;
use scoped_cuda::{
    Buffer, Context, Detached, Driver, Error, In, InOut, LaunchConfig, OwnedContext, Ptx, Result,
    SafeKernel, ScopedStream, Stream, Submitted, family, include_ptx,
};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{mem, thread};

const SAXPY: Ptx<'_> = include_ptx!("saxpy.ptx");

/// What a device has: its kernel, and the memory of its tensors. It is at rest, or in flight.
struct Arena<'ctx> {
    saxpy: SafeKernel<'ctx, (In<f32>, InOut<f32>, f32, u32)>,
    slots: Vec<Buffer<'ctx, f32>>,
}
family!(Arena);

/// What was asked for and not begun, by the numbers of slots.
#[derive(Clone, Copy)]
enum Step {
    Copy { from: usize, to: usize },
    Axpy { a: f32, x: usize, y: usize },
}

enum At {
    Rest(Detached<Arena<'static>>),
    Work(Detached<Submitted<'static, Arena<'static>>>),
    /// An error has taken the memory.
    Lost(Error),
}

struct State {
    stream: Detached<Stream<'static>>,
    at: At,
    steps: Vec<Step>,
    /// Memory for slots that the arena does not have yet.
    fresh: Vec<Detached<Buffer<'static, f32>>>,
    /// The length of each slot, and those that no tensor has.
    lengths: Vec<usize>,
    unused: Vec<usize>,
}

/// A device, for as long as anybody has it.
#[derive(Clone)]
struct Device(Arc<(OwnedContext, Mutex<State>)>);

/// A tensor of one dimension. It is a number of a slot, and gives that back.
struct Tensor {
    device: Device,
    slot: usize,
    len: usize,
}

/// Enqueues what was asked for, in its order.
fn run<'s, 'scope, 'ctx>(
    arena: &'scope mut Arena<'ctx>,
    s: ScopedStream<'s, 'scope, 'ctx>,
    steps: &[Step],
) -> Result<()> {
    let mut slots: Vec<_> = arena.slots.iter_mut().map(|slot| slot.lend(s)).collect();
    for &step in steps {
        let (Step::Copy { from, to } | Step::Axpy { x: from, y: to, .. }) = step;
        let (low, high) = slots.split_at_mut(from.max(to));
        let (from, to) = match from < to {
            true => (&low[from], &mut high[0]),
            false => (&high[0], &mut low[to]),
        };
        match step {
            Step::Copy { .. } => s.copy(from, to)?,
            Step::Axpy { a, .. } => {
                let n = to.len();
                let config = LaunchConfig::for_elements(n);
                arena.saxpy.launch(s, config, (from, to, a, n as u32))?;
            }
        }
    }
    Ok(())
}

impl State {
    /// Begins what has gathered, unless the device is busy: then it gathers on.
    fn flush(&mut self, ctx: Context<'_>) -> Result<()> {
        if let At::Work(work) = &self.at {
            if !work.get(ctx)?.is_complete()? {
                return Ok(());
            }
        }
        self.land(ctx)?;
        if self.steps.is_empty() {
            return Ok(());
        }
        let mut arena = match mem::replace(&mut self.at, At::Lost(Error::CopyTaken)) {
            At::Rest(arena) => arena.into_inner(ctx)?,
            other => return Err(self.lost(other)),
        };
        for fresh in self.fresh.drain(..) {
            arena.slots.push(fresh.into_inner(ctx)?);
        }
        let steps = mem::take(&mut self.steps);
        let work = self
            .stream
            .get(ctx)?
            .submit(arena, |s, arena| run(arena, s, &steps))?;
        self.at = At::Work(ctx.detach(work));
        Ok(())
    }

    /// Waits for what is in flight.
    fn land(&mut self, ctx: Context<'_>) -> Result<()> {
        match mem::replace(&mut self.at, At::Lost(Error::CopyTaken)) {
            At::Work(work) => self.at = At::Rest(ctx.detach(work.into_inner(ctx)?.wait()?)),
            other => self.at = other,
        }
        Ok(())
    }

    fn lost(&mut self, at: At) -> Error {
        self.at = at;
        match &self.at {
            At::Lost(error) => error.clone(),
            At::Rest(_) | At::Work(_) => Error::CopyTaken,
        }
    }

    /// A slot of `len` elements: one that was used before, or a new one.
    fn slot(&mut self, ctx: Context<'_>, len: usize) -> Result<usize> {
        let reused = self
            .unused
            .iter()
            .position(|&slot| self.lengths[slot] == len);
        if let Some(index) = reused {
            return Ok(self.unused.swap_remove(index));
        }
        self.fresh.push(ctx.detach(ctx.zeros(len)?));
        self.lengths.push(len);
        Ok(self.lengths.len() - 1)
    }
}

impl Device {
    fn open(driver: Driver, ordinal: u32) -> Result<Self> {
        let gpu = driver.retain(ordinal)?;
        let (stream, arena) = gpu.with(|ctx| {
            let saxpy = ctx.load_ptx(SAXPY)?.kernel("saxpy")?;
            // SAFETY: `saxpy` reads x and updates y at indices below n, and touches nothing else.
            let saxpy = unsafe {
                saxpy.assert_safe_when([("n is at most both lengths", |_, (x, y, _, n)| {
                    n as usize <= x && n as usize <= y
                })])
            };
            let slots = Vec::new();
            Ok((
                ctx.detach(ctx.new_stream()?),
                ctx.detach(Arena { saxpy, slots }),
            ))
        })?;
        let state = State {
            stream,
            at: At::Rest(arena),
            steps: Vec::new(),
            fresh: Vec::new(),
            lengths: Vec::new(),
            unused: Vec::new(),
        };
        Ok(Self(Arc::new((gpu, Mutex::new(state)))))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.1.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tensor(&self, numbers: &[f32]) -> Result<Tensor> {
        let mut state = self.state();
        let slot = self.0.0.with(|ctx| {
            let fresh = ctx.detach(ctx.upload(numbers)?);
            state.fresh.push(fresh);
            state.lengths.push(numbers.len());
            Ok(state.lengths.len() - 1)
        })?;
        let (device, len) = (self.clone(), numbers.len());
        Ok(Tensor { device, slot, len })
    }
}

impl Tensor {
    /// `a * x + self`, without a wait. Both are of one device and length.
    fn axpy(&self, a: f32, x: &Tensor) -> Result<Tensor> {
        assert!(Arc::ptr_eq(&self.device.0, &x.device.0) && self.len == x.len);
        let mut state = self.device.state();
        let slot = self.device.0.0.with(|ctx| {
            let to = state.slot(ctx, self.len)?;
            state.steps.push(Step::Copy {
                from: self.slot,
                to,
            });
            state.steps.push(Step::Axpy {
                a,
                x: x.slot,
                y: to,
            });
            state.flush(ctx)?;
            Ok(to)
        })?;
        let (device, len) = (self.device.clone(), self.len);
        Ok(Tensor { device, slot, len })
    }

    /// What it holds: waits for all that was asked for before.
    fn to_vec(&self) -> Result<Vec<f32>> {
        let mut state = self.device.state();
        self.device.0.0.with(|ctx| {
            state.land(ctx)?;
            state.flush(ctx)?;
            state.land(ctx)?;
            match &state.at {
                At::Rest(arena) => match arena.get(ctx)?.slots.get(self.slot) {
                    Some(buffer) => buffer.to_vec(),
                    // Nothing was done with it yet.
                    None => {
                        let known = arena.get(ctx)?.slots.len();
                        state.fresh[self.slot - known].get(ctx)?.to_vec()
                    }
                },
                At::Work(_) | At::Lost(_) => Err(Error::CopyTaken),
            }
        })
    }

    /// On another device.
    fn to(&self, device: &Device) -> Result<Tensor> {
        device.tensor(&self.to_vec()?)
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        // What was asked for before comes before what the next tensor asks for.
        self.device.state().unused.push(self.slot);
    }
}

static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();

fn main() -> Result<()> {
    let driver = common::driver(Simulation::default())?;
    let count = driver.device_count()?.min(2);
    let opened = (0..count).map(|ordinal| Device::open(driver, ordinal));
    let opened = opened.collect::<Result<Vec<_>>>()?;
    let devices = DEVICES.get_or_init(|| opened);

    let workers: Vec<_> = (0..4u8)
        .map(|worker| {
            thread::spawn(move || -> Result<f32> {
                let device = &devices[usize::from(worker) % devices.len()];
                let (mut sum, ones) = (device.tensor(&[0.0; 100])?, device.tensor(&[1.0; 100])?);
                for _ in 0..100 {
                    sum = sum.axpy(f32::from(worker), &ones)?; // no wait
                }
                let next = &devices[usize::from(worker + 1) % devices.len()];
                Ok(sum.to(next)?.to_vec()?[99])
            })
        })
        .collect();
    for (worker, number) in workers.into_iter().zip(0..) {
        let sum = worker.join().expect("a worker panicked")?;
        println!("worker {number}: {sum}");
        assert_eq!(sum, 100.0 * number as f32);
    }
    Ok(())
}
