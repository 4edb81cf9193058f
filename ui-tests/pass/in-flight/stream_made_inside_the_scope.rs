//! Twin of `fail/in-flight/stream_made_inside_the_scope.rs`.

use scoped_cuda::{Buffer, Context, Result, scope};

fn f<'gpu>(gpu: Context<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    let stream = gpu.new_stream()?;
    scope(|scope| {
        scope.on(&stream, |s| s.fill(&mut buffer.lend(s), 1.0))?;
        Ok(())
    })
}
