//! Twin of `fail/mix/two_scopes_of_one_gpu_mixed_in_closures.rs`.

use scoped_cuda::{Driver, Result};

fn f(driver: Driver) -> Result<()> {
    driver.with_device(0, |outer| {
        driver.with_device(0, |inner| {
            let stream = outer.new_stream()?;
            let mut buffer = outer.zeros::<f32>(4)?;
            println!("{outer:?} {inner:?}");
            stream.scope(|s| s.fill(&mut buffer.lend(s), 1.0))
        })
    })
}
