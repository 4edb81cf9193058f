//! Twin of `fail/papercuts/error_of_ones_own_inside_a_scope.rs`.

use scoped_cuda::{Buffer, Stream};
use std::error::Error;

fn f<'gpu>(
    (stream, buffer): (&Stream<'gpu>, &mut Buffer<'gpu, f32>),
    text: &str,
) -> Result<(), Box<dyn Error>> {
    stream.try_scope::<_, Box<dyn Error>>(|s| {
        let value = text.parse()?;
        s.fill(&mut buffer.lend(s), value)?;
        Ok(())
    })?;
    Ok(())
}
