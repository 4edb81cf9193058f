//! Twin of `fail/escape/context_captured_by_a_host_function.rs`.

use scoped_cuda::{Context, Result, Stream};

fn f<'gpu>(gpu: Context<'gpu>, stream: &Stream<'gpu>) -> Result<()> {
    stream.scope(|s| {
        let device = gpu.device();
        s.host(move || println!("done on {device:?}"))
    })
}
