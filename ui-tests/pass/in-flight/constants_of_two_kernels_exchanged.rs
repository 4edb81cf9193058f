//! Twin of `fail/in-flight/constants_of_two_kernels_exchanged.rs`.

use scoped_cuda::{Global, InOut, Result, SafeKernel};

type Weigh<'gpu> = SafeKernel<'gpu, (InOut<f32>,), Global<'gpu, f32>>;

fn f<'gpu>(a: &mut Weigh<'gpu>, b: &mut Weigh<'gpu>) -> Result<()> {
    let (of_a, of_b) = (a.variables().to_vec()?, b.variables().to_vec()?);
    println!("{of_a:?} {of_b:?}");
    a.variables_mut().write(&of_b)?;
    b.variables_mut().write(&of_a)
}
