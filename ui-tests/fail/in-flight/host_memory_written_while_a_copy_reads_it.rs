//! Claim:   C6
//! Misuse:  write host memory after the copy from it was enqueued
//! In C:    the device sees the later value: with pinned memory the call returns before the copy, always (measured on an
//!          H200, CUDA 13.0)
//! Real:    chelsea0x3b/cudarc#340
//! rustc:   E0502
//! Reads:   the copy borrows `host` until the end of the scope, `'1`, because it may run that late
//! Fix:     write after the scope, or copy from another piece of memory

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    let mut host = vec![1.0; buffer.len()];
    stream.scope(|s| {
        let mut memory = buffer.lend(s);
        s.write(&host, &mut memory)?;
        host[0] = 2.0; // <-
        Ok(())
    })
}

fn main() {}
