//! Twin of `fail/escape/buffer_behind_dyn_any.rs`.

use scoped_cuda::{Context, Result};
use std::fmt::Debug;

fn f<'gpu>(gpu: Context<'gpu>) -> Result<()> {
    let cache: Vec<Box<dyn Debug + 'gpu>> = vec![Box::new(gpu.zeros::<f32>(4)?)];
    println!("{}", cache.len());
    Ok(())
}
