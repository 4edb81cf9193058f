//! Twin of `fail/escape/memory_of_an_inner_scope_kept_by_the_outer.rs`.

use scoped_cuda::{Context, Driver, Result};

fn f(driver: Driver, outer: Context<'_>) -> Result<()> {
    let mut kept = None;
    driver.with_device(0, |inner| {
        let memory = inner.zeros::<f32>(4)?;
        let same = outer.same_context(inner)?;
        kept = Some(same.slice_of(&memory).to_vec()?);
        Ok(())
    })?;
    println!("{kept:?}");
    Ok(())
}
