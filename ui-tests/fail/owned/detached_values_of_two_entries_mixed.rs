//! Claim:   C2
//! Misuse:  copy one detached buffer to another, each in an entry of its own
//! In C:    the copy works or not, by what is current
//! Real:    none known
//! rustc:   lifetime may not live long enough
//! Reads:   each entry has a name of its own, even if the two are of one context
//! Fix:     ask for both in one entry: `get` says whether they are of one context

use scoped_cuda::{Buffer, Context, Detached, Result};

type Of = Detached<Buffer<'static, u32>>;

fn f<'gpu0, 'gpu1>(a: Context<'gpu0>, b: Context<'gpu1>, from: &Of, to: &mut Of) -> Result<()> {
    println!("{b:?}");
    let source = from.get(b)?; // <-
    to.get_mut(a)?.copy_from(source)
}

fn main() {}
