//! Claim:   C1, C11
//! Misuse:  free a buffer in a host function
//! In C:    the free is refused with CUDA_ERROR_NOT_PERMITTED and the memory leaks
//! Real:    -
//! rustc:   must outlive `'static`
//! Reads:   what a host function captures is `'static`; the buffer lives as long as its context
//! Fix:     drop it after the scope; memory to be freed in the order of the stream comes from `s.zeros(..)`

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: Buffer<'gpu, f32>) -> Result<()> {
    stream.scope(|s| {
        s.host(move || drop(buffer)) // <-
    })
}

fn main() {}
