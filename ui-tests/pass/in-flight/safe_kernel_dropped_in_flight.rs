//! Twin of `fail/in-flight/safe_kernel_dropped_in_flight.rs`.

use scoped_cuda::{LaunchConfig, Result, SafeKernel, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, kernel: SafeKernel<'gpu, (u32,)>) -> Result<()> {
    stream.scope(|s| {
        kernel.launch(s, LaunchConfig::for_elements(1), (7,))?;
        Ok(())
    })?;
    drop(kernel);
    Ok(())
}
