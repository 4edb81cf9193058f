//! Twin of `fail/in-flight/region_read_at_rest_while_its_rows_are_lent.rs`.

use scoped_cuda::{PitchedBuffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, image: &mut PitchedBuffer<'gpu, f32>) -> Result<Vec<f32>> {
    stream.scope(|s| {
        s.fill_rows(&mut image.lend(s).region_mut(1.., .., ..)?, 1.0)?;
        Ok(())
    })?;
    image.region(..1, .., ..)?.to_vec()
}
