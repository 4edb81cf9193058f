//! Claim:   C6, C8
//! Misuse:  free memory while a kernel of another device reads it
//! In C:    a free in the order of a stream of its own device does not wait for the other device
//! Real:    NVlabs/cuda-oxide#619
//! rustc:   cannot move out of `far` because it is borrowed
//! Reads:   what a kernel reads stays borrowed until the scope has waited, on whichever device
//! Fix:     drop after the scope

use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, Result, Stream, Transfer};

fn f<'gpu0, 'gpu1>(
    (stream, read): (&Stream<'gpu1>, &Kernel<'gpu1, (In<f32>,)>),
    transfer: Transfer<'gpu0, 'gpu1>,
    far: Buffer<'gpu0, f32>,
) -> Result<()> {
    let there = transfer.peer_slice(&far)?;
    stream.scope(|s| {
        // SAFETY: the kernel reads 4 elements.
        unsafe { s.launch(read, LaunchConfig::for_elements(4), (there,)) }?;
        drop(far); // <-
        Ok(())
    })
}

fn main() {}
