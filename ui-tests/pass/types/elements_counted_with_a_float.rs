//! Twin of `fail/types/elements_counted_with_a_float.rs`.

use scoped_cuda::{Counted, In, Kernel, Module, Result};

fn f<'gpu>(module: &Module<'gpu>) -> Result<Kernel<'gpu, (Counted<In<f32>, u32>,)>> {
    module.kernel("sum")
}
