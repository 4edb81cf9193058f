//! Twin of `fail/mix/variable_brand_made_shorter.rs`.

use scoped_cuda::Global;

#[rustfmt::skip]
fn global<'b, 'a: 'b>(it: Global<'a, u8>) -> Global<'a, u8> { it }
