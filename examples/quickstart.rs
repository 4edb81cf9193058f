//! SAXPY over a million elements through the whole crate: `cargo run --example quickstart`.
//!
//! Uses the real driver when the machine has one with a device, else the simulated one, and says
//! which.

#![allow(unsafe_code)] // vouches for a kernel

mod common;

use scoped_cuda::sim::Simulation;
use scoped_cuda::{In, InOut, LaunchConfig, Result, kernels};
use std::time::Instant;

kernels! {
    /// Written by hand; `saxpy.cu` is the same kernel in CUDA C++.
    struct Saxpy<'ctx>;

    // SAFETY: `saxpy` reads x[i] and updates y[i] for i below n only, whatever the grid.
    unsafe extern "saxpy.ptx" {
        safe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: u32) when {
            "n is at most the length of x": n as usize <= x,
            "n is at most the length of y": n as usize <= y,
        };
    }
}

const N: usize = 1_000_000;
const A: f32 = 2.5;

fn main() -> Result<()> {
    let driver = common::driver(Simulation::default())?;
    let x: Vec<f32> = (0..N).map(|i| i as f32 * 0.5).collect();
    let mut y: Vec<f32> = (0..N).map(|i| 1.0 / (i + 1) as f32).collect();
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| A.mul_add(*x, *y)).collect();

    let elapsed = driver.with_device(0, |ctx| {
        println!(
            "device: {}, driver: CUDA {}",
            ctx.device().name()?,
            driver.version()
        );
        let (saxpy, stream) = (Saxpy::load(ctx)?, ctx.new_stream()?);
        let start = Instant::now();
        let device_x = ctx.upload(&x)?;
        let mut device_y = ctx.upload(&y)?;
        stream.scope(|s| {
            let mut device_y = device_y.lend(s);
            let config = LaunchConfig::for_elements(N);
            saxpy.saxpy(s, config, &device_x, &mut device_y, A, N as u32)?;
            s.read(&device_y, &mut y)
        })?;
        Ok(start.elapsed())
    })?;

    let error = y
        .iter()
        .zip(&expected)
        .map(|(y, e)| (y - e).abs())
        .fold(0.0, f32::max);
    println!("y = a * x + y over {N} elements, copies included: {elapsed:.2?}");
    println!("largest error: {error}");
    assert_eq!(y, expected, "every element is exact: both sides round once");
    Ok(())
}
