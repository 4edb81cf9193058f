//! Twin of `fail/in-flight/memory_used_on_a_stream_it_was_not_handed_to.rs`.

use scoped_cuda::{Buffer, Result, Stream, scope};

fn f<'gpu>(streams: &[Stream<'gpu>; 2], buffer: &mut Buffer<'gpu, f32>) -> Result<[f32; 4]> {
    let mut host = [0.0; 4];
    scope(|scope| {
        scope.on(&streams[0], |a| {
            let mut memory = buffer.lend(a);
            a.fill(&mut memory, 1.0)?;
            scope.on(&streams[1], |b| b.read(&memory.hand_over(a, b)?, &mut host))
        })
    })?;
    Ok(host)
}
