//! Kernels: loaded images, typed parameter lists, arguments and launch configurations.

mod args;
mod binary;
mod config;
mod function;
mod image;
mod jit;
mod linker;
mod load;
mod module;
mod params;

pub(crate) use args::seal;
pub use args::{Arg, Args};
pub use config::LaunchConfig;
pub use function::Kernel;
pub use jit::{CacheMode, JitOptions, OptimizationLevel};
pub use linker::{Linked, Linker};
pub use module::{Module, Parameter};
pub use params::{In, InOut, Out, Param, Params};
