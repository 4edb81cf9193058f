//! Twin of `fail/types/threads_of_a_block_set_to_zero.rs`.

use scoped_cuda::JitOptions;

fn f(threads: u32) -> JitOptions {
    JitOptions::default().threads_per_block(std::num::NonZeroU32::new(threads))
}
