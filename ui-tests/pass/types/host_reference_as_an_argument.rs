//! Twin of `fail/types/host_reference_as_an_argument.rs`.

use scoped_cuda::{Kernel, LaunchConfig, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, blur: &Kernel<'gpu, ([f32; 3],)>) -> Result<()> {
    let weights = [0.25f32, 0.5, 0.25];
    stream.scope(|s| {
        // SAFETY: the kernel touches no memory.
        unsafe { s.launch(blur, LaunchConfig::for_elements(1), (weights,)) }
    })
}
