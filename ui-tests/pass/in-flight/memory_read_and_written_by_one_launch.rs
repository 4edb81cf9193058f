//! Twin of `fail/in-flight/memory_read_and_written_by_one_launch.rs`.

use scoped_cuda::{Buffer, In, InOut, Kernel, LaunchConfig, OnStream, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    add: &'scope Kernel<'gpu, (In<f32>, InOut<f32>)>,
    mut x: OnStream<'s, Buffer<'gpu, f32>>,
) -> Result<()> {
    let mut y = s.zeros(x.len())?;
    s.copy(&x, &mut y)?;
    // SAFETY: the kernel adds x to y, which have one length.
    unsafe { s.launch(add, LaunchConfig::for_elements(x.len()), (&x, &mut y)) }?;
    s.fill(&mut x, 0.0)
}
