//! Claim:   C2
//! Misuse:  let a kernel work on page-locked memory of another device's context
//! In C:    not measured
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   the stream is of `'gpu0`, the memory of `'gpu1`
//! Fix:     allocate it in the stream's context; copies take it from any

use scoped_cuda::{PinnedBuffer, Result, ScopedStream};

fn f<'a, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    pinned0: &'scope mut PinnedBuffer<'gpu0, f32>,
    pinned1: &'scope mut PinnedBuffer<'gpu1, f32>,
) -> Result<()> {
    println!("{pinned0:?} {pinned1:?}");
    let mut on_device = pinned1.lend(on_gpu0); // <-
    on_gpu0.fill(&mut on_device, 1.0)
}

fn main() {}
