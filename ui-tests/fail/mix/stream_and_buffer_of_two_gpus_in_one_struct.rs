//! Claim:   C2
//! Misuse:  build a struct for one device from parts of two
//! In C:    nothing is wrong until the first call that uses both
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   a struct with one context lifetime is about one context; the two errors stand at the lines that
//!          made its parts
//! Fix:     make all parts from one context, or give the struct a second lifetime

use scoped_cuda::{Buffer, Context, Result, Stream};

struct Worker<'gpu> {
    stream: Stream<'gpu>,
    scratch: Buffer<'gpu, f32>,
}

fn f<'gpu0, 'gpu1>(gpu0: Context<'gpu0>, gpu1: Context<'gpu1>) -> Result<()> {
    println!("{gpu0:?} {gpu1:?}");
    let stream = gpu0.new_stream()?;
    let scratch = gpu1.zeros(4)?; // <-
    let worker = Worker { stream, scratch };
    println!("{:?} {:?}", worker.stream, worker.scratch);
    Ok(())
}

fn main() {}
