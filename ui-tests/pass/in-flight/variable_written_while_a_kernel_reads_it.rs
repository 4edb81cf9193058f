//! Twin of `fail/in-flight/variable_written_while_a_kernel_reads_it.rs`.

use scoped_cuda::{Buffer, Global, In, InOut, Kernel, LaunchConfig, Result, Stream};

fn f<'gpu>(
    stream: &Stream<'gpu>,
    add: &Kernel<'gpu, (In<u32>, InOut<u32>, u32)>,
    table: &mut Global<'gpu, u32>,
    sums: &mut Buffer<'gpu, u32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(3);
    stream.scope(|s| {
        let mut sums = sums.lend(s);
        // SAFETY: both have 3 elements.
        unsafe { s.launch(add, config, (table.as_slice(), &mut sums, 3)) }?;
        Ok(())
    })?;
    table.write(&[1, 2, 3])
}
