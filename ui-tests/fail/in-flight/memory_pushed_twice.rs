//! Claim:   C6, C12
//! Misuse:  push the same memory onto a list of arguments twice, one of them to be written
//! In C:    the kernel reads elements that other threads of it are writing
//! Real:    none known
//! rustc:   E0502
//! Reads:   the list borrows what was pushed until it is launched or dropped
//! Fix:     read from another buffer; or a parameter that is read and written, `InOut`

use scoped_cuda::kernel::Untyped;
use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, LentSlice, Out, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    kernel: &'scope Kernel<'gpu, Untyped>,
    x: &'scope Buffer<'gpu, f32>,
    y: &mut LentSlice<'s, 'scope, 'gpu, f32>,
) -> Result<()> {
    let mut arguments = kernel.arguments(LaunchConfig::for_elements(x.len()));
    arguments.push::<Out<f32>>(&mut *y)?;
    arguments.push::<In<f32>>(&*y)?; // <-
    // SAFETY: none is needed to show the misuse.
    unsafe { arguments.launch(s) }
}

fn main() {}
