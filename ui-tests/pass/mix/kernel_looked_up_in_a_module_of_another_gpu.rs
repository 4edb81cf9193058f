//! Twin of `fail/mix/kernel_looked_up_in_a_module_of_another_gpu.rs`.

use scoped_cuda::{Context, Kernel, Module, Result};

fn f<'gpu0, 'gpu1>(cache: &Module<'gpu0>, gpu1: Context<'gpu1>) -> Result<Kernel<'gpu0, (u32,)>> {
    println!("{gpu1:?}");
    cache.kernel("nothing")
}
