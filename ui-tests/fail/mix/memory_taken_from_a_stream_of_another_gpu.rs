//! Claim:   C2
//! Misuse:  hand memory over to a stream of another device
//! In C:    recording the event on the other context's stream is CUDA_ERROR_INVALID_HANDLE (measured on two H200, CUDA 13.0);
//!          ordering alone would not move the memory either
//! Real:    rapidsai/rmm#1306
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   `take` changes the stream and not the device: both streams have to be of one context
//! Fix:     copy to memory of the other device, `transfer.enqueue(a, &on_gpu0, b, &mut on_gpu1)`

use scoped_cuda::{Buffer, OnStream, Result, ScopedStream, Transfer};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    transfer: Transfer<'gpu0, 'gpu1>,
    a: ScopedStream<'a, 'scope, 'gpu0>,
    b: ScopedStream<'b, 'scope, 'gpu1>,
    on_gpu0: OnStream<'a, Buffer<'gpu0, f32>>,
) -> Result<()> {
    let mut on_gpu1 = on_gpu0.hand_over(a, b)?; // <-
    println!("{transfer:?}");
    b.fill(&mut on_gpu1.slice_mut(..1)?, 0.0)
}

fn main() {}
