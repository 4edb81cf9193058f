//! Twin of `fail/types/memory_of_another_gpu_filled_in_a_scope.rs`.

use scoped_cuda::{PeerSliceMut, Result, ScopedStream, SliceMut};

fn f<'s, 'scope, 'gpu1>(
    s: ScopedStream<'s, 'scope, 'gpu1>,
    far: PeerSliceMut<'scope, 'gpu1, f32>,
    near: SliceMut<'scope, 'gpu1, f32>,
) -> Result<()> {
    let (far, near) = (&mut far.lend(s), &mut near.lend(s));
    println!("{far:?} {near:?}");
    s.fill(near, 1.0)
}
