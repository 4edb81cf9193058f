//! A tour of kernels: a vector sum, a tiled matrix product in shared memory, a reduction with
//! dynamic shared memory, and a cooperative kernel whose blocks wait for each other. `cargo run
//! --example kernels`
//!
//! Their CUDA C++ source is `kernels.cu`, which says how `kernels.ptx` is made of it. Each is
//! declared once with what has to hold for a launch, beside a comment that says why that suffices;
//! from then on launches are safe. Every result is compared with the host's.
//!
//! Uses the real driver when the machine has one with a device, else the simulated one, and says
//! which.

#![allow(unsafe_code)] // vouches for the kernels

mod common;

use scoped_cuda::sim::Simulation;
use scoped_cuda::{
    Attribute, Context, In, InOut, LaunchConfig, Out, Result, Stream, WithLen, kernels,
};

/// Threads of a block of `matmul` along x and y.
const TILE: u32 = 16;

kernels! {
    /// The kernels, each with what makes its launch safe.
    struct Kernels<'ctx>;

    // SAFETY: none touches a variable, and only `normalise` has blocks that wait for each other.
    // vector_add: every access is at an index i < n.
    // matmul: a is read at row * inner + k with row < rows and k < inner, b and c likewise; the
    // products are of 64 bits. The tiles are indexed with threadIdx.x and .y, and all threads of a
    // block come to each __syncthreads().
    // block_sums: x is read at i < len, which is its length; `partial` at threadIdx.x and, while
    // that is below count <= blockDim.x, at indices below count; `sums` at blockIdx.x.
    // normalise: x is accessed at i < len, which is its length; total[0] by one thread or
    // atomically, with the whole grid waiting in between, for which it is cooperative.
    unsafe extern "kernels.ptx" {
        safe fn vector_add(a: In<f32>, b: In<f32>, c: Out<f32>, n: u32) when {
            "n is at most the length of a": n as usize <= a,
            "n is at most the length of b": n as usize <= b,
            "n is at most the length of c": n as usize <= c,
        };
        safe fn matmul(
            a: In<f32>, b: In<f32>, c: Out<f32>, rows: u32, inner: u32, columns: u32,
        ) when |config| {
            "blocks are TILE x TILE threads": config.block() == [TILE, TILE, 1],
            "a has rows * inner elements": product(rows, inner) <= a,
            "b has inner * columns elements": product(inner, columns) <= b,
            "c has rows * columns elements": product(rows, columns) <= c,
        };
        safe fn block_sums(x: WithLen<In<f32>, u32>, sums: Out<f32>) when |config| {
            "blocks and grid are in one row":
                config.block()[1..] == [1, 1] && config.grid()[1..] == [1, 1],
            "shared memory has a float for each thread of a block":
                u64::from(config.get_dynamic_shared_bytes()) >= 4 * config.threads_per_block(),
            "sums has an element for each block": config.blocks() <= sums as u64,
        };
        safe fn normalise(x: WithLen<InOut<f32>, u32>, total: Out<f32>) when |config| {
            "the launch is cooperative": config.is_cooperative(),
            "total has an element": total >= 1,
        };
    }
}

fn main() -> Result<()> {
    let driver = common::driver(Simulation::default())?;
    driver.with_device(0, |ctx| {
        let kernels = Kernels::load(ctx)?;
        let stream = ctx.new_stream()?;
        vector_add(ctx, &stream, &kernels)?;
        matmul(ctx, &stream, &kernels)?;
        reduction(ctx, &stream, &kernels)?;
        cooperative(ctx, &stream, &kernels)
    })
}

fn product(a: u32, b: u32) -> usize {
    // Of 64 bits, as in the kernel.
    (u64::from(a) * u64::from(b)) as usize
}

/// Small whole numbers, whose sums a float holds exactly: results are compared bit for bit,
/// whatever the order of the additions.
fn numbers(len: usize, step: usize) -> Vec<f32> {
    (0..len).map(|i| (i * step % 8) as f32).collect()
}

fn vector_add<'ctx>(
    ctx: Context<'ctx>,
    stream: &Stream<'ctx>,
    kernels: &Kernels<'ctx>,
) -> Result<()> {
    const N: usize = 100_000;
    let (a, b) = (numbers(N, 3), numbers(N, 5));
    let (device_a, device_b) = (ctx.upload(&a)?, ctx.upload(&b)?);
    let mut device_c = ctx.zeros::<f32>(N)?;
    // As many threads in a block as keep the device fullest.
    let threads = kernels.kernels().vector_add.kernel().best_block(0)?.threads;
    let config = LaunchConfig::for_elements_in_blocks(N, threads);
    stream.scope(|s| {
        let mut device_c = device_c.lend(s);
        kernels.vector_add(s, config, &device_a, &device_b, &mut device_c, N as u32)
    })?;
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    assert_eq!(device_c.to_vec()?, expected);
    println!("vector_add: {N} sums in blocks of {threads} threads, as on the host");

    // What does not hold is said, and nothing is launched.
    let error = stream.scope(|s| {
        let mut device_c = device_c.lend(s);
        kernels.vector_add(s, config, &device_a, &device_b, &mut device_c, N as u32 + 1)
    });
    println!("vector_add of one more: {}", error.unwrap_err());
    Ok(())
}

