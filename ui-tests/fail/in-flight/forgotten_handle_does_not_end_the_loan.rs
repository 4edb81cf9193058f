//! Claim:   C5
//! Misuse:  forget the handle instead of dropping it, to get the buffer back before the wait
//! In C:    nothing is borrowed to begin with
//! Real:    RustNSparks/rocm-rs#7, NVlabs/cutile-rs#272
//! rustc:   E0499
//! Reads:   the loan is for the scope, `'1`, and not for the life of the handle, so no destructor has to run for it to be safe
//! Fix:     leave the scope

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    stream.scope(|s| {
        let mut memory = buffer.lend(s);
        s.fill(&mut memory, 1.0)?;
        std::mem::forget(memory);
        buffer.write(&[2.0; 4]) // <-
    })
}

fn main() {}
