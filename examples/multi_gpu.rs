//! One problem on all devices of the machine, which exchange their edges, and what the ways between
//! them carry: `cargo run --example multi_gpu`.
//!
//! How many devices there are, only the running program knows. What each has is a value without a
//! context's lifetime, in a vector, so that a loop over the devices is a loop; two neighbours are
//! entered together when they exchange their edges.
//!
//! On a machine with one device, two parts on it are neighbours. Uses the real driver when the
//! machine has one with a device, else the simulated one, and says which.

#![allow(unsafe_code)] // vouches for a kernel, and measures the driver's own copy beside the crate's

mod common;

use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::{Peers, Simulation};
use scoped_cuda::{
    Buffer, Context, Detached, Driver, Error, In, LaunchConfig, Out, Result, Stream, Submitted,
    Transfer, family, kernels, scope,
};
use std::mem::swap;
use std::time::Instant;

kernels! {
    struct Smooth<'ctx>;

    // SAFETY: it reads the n + 2 elements of `from`, and writes n of the n + 2 of `to`.
    unsafe extern "smooth.ptx" {
        safe fn smooth(from: In<f32>, to: Out<f32>, n: u32) when {
            "from and to have n + 2 elements": n as usize + 2 <= from.min(to),
        };
    }
}

/// Points on all devices together.
const POINTS: usize = 300_007;
const STEPS: usize = 40;
/// Copies of each kind that are measured.
const ROUNDS: usize = 20;

/// Makes a token for two contexts.
type Way = for<'a, 'b> fn(Context<'a>, Context<'b>) -> Result<Transfer<'a, 'b>>;

fn main() -> Result<()> {
    // Devices 0 and 1 have access to each other's memory, 2 to that of 1.
    let links = Peers::Only(vec![(0, 1), (1, 0), (2, 1)]);
    let driver = common::driver(Simulation::default().devices(3).peers(links))?;
    for device in driver.devices()? {
        println!("device {}: {}", device.ordinal(), device.name()?);
    }
    let mut devices: Vec<u32> = (0..driver.device_count()?).collect();
    if devices == [0] {
        println!("one device: in two scopes, and what is copied between them stays inside it");
        devices.push(0);
    }

    let points: Vec<f32> = (0..POINTS).map(|i| (i * 7 % 1000) as f32).collect();
    let expected = on_the_host(&points);
    let ways: [(&str, Way); 2] = [
        ("staged", |from, to| Transfer::staged(from, to)),
        ("direct where possible", |from, to| from.transfer_to(to)),
    ];
    println!("\n{POINTS} points on devices {devices:?}, which exchange their edges:");
    for (name, way) in ways {
        let smoothed = smooth(driver, &devices, &points, way)?;
        assert!(smoothed == expected, "{name}: not what the host computes");
        println!("{name}: as on the host, bit for bit");
    }

    let mib = if driver.is_simulated() { 1 } else { 256 };
    println!("\n{mib:>10} MiB           Transfer::copy   cuMemcpyPeerAsync   ratio");
    let data: Vec<u32> = (0..mib << 18)
        .map(|i: u32| i.wrapping_mul(2_654_435_761))
        .collect();
    // Of many devices only those side by side.
    let reach = if devices.len() > 4 { 1 } else { 3 };
    for (i, &first) in devices.iter().enumerate() {
        for &second in devices[i + 1..].iter().take(reach) {
            driver.with_two_devices([first, second], |a, b| compare(a, b, &data))?;
        }
    }
    if driver.is_simulated() {
        println!("(simulated devices: the speeds say nothing)");
    }
    Ok(())
}

/// What one device has: its points, with a cell more at each end for the neighbour's edge or the 0
/// outside, and room for the next ones.
struct Part<'ctx> {
    stream: Stream<'ctx>,
    /// A kernel belongs to its context.
    kernel: Smooth<'ctx>,
    now: Buffer<'ctx, f32>,
    next: Buffer<'ctx, f32>,
}
family!(Part);

/// Makes each point a mean of itself and its neighbours, [`STEPS`] times, with a part of the points
/// on each device; left of the first and right of the last point there is 0.
fn smooth(driver: Driver, devices: &[u32], points: &[f32], way: Way) -> Result<Vec<f32>> {
    let mut parts = Vec::new();
    let share = points.len().div_ceil(devices.len());
    for (&ordinal, points) in devices.iter().zip(points.chunks(share)) {
        let gpu = driver.retain(ordinal)?;
        parts.push(gpu.with(|ctx| Ok(ctx.detach(Part::new(ctx, points)?)))?);
    }
    let start = Instant::now();
    for _ in 0..STEPS {
        for right in 1..parts.len() {
            let (left, right) = parts.split_at_mut(right);
            exchange(&mut left[left.len() - 1], &mut right[0], way)?;
        }
        // All devices compute at the same time.
        let work: Result<Vec<_>> = parts.into_iter().map(begin_step).collect();
        parts = work?.into_iter().map(end_step).collect::<Result<_>>()?;
    }
    print!("{STEPS} steps in {:.2?}, ", start.elapsed());
    let mut smoothed = Vec::new();
    for part in &parts {
        smoothed.extend(part.with(|_, part| part.now.slice(1..part.now.len() - 1)?.to_vec())?);
    }
    Ok(smoothed)
}

impl<'ctx> Part<'ctx> {
    fn new(ctx: Context<'ctx>, points: &[f32]) -> Result<Self> {
        let cells = [&[0.0], points, &[0.0]].concat();
        Ok(Self {
            stream: ctx.new_stream()?,
            kernel: Smooth::load(ctx)?,
            now: ctx.upload(&cells)?,
            next: ctx.zeros(cells.len())?,
        })
    }
}

