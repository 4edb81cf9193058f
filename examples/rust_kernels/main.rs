//! A kernel in Rust, loaded as any other: `cargo run --example rust_kernels`.
//!
//! `device/lib.rs` is the kernel and says how `device.ptx` is made of it; rustc writes PTX without
//! CUDA. `julia.rs` is part of both programs: the struct that the kernel is given and the function
//! that it computes are the same source on host and device, and so are the results, bit for bit.
//!
//! Uses the real driver when the machine has one with a device, else the simulated one, and says
//! which.

#![allow(unsafe_code)] // vouches for the kernel, and that a struct is plain data

use julia::Julia;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{LaunchConfig, Out, Result, kernels};

#[path = "../common/mod.rs"]
mod common;
mod julia;

const WIDTH: u32 = 96;
const HEIGHT: u32 = 40;

const SET: Julia = Julia {
    real: -0.8,
    imaginary: 0.156,
    steps: 64,
};

// SAFETY: every field is valid with all bits zero.
unsafe impl bytemuck::Zeroable for Julia {}
// SAFETY: every field is valid with any bits, and there is no padding.
unsafe impl bytemuck::Pod for Julia {}

kernels! {
    struct Device<'ctx>;

    // SAFETY: `julia` writes `to` at indices below width * height, which has 64 bits.
    unsafe extern "device.ptx" {
        // In the file its name is `_RNvNtCs..._6device7kernels5julia`.
        safe fn "kernels::julia" as julia(set: Julia, to: Out<u32>, width: u32, height: u32) when {
            "to has width * height elements": u64::from(width) * u64::from(height) <= to as u64,
        };
    }
}

fn main() -> Result<()> {
    let driver = common::driver(Simulation::default())?;
    let pixels = WIDTH * HEIGHT;
    let found = driver.with_device(0, |ctx| {
        let (device, stream) = (Device::load(ctx)?, ctx.new_stream()?);
        let mut to = ctx.zeros::<u32>(pixels as usize)?;
        stream.scope(|s| {
            let config = LaunchConfig::for_elements(pixels as usize);
            device.julia(s, config, SET, &mut to.lend(s), WIDTH, HEIGHT)
        })?;
        to.to_vec()
    })?;
    for row in found.chunks(WIDTH as usize) {
        let shades = row.iter().map(|&steps| match steps {
            0..4 => ' ',
            4..8 => '.',
            8..16 => ':',
            16..32 => 'o',
            _ => '#',
        });
        println!("{}", shades.collect::<String>());
    }
    let expected = (0..pixels).map(|pixel| SET.steps_of(pixel, WIDTH, HEIGHT));
    assert!(expected.eq(found), "the same source, the same result");
    println!("{pixels} points, as on the host");
    Ok(())
}
