//! Twin of `fail/types/constant_behind_a_lock.rs`.

use scoped_cuda::{Global, InOut, Kernel, SafeKernel};

use std::sync::Mutex;

type Weigh<'gpu> = Mutex<SafeKernel<'gpu, (InOut<f32>,), Global<'gpu, f32>>>;

fn f<'gpu>(weigh: Kernel<'gpu, (InOut<f32>,)>, table: Global<'gpu, f32>) -> Weigh<'gpu> {
    // SAFETY: x[i] *= table[i % 4] for the elements of x only.
    Mutex::new(unsafe { weigh.assert_safe_when_reading(table, []) })
}
