//! Claim:   C1
//! Misuse:  hide a buffer behind a trait object that says nothing about its lifetime
//! In C:    the same as any handle that is kept too long
//! Real:    none known
//! rustc:   coercion requires that `'1` must outlive `'static`
//! Reads:   `Box<dyn Any>` means `Box<dyn Any + 'static>`; a trait object that holds a buffer has to name the context's lifetime
//! Fix:     `Box<dyn Trait + 'gpu>`

use scoped_cuda::{Context, Result};
use std::any::Any;

fn f(gpu: Context<'_>) -> Result<()> {
    let cache: Vec<Box<dyn Any>> = vec![Box::new(gpu.zeros::<f32>(4)?)]; // <-
    println!("{}", cache.len());
    Ok(())
}

fn main() {}
