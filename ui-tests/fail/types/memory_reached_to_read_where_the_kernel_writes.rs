//! Claim:   C6, C12
//! Misuse:  let a kernel write what was reached to read
//! In C:    the write and whoever reads the memory meanwhile are in no order
//! Real:    none known
//! rustc:   `PeerSlice<'_, 'gpu, f32>` is not an argument for a kernel parameter `Out<f32>`
//! Reads:   to be written memory has to be in the order of one stream
//! Fix:     `reach_mut`, and `lend_peer` what it gives

use scoped_cuda::{Kernel, LaunchConfig, Out, PeerSlice, PeerSliceMut, Result, Stream};

fn f<'gpu>(
    (stream, write): (&Stream<'gpu>, &Kernel<'gpu, (Out<f32>,)>),
    to_read: PeerSlice<'_, 'gpu, f32>,
    to_write: PeerSliceMut<'_, 'gpu, f32>,
) -> Result<()> {
    println!("{to_read:?} {to_write:?}");
    let config = LaunchConfig::for_elements(4);
    stream.scope(|s| {
        // SAFETY: the kernel writes 4 elements.
        unsafe { s.launch(write, config, (to_read,)) } // <-
    })
}

fn main() {}
