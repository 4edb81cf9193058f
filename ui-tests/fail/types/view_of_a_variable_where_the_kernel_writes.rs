//! Claim:   C12
//! Misuse:  pass a variable of a module that is only borrowed to read for a parameter that the kernel writes
//! In C:    the address is the same; who else reads the variable meanwhile is anybody's guess
//! Real:    none known
//! rustc:   is not an argument for a kernel parameter `InOut<u32>`
//! Reads:   `view` is memory at rest; what a kernel writes is in the order of a stream
//! Fix:     `&mut table.as_mut_slice().lend(s)`

use scoped_cuda::{Global, InOut, Kernel, LaunchConfig, Result, Stream};

fn f<'gpu>(
    stream: &Stream<'gpu>,
    scale: &Kernel<'gpu, (InOut<u32>, u32)>,
    table: &mut Global<'gpu, u32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(3);
    stream.scope(|s| {
        // SAFETY: it has 3 elements.
        unsafe { s.launch(scale, config, (table.as_slice(), 3)) } // <-
    })
}

fn main() {}
