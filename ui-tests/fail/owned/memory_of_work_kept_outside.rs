//! Claim:   C6, C11
//! Misuse:  keep a reference to what work owns
//! In C:    the host reads what the device writes
//! Real:    none known
//! rustc:   borrowed data escapes outside of closure
//! Reads:   what is given to the closure is lent to the work, until it is done
//! Fix:     take it from `wait`

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: Buffer<'gpu, u32>) -> Result<()> {
    let mut kept = None;
    let work = stream.submit(buffer, |s, own| {
        kept = Some(own); // <-
        s.record(&s.context().new_event()?)
    })?;
    println!("{kept:?}, {work:?}");
    Ok(())
}

fn main() {}
