//! Claim:   C5, C6
//! Misuse:  drop a kernel, and with the last one its module, while a launch of it may be running
//! In C:    the module is unloaded under the running kernel
//! Real:    none known
//! rustc:   cannot move out of `kernel` because it is borrowed
//! Reads:   two errors for one thing: `drop` makes the closure own the kernel (the first), and the launch still needs it (the second)
//! Fix:     drop after the scope

use scoped_cuda::{Kernel, LaunchConfig, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, kernel: Kernel<'gpu, (u32,)>) -> Result<()> {
    stream.scope(|s| {
        // SAFETY: the kernel touches no memory.
        unsafe { s.launch(&kernel, LaunchConfig::for_elements(1), (7,)) }?;
        drop(kernel); // <-
        Ok(())
    })
}

fn main() {}
