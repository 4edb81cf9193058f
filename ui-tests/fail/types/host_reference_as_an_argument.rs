//! Claim:   C12
//! Misuse:  pass the address of host memory to a kernel
//! In C:    the kernel gets a host address and faults; the fault makes every device of the process unusable
//! Real:    NVlabs/cuda-oxide#171
//! rustc:   `&[f32; 3]` is not an argument for a kernel parameter `[f32; 3]`
//! Reads:   plain data is passed by value; a reference is not data
//! Fix:     `weights` instead of `&weights`

use scoped_cuda::{Kernel, LaunchConfig, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, blur: &Kernel<'gpu, ([f32; 3],)>) -> Result<()> {
    let weights = [0.25f32, 0.5, 0.25];
    stream.scope(|s| {
        // SAFETY: the kernel touches no memory.
        unsafe { s.launch(blur, LaunchConfig::for_elements(1), (&weights,)) } // <-
    })
}

fn main() {}
