//! Twin of `fail/escape/memory_in_flight_returned_from_the_scope.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    stream.scope(|s| {
        let mut memory = buffer.lend(s);
        s.fill(&mut memory, 1.0)
    })?;
    let filled = buffer.to_vec()?;
    println!("{filled:?}");
    Ok(())
}
