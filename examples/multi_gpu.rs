//! One problem on two devices that exchange their edges, and what the way between them carries: `cargo run --example multi_gpu`.
//!
//! Two contexts that exchange memory are in one frame: one `with_device` inside the other, and a [`Transfer`] for each direction. The
//! example uses the first two devices; on a machine with one, two scopes of that one. (Devices that share nothing but host data, any
//! number of them, are a thread each with its own `with_device`; `nccl_allreduce` does that.)
//!
//! Uses the real driver when the machine has one with a device, else the simulated one, and says which.

#![allow(unsafe_code)] // launches a kernel, and measures the driver's own copy beside the crate's

use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{
    Buffer, Context, Driver, Error, In, LaunchConfig, Out, Result, Stream, Transfer, scope,
};
use std::mem::swap;
use std::time::{Duration, Instant};

const PTX: &str = include_str!("smooth.ptx");
/// Points on each device.
const HALF: usize = 100_000;
const STEPS: usize = 40;
/// Copies of each kind that are measured.
const ROUNDS: usize = 20;

fn main() -> Result<()> {
    let driver = real_driver().map_or_else(simulated_driver, Ok)?;
    let second = match driver.device_count()? {
        1 => {
            println!(
                "one device: both halves are on it, in two scopes, and what is copied stays inside it"
            );
            0
        }
        2 => 1,
        count => {
            println!("{count} devices: using the first two");
            1
        }
    };
    driver.with_device(0, |a| driver.with_device(second, |b| on_two(a, b)))
}

fn on_two<'a, 'b>(a: Context<'a>, b: Context<'b>) -> Result<()> {
    for device in [a.device(), b.device()] {
        println!("device {}: {}", device.ordinal(), device.name()?);
    }
    let points: Vec<f32> = (0..2 * HALF).map(|i| (i * 7 % 1000) as f32).collect();
    let expected = on_the_host(&points);
    let bytes = match a.driver().is_simulated() {
        true => 1 << 20,
        false => 256 << 20,
    };
    let data: Vec<u32> = (0..bytes as u32 / 4)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect();

    let run = |there: Transfer<'a, 'b>, back: Transfer<'b, 'a>| {
        let way = if there.is_direct() {
            "direct"
        } else {
            "staged"
        };
        let start = Instant::now();
        assert_eq!(smooth(a, b, there, back, &points)?, expected);
        println!(
            "\n{way}: {} points, {STEPS} steps with their edges exchanged: as on the host, bit for bit, in {:.2?}",
            points.len(),
            start.elapsed()
        );
        println!(
            "{:>11} MiB   Transfer::copy   cuMemcpyPeerAsync   ratio",
            bytes >> 20
        );
        measure(there, a, b, &data)?;
        measure(back, b, a, &data)
    };
    // Staged first: once a direct token has made memory reachable, the driver uses that for every copy.
    run(Transfer::staged(a, b)?, Transfer::staged(b, a)?)?;
    match (Transfer::direct(a, b), Transfer::direct(b, a)) {
        (Ok(there), Ok(back)) => run(there, back)?,
        (Err(Error::PeerUnsupported { .. }), _) | (_, Err(Error::PeerUnsupported { .. })) => {
            println!("\nno direct access between these devices in both directions: staged only");
        }
        (there, back) => there.and(back.map(drop))?,
    }
    if a.driver().is_simulated() {
        println!("\n(simulated devices: the speeds say nothing)");
    }
    Ok(())
}

/// Each point becomes a mean of itself and its neighbours, [`STEPS`] times; left of the first and right of the last there is 0.
fn smooth<'a, 'b>(
    a: Context<'a>,
    b: Context<'b>,
    there: Transfer<'a, 'b>,
    back: Transfer<'b, 'a>,
    points: &[f32],
) -> Result<Vec<f32>> {
    // A half with one cell more at each end: the neighbour's edge, or the 0 outside.
    let padded = |half: &[f32], left, right| [&[left], half, &[right]].concat();
    let (left, right) = points.split_at(HALF);
    let (left, right) = (
        padded(left, 0.0, right[0]),
        padded(right, left[HALF - 1], 0.0),
    );
    let (mut now_a, mut next_a) = (a.upload(&left)?, a.upload(&left)?);
    let (mut now_b, mut next_b) = (b.upload(&right)?, b.upload(&right)?);
    // A kernel belongs to its context.
    let smooth_a = a
        .load_ptx(PTX)?
        .kernel::<(In<f32>, Out<f32>, u32)>("smooth")?;
    let smooth_b = b
        .load_ptx(PTX)?
        .kernel::<(In<f32>, Out<f32>, u32)>("smooth")?;
    let (stream_a, stream_b) = (a.stream()?, b.stream()?);
    let (config, n) = (LaunchConfig::for_elements(HALF), HALF as u32);

    scope(|scope| {
        scope.on(&stream_a, |on_a| {
            scope.on(&stream_b, |on_b| {
                let (mut now_a, mut next_a) = (on_a.lend(&mut now_a), on_a.lend(&mut next_a));
                let (mut now_b, mut next_b) = (on_b.lend(&mut now_b), on_b.lend(&mut next_b));
                for _ in 0..STEPS {
                    // SAFETY: `smooth` reads the n + 2 elements of the first argument, and writes n of the n + 2 of the second.
                    unsafe { on_a.launch(&smooth_a, config, (&now_a, &mut next_a, n)) }?;
                    // SAFETY: as above.
                    unsafe { on_b.launch(&smooth_b, config, (&now_b, &mut next_b, n)) }?;
                    let (edge, mut halo) = (next_a.slice(HALF..HALF + 1)?, next_b.slice_mut(..1)?);
                    there.enqueue(on_a, &edge, on_b, &mut halo)?;
                    let (edge, mut halo) = (next_b.slice(1..2)?, next_a.slice_mut(HALF + 1..)?);
                    back.enqueue(on_b, &edge, on_a, &mut halo)?;
                    swap(&mut now_a, &mut next_a);
                    swap(&mut now_b, &mut next_b);
                }
                Ok(())
            })
        })
    })?;
    // The handles were swapped, not the buffers: after an even number of steps the result is where it began.
    const { assert!(STEPS % 2 == 0) };
    let half = |cells: Vec<f32>| cells[1..=HALF].to_vec();
    Ok([half(now_a.to_vec()?), half(now_b.to_vec()?)].concat())
}

