//! Twin of `fail/declared/variable_written_while_a_launch_may_read_it.rs`.

use scoped_cuda::{LaunchConfig, Result, Stream, kernels};

kernels! {
    struct Kernels<'ctx>;
    // SAFETY: the kernel reads `table` only.
    unsafe extern ptx!(".version 7.0 .target sm_75 .address_size 64 .const .f32 table; .entry k() { ret; }") {
        safe fn k() when {};
        static table: f32;
    }
}

fn f<'gpu>(stream: &Stream<'gpu>, kernels: &mut Kernels<'gpu>) -> Result<()> {
    stream.scope(|s| kernels.k(s, LaunchConfig::for_elements(1)))?;
    kernels.variables_mut().table.set(2.0)
}
