//! Twin of `fail/types/null_where_the_kernel_needs_memory.rs`.

use scoped_cuda::{In, Kernel, LaunchConfig, Null, Optional, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    kernel: &'scope Kernel<'gpu, (Optional<In<f32>>, u32)>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(1);
    // SAFETY: the kernel looks whether there is memory.
    unsafe { s.launch(kernel, config, (Null, 1)) }
}
