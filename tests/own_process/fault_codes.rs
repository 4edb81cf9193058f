//! Kernels that do wrong end with the same code on a device and on the simulated one. Claim C10.

#![allow(unsafe_code)] // launches kernels that do wrong

use crate::common::{alone, ptx, real, simulated};
use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Driver, InOut, LaunchConfig};

/// A mistake each: see `misuse.cu` beside it. A newer nvcc has made it than the driver may know, of
/// nothing that is new.
const MISUSE: &str = include_str!("../../crates/scoped-cuda-ptx/tests/cuda/misuse.ptx");

/// The code with which `kernel` ends when 32 threads run it on 32 bytes, or on a number.
fn code_of(kernel: &str, takes_memory: bool) -> CUresult {
    let driver = match real() {
        true => Driver::load().unwrap(),
        false => simulated(Simulation::default()),
    };
    let result = driver.with_device(0, |ctx| {
        let text = MISUSE.replacen(".version 9.5", ".version 8.5", 1);
        let text = text.replace(".volatile.local", ".local");
        let module = ctx.load_ptx(ptx(&text))?;
        let stream = ctx.new_stream()?;
        let mut memory = ctx.zeros::<u8>(32)?;
        let config = LaunchConfig::new([1; 3], [32, 1, 1]);
        match takes_memory {
            true => {
                let kernel = module.kernel::<(InOut<u8>,)>(kernel)?;
                // SAFETY: not safe at all, which is what this test is about. A device contains what
                // its kernels do, and the simulated one checks each access.
                stream.scope(|s| unsafe { s.launch(&kernel, config, (&mut memory.lend(s),)) })
            }
            false => {
                let kernel = module.kernel::<(u32,)>(kernel)?;
                // SAFETY: as above.
                stream.scope(|s| unsafe { s.launch(&kernel, config, (5,)) })
            }
        }
    });
    let error = result.unwrap_err();
    let first = driver.first_fault();
    first.unwrap_or_else(|| panic!("{error}")).code()
}

#[test]
fn a_misaligned_address() {
    alone("fault_codes::a_misaligned_address", || {
        assert_eq!(code_of("crooked", true), CUresult::MISALIGNED_ADDRESS);
    });
}

#[test]
fn a_failed_assertion() {
    alone("fault_codes::a_failed_assertion", || {
        assert_eq!(code_of("asserted", false), CUresult::ASSERT);
    });
}

#[test]
fn a_trap() {
    alone("fault_codes::a_trap", || {
        assert_eq!(code_of("trapped", false), CUresult::LAUNCH_FAILED);
    });
}

#[test]
fn a_shared_address_out_of_bounds() {
    alone("fault_codes::a_shared_address_out_of_bounds", || {
        assert_eq!(code_of("beyond_shared", true), CUresult::ILLEGAL_ADDRESS);
    });
}
