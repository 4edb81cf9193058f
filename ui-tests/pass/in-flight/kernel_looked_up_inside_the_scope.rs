//! Twin of `fail/in-flight/kernel_looked_up_inside_the_scope.rs`.

use scoped_cuda::{LaunchConfig, Module, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, module: &Module<'gpu>) -> Result<()> {
    let kernel = module.kernel::<(u32,)>("spin")?;
    stream.scope(|s| {
        // SAFETY: the kernel touches no memory.
        unsafe { s.launch(&kernel, LaunchConfig::for_elements(1), (7,)) }
    })
}
