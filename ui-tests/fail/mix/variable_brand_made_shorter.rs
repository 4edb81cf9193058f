//! Claim:   C1, C2
//! Misuse:  treat the context of a variable as a lifetime that may be shortened
//! In C:    an address has no lifetime
//! Real:    none known
//! rustc:   is invariant over the parameter `'ctx`
//! Reads:   were this accepted, variables of two contexts could be shortened to one common lifetime, and then mixed
//! Fix:     nothing to fix: write one lifetime where one context is meant

use scoped_cuda::Global;

#[rustfmt::skip]
fn global<'b, 'a: 'b>(it: Global<'a, u8>) -> Global<'b, u8> { it } // <-

fn main() {}
