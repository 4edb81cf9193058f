//! Claim:   C12
//! Misuse:  give a wrapped kernel its table behind a lock
//! In C:    a table is written while a launch reads it
//! Real:    none known
//! rustc:   is not the handle of variables
//! Reads:   whoever has the lock could write while a launch reads: a launch borrows the kernel, and the lock with it, only as shared
//! Fix:     the handle itself, written through `variables_mut`; a lock goes around the wrapped kernel

use scoped_cuda::{Global, InOut, Kernel, SafeKernel};

use std::sync::Mutex;

type Weigh<'gpu> = SafeKernel<'gpu, (InOut<f32>,), Mutex<Global<'gpu, f32>>>;

fn f<'gpu>(weigh: Kernel<'gpu, (InOut<f32>,)>, table: Global<'gpu, f32>) -> Weigh<'gpu> {
    // SAFETY: x[i] *= table[i % 4] for the elements of x only.
    unsafe { weigh.assert_safe_when_reading(Mutex::new(table), []) } // <-
}

fn main() {}
