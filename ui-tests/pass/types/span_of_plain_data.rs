//! Twin of `fail/types/span_of_plain_data.rs`.

use scoped_cuda::{In, Kernel, Module, PtrLen, Result};

fn f<'gpu>(module: &Module<'gpu>) -> Result<Kernel<'gpu, (PtrLen<In<f32>>, In<f32>)>> {
    module.kernel("sum")
}
