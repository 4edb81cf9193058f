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

fn matmul() {
    const N: usize = 256;
    let mut device = Device::new(include_str!("../tests/cuda/kernels.ptx"));
    device.steps_max = u64::MAX;
    let a: Vec<f32> = (0..N * N).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..N * N).map(|i| (i % 5) as f32).collect();
    let (da, db) = (device.upload_f32(&a), device.upload_f32(&b));
    let dc = device.fresh(4 * (N * N) as u64, "c");
    let parameters = Parameters::new()
        .pointer(da)
        .pointer(db)
        .pointer(dc)
        .u32(N as u32);
    let blocks = N as u32 / 16;
    let shape = Shape {
        grid: [blocks, blocks, 1],
        block: [16, 16, 1],
        ..Shape::linear(1, 1)
    };
    let here = shortest(|| device.run("matmul", shape, parameters.clone()));
    let mut c = vec![0f32; N * N];
    let plain = shortest(|| {
        for (row, c) in c.chunks_mut(N).enumerate() {
            c.fill(0.0);
            for (a, b) in a[row * N..].iter().zip(b.chunks(N)) {
                for (c, b) in c.iter_mut().zip(b) {
                    *c += a * b;
                }
            }
        }
        black_box(&c);
    });
    assert_eq!(device.read_f32(dc, N * N), c);
    // Two loads, a product and a sum for each term.
    report(
        "matmul, 256 x 256, tiled",
        here,
        (N * N * N) as u64 * 3,
        plain,
    );
}

fn reduce() {
    const N: usize = 1 << 20;
    let mut device = Device::new(include_str!("../tests/cuda/kernels.ptx"));
    device.steps_max = u64::MAX;
    let x: Vec<u32> = (0..N as u32).collect();
    let (dx, out) = (
        device.upload_u32(&x),
        device.fresh(4 * (N / 256) as u64, "sums"),
    );
    let parameters = Parameters::new().pointer(dx).pointer(out);
    let shape = Shape::linear(N as u32 / 256, 256);
    let here = shortest(|| device.run("reduce_tree", shape, parameters.clone()));
    let mut sums = Vec::new();
    let plain = shortest(|| {
        sums = x
            .chunks(256)
            .map(|part| part.iter().fold(0u32, |a, b| a.wrapping_add(*b)))
            .collect();
        black_box(&sums);
    });
    assert_eq!(device.read_u32(out, N / 256), sums);
    report("tree reduction, 2^20", here, N as u64 * 40, plain);
}

fn main() {
    matmul();
    reduce();
    saxpy();
    mix();
}
