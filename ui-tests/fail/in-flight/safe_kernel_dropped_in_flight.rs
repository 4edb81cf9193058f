//! Claim:   C5, C6
//! Misuse:  drop a wrapped kernel while a launch of it may be running
//! In C:    the module is unloaded under the running kernel
//! Real:    none known
//! rustc:   cannot move out of `kernel` because it is borrowed
//! Reads:   two errors for one thing: `drop` makes the closure own the kernel (the first), and the launch still needs it (the second)
//! Fix:     drop after the scope

use scoped_cuda::{LaunchConfig, Result, SafeKernel, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, kernel: SafeKernel<'gpu, (u32,)>) -> Result<()> {
    stream.scope(|s| {
        kernel.launch(s, LaunchConfig::for_elements(1), (7,))?;
        drop(kernel); // <-
        Ok(())
    })
}

fn main() {}
