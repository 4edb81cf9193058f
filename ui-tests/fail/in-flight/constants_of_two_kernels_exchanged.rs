//! Claim:   C5, C12
//! Misuse:  exchange the tables of two kernels, so that each lends the other one's
//! In C:    a table is written while a launch reads it
//! Real:    none known
//! rustc:   expected `&mut _`, found `SliceMut<
//! Reads:   `variables_mut` gives views to write through, not the handles: those stay with their kernels
//! Fix:     write the values

use scoped_cuda::{Global, InOut, Result, SafeKernel};

type Weigh<'gpu> = SafeKernel<'gpu, (InOut<f32>,), Global<'gpu, f32>>;

fn f<'gpu>(a: &mut Weigh<'gpu>, b: &mut Weigh<'gpu>) -> Result<()> {
    let (of_a, of_b) = (a.variables().to_vec()?, b.variables().to_vec()?);
    println!("{of_a:?} {of_b:?}");
    std::mem::swap(a.variables_mut(), b.variables_mut()); // <-
    Ok(())
}

fn main() {}
