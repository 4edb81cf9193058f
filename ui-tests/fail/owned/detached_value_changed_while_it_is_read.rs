//! Claim:   C6
//! Misuse:  change a detached buffer through one entry while another one reads it
//! In C:    a race between two streams
//! Real:    none known
//! rustc:   cannot borrow `weights` as mutable because it is also borrowed as immutable
//! Reads:   entries of one context nest, and the wrapping is one variable all the same
//! Fix:     read first, then write

use scoped_cuda::{Buffer, Detached, OwnedContext, Result};

fn f(gpu: &OwnedContext, mut weights: Detached<Buffer<'static, f32>>) -> Result<Vec<f32>> {
    gpu.with(|outer| {
        let before = weights.get(outer)?;
        gpu.with(|inner| weights.get_mut(inner)?.fill(1.0))?; // <-
        before.to_vec()
    })
}

fn main() {}
