//! Claim:   C1
//! Misuse:  keep the closure for `with_device` in a variable, without the type of its parameter (a papercut: nothing is wrong with it)
//! In C:    no counterpart
//! Real:    none known
//! rustc:   implementation of `FnOnce` is not general enough
//! Reads:   without a type the closure is made for one lifetime `'2`, and `with_device` wants it for any, `'1`
//! Fix:     `|gpu: Context<'_>|`

use scoped_cuda::{Context, Driver, Result};

fn f(driver: Driver) -> Result<()> {
    fn show(gpu: Context<'_>) {
        println!("{gpu:?}")
    }
    let work = |gpu| Ok(show(gpu));
    driver.with_device(0, work) // <-
}

fn main() {}