/// Gives each of two neighbours the other's outermost point.
fn exchange(
    left: &mut Detached<Part<'static>>,
    right: &mut Detached<Part<'static>>,
    way: Way,
) -> Result<()> {
    left.with_mut(|a, left| {
        right.with_mut(|b, right| {
            let (to_right, to_left) = (way(a, b)?, way(b, a)?);
            let n = left.now.len();
            scope(|scope| {
                scope.on(&left.stream, |a| {
                    scope.on(&right.stream, |b| {
                        let (mut left, mut right) = (left.now.lend(a), right.now.lend(b));
                        let (edge, mut cell) = (left.slice(n - 2..n - 1)?, right.slice_mut(..1)?);
                        to_right.enqueue(a, &edge, b, &mut cell)?;
                        let (edge, mut cell) = (right.slice(1..2)?, left.slice_mut(n - 1..)?);
                        to_left.enqueue(b, &edge, a, &mut cell)
                    })
                })
            })
        })
    })
}

/// Begins a step of one device, and does not wait for it.
fn begin_step(
    part: Detached<Part<'static>>,
) -> Result<Detached<Submitted<'static, Part<'static>>>> {
    let gpu = part.owner().clone();
    gpu.with(|ctx| {
        let work = ctx.submit(part.into_inner(ctx)?, |scope, part| {
            let Part {
                stream,
                kernel,
                now,
                next,
            } = part;
            scope.on(stream, |s| {
                let (mut next, n) = (next.lend(s), now.len() - 2);
                let (config, n) = (LaunchConfig::for_elements(n), n as u32);
                kernel.smooth(s, config, &*now, &mut next, n)
            })
        })?;
        Ok(ctx.detach(work))
    })
}

/// Waits for the step.
fn end_step(work: Detached<Submitted<'static, Part<'static>>>) -> Result<Detached<Part<'static>>> {
    let gpu = work.owner().clone();
    gpu.with(|ctx| {
        let mut part = work.into_inner(ctx)?.wait()?;
        swap(&mut part.now, &mut part.next);
        Ok(ctx.detach(part))
    })
}

/// The same on the host.
fn on_the_host(points: &[f32]) -> Vec<f32> {
    let mut now = [&[0.0], points, &[0.0]].concat();
    let mut next = now.clone();
    for _ in 0..STEPS {
        smooth_once(&now, &mut next);
        swap(&mut now, &mut next);
    }
    now[1..=points.len()].to_vec()
}

fn smooth_once(now: &[f32], next: &mut [f32]) {
    for (cells, out) in now.windows(3).zip(&mut next[1..]) {
        *out = 0.25 * cells[0] + 0.5 * cells[1] + 0.25 * cells[2];
    }
}

/// Measures copies between two contexts in both directions, first staged: once a direct token has
/// made memory reachable, the driver uses that for every copy.
fn compare<'a, 'b>(a: Context<'a>, b: Context<'b>, data: &[u32]) -> Result<()> {
    measure("staged", Transfer::staged(a, b), a, b, data)?;
    measure("staged", Transfer::staged(b, a), b, a, data)?;
    measure("direct", Transfer::direct(a, b), a, b, data)?;
    measure("direct", Transfer::direct(b, a), b, a, data)
}

/// Copies `data` from one context to the other, looks whether it arrived, and prints the speed
/// beside that of the driver's own call.
fn measure<'src, 'dst>(
    way: &str,
    token: Result<Transfer<'src, 'dst>>,
    from: Context<'src>,
    to: Context<'dst>,
    data: &[u32],
) -> Result<()> {
    let [i, j] = [from.device(), to.device()].map(|device| device.ordinal());
    print!("{i:>5} -> {j:<5} {way}");
    let token = match token {
        Err(Error::PeerUnsupported { .. }) => {
            println!("   no access");
            return Ok(());
        }
        other => other?,
    };
    let (source, stream) = (from.upload(data)?, from.new_stream()?);
    let mut destination = to.zeros::<u32>(data.len())?;
    token.copy(&source, &mut destination)?;
    assert!(destination.to_vec()? == data, "other bytes arrived");

    let mut times = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        // Each goes first in half of the rounds.
        for which in [round % 2, 1 - round % 2] {
            let start = Instant::now();
            match which {
                0 => token.copy(&source, &mut destination)?,
                _ => raw_copy(&source, &mut destination, &stream),
            }
            times[which].push(start.elapsed());
        }
    }
    let [with_crate, with_driver] = times.map(|mut times| {
        times.sort();
        source.size_bytes() as f64 / 1e9 / times[ROUNDS / 2].as_secs_f64()
    });
    let ratio = with_crate / with_driver;
    println!("{with_crate:>12.1} GB/s {with_driver:>14.1} GB/s {ratio:>7.3}");
    Ok(())
}

/// What `Transfer::copy` does, without the crate: the call, and a wait for its stream.
fn raw_copy<'src>(
    source: &Buffer<'src, u32>,
    destination: &mut Buffer<'_, u32>,
    stream: &Stream<'src>,
) {
    assert_eq!(source.len(), destination.len());
    let (from, to) = (source.context(), destination.context());
    let (symbols, bytes) = (from.driver().symbols(), source.size_bytes());
    // SAFETY: each buffer has `bytes` in its context, and is borrowed until the stream was waited
    // for.
    let code = unsafe {
        (symbols.cuMemcpyPeerAsync)(
            destination.as_raw(),
            to.as_raw(),
            source.as_raw(),
            from.as_raw(),
            bytes,
            stream.as_raw(),
        )
    };
    assert_eq!(code, CUresult::SUCCESS);
    // SAFETY: the stream is live.
    let code = unsafe { (symbols.cuStreamSynchronize)(stream.as_raw()) };
    assert_eq!(code, CUresult::SUCCESS);
}
