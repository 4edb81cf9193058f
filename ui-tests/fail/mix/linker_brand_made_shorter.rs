//! Claim:   C1, C2
//! Misuse:  treat the context of a linker as a lifetime that may be shortened
//! In C:    a handle has no lifetime
//! Real:    none known
//! rustc:   is invariant over the parameter `'ctx`
//! Reads:   were this accepted, linkers of two contexts could be shortened to one common lifetime, and then mixed
//! Fix:     nothing to fix: write one lifetime where one context is meant

#[rustfmt::skip]
mod shortened {
    use scoped_cuda::*;

    fn linker<'b, 'a: 'b>(it: Linker<'a>) -> Linker<'b> { it } // <-
}

fn main() {}
