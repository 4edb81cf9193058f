//! Twin of `fail/in-flight/region_copied_onto_one_that_overlaps_it.rs`.

use scoped_cuda::memory::Axis;
use scoped_cuda::{PitchedBuffer, Result};

fn f(image: &mut PitchedBuffer<'_, f32>) -> Result<()> {
    println!("{:?}", Axis::X);
    let (source, mut destination) = image.as_mut_slice().split_at_mut(Axis::X, 2)?;
    destination.copy_from(&source)
}
