//! Claim:   C1
//! Misuse:  share a detached value whose type is not `Sync`
//! In C:    two threads write one counter
//! Real:    none known
//! rustc:   `Cell<u32>` cannot be shared between threads safely
//! Reads:   a shared `Detached` gives both threads a reference to the value
//! Fix:     use an atomic, or a `Mutex` around it

use scoped_cuda::{Detached, Stream, family};
use std::sync::Arc;
use std::thread;

struct Counted<'ctx> {
    _stream: Stream<'ctx>,
    _uses: std::cell::Cell<u32>,
}
family!(Counted);

fn f(counted: Arc<Detached<Counted<'static>>>) {
    thread::spawn(move || drop(counted)); // <-
}

fn main() {}
