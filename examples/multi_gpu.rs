//! One problem on all devices of the machine, which exchange their edges, and what the ways between
//! them carry: `cargo run --example multi_gpu`.
//!
//! Each context has a name of its own, the lifetime in `Context<'ctx>`, and only the running
//! program knows how many devices there are. It cannot have a variable for each name. But a
//! function that is given one name, opens the next device and calls itself with the name it gets
//! there can go through all of them: [`open`]. At each level it knows two names, that of a device
//! and that of its left neighbour, and tokens for copies between neighbours are made of these. What
//! is further left is behind a trait object, a [`Row`], which keeps the name of its last device and
//! forgets the others.
//!
//! On a machine with one device, two scopes of it are neighbours. Uses the real driver when the
//! machine has one with a device, else the simulated one, and says which.

#![allow(unsafe_code)] // vouches for a kernel, and measures the driver's own copy beside the crate's

mod common;

use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::{Peers, Simulation};
use scoped_cuda::{
    Buffer, Context, Driver, Error, In, LaunchConfig, OnStream, Out, Result, Scope, ScopedStream,
    SliceMut, Stream, Transfer, kernels, scope,
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

/// Makes each point a mean of itself and its neighbours, [`STEPS`] times, with a part of the points
/// on each device; left of the first and right of the last point there is 0.
fn smooth(driver: Driver, devices: &[u32], points: &[f32], way: Way) -> Result<Vec<f32>> {
    let parts = points.chunks(points.len().div_ceil(devices.len()));
    let parts: Vec<_> = devices.iter().copied().zip(parts).collect();
    let (&(ordinal, part), rest) = parts.split_first().expect("there is a device");
    driver.with_device(ordinal, |first| {
        open(driver, first, &mut Part::new(first, part)?, rest, way)
    })
}

/// Opens the first device of `rest`, puts it at the right end of `row`, whose last device is
/// `left`, and goes on with the longer row. At the end of `rest` all devices are open, one inside
/// the other, and take the steps.
fn open<'left>(
    driver: Driver,
    left: Context<'left>,
    row: &mut dyn Row<'left>,
    rest: &[(u32, &[f32])],
    way: Way,
) -> Result<Vec<f32>> {
    let Some((&(ordinal, points), rest)) = rest.split_first() else {
        return take_steps(row);
    };
    driver.with_device(ordinal, |here| {
        let mut longer = Joined {
            row,
            part: Part::new(here, points)?,
            to_right: way(left, here)?,
            to_left: way(here, left)?,
        };
        open(driver, here, &mut longer, rest, way)
    })
}

/// Takes all steps in one scope: the host enqueues them and waits once, and a device waits for
/// nothing but its neighbours' edges.
fn take_steps(row: &mut dyn Row<'_>) -> Result<Vec<f32>> {
    let start = Instant::now();
    scope(|scope| {
        row.lend_all(
            scope,
            Box::new(|mut last, step| (0..STEPS).try_for_each(|_| step(&mut last))),
        )
    })?;
    print!("{STEPS} steps in {:.2?}, ", start.elapsed());
    // The handles were swapped, not the buffers: after an even number of steps the result is where
    // it began.
    const { assert!(STEPS % 2 == 0) };
    row.points()
}

/// Devices side by side, the last of which has the name `'last`: a [`Part`] by itself, or a row and
/// one more, [`Joined`].
trait Row<'last> {
    /// Lends everything to the scope, and calls `f` with what the last device has and with a
    /// [`Step`] of the row.
    fn lend_all<'scope>(
        &'scope mut self,
        scope: &Scope<'scope>,
        f: Box<InScope<'_, 'scope, 'last>>,
    ) -> Result<()>
    where
        'last: 'scope;

    fn points(&self) -> Result<Vec<f32>>;
}

/// What is done with a row in a scope, where the last device's stream has a name too, `'s`.
type InScope<'a, 'scope, 'last> =
    dyn for<'s> FnOnce(Lent<'s, 'scope, 'last>, Step<'_, 's, 'scope, 'last>) -> Result<()> + 'a;

