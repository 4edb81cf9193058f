//! Claim:   C6
//! Misuse:  read page-locked memory that is lent to a stream
//! In C:    whatever the kernel has stored so far
//! Real:    none known
//! rustc:   E0502
//! Reads:   `lend_pinned` borrows `pinned` mutably until the end of the scope, `'1`
//! Fix:     read after the scope

use scoped_cuda::{PinnedBuffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, mut pinned: PinnedBuffer<'gpu, u32>) -> Result<()> {
    stream.scope(|s| {
        let mut on_device = pinned.lend(s);
        s.fill(&mut on_device, 7)?;
        println!("{}", pinned[0]); // <-
        Ok(())
    })
}

fn main() {}
