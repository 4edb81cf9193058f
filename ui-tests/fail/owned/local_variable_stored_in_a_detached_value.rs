//! Claim:   C1, C11
//! Misuse:  store a borrow of a local variable under the context's lifetime
//! In C:    a pointer into a stack frame that is gone
//! Real:    none known
//! rustc:   `local` does not live long enough
//! Reads:   the context's lifetime is longer than anything that a function can borrow of its own
//! Fix:     store the value itself, or what lives for ever

use scoped_cuda::{Detached, OwnedContext, Result, family};
use std::sync::Mutex;

struct Kept<'ctx>(Mutex<Option<&'ctx u32>>);
family!(Kept);

fn f(gpu: &OwnedContext, kept: &Detached<Kept<'static>>) -> Result<()> {
    let local = 5u32;
    gpu.with(|ctx| {
        *kept.get(ctx)?.0.lock().unwrap() = Some(&local); // <-
        Ok(())
    })
}

fn main() {}
