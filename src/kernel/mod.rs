//! Kernels: loaded images, their variables, typed parameter lists, arguments and launch configurations.

mod args;
mod config;
mod function;
mod global;
mod image;
mod module;
mod params;

pub(crate) use args::seal;
pub use args::{Arg, Args};
pub use config::LaunchConfig;
pub use function::Kernel;
pub use global::Global;
pub use module::{Module, Parameter};
pub use params::{In, InOut, Out, Param, Params};
