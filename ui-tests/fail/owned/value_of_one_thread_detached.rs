//! Claim:   C4
//! Misuse:  detach a struct that only one thread may have
//! In C:    the last owner drops it, on whatever thread that is
//! Real:    none known
//! rustc:   `Rc<str>` cannot be sent between threads safely
//! Reads:   a detached value can be dropped by any thread, so a family is `Send`
//! Fix:     use an `Arc`

use scoped_cuda::{Buffer, family};
use std::rc::Rc;

struct Tensor<'ctx> {
    _elements: Buffer<'ctx, f32>,
    _name: Rc<str>,
}
family!(Tensor); // <-

fn main() {}