/// The same on the host.
fn on_the_host(points: &[f32]) -> Vec<f32> {
    let mut now = [&[0.0], points, &[0.0]].concat();
    let mut next = now.clone();
    for _ in 0..STEPS {
        for (cells, out) in now.windows(3).zip(&mut next[1..]) {
            *out = 0.25 * cells[0] + 0.5 * cells[1] + 0.25 * cells[2];
        }
        swap(&mut now, &mut next);
    }
    now[1..=points.len()].to_vec()
}

/// Copies `data` from one context to the other, looks whether it arrived, and prints the speed beside that of the driver's own call.
fn measure<'src, 'dst>(
    token: Transfer<'src, 'dst>,
    from: Context<'src>,
    to: Context<'dst>,
    data: &[u32],
) -> Result<()> {
    let source = from.upload(data)?;
    let mut destination = to.zeros::<u32>(data.len())?;
    let stream = from.stream()?;
    token.copy(&source, &mut destination)?;
    assert!(
        destination.to_vec()? == data,
        "{token:?}: other bytes arrived"
    );

    let (mut with_crate, mut with_driver) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // Each goes first in half of the rounds.
        for is_crate in [round % 2 == 0, round % 2 != 0] {
            let start = Instant::now();
            if is_crate {
                token.copy(&source, &mut destination)?;
                with_crate.push(start.elapsed());
            } else {
                raw_copy(from, &source, to, &mut destination, &stream);
                with_driver.push(start.elapsed());
            }
        }
    }
    assert!(
        destination.to_vec()? == data,
        "{token:?}: other bytes arrived"
    );
    let speed = |times| source.size_bytes() as f64 / 1e9 / median(times).as_secs_f64();
    let (with_crate, with_driver) = (speed(with_crate), speed(with_driver));
    println!(
        "{:>5} -> {:<5} {with_crate:>11.1} GB/s {with_driver:>14.1} GB/s {:>7.3}",
        from.device().ordinal(),
        to.device().ordinal(),
        with_crate / with_driver
    );
    Ok(())
}

/// What `Transfer::copy` does, without the crate: the call, and a wait for its stream.
fn raw_copy<'src, 'dst>(
    from: Context<'src>,
    source: &Buffer<'src, u32>,
    to: Context<'dst>,
    destination: &mut Buffer<'dst, u32>,
    stream: &Stream<'src>,
) {
    assert_eq!(source.len(), destination.len());
    let (symbols, bytes) = (from.driver().symbols(), source.size_bytes());
    // SAFETY: each buffer has `bytes` in the context named beside it, and is borrowed until the stream was waited for.
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

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The machine's driver, if there is one with a device.
fn real_driver() -> Option<Driver> {
    match Driver::load().and_then(|driver| Ok((driver, driver.device_count()?))) {
        Ok((_, 0)) => println!("there is a CUDA driver, but no device"),
        Ok((driver, _)) => {
            println!("using the real driver");
            return Some(driver);
        }
        Err(error) => println!("{error}"),
    }
    None
}

/// A simulated machine, on which the kernel is a Rust function.
fn simulated_driver() -> Result<Driver> {
    println!("using the simulated driver: same program, no GPU");
    let driver = Driver::simulated(Simulation::default())?;
    if let Some(machine) = driver.machine() {
        machine.kernel("smooth", |call| {
            let n = call.scalar::<u32>(2) as usize;
            let cells = call.load_n::<f32>(0, n + 2);
            call.update::<f32>(1, |out| {
                for (cells, out) in cells.windows(3).zip(&mut out[1..]) {
                    *out = 0.25 * cells[0] + 0.5 * cells[1] + 0.25 * cells[2];
                }
            });
        });
    }
    Ok(driver)
}
