//! Claim:   C6
//! Misuse:  write a buffer on one stream while another stream may read it
//! In C:    the reader sees old values, new values, or some of each
//! Real:    none known
//! rustc:   E0502
//! Reads:   the read borrows the buffer until the end of the scope, though without a handle: that is what lets many streams read
//! Fix:     write in a later scope; or lend the buffer and hand it over with `take`

use scoped_cuda::{Buffer, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>; 2], buffer: &mut Buffer<'gpu, f32>) -> Result<[f32; 4]> {
    let mut host = [0.0; 4];
    scope(|scope| {
        scope.on(&streams[0], |s| s.read(&*buffer, &mut host))?;
        scope.on(&streams[1], |s| s.fill(&mut buffer.lend(s), 1.0)) // <-
    })?;
    Ok(host)
}

fn main() {}
