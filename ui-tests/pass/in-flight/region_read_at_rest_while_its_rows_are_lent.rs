//! Twin of `fail/in-flight/region_read_at_rest_while_its_rows_are_lent.rs`.

use scoped_cuda::{Pitched, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, image: &mut Pitched<'gpu, f32>) -> Result<Vec<f32>> {
    stream.scope(|s| {
        s.fill_rows(&mut s.lend_pitched(image).region_mut(1.., .., ..)?, 1.0)?;
        Ok(())
    })?;
    image.region(..1, .., ..)?.to_vec()
}
