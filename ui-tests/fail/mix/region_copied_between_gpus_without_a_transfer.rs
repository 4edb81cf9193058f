//! Claim:   C2
//! Misuse:  copy a part of an image of one device into an image of another as if they were on the same
//! In C:    the description of the copy has two addresses and no contexts; which device they are of is for the driver to find out
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   a region has the name of its image's context, and `copy_from` wants one name on both sides
//! Fix:     `gpu0.transfer_to(gpu1)?.copy_rows(&part, &mut destination)`

use scoped_cuda::{Context, PitchedBuffer, Result};

fn f<'gpu0, 'gpu1>(
    (gpu0, gpu1): (Context<'gpu0>, Context<'gpu1>),
    source: &PitchedBuffer<'gpu0, f32>,
    destination: &mut PitchedBuffer<'gpu1, f32>,
) -> Result<()> {
    println!("{gpu0:?} to {gpu1:?}");
    destination.copy_from(&source.region(..2, ..2, ..)?) // <-
}

fn main() {}
