//! Twin of `fail/types/kernel_parameter_of_ones_own.rs`.

use scoped_cuda::kernel::{Param, ParamLayout};

const LAYOUT: &[ParamLayout] = <u64 as Param>::LAYOUT;
