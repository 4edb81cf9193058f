//! Twin of `fail/types/usize_where_the_kernel_takes_u32.rs`.

use scoped_cuda::{Buffer, InOut, Kernel, LaunchConfig, OnStream, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    sort: &'scope Kernel<'gpu, (InOut<f32>, u32)>,
    x: &mut OnStream<'s, Buffer<'gpu, f32>>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len());
    let n = u32::try_from(x.len()).expect("this kernel sorts less than 2^32 elements");
    // SAFETY: `sort` stays within the first n elements of x, and x has n.
    unsafe { s.launch(sort, config, (x, n)) }
}
