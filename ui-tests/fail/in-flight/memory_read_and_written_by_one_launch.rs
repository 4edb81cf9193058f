//! Claim:   C6
//! Misuse:  pass the same memory as input and as output
//! In C:    legal, and wrong as soon as the compiler trusts `const __restrict__` on the input
//! Real:    none known
//! rustc:   E0502
//! Reads:   `In` borrows for reading and `InOut` for writing, in the same call
//! Fix:     write to other memory; a kernel that works in place has one `InOut` parameter

use scoped_cuda::{Buffer, In, InOut, Kernel, LaunchConfig, OnStream, Result, ScopedStream};

fn f<'s, 'scope, 'gpu>(
    s: ScopedStream<'s, 'scope, 'gpu>,
    add: &'scope Kernel<'gpu, (In<f32>, InOut<f32>)>,
    mut x: OnStream<'s, Buffer<'gpu, f32>>,
) -> Result<()> {
    let mut y = s.zeros(x.len())?;
    s.copy(&x, &mut y)?;
    // SAFETY: the kernel adds x to y, which have one length.
    unsafe { s.launch(add, LaunchConfig::for_elements(x.len()), (&x, &mut x)) }?; // <-
    s.fill(&mut x, 0.0)
}

fn main() {}
