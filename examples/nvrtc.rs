//! A kernel in CUDA C++, compiled while the program runs: `cargo run --example nvrtc`.
//!
//! Needs NVRTC, a library of the CUDA toolkit; without it the example says what to install and runs
//! nothing. Without a GPU the compiled kernel is loaded into the simulated driver, which runs a
//! Rust function in its place.

#![allow(unsafe_code)] // launches a kernel, and vouches for text

mod common;

use scoped_cuda::nvrtc::{CompileOptions, Compiled, Compiler, NvrtcError, Trusted};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Context, Error, In, InOut, LaunchConfig, Result, trusted};
use std::time::Instant;

/// y = a x + y for any type of number.
const SOURCE: &str = r#"
template <typename T> __global__ void saxpy(const T *x, T *y, T a, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"#;
/// Which of the kernels that the template makes is wanted.
const KERNEL: &str = "saxpy<float>";
const N: usize = 1_000_000;
const A: f32 = 2.5;

fn main() -> Result<()> {
    let compiler = match Compiler::load() {
        Err(error @ Error::Nvrtc(NvrtcError::NotFound { .. })) => {
            println!("{error}\nnothing was run");
            return Ok(());
        }
        other => other?,
    };
    println!(
        "NVRTC {} compiles for {:?}",
        compiler.version(),
        compiler.architectures()
    );
    // A simulated driver that is not older than the compiler.
    let version = compiler.version().0.max(13_000);
    let driver = common::driver(Simulation::default().version(version))?;
    if compiler.version() > driver.version() {
        println!(
            "the driver is of CUDA {} and reads no PTX of a newer version: install NVRTC {0} or older\nnothing was run",
            driver.version()
        );
        return Ok(());
    }

    driver.with_device(0, |ctx| {
        println!("device: {}", ctx.device().name()?);
        let options = CompileOptions::for_device(ctx.device())?
            .program_name("saxpy.cu")
            .name_expression(KERNEL);
        what_an_error_looks_like(compiler, &options);

        let start = Instant::now();
        let compiled = compiler.compile(trusted!(SOURCE), &options)?;
        println!(
            "{KERNEL} is {} in the PTX, compiled in {:.2?}",
            compiled.lowered_name(KERNEL)?,
            start.elapsed()
        );
        run(ctx, &compiled)
    })
}

/// A million elements through the kernel, compared with the host's.
fn run(ctx: Context<'_>, compiled: &Compiled) -> Result<()> {
    let name = compiled.lowered_name(KERNEL)?;
    if let Some(machine) = ctx.driver().machine() {
        machine.kernel(name, |call| {
            let (a, n) = (call.scalar::<f32>(2), call.scalar::<u32>(3) as usize);
            let x = call.load_n::<f32>(0, n);
            call.update::<f32>(1, |y| {
                y.iter_mut()
                    .zip(&x)
                    .for_each(|(y, x)| *y = a.mul_add(*x, *y))
            });
        });
    }
    let saxpy = ctx
        .load_ptx(compiled.ptx()?)?
        .kernel::<(In<f32>, InOut<f32>, f32, u32)>(name)?;

    let x: Vec<f32> = (0..N).map(|i| i as f32 * 0.5).collect();
    let mut y: Vec<f32> = (0..N).map(|i| 1.0 / (i + 1) as f32).collect();
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| A.mul_add(*x, *y)).collect();
    let stream = ctx.new_stream()?;
    let device_x = ctx.upload(&x)?;
    let mut device_y = ctx.upload(&y)?;
    stream.scope(|s| {
        let mut device_y = device_y.lend(s);
        let config = LaunchConfig::for_elements(N);
        // SAFETY: `saxpy` reads x and updates y at indices below n, and both have n elements.
        unsafe { s.launch(&saxpy, config, (&device_x, &mut device_y, A, N as u32)) }?;
        s.read(&device_y, &mut y)
    })?;
    assert_eq!(y, expected, "every element is exact: both sides round once");
    println!("y = a * x + y: {N} elements are right");
    Ok(())
}

/// The compiler's own words, with file and line.
fn what_an_error_looks_like(compiler: Compiler, options: &CompileOptions) {
    let broken = SOURCE.replace("y[i] =", "z[i] =");
    // SAFETY: it is a constant of this program but for one letter.
    let broken = unsafe { Trusted::text(&broken) };
    if let Err(error) = compiler.compile(broken, options) {
        println!("--- a mistake, for the example:\n{error}\n---");
    }
}
