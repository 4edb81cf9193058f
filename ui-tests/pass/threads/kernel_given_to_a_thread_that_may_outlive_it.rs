//! Twin of `fail/threads/kernel_given_to_a_thread_that_may_outlive_it.rs`.

use scoped_cuda::Kernel;
use std::thread;

fn f<'gpu>(kernel: &Kernel<'gpu, (u32,)>) {
    thread::scope(|threads| {
        threads.spawn(move || println!("{kernel:?}"));
    });
}
