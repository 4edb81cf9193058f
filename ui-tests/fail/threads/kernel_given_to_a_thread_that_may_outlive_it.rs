//! Claim:   C1
//! Misuse:  give a kernel to a thread that nobody has to join
//! In C:    the context is released while the thread launches: errors, or a crash inside the driver
//! Real:    none known
//! rustc:   borrowed data escapes outside of function
//! Reads:   `thread::spawn` wants what lasts for ever; the kernel lasts as long as its context
//! Fix:     `thread::scope`: kernels and modules are `Send + Sync`

use scoped_cuda::Kernel;
use std::thread;

fn f<'gpu>(kernel: &Kernel<'gpu, (u32,)>) {
    let worker = thread::spawn(move || println!("{kernel:?}")); // <-
    worker.join().unwrap();
}

fn main() {}
