//! Claim:   C11, C6
//! Misuse:  let work in flight read host memory that it does not own
//! In C:    the vector is freed while the copy reads it
//! Real:    none known
//! rustc:   explicit lifetime required in the type of `host`
//! Reads:   nothing waits before the function goes on: memory that is only lent would have to be lent for ever
//! Fix:     move the memory into the work, `Plain(host)` beside the buffer

use scoped_cuda::{Buffer, Plain, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: Buffer<'gpu, f32>, host: &[f32]) -> Result<()> {
    let owned = (buffer, Plain(host.to_vec()));
    let work = stream.submit(owned, |s, (buffer, own)| {
        println!("{own:?}");
        s.write(host, &mut buffer.lend(s)) // <-
    })?;
    work.wait()?;
    Ok(())
}

fn main() {}
