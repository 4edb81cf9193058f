//! Claim:   C6, C8
//! Misuse:  read memory while a kernel of another device may write it
//! In C:    the copy and the kernel run at once on two devices: old elements, new ones, or both
//! Real:    none known
//! rustc:   cannot borrow `*far` as immutable because it is also borrowed as mutable
//! Reads:   `reach_mut` borrows the buffer for as long as its view is lent, which is until the scope has waited
//! Fix:     read after the scope

use scoped_cuda::{Buffer, Kernel, LaunchConfig, Out, Result, Stream, Transfer};

fn f<'gpu0, 'gpu1>(
    (stream, write): (&Stream<'gpu1>, &Kernel<'gpu1, (Out<f32>,)>),
    transfer: Transfer<'gpu0, 'gpu1>,
    far: &mut Buffer<'gpu0, f32>,
) -> Result<Vec<f32>> {
    let there = transfer.peer_slice_mut(far)?;
    let config = LaunchConfig::for_elements(4);
    stream.scope(|s| {
        // SAFETY: the kernel writes 4 elements.
        unsafe { s.launch(write, config, (&mut there.lend(s),)) }?;
        far.to_vec() // <-
    })
}

fn main() {}
