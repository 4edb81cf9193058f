//! Kernels that the simulated driver runs from their PTX: results, and what it finds.

#![allow(unsafe_code)] // launches, and kernels that do wrong

use crate::common::{ptx, simulated};
use scoped_cuda::sim::{Access, Class, Finding, Simulation, Thread};
use scoped_cuda::{Context, Driver, InOut, LaunchConfig, Result};

/// `to[i] = values[i]` for every thread, without a look at how many there are.
const STORES: &str = ".version 8.0
.target sm_80
.address_size 64
.const .align 4 .b32 limit = 7;
.visible .entry stores(.param .u64 to)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.const.u32 %r2, [limit];
    st.global.u32 [%rd3], %r2;
    ret;
}
.visible .entry races(.param .u64 to)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    mov.u32 %r1, %ctaid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
";

fn launch(ctx: Context<'_>, kernel: &str, blocks: u32, threads: u32, n: usize) -> Result<Vec<u32>> {
    let kernel = ctx.load_ptx(ptx(STORES))?.kernel::<(InOut<u32>,)>(kernel)?;
    let (stream, mut to) = (ctx.new_stream()?, ctx.zeros::<u32>(n)?);
    stream.scope(|s| {
        let mut to = to.lend(s);
        let config = LaunchConfig::new([blocks, 1, 1], [threads, 1, 1]);
        // SAFETY: on the simulated driver every access is checked.
        unsafe { s.launch(&kernel, config, (&mut to,)) }
    })?;
    to.to_vec()
}

/// What a launch ends as, and what was found.
fn found(kernel: &str, blocks: u32, threads: u32, n: usize, code: &str) -> (Driver, Finding) {
    let driver = simulated(Simulation::default());
    let result = driver.with_device(0, |ctx| launch(ctx, kernel, blocks, threads, n));
    let text = result.unwrap_err().to_string();
    assert!(text.contains(code), "{text}");
    let machine = driver.machine().unwrap();
    let findings = machine.findings();
    assert_eq!(findings.len(), 1);
    assert_eq!(machine.violations(), [findings[0].to_string()]);
    (driver, findings[0].clone())
}

#[test]
fn a_kernel_runs_without_a_body() {
    let driver = simulated(Simulation::default());
    let result = driver.with_device(0, |ctx| launch(ctx, "stores", 1, 3, 4));
    assert_eq!(result.unwrap(), [7, 7, 7, 0]);
    assert_eq!(driver.machine().unwrap().findings(), []);
}

#[test]
fn an_access_beyond_the_end_is_told_in_full() {
    let (_, finding) = found("stores", 1, 5, 4, "ILLEGAL_ADDRESS");
    assert_eq!(finding.class, Class::OutOfBounds);
    assert_eq!((finding.kernel.as_str(), finding.line), ("stores", 14));
    let block = [0; 3];
    let thread = [4, 0, 0];
    assert_eq!(finding.thread, Thread { block, thread });
    assert_eq!(finding.access, Some(Access::Write(4)));
    let nearest = finding.nearest.unwrap();
    assert_eq!(nearest.label, "16 bytes on device 0");
    assert_eq!(finding.address, Some(nearest.base + 16));
}

#[test]
fn blocks_that_race_are_told() {
    let (_, finding) = found("races", 2, 1, 1, "LAUNCH_FAILED");
    assert_eq!(finding.kernel, "races");
    let Class::Race {
        was_write,
        is_shared,
        ..
    } = finding.class
    else {
        panic!("{finding}");
    };
    assert_eq!((was_write, is_shared), (true, false));
}
