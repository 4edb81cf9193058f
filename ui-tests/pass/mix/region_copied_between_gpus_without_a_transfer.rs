//! Twin of `fail/mix/region_copied_between_gpus_without_a_transfer.rs`.

use scoped_cuda::{Context, PitchedBuffer, Result};

fn f<'gpu0, 'gpu1>(
    (gpu0, gpu1): (Context<'gpu0>, Context<'gpu1>),
    source: &PitchedBuffer<'gpu0, f32>,
    destination: &mut PitchedBuffer<'gpu1, f32>,
) -> Result<()> {
    println!("{gpu0:?} to {gpu1:?}");
    destination.write(&source.region(..2, ..2, ..)?.to_vec()?)
}
