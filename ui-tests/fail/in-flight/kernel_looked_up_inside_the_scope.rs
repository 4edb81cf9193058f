//! Claim:   C5, C6
//! Misuse:  look a kernel up inside the scope that launches it
//! In C:    works, as long as the module stays loaded
//! Real:    none known
//! rustc:   argument requires that `kernel` is borrowed for `'1`
//! Reads:   the scope waits after the closure has ended, so the launch needs a kernel from outside; this one would be gone
//! Fix:     look it up before the scope, once: the look-up checks the parameter list

use scoped_cuda::{LaunchConfig, Module, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, module: &Module<'gpu>) -> Result<()> {
    stream.scope(|s| {
        let kernel = module.kernel::<(u32,)>("spin")?;
        // SAFETY: the kernel touches no memory.
        unsafe { s.launch(&kernel, LaunchConfig::for_elements(1), (7,)) } // <-
    })
}

fn main() {}
