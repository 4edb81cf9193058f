//! Claim:   C2
//! Misuse:  give a kernel a view of page-locked memory of another device's context
//! In C:    not measured
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   the stream and the kernel are of `'gpu0`, the memory is of `'gpu1`
//! Fix:     allocate it in the kernel's context; copies take it from any

use scoped_cuda::{In, Kernel, LaunchConfig, PinnedBuffer, Result, ScopedStream};

fn f<'a, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    kernel0: &'scope Kernel<'gpu0, (In<f32>,)>,
    pinned0: &'scope PinnedBuffer<'gpu0, f32>,
    pinned1: &'scope PinnedBuffer<'gpu1, f32>,
) -> Result<()> {
    println!("{pinned0:?} {pinned1:?}");
    let config = LaunchConfig::for_elements(4);
    // SAFETY: the kernel reads 4 elements.
    unsafe { on_gpu0.launch(kernel0, config, (pinned1.device_view(),)) } // <-
}

fn main() {}
