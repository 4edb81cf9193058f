//! Twin of `fail/types/memory_without_some_where_it_is_optional.rs`.

use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, Optional, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    kernel: &'scope Kernel<'gpu, (Optional<In<f32>>, u32)>,
    x: &'scope Buffer<'gpu, f32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(1);
    // SAFETY: the kernel touches what it is given.
    unsafe { s.launch(kernel, config, (Some(x), 1)) }
}
