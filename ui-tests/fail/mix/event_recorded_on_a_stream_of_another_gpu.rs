//! Claim:   C2
//! Misuse:  record an event on a stream of another device
//! In C:    CUDA_ERROR_INVALID_HANDLE (measured on two H200, CUDA 13.0), at run time and only on a machine with two GPUs
//! Real:    rapidsai/rmm#1306 (B35)
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   an event belongs to the context it was made in. Waiting may cross contexts, recording may not
//! Fix:     record an event of the stream's own context; the other device's stream waits for that, `on_gpu1.wait(&of_gpu0)`

use scoped_cuda::{Event, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    on_gpu1: ScopedStream<'b, 'scope, 'gpu1>,
    of_gpu0: &Event<'gpu0>,
) -> Result<()> {
    on_gpu1.record(of_gpu0)?; // <-
    on_gpu0.wait(of_gpu0)
}

fn main() {}
