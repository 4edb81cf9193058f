//! Claim:   C6
//! Misuse:  copy a part of an image to a part of the same image that it overlaps
//! In C:    undefined: the device copies rows in any order
//! Real:    none known
//! rustc:   E0502
//! Reads:   the destination borrows the whole image; whether two ranges overlap is known at run time only, so no other part may be used
//! Fix:     divide the image, `split_at_mut`, which gives two parts that do not overlap; or copy by way of other memory

use scoped_cuda::memory::Axis;
use scoped_cuda::{PitchedBuffer, Result};

fn f(image: &mut PitchedBuffer<'_, f32>) -> Result<()> {
    println!("{:?}", Axis::X);
    let source = image.region(..2, .., ..)?;
    let mut destination = image.region_mut(1..3, .., ..)?; // <-
    destination.copy_from(&source)
}

fn main() {}
