//! Twin of `fail/in-flight/memory_pushed_twice.rs`.

use scoped_cuda::kernel::Untyped;
use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, LentSlice, Out, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    kernel: &'scope Kernel<'gpu, Untyped>,
    x: &'scope Buffer<'gpu, f32>,
    y: &mut LentSlice<'s, 'scope, 'gpu, f32>,
) -> Result<()> {
    let mut arguments = kernel.arguments(LaunchConfig::for_elements(x.len()));
    arguments.push::<Out<f32>>(&mut *y)?;
    arguments.push::<In<f32>>(x)?;
    // SAFETY: none is needed to show the misuse.
    unsafe { arguments.launch(s) }
}
