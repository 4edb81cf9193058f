//! Claim:   C8, C12
//! Misuse:  fill memory of another device on a stream, since kernels reach it
//! In C:    a fill is given an address, and nothing in the call says whose memory that is
//! Real:    none known
//! rustc:   `PeerSliceMut<'_, '_, f32>` is not device memory of `_` that may be written
//! Reads:   what was reached is for kernels
//! Fix:     fill it on a stream of its own device, or fill memory of this one

use scoped_cuda::{PeerSliceMut, Result, ScopedStream, SliceMut};

fn f<'s, 'scope, 'gpu1>(
    s: ScopedStream<'s, 'scope, 'gpu1>,
    far: PeerSliceMut<'scope, 'gpu1, f32>,
    near: SliceMut<'scope, 'gpu1, f32>,
) -> Result<()> {
    let (far, near) = (&mut far.lend(s), &mut near.lend(s));
    println!("{far:?} {near:?}");
    s.fill(far, 1.0) // <-
}

fn main() {}
