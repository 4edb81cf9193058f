//! Claim:   C6
//! Misuse:  enqueue work on a buffer that was not put into the order of the stream
//! In C:    nothing knows that the memory has work pending
//! Real:    none known
//! rustc:   expected `&mut OnStream<'_, _>`, found `&mut Buffer<'_, f32>`
//! Reads:   inside a scope what writes takes memory in the order of the stream, an `OnStream`
//! Fix:     `&mut buffer.lend(s)`

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    stream.scope(|s| s.fill(buffer, 0.0)) // <-
}

fn main() {}
