//! Twin of `fail/types/launch_without_unsafe.rs`.

use scoped_cuda::{Kernel, LaunchConfig, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, kernel: &Kernel<'gpu, (u32,)>) -> Result<()> {
    stream.scope(|s| {
        // SAFETY: the kernel touches no memory.
        unsafe { s.launch(kernel, LaunchConfig::for_elements(1), (7,)) }
    })
}
