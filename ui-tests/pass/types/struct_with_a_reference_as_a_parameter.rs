//! Twin of `fail/types/struct_with_a_reference_as_a_parameter.rs`.

use scoped_cuda::{InOut, Kernel, Module, Result};

type Scaling = [f32; 2];

fn f<'gpu>(module: &Module<'gpu>) -> Result<Kernel<'gpu, (InOut<f32>, Scaling)>> {
    module.kernel("scale")
}
