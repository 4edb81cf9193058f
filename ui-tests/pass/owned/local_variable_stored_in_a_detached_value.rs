//! Twin of `fail/owned/local_variable_stored_in_a_detached_value.rs`.

use scoped_cuda::{Detached, OwnedContext, Result, family};
use std::sync::Mutex;

struct Kept<'ctx>(Mutex<Option<&'ctx u32>>);
family!(Kept);

fn f(gpu: &OwnedContext, kept: &Detached<Kept<'static>>) -> Result<()> {
    let local = 5u32;
    gpu.with(|ctx| {
        *kept.get(ctx)?.0.lock().unwrap() = Some(Box::leak(Box::new(local)));
        Ok(())
    })
}
