//! Twin of `fail/owned/detached_value_shared_though_it_may_not_be.rs`.

use scoped_cuda::{Detached, Stream, family};
use std::sync::Arc;
use std::thread;

struct Counted<'ctx> {
    _stream: Stream<'ctx>,
    _uses: std::sync::atomic::AtomicU32,
}
family!(Counted);

fn f(counted: Arc<Detached<Counted<'static>>>) {
    thread::spawn(move || drop(counted));
}
