//! Twin of `fail/mix/streams_of_two_gpus_in_one_vec.rs`.

use scoped_cuda::{Context, Result, Stream};

fn f<'gpu0, 'gpu1>(gpu0: Context<'gpu0>, gpu1: Context<'gpu1>) -> Result<()> {
    println!("{gpu0:?} {gpu1:?}");
    let streams: Vec<Stream<'gpu0>> = vec![gpu0.new_stream()?, gpu0.new_stream()?];
    println!("{streams:?}");
    Ok(())
}
