//! Twin of `fail/owned/buffers_of_two_entries_mixed.rs`.

use scoped_cuda::{OwnedContext, Result};

fn f(first: &OwnedContext, second: &OwnedContext) -> Result<()> {
    first.with(|a| {
        let source = a.upload(&[1u32, 2, 3])?;
        second.with(|b| {
            let mut destination = b.zeros::<u32>(3)?;
            destination.copy_from(&b.same_context(a)?.slice_of(&source))
        })
    })
}
