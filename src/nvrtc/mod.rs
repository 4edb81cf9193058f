//! CUDA C++ compiled while the program runs, through NVRTC. With the feature `nvrtc`.
//!
//! NVRTC is a library of the CUDA toolkit that turns CUDA C++ into PTX. It needs neither a device
//! nor a driver, and it is looked for when the program asks for it: a program with this feature
//! builds and starts without.
//!
//! ```no_run
//! use scoped_cuda::nvrtc::{CompileOptions, Compiler, Trusted};
//! use scoped_cuda::{Driver, InOut, LaunchConfig, trusted};
//!
//! const SOURCE: Trusted<'_> = trusted!(r#"
//!     template <typename T> __global__ void scale(T *x, unsigned n, T factor) {
//!         unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!         if (i < n) x[i] *= factor;
//!     }
//! "#);
//!
//! let compiler = Compiler::load()?;
//! let scaled = Driver::load()?.with_device(0, |ctx| {
//!     let options = CompileOptions::for_device(ctx.device())?.name_expression("scale<float>");
//!     let compiled = compiler.compile(SOURCE, &options)?;
//!     let scale = ctx
//!         .load_ptx(compiled.ptx()?)?
//!         .kernel::<(InOut<f32>, u32, f32)>(compiled.lowered_name("scale<float>")?)?;
//!     let mut x = ctx.upload(&[1.0f32, 2.0, 3.0])?;
//!     ctx.new_stream()?.scope(|s| {
//!         let mut x = x.lend(s);
//!         // SAFETY: `scale` updates x at indices below n, and x has 3 elements.
//!         unsafe { s.launch(&scale, LaunchConfig::for_elements(3), (&mut x, 3, 2.5)) }
//!     })?;
//!     x.to_vec()
//! })?;
//! assert_eq!(scaled, [2.5, 5.0, 7.5]);
//! # Ok::<(), scoped_cuda::Error>(())
//! ```
//!
//! # Names
//!
//! C++ names are mangled. A kernel declared `extern "C"` keeps its name; for any other, a template
//! above all, the compilation is told an expression that names it
//! ([`CompileOptions::name_expression`]) and answers with the name it has in the PTX
//! ([`Compiled::lowered_name`]).
//!
//! # Which NVRTC for which driver
//!
//! PTX carries the version of the compiler that wrote it, and a driver reads none that is newer
//! than itself: [`load_ptx`](crate::Context::load_ptx) then fails with
//! `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`. So install the NVRTC of the driver's CUDA version or an
//! older one; [`Compiler::version`] and [`Driver::version`](crate::Driver::version) compare.
//!
//! # What is promised and what is not
//!
//! [`Compiler::compile`] is a safe function as far as NVRTC keeps its word: it is given C strings
//! that live through the compilation and buffers as large as it asks for, on a thread with a stack
//! of 64 MiB. It is a large C++ compiler in this process, though: source text can make it take any
//! time or memory, read files (`#include`), and end the process (ten thousand parentheses in each
//! other compile, fifty thousand exceed that stack), and what its `asm` statements say goes into
//! the PTX unread. So it is given text that the program vouches for, [`Trusted`], and nothing that
//! differs from run to run can bring a string literal into it. Text that nobody trusts belongs into
//! a process of its own. What the kernel does is the promise of the `unsafe` block around
//! [`launch`](crate::ScopedStream::launch), as with any other PTX.

mod compiled;
mod compiler;
#[cfg(test)]
mod fake;
mod library;
mod options;
mod program;
#[cfg(test)]
mod tests;
mod trusted;

pub use crate::error::NvrtcError;
pub use compiled::Compiled;
pub use compiler::Compiler;
pub use options::CompileOptions;
pub use trusted::Trusted;
