//! Claim:   C6
//! Misuse:  write a variable of a module while a kernel that was given its address may read it
//! In C:    the kernel sees the old value in some threads and the new one in others
//! Real:    none known
//! rustc:   E0502
//! Reads:   the launch borrows `table` until the end of the scope, `'1`, because its view is an argument
//! Fix:     write it before the scope or after it

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
        table.write(&[1, 2, 3]) // <-
    })
}

fn main() {}