fn matmul<'ctx>(ctx: Context<'ctx>, stream: &Stream<'ctx>, kernels: &Kernels<'ctx>) -> Result<()> {
    // No multiples of a tile.
    const ROWS: usize = 150;
    const INNER: usize = 70;
    const COLUMNS: usize = 97;
    let (a, b) = (numbers(ROWS * INNER, 3), numbers(INNER * COLUMNS, 5));
    let (device_a, device_b) = (ctx.upload(&a)?, ctx.upload(&b)?);
    let mut device_c = ctx.zeros::<f32>(ROWS * COLUMNS)?;
    let tiles = |len: usize| (len as u32).div_ceil(TILE);
    let config = LaunchConfig::new([tiles(COLUMNS), tiles(ROWS), 1], [TILE, TILE, 1]);
    stream.scope(|s| {
        let (rows, inner, columns) = (ROWS as u32, INNER as u32, COLUMNS as u32);
        let mut c = device_c.lend(s);
        kernels.matmul(
            s, config, &device_a, &device_b, &mut c, rows, inner, columns,
        )
    })?;
    assert_eq!(device_c.to_vec()?, host_matmul(&a, &b, INNER, COLUMNS));
    println!(
        "matmul: {ROWS} x {INNER} by {INNER} x {COLUMNS} in tiles of {TILE} x {TILE}, as on the host"
    );
    Ok(())
}

fn reduction<'ctx>(
    ctx: Context<'ctx>,
    stream: &Stream<'ctx>,
    kernels: &Kernels<'ctx>,
) -> Result<()> {
    const LEN: usize = 1_000_000;
    const THREADS: u32 = 256;
    let x = numbers(LEN, 3);
    let device_x = ctx.upload(&x)?;
    // As many blocks as run at once, each with a float of shared memory for a thread; then one
    // block for their sums.
    let kernel = kernels.kernels().block_sums.kernel();
    let multiprocessors = ctx.device().attribute(Attribute::MultiprocessorCount)?;
    let blocks = kernel.active_blocks(THREADS, 4 * THREADS)? * multiprocessors as u32;
    let (mut sums, mut sum) = (ctx.zeros::<f32>(blocks as usize)?, ctx.zeros::<f32>(1)?);
    let config = |blocks| {
        LaunchConfig::new([blocks, 1, 1], [THREADS, 1, 1]).dynamic_shared_bytes(4 * THREADS)
    };
    let mut total = [0.0];
    stream.scope(|s| {
        let (mut sums, mut sum) = (sums.lend(s), sum.lend(s));
        kernels.block_sums(s, config(blocks), &device_x, &mut sums)?;
        kernels.block_sums(s, config(1), &sums, &mut sum)?;
        s.read(&sum, &mut total)
    })?;
    assert_eq!(total, [x.iter().sum::<f32>()]);
    println!(
        "block_sums: {LEN} numbers in {blocks} blocks, then these in one: {}, as on the host",
        total[0]
    );
    Ok(())
}

fn cooperative<'ctx>(
    ctx: Context<'ctx>,
    stream: &Stream<'ctx>,
    kernels: &Kernels<'ctx>,
) -> Result<()> {
    const LEN: usize = 100_000;
    const THREADS: u32 = 256;
    let x = numbers(LEN, 3);
    let (mut device_x, mut total) = (ctx.upload(&x)?, ctx.zeros::<f32>(1)?);
    // More blocks than run at once could not wait for each other; the launch would say so.
    let multiprocessors = ctx.device().attribute(Attribute::MultiprocessorCount)?;
    let blocks = kernels
        .kernels()
        .normalise
        .kernel()
        .active_blocks(THREADS, 0)?
        * multiprocessors as u32;
    let config = LaunchConfig::new([blocks, 1, 1], [THREADS, 1, 1]);
    stream.scope(|s| {
        let (mut x, mut total) = (device_x.lend(s), total.lend(s));
        kernels.normalise(s, config.cooperative(), &mut x, &mut total)
    })?;
    let sum: f32 = x.iter().sum();
    let expected: Vec<f32> = x.iter().map(|x| x / sum).collect();
    assert_eq!(device_x.to_vec()?, expected);
    assert_eq!(total.to_vec()?, [sum]);
    println!(
        "normalise: {LEN} numbers divided by their sum in one launch of {blocks} blocks that meet twice, as on the host"
    );
    Ok(())
}

fn host_matmul(a: &[f32], b: &[f32], inner: usize, columns: usize) -> Vec<f32> {
    let rows = a.chunks(inner);
    let entry = |row: &[f32], column: usize| -> f32 {
        let column = b[column..].iter().step_by(columns);
        row.iter().zip(column).map(|(a, b)| a * b).sum()
    };
    rows.flat_map(|row| (0..columns).map(move |column| entry(row, column)))
        .collect()
}
