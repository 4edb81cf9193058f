//! Twin of `fail/types/elements_counted_with_a_float.rs`.

use scoped_cuda::{In, Kernel, Module, Result, WithLen};

fn f<'gpu>(module: &Module<'gpu>) -> Result<Kernel<'gpu, (WithLen<In<f32>, u32>,)>> {
    module.kernel("sum")
}
