//! Kernels: loaded images, their variables, typed parameter lists, arguments and launch
//! configurations.

mod access;
mod args;
mod attributes;
mod binary;
pub mod declared;
mod global;
mod image;
mod jit;
#[allow(clippy::module_inception)] // the noun's own file
mod kernel;
mod launch;
mod launch_config;
mod limits;
mod linker;
mod load;
mod load_image;
mod module;
mod occupancy;
mod parameter;
mod params;
mod ptx;
mod ptx_check;
mod rows;
mod safe;
mod untyped;
mod variables;

pub(crate) use access::Use;
pub(crate) use args::seal;
pub use args::{Arg, Args};
pub use attributes::{CachePreference, Carveout, KernelAttributes};
pub use global::Global;
pub use jit::{CacheMode, JitOptions, OptimizationLevel};
pub use kernel::Kernel;
pub(crate) use kernel::Loaded;
pub use launch_config::LaunchConfig;
pub use linker::{LinkedImage, Linker};
pub use module::Module;
pub use occupancy::BestBlock;
pub use parameter::Parameter;
pub use params::{
    In, InOut, Null, Optional, Out, Param, ParamLayout, Params, PtrLen, SharedBytes, WithLen,
};
pub use ptx::{ConstText, Ptx};
pub use rows::{Rows, RowsShape};
pub use safe::{Precondition, SafeKernel};
pub use untyped::{ArgumentList, Untyped};
