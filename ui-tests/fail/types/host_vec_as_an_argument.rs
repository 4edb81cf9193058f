//! Claim:   C12
//! Misuse:  pass host memory where the kernel reads device memory
//! In C:    the kernel gets a host address and faults; the fault makes every device of the process unusable
//! Real:    NVlabs/cuda-oxide#171
//! rustc:   `&Vec<f32>` is not memory of `f32` that this stream may read
//! Reads:   an `In<f32>` takes device memory; the types listed are the ones that there are
//! Fix:     upload it first

use scoped_cuda::{Context, In, Kernel, LaunchConfig, Result, Stream};

fn f<'gpu>(
    (gpu, stream): (Context<'gpu>, &Stream<'gpu>),
    kernel: &Kernel<'gpu, (In<f32>,)>,
) -> Result<()> {
    let host = vec![1.0f32; 4];
    let device = gpu.upload(&host)?;
    println!("{device:?}");
    stream.scope(|s| {
        // SAFETY: the kernel reads 4 elements.
        unsafe { s.launch(kernel, LaunchConfig::for_elements(4), (&host,)) } // <-
    })
}

fn main() {}
