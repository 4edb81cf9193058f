//! Twin of `fail/types/span_of_plain_data.rs`.

use scoped_cuda::{In, Kernel, Module, Result, Span};

fn f<'gpu>(module: &Module<'gpu>) -> Result<Kernel<'gpu, (Span<In<f32>>, In<f32>)>> {
    module.kernel("sum")
}
