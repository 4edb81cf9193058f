//! Twin of `fail/mix/stream_and_buffer_of_two_gpus_in_one_struct.rs`.

use scoped_cuda::{Buffer, Context, Result, Stream};

struct Worker<'gpu> {
    stream: Stream<'gpu>,
    scratch: Buffer<'gpu, f32>,
}

fn f<'gpu0, 'gpu1>(gpu0: Context<'gpu0>, gpu1: Context<'gpu1>) -> Result<()> {
    println!("{gpu0:?} {gpu1:?}");
    let stream = gpu0.new_stream()?;
    let scratch = gpu0.zeros(4)?;
    let worker = Worker { stream, scratch };
    println!("{:?} {:?}", worker.stream, worker.scratch);
    Ok(())
}
