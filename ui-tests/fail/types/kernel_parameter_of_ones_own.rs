//! Claim:   C12
//! Misuse:  declare a type to be a kernel parameter of a layout of one's own
//! In C:    a struct is passed as it is laid out, whatever the kernel declares
//! Real:    none known
//! rustc:   not all trait items implemented, missing: `seal`
//! Reads:   the trait is sealed: the missing item cannot be written, because its argument cannot be named
//! Fix:     pass plain data by value, which is a parameter

use scoped_cuda::kernel::{Param, ParamLayout};

struct Mine;

impl Param for Mine { // <-
    const LAYOUT: &'static [ParamLayout] = &[ParamLayout::of::<u64>()];
    type Seen = ();
}

fn main() {}
