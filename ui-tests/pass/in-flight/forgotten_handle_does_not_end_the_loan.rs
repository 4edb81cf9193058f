//! Twin of `fail/in-flight/forgotten_handle_does_not_end_the_loan.rs`.

use scoped_cuda::{Buffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, buffer: &mut Buffer<'gpu, f32>) -> Result<()> {
    stream.scope(|s| {
        let mut memory = buffer.lend(s);
        s.fill(&mut memory, 1.0)?;
        std::mem::forget(memory);
        Ok(())
    })?;
    buffer.write(&[2.0; 4])
}
