//! Twin of `fail/mix/variable_of_another_gpu_lent_to_a_stream.rs`.

use scoped_cuda::{Global, Result, ScopedStream};

fn f<'a, 'b, 'scope, 'gpu0, 'gpu1>(
    on_gpu0: ScopedStream<'a, 'scope, 'gpu0>,
    on_gpu1: ScopedStream<'b, 'scope, 'gpu1>,
    counter0: &'scope mut Global<'gpu0, u32>,
) -> Result<()> {
    println!("{on_gpu0:?} {on_gpu1:?}");
    let memory = counter0.as_mut_slice().lend(on_gpu0);
    println!("{memory:?}");
    Ok(())
}
