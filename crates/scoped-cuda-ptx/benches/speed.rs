//! How fast kernels run here, beside the same loops in plain Rust.
//!
//!     cargo bench -p scoped-cuda-ptx

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Device, Parameters};
use scoped_cuda_ptx::Shape;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The shortest of a few runs.
fn shortest(mut run: impl FnMut()) -> Duration {
    let count = std::env::var("RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(5);
    let times = (0..count).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn report(name: &str, here: Duration, instructions: u64, plain: Duration) {
    let rate = instructions as f64 / here.as_secs_f64() / 1e9;
    println!(
        "{name:<28} {here:>9.2?}  {rate:>5.2} G lane-instructions/s  plain Rust {plain:>9.2?}"
    );
}

fn saxpy() {
    const N: usize = 1 << 20;
    let mut device = Device::new(include_str!("../../../examples/saxpy.ptx"));
    device.steps_max = u64::MAX;
    let (x, y) = (vec![1f32; N], vec![2f32; N]);
    let (dx, dy) = (device.upload_f32(&x), device.upload_f32(&y));
    let parameters = Parameters::new()
        .pointer(dx)
        .pointer(dy)
        .f32(0.5)
        .u32(N as u32);
    let shape = Shape::linear(N as u32 / 256, 256);
    let here = shortest(|| device.run("saxpy", shape, parameters.clone()));
    assert_eq!(device.read_f32(dy, 3), [4.5; 3]);
    let mut y = y;
    let plain = shortest(|| {
        for (y, x) in y.iter_mut().zip(black_box(&x)) {
            *y += 0.5 * x;
        }
        black_box(&y);
    });
    report("saxpy, 2^20 elements", here, N as u64 * 19, plain);
}

fn mix() {
    const N: usize = 1 << 14;
    const ROUNDS: u32 = 100;
    let mut device = Device::new(include_str!("../../../examples/pipeline.ptx"));
    device.steps_max = u64::MAX;
    let words: Vec<u32> = (0..N as u32).collect();
    let dw = device.upload_u32(&words);
    let parameters = Parameters::new().pointer(dw).u32(N as u32).u32(ROUNDS);
    let shape = Shape::linear(N as u32 / 256, 256);
    let here = shortest(|| device.run("mix", shape, parameters.clone()));
    let mut words = words;
    let plain = shortest(|| {
        for word in &mut words {
            let mut x = *word;
            for _ in 0..ROUNDS {
                x = x.wrapping_add(0x9e37_79b9);
                x ^= x >> 16;
                x = x.wrapping_mul(0x21f0_aaad);
                x ^= x >> 15;
                x = x.wrapping_mul(0xd35a_2d97);
                x ^= x >> 15;
            }
            *word = x;
        }
        black_box(&words);
    });
    assert_eq!(device.read_u32(dw, N), words);
    report(
        "mix, 2^14 words, 100 rounds",
        here,
        N as u64 * u64::from(ROUNDS) * 12,
        plain,
    );
}

fn main() {
    saxpy();
    mix();
}
