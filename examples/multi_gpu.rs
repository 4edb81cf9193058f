//! One problem on all devices of the machine, which exchange their edges, and what the ways between them carry:
//! `cargo run --example multi_gpu`.
//!
//! Each context has a name of its own, the lifetime in `Context<'ctx>`, and here only the running program knows how many there are. A
//! program cannot write down that many names, but a function that is given one, opens the next device and calls itself with the name it
//! got there meets them all: that is [`open`]. At each level two names are known, that of the device and that of its left neighbour, and
//! these are the two that a [`Transfer`] between neighbours needs. The devices further left are behind a [`Row`], a trait object that
//! keeps the name of its last device and forgets the others.
//!
//! On a machine with one device, two scopes of that one exchange their edges. Uses the real driver when the machine has one with a
//! device, else the simulated one, and says which.

#![allow(unsafe_code)] // launches a kernel, and measures the driver's own copy beside the crate's

use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::{Peers, Simulation};
use scoped_cuda::{
    Buffer, Context, Driver, Error, In, Kernel, LaunchConfig, Ordered, Out, Result, Scope,
    ScopedStream, SliceMut, Stream, Transfer, scope,
};
use std::mem::swap;
use std::time::{Duration, Instant};

const PTX: &str = include_str!("smooth.ptx");
/// Points on all devices together.
const POINTS: usize = 300_007;
const STEPS: usize = 40;
/// Copies of each kind that are measured.
const ROUNDS: usize = 20;

fn main() -> Result<()> {
    let driver = real_driver().map_or_else(simulated_driver, Ok)?;
    for device in driver.devices()? {
        println!("device {}: {}", device.ordinal(), device.name()?);
    }
    let devices: Vec<u32> = match driver.device_count()? {
        1 => {
            println!("one device: two scopes of it, and what is copied stays inside it");
            vec![0, 0]
        }
        count => (0..count).collect(),
    };

    let points: Vec<f32> = (0..POINTS).map(|i| (i * 7 % 1000) as f32).collect();
    let expected = on_the_host(&points);
    let ways: [(&str, Way); 2] = [
        ("staged", |from, to| Transfer::staged(from, to)),
        ("direct where it can be", |from, to| from.transfer_to(to)),
    ];
    for (name, way) in ways {
        let (smoothed, time) = smooth(driver, &devices, &points, way)?;
        assert!(
            smoothed == expected,
            "{name}: other points than on the host"
        );
        println!(
            "{POINTS} points on {} devices, {STEPS} steps with their edges exchanged, {name}: as on the host, bit for bit, in {time:.2?}",
            devices.len()
        );
    }

    let bytes: u32 = match driver.is_simulated() {
        true => 1 << 20,
        false => 256 << 20,
    };
    let data: Vec<u32> = (0..bytes / 4)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect();
    println!(
        "\n{:>14} MiB          Transfer::copy   cuMemcpyPeerAsync   ratio",
        bytes >> 20
    );
    for (i, &first) in devices.iter().enumerate() {
        // Of many devices only the neighbours.
        let others = if devices.len() <= 4 { devices.len() } else { 2 };
        for &second in devices[i + 1..].iter().take(others) {
            driver.with_two_devices([first, second], |a, b| compare(a, b, &data))?;
        }
    }
    if driver.is_simulated() {
        println!("(simulated devices: the speeds say nothing)");
    }
    Ok(())
}

/// Makes a token for two contexts.
type Way = for<'a, 'b> fn(Context<'a>, Context<'b>) -> Result<Transfer<'a, 'b>>;
/// The kernel: each of n points becomes a mean of itself and its neighbours.
type Smooth = (In<f32>, Out<f32>, u32);

/// Smooths `points` [`STEPS`] times, in equal parts on `devices`; left of the first and right of the last there is 0. Says how long the
/// steps took.
fn smooth(
    driver: Driver,
    devices: &[u32],
    points: &[f32],
    way: Way,
) -> Result<(Vec<f32>, Duration)> {
    let parts = points.chunks(points.len().div_ceil(devices.len()));
    let parts: Vec<_> = devices.iter().copied().zip(parts).collect();
    let (&(ordinal, first), rest) = parts.split_first().expect("there are devices");
    driver.with_device(ordinal, |ctx| {
        open(driver, &mut Part::new(ctx, first)?, rest, way)
    })
}

