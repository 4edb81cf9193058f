//! Claim:   C5
//! Misuse:  write a `__constant__` table that wrapped kernels read
//! In C:    a launch on some other thread sees some old and some new values
//! Real:    none known
//! rustc:   cannot borrow `*table` as mutable because it is also borrowed as immutable
//! Reads:   a kernel that was wrapped with a reference to the table reads it whenever it is launched: the table stays as it is while such a kernel exists
//! Fix:     write before the kernel is wrapped; or let the kernel own the table, and write through `variables_mut`

use scoped_cuda::{Global, InOut, Kernel, Result};

fn f<'gpu>(weigh: Kernel<'gpu, (InOut<f32>,)>, table: &mut Global<'gpu, f32>) -> Result<()> {
    // SAFETY: x[i] *= table[i % 4] for the elements of x only.
    let weigh = unsafe { weigh.assert_safe_when_reading(&*table, []) };
    table.write(&[1.0; 4])?; // <-
    println!("{weigh:?}");
    Ok(())
}

fn main() {}