/// Enqueues a step of all devices of a row. What the last one has is an argument: its right
/// neighbour exchanges edges with it as well.
type Step<'a, 's, 'scope, 'last> = &'a mut dyn FnMut(&mut Lent<'s, 'scope, 'last>) -> Result<()>;

/// What one device has: its points, with a cell more at each end for the neighbour's edge or the 0
/// outside, and room for the next ones.
struct Part<'ctx> {
    stream: Stream<'ctx>,
    /// A kernel belongs to its context.
    kernel: Smooth<'ctx>,
    now: Buffer<'ctx, f32>,
    next: Buffer<'ctx, f32>,
}

/// A [`Part`] in a scope.
struct Lent<'s, 'scope, 'ctx> {
    stream: ScopedStream<'s, 'scope, 'ctx>,
    kernel: &'scope Smooth<'ctx>,
    now: OnStream<'s, SliceMut<'scope, 'ctx, f32>>,
    next: OnStream<'s, SliceMut<'scope, 'ctx, f32>>,
}

/// A row and one more device on its right, with the tokens for the two that meet.
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
            stream: ctx.new_stream()?,
            kernel: Smooth::load(ctx)?,
            now: ctx.upload(&cells)?,
            next: ctx.zeros(cells.len())?,
        })
    }

    fn lend<'scope>(
        &'scope mut self,
        scope: &Scope<'scope>,
        f: impl for<'s> FnOnce(Lent<'s, 'scope, 'ctx>) -> Result<()>,
    ) -> Result<()> {
        scope.on(&self.stream, |stream| {
            f(Lent {
                stream,
                kernel: &self.kernel,
                now: self.now.lend(stream),
                next: self.next.lend(stream),
            })
        })
    }
}

impl Lent<'_, '_, '_> {
    fn step(&mut self) -> Result<()> {
        let n = self.now.len() - 2;
        let (config, n) = (LaunchConfig::for_elements(n), n as u32);
        self.kernel
            .smooth(self.stream, config, &self.now, &mut self.next, n)?;
        swap(&mut self.now, &mut self.next);
        Ok(())
    }
}

impl<'ctx> Row<'ctx> for Part<'ctx> {
    fn lend_all<'scope>(
        &'scope mut self,
        scope: &Scope<'scope>,
        f: Box<InScope<'_, 'scope, 'ctx>>,
    ) -> Result<()>
    where
        'ctx: 'scope,
    {
        self.lend(scope, |part| f(part, &mut |part| part.step()))
    }

    fn points(&self) -> Result<Vec<f32>> {
        self.now.slice(1..self.now.len() - 1)?.to_vec()
    }
}

impl<'here> Row<'here> for Joined<'_, '_, 'here> {
    fn lend_all<'scope>(
        &'scope mut self,
        scope: &Scope<'scope>,
        f: Box<InScope<'_, 'scope, 'here>>,
    ) -> Result<()>
    where
        'here: 'scope,
    {
        let (part, to_right, to_left) = (&mut self.part, self.to_right, self.to_left);
        self.row.lend_all(
            scope,
            Box::new(|mut left, step_row| {
                part.lend(scope, |here| {
                    f(here, &mut |here| {
                        exchange(&mut left, here, to_right, to_left)?;
                        // Only now, because its devices exchange edges first and then compute, the
                        // last one too.
                        step_row(&mut left)?;
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

/// Gives each of two neighbours the other's outermost point.
fn exchange<'scope, 'left, 'here>(
    left: &mut Lent<'_, 'scope, 'left>,
    here: &mut Lent<'_, 'scope, 'here>,
    to_right: Transfer<'left, 'here>,
    to_left: Transfer<'here, 'left>,
) -> Result<()> {
    let n = left.now.len();
    let (edge, mut cell) = (left.now.slice(n - 2..n - 1)?, here.now.slice_mut(..1)?);
    to_right.enqueue(left.stream, &edge, here.stream, &mut cell)?;
    let (edge, mut cell) = (here.now.slice(1..2)?, left.now.slice_mut(n - 1..)?);
    to_left.enqueue(here.stream, &edge, left.stream, &mut cell)
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
