//! Claim:   C2
//! Misuse:  keep streams of several devices in one vector
//! In C:    handles look alike, and which device is meant is in another array, or nowhere
//! Real:    none known
//! rustc:   `'gpu0` and `'gpu1` must be the same
//! Reads:   the elements of a vector have one type, and streams of two contexts have two
//! Fix:     one vector for each device; for the same work on each device a function that is generic over `'gpu`

use scoped_cuda::{Context, Result, Stream};

fn f<'gpu0, 'gpu1>(gpu0: Context<'gpu0>, gpu1: Context<'gpu1>) -> Result<()> {
    println!("{gpu0:?} {gpu1:?}");
    let streams: Vec<Stream<'gpu0>> = vec![gpu0.new_stream()?, gpu1.new_stream()?]; // <-
    println!("{streams:?}");
    Ok(())
}

fn main() {}
