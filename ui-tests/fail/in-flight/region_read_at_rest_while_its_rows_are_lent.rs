//! Claim:   C6
//! Misuse:  read a part of an image as if it were at rest while work on another part is pending
//! In C:    fine as long as the parts do not meet, and old values when they do
//! Real:    none known
//! rustc:   E0502
//! Reads:   `lend_pitched` borrows the whole image until the end of the scope, `'1`
//! Fix:     read after the scope; or lend only the other part, `image.as_mut_slice().split_at_mut(Axis::X, 1)?`

use scoped_cuda::{PitchedBuffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, image: &mut PitchedBuffer<'gpu, f32>) -> Result<Vec<f32>> {
    stream.scope(|s| {
        s.fill_rows(&mut image.lend(s).region_mut(1.., .., ..)?, 1.0)?;
        image.region(..1, .., ..)?.to_vec() // <-
    })
}

fn main() {}
