//! Twin of `fail/owned/value_of_one_thread_detached.rs`.

use scoped_cuda::{Buffer, family};
use std::sync::Arc;

struct Tensor<'ctx> {
    _elements: Buffer<'ctx, f32>,
    _name: Arc<str>,
}
family!(Tensor);
