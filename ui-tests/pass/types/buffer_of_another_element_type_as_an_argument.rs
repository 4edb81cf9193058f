//! Twin of `fail/types/buffer_of_another_element_type_as_an_argument.rs`.

use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    histogram: &'scope Kernel<'gpu, (In<u32>,)>,
    (keys, weights): (&'scope Buffer<'gpu, u32>, &'scope Buffer<'gpu, f32>),
) -> Result<()> {
    println!("{keys:?} {weights:?}");
    let config = LaunchConfig::for_elements(keys.len());
    // SAFETY: the kernel reads the elements that its argument has.
    unsafe { s.launch(histogram, config, (keys,)) }
}
