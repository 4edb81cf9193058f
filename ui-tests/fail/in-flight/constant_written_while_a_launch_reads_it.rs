//! Claim:   C5
//! Misuse:  write a `__constant__` table while a launch that reads it may be running
//! In C:    the kernel sees some old and some new values
//! Real:    none known
//! rustc:   cannot borrow `*weigh` as mutable because it is also borrowed as immutable
//! Reads:   the launch borrows the kernel, and with it the table that it owns, until the scope has waited
//! Fix:     write before the scope, or after it

use scoped_cuda::{Buffer, Global, InOut, LaunchConfig, Result, SafeKernel, Stream};

type Weigh<'gpu> = SafeKernel<'gpu, (InOut<f32>,), Global<'gpu, f32>>;

fn f<'gpu>(
    stream: &Stream<'gpu>,
    weigh: &mut Weigh<'gpu>,
    x: &mut Buffer<'gpu, f32>,
) -> Result<()> {
    stream.scope(|s| {
        let config = LaunchConfig::for_elements(x.len());
        weigh.launch(s, config, (&mut x.lend(s),))?;
        weigh.variables_mut().write(&[1.0; 4]) // <-
    })
}

fn main() {}
