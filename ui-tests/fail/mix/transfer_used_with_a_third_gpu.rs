//! Claim:   C2, C8
//! Misuse:  copy to a device that the transfer is not about
//! In C:    a peer copy that names the wrong context next to an address is undefined
//! Real:    none known
//! rustc:   `'gpu1` and `'gpu2` must be the same
//! Reads:   the transfer leads to `'gpu1`, the destination is memory of `'gpu2`
//! Fix:     use the transfer of these two devices, or go through the device between them

use scoped_cuda::{Buffer, Result, Transfer};

fn f<'gpu0, 'gpu1, 'gpu2>(
    zero_to_one: Transfer<'gpu0, 'gpu1>,
    one_to_two: Transfer<'gpu1, 'gpu2>,
    on_gpu0: &Buffer<'gpu0, f32>,
    on_gpu1: &mut Buffer<'gpu1, f32>,
    on_gpu2: &mut Buffer<'gpu2, f32>,
) -> Result<()> {
    zero_to_one.copy(on_gpu0, on_gpu2)?; // <-
    one_to_two.copy(on_gpu1, on_gpu2)
}

fn main() {}