/// Opens the first device of `rest` and puts it at the right end of `row`; with that row does the same for the others. When all devices
/// are open, in one frame inside the other, takes the steps.
fn open<'left>(
    driver: Driver,
    row: &mut dyn Row<'left>,
    rest: &[(u32, &[f32])],
    way: Way,
) -> Result<(Vec<f32>, Duration)> {
    let Some((&(ordinal, points), rest)) = rest.split_first() else {
        return take_steps(row);
    };
    driver.with_device(ordinal, |here| {
        let left = row.context();
        let mut longer = Joined {
            row,
            part: Part::new(here, points)?,
            to_right: way(left, here)?,
            to_left: way(here, left)?,
        };
        open(driver, &mut longer, rest, way)
    })
}

/// One scope with the streams of all devices in it: the devices work at the same time, and wait for their neighbours' edges alone.
fn take_steps<'last>(row: &mut dyn Row<'last>) -> Result<(Vec<f32>, Duration)> {
    let start = Instant::now();
    scope(|scope| {
        row.lend(
            scope,
            Box::new(|mut last, step| (0..STEPS).try_for_each(|_| step(&mut last))),
        )
    })?;
    let time = start.elapsed();
    // The handles were swapped, not the buffers: after an even number of steps the result is where it began.
    const { assert!(STEPS % 2 == 0) };
    Ok((row.points()?, time))
}

/// Neighbouring devices, the last of which has the name `'last`: a [`Part`], or [`Joined`], a row with one more.
trait Row<'last> {
    /// The last device's context.
    fn context(&self) -> Context<'last>;

    /// Lends all memory to the scope, and calls `f` with that of the last device and with a [`Step`] of the row.
    fn lend<'scope>(
        &'scope mut self,
        scope: &Scope<'scope>,
        f: Inside<'_, 'scope, 'last>,
    ) -> Result<()>
    where
        'last: 'scope;

    /// The points of all devices.
    fn points(&self) -> Result<Vec<f32>>;
}

/// What is done with a row in a scope.
type Inside<'a, 'scope, 'last> = Box<
    dyn for<'s> FnOnce(Lent<'s, 'scope, 'last>, Step<'_, 's, 'scope, 'last>) -> Result<()> + 'a,
>;

/// Enqueues a step of a whole row. The last device's memory is not in it, but an argument, because the next device exchanges edges with it
/// too.
type Step<'a, 's, 'scope, 'last> = &'a mut dyn FnMut(&mut Lent<'s, 'scope, 'last>) -> Result<()>;

/// What one device has: its points, with one cell more at each end for the neighbour's edge (or the 0 outside), twice.
struct Part<'ctx> {
    stream: Stream<'ctx>,
    kernel: Kernel<'ctx, Smooth>,
    now: Buffer<'ctx, f32>,
    next: Buffer<'ctx, f32>,
}

/// A part in a scope.
struct Lent<'s, 'scope, 'ctx> {
    stream: ScopedStream<'s, 'scope, 'ctx>,
    kernel: &'scope Kernel<'ctx, Smooth>,
    now: Ordered<'s, SliceMut<'scope, 'ctx, f32>>,
    next: Ordered<'s, SliceMut<'scope, 'ctx, f32>>,
}

/// A row and one more device to its right, with the tokens for the two that meet there.
struct Joined<'row, 'left, 'here> {
    row: &'row mut dyn Row<'left>,
    part: Part<'here>,
    to_right: Transfer<'left, 'here>,
    to_left: Transfer<'here, 'left>,
}

impl<'ctx> Part<'ctx> {
    fn new(ctx: Context<'ctx>, points: &[f32]) -> Result<Self> {
        let cells = [&[0.0], points, &[0.0]].concat();
        Ok(Self {
            stream: ctx.stream()?,
            kernel: ctx.load_ptx(PTX)?.kernel("smooth")?,
            now: ctx.upload(&cells)?,
            next: ctx.zeros(cells.len())?,
        })
    }

    fn lend_part<'scope>(
        &'scope mut self,
        scope: &Scope<'scope>,
        f: impl for<'s> FnOnce(Lent<'s, 'scope, 'ctx>) -> Result<()>,
    ) -> Result<()> {
        scope.on(&self.stream, |stream| {
            f(Lent {
                stream,
                kernel: &self.kernel,
                now: stream.lend(&mut self.now),
                next: stream.lend(&mut self.next),
            })
        })
    }
}

