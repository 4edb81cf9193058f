//! Claim:   C6
//! Misuse:  write host memory between the rows of a copy that was enqueued
//! In C:    works until somebody writes a row instead of what is beside it
//! Real:    none known
//! rustc:   E0502
//! Reads:   the rows borrow the whole slice that they lie in until the end of the scope, `'1`, with what lies between them
//! Fix:     write after the scope

use scoped_cuda::{Extent, HostRows, PitchedBuffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, image: &mut PitchedBuffer<'gpu, f32>) -> Result<()> {
    let mut host = vec![1.0; 8];
    stream.scope(|s| {
        let mut image = image.lend(s);
        s.write_rows(HostRows::strided(&host, Extent::new(3, 2), 4)?, &mut image)?;
        host[3] = 2.0; // <-
        Ok(())
    })
}

fn main() {}
