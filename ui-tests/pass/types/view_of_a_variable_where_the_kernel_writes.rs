//! Twin of `fail/types/view_of_a_variable_where_the_kernel_writes.rs`.

use scoped_cuda::{Global, InOut, Kernel, LaunchConfig, Result, Stream};

fn f<'gpu>(
    stream: &Stream<'gpu>,
    scale: &Kernel<'gpu, (InOut<u32>, u32)>,
    table: &mut Global<'gpu, u32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(3);
    stream.scope(|s| {
        // SAFETY: it has 3 elements.
        unsafe { s.launch(scale, config, (&mut table.as_mut_slice().lend(s), 3)) }
    })
}
