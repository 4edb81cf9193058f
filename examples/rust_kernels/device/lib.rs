//! Kernels in Rust, for the host program in `../main.rs`. `../device.ptx` is made of this with
//! rustc 1.95 and the sources of its `core` (`rustup component add rust-src`), without CUDA:
//!
//! ```text
//! cd examples/rust_kernels/device
//! RUSTC_BOOTSTRAP=1 cargo rustc --release -Zbuild-std=core --target nvptx64-nvidia-cuda \
//!     --target-dir ../../../target/device \
//!     -- --emit asm=../device.ptx -C target-cpu=sm_75
//! ```

#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx::{_block_dim_x, _block_idx_x, _thread_idx_x};

#[path = "../julia.rs"]
mod julia;

pub mod kernels {
    use super::julia::Julia;

    /// Stores an element for each pixel.
    ///
    /// # Safety
    /// `to` has width * height elements.
    pub unsafe extern "ptx-kernel" fn julia(set: Julia, to: *mut u32, width: u32, height: u32) {
        let pixel = super::thread();
        if (pixel as u64) < width as u64 * height as u64 {
            let steps = set.steps_of(pixel, width, height);
            // SAFETY: below the number of elements.
            unsafe { *to.add(pixel as usize) = steps };
        }
    }
}

/// Which thread of the grid this is.
fn thread() -> u32 {
    // SAFETY: they read registers.
    unsafe { (_block_idx_x() * _block_dim_x() + _thread_idx_x()) as u32 }
}
