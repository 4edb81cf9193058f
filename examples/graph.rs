//! An iterative solver and a chain of layers, with stream launches and as a graph; prints the
//! times.
//!
//! ```text
//! cargo run --release --example graph
//! ```
//!
//! Uses the real driver when the machine has one with a device, else the simulated one, whose times
//! say nothing about a device.

#![allow(unsafe_code)] // vouches for the kernel

mod common;

use scoped_cuda::sim::Simulation;
use scoped_cuda::{Context, In, InOut, LaunchConfig, Result, kernels};
use std::time::{Duration, Instant};

kernels! {
    /// `y += a * x`.
    struct Saxpy<'ctx>;

    // SAFETY: y[i] += a * x[i] for i below n only, whatever the grid (`saxpy.cu`).
    unsafe extern "saxpy.ptx" {
        safe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: u32) when {
            "n is at most the length of x": n as usize <= x,
            "n is at most the length of y": n as usize <= y,
        };
    }
}

/// Elements of each vector.
const LEN: usize = 4096;
/// Steps of the solver in one graph.
const STEPS: usize = 20;
/// Launches that are timed.
const ROUNDS: u32 = 200;

fn main() -> Result<()> {
    let driver = common::driver(Simulation::default())?;
    driver.with_device(0, |ctx| {
        let saxpy = Saxpy::load(ctx)?;
        solver(ctx, &saxpy)?;
        layers(ctx, &saxpy)
    })
}

/// Solves `x = b` by Richardson's iteration: r = b - x, x += r / 2, again and again.
fn solver<'ctx>(ctx: Context<'ctx>, saxpy: &Saxpy<'ctx>) -> Result<()> {
    let (config, n) = (LaunchConfig::for_elements(LEN), LEN as u32);
    let stream = ctx.new_stream()?;
    let b = ctx.filled(LEN, 3.0_f32)?;
    let (mut x, mut r) = (ctx.zeros::<f32>(LEN)?, ctx.zeros::<f32>(LEN)?);
    let by_stream = timed(|| {
        stream.scope(|s| {
            let (mut x, mut r) = (x.lend(s), r.lend(s));
            for _ in 0..STEPS {
                s.copy(&b, &mut r)?;
                saxpy.saxpy(s, config, &x, &mut r, -1.0, n)?;
                saxpy.saxpy(s, config, &r, &mut x, 0.5, n)?;
            }
            Ok(())
        })
    })?;
    x.set_zero()?;
    let (mut graph, ()) = ctx.graph((b, x, r), |g, (b, mut x, mut r)| {
        let saxpy = &saxpy.kernels().saxpy;
        for _ in 0..STEPS {
            g.copy(&b, &mut r)?;
            saxpy.launch_in(g, config, (&x, &mut r, -1.0, n))?;
            saxpy.launch_in(g, config, (&r, &mut x, 0.5, n))?;
        }
        Ok(())
    })?;
    let by_graph = timed(|| stream.scope(|s| graph.lend(s).launch(s)))?;
    let found = graph.into_memory().1.to_vec()?;
    assert!(found.iter().all(|x| (x - 3.0).abs() < 1e-4));
    println!("solver, {STEPS} steps: {by_stream:?} on a stream, {by_graph:?} as a graph");
    Ok(())
}

/// Eight layers of four independent heads each, which a graph runs side by side.
fn layers<'ctx>(ctx: Context<'ctx>, saxpy: &Saxpy<'ctx>) -> Result<()> {
    let (config, n) = (LaunchConfig::for_elements(LEN), LEN as u32);
    let stream = ctx.new_stream()?;
    let input = ctx.filled(LEN, 1.0_f32)?;
    let mut heads = Vec::new();
    for _ in 0..4 {
        heads.push(ctx.zeros::<f32>(LEN)?);
    }
    let by_stream = timed(|| {
        stream.scope(|s| {
            for head in &mut heads {
                let mut head = head.lend(s);
                s.fill(&mut head, 0.0)?;
                for _ in 0..8 {
                    saxpy.saxpy(s, config, &input, &mut head, 0.5, n)?;
                }
            }
            Ok(())
        })
    })?;
    let (mut graph, ()) = ctx.graph((input, heads), |g, (input, mut heads)| {
        let saxpy = &saxpy.kernels().saxpy;
        for head in &mut heads {
            g.fill(head, 0.0)?;
            for _ in 0..8 {
                saxpy.launch_in(g, config, (&input, &mut *head, 0.5, n))?;
            }
        }
        Ok(())
    })?;
    let by_graph = timed(|| stream.scope(|s| graph.lend(s).launch(s)))?;
    for head in graph.memory_mut().1 {
        assert!(head.as_slice().to_vec()?.iter().all(|&x| x == 4.0));
    }
    println!("layers, 4 heads: {by_stream:?} on a stream, {by_graph:?} as a graph");
    Ok(())
}

/// The time of one round.
fn timed(mut round: impl FnMut() -> Result<()>) -> Result<Duration> {
    round()?; // warms up
    let start = Instant::now();
    for _ in 0..ROUNDS {
        round()?;
    }
    Ok(start.elapsed() / ROUNDS)
}
