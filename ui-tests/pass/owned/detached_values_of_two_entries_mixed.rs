//! Twin of `fail/owned/detached_values_of_two_entries_mixed.rs`.

use scoped_cuda::{Buffer, Context, Detached, Result};

type Of = Detached<Buffer<'static, u32>>;

fn f<'gpu0, 'gpu1>(a: Context<'gpu0>, b: Context<'gpu1>, from: &Of, to: &mut Of) -> Result<()> {
    println!("{b:?}");
    let source = from.get(a)?;
    to.get_mut(a)?.copy_from(source)
}
