//! Claim:   C1, C11
//! Misuse:  use the context in a host function
//! In C:    a CUDA call in a host function is refused with CUDA_ERROR_NOT_PERMITTED, or deadlocks by way of another thread
//! Real:    -
//! rustc:   must outlive `'static`
//! Reads:   what a host function captures is `'static`, because the driver calls it when it likes; the context is not
//! Fix:     make the calls after the scope; a `Device` or a channel may be captured

use scoped_cuda::{Context, Result, Stream};

fn f<'gpu>(gpu: Context<'gpu>, stream: &Stream<'gpu>) -> Result<()> {
    stream.scope(|s| {
        s.host(move || println!("done on {:?}", gpu.free_memory_bytes())) // <-
    })
}

fn main() {}