impl Lent<'_, '_, '_> {
    /// Number of points: of the cells without the one at each end.
    fn len(&self) -> usize {
        self.now.len() - 2
    }

    fn step(&mut self) -> Result<()> {
        let (n, config) = (self.len() as u32, LaunchConfig::for_elements(self.len()));
        let arguments = (&self.now, &mut self.next, n);
        // SAFETY: `smooth` reads the n + 2 elements of the first argument, and writes n of the n + 2 of the second.
        unsafe { self.stream.launch(self.kernel, config, arguments) }?;
        swap(&mut self.now, &mut self.next);
        Ok(())
    }
}

/// A row of one device.
impl<'ctx> Row<'ctx> for Part<'ctx> {
    fn context(&self) -> Context<'ctx> {
        self.stream.context()
    }

    fn lend<'scope>(
        &'scope mut self,
        scope: &Scope<'scope>,
        f: Inside<'_, 'scope, 'ctx>,
    ) -> Result<()>
    where
        'ctx: 'scope,
    {
        self.lend_part(scope, |part| f(part, &mut |part| part.step()))
    }

    fn points(&self) -> Result<Vec<f32>> {
        self.now.slice(1..self.now.len() - 1)?.to_vec()
    }
}

impl<'left, 'here> Row<'here> for Joined<'_, 'left, 'here> {
    fn context(&self) -> Context<'here> {
        self.part.context()
    }

    fn lend<'scope>(
        &'scope mut self,
        scope: &Scope<'scope>,
        f: Inside<'_, 'scope, 'here>,
    ) -> Result<()>
    where
        'here: 'scope,
    {
        let (part, to_right, to_left) = (&mut self.part, self.to_right, self.to_left);
        self.row.lend(
            scope,
            Box::new(move |mut left, step_left| {
                part.lend_part(scope, |here| {
                    f(here, &mut |here| {
                        let n = left.len();
                        let (edge, mut halo) = (left.now.slice(n..=n)?, here.now.slice_mut(..1)?);
                        to_right.enqueue(left.stream, &edge, here.stream, &mut halo)?;
                        let (edge, mut halo) =
                            (here.now.slice(1..2)?, left.now.slice_mut(n + 1..)?);
                        to_left.enqueue(here.stream, &edge, left.stream, &mut halo)?;
                        // The row on the left exchanges its other edges before its devices compute.
                        step_left(&mut left)?;
                        here.step()
                    })
                })
            }),
        )
    }

    fn points(&self) -> Result<Vec<f32>> {
        Ok([self.row.points()?, self.part.points()?].concat())
    }
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

/// Measures staged and direct copies between two devices, in both directions.
fn compare<'a, 'b>(a: Context<'a>, b: Context<'b>, data: &[u32]) -> Result<()> {
    // Staged first: once a direct token has made memory reachable, the driver uses that for every copy.
    measure(Transfer::staged(a, b)?, a, b, data)?;
    measure(Transfer::staged(b, a)?, b, a, data)?;
    measure_direct(a, b, data)?;
    measure_direct(b, a, data)
}

fn measure_direct<'src, 'dst>(from: Context<'src>, to: Context<'dst>, data: &[u32]) -> Result<()> {
    match Transfer::direct(from, to) {
        Ok(token) => measure(token, from, to, data),
        Err(Error::PeerUnsupported { .. }) => {
            let (from, to) = (from.device().ordinal(), to.device().ordinal());
            println!("{from:>5} -> {to:<5} direct: not between these");
            Ok(())
        }
        Err(error) => Err(error),
    }
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
    let way = match token.is_direct() {
        true => "direct",
        false => "staged",
    };
    println!(
        "{:>5} -> {:<5} {way}: {with_crate:>11.1} GB/s {with_driver:>14.1} GB/s {:>7.3}",
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
    // Device 2 reaches the memory of device 1, and no other pair that it is in reaches anything.
    let peers = Peers::Only(vec![(0, 1), (1, 0), (2, 1)]);
    let driver = Driver::simulated(Simulation {
        devices: 3,
        peers,
        ..Simulation::default()
    })?;
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
