//! Twin of `fail/declared/launch_of_a_declared_kernel_without_unsafe.rs`.

use scoped_cuda::{LaunchConfig, Result, Stream, kernels};

kernels! {
    struct Kernels<'ctx>;
    extern ptx!(".version 7.0 .target sm_75 .address_size 64 .entry nothing() { ret; }") {
        unsafe fn nothing();
    }
}

fn f<'gpu>(stream: &Stream<'gpu>, kernels: &Kernels<'gpu>) -> Result<()> {
    stream.scope(|s| {
        // SAFETY: the kernel does nothing.
        unsafe { kernels.nothing(s, LaunchConfig::for_elements(1)) }
    })
}
