//! What [`kernels!`](crate::kernels) is made of: the declarations of PTX, read while the program is
//! compiled, their comparison with types of Rust, and what is loaded of them.
//!
//! Programs name nothing of this module; the code that the macro writes does.

mod at_run_time;
mod entry;
mod fit;
mod found;
mod index;
mod kernels;
mod kind;
mod loaded;
mod message;
mod path;
mod plain;
mod scan;
mod symbol;
mod text;
mod value;
mod variable;

pub(super) use at_run_time::{Declared, read};
pub use fit::{
    AlignmentInBytes, Any, B8, B16, B32, B64, B128, Declares, F16, F32, F64, Fit, Found, Holds,
    PointerToGlobalMemory, PointerToOtherMemory, S8, S16, S32, S64, SizeInBytes, StructOfBytes,
    Takes, U8, U16, U32, U64, WhatItIs, holds, takes,
};
pub use found::{FoundKernel, FoundVariable, check_text};
pub use kind::Kind;
pub use loaded::{Beside, Header, Loaded, VariablesMut, cubin, fatbin, preconditions};
pub use plain::{Plain, PlainData};
pub use variable::{Variable, VariableMut, VariableType};
