//! Twin of `fail/papercuts/closure_in_a_variable_without_a_type.rs`.

use scoped_cuda::{Context, Driver, Result};

fn f(driver: Driver) -> Result<()> {
    fn show(gpu: Context<'_>) {
        println!("{gpu:?}")
    }
    let work = |gpu: Context<'_>| Ok(show(gpu));
    driver.with_device(0, work)
}
