//! Claim:   C12
//! Misuse:  read memory that nothing has written
//! In C:    the copy works, and gives what is left of an earlier allocation
//! Real:    none known
//! rustc:   E0277
//! Reads:   memory from `uninit` has elements `MaybeUninit<T>`, which nothing reads.
//!          The second error follows from the first
//! Fix:     write it whole first, `s.write_init(&host, memory)?`, or promise that a kernel has done so, `assume_init`

use scoped_cuda::{Result, Stream};

fn f(stream: &Stream<'_>, host: &[u32; 4], back: &mut [u32; 4]) -> Result<()> {
    stream.scope(|s| {
        let memory = s.uninit::<u32>(host.len())?;
        s.read(&memory, back) // <-
    })
}

fn main() {}
