//! Text that crashes the driver's compiler does not get there, and what is as close to it as can
//! be does not crash it. Claim C12.
//!
//! A crash ends the process, so the texts are loaded in a process of their own, which says what it
//! loads before it does.

use crate::common::crashing_ptx::{close_to_crashing, crashing};
use crate::common::{alone, on_driver, ptx};
use scoped_cuda::error::ImageError;
use scoped_cuda::{Error, JitOptions};

fn reason(error: Error) -> String {
    match error {
        Error::Image(ImageError { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn texts_that_crash_the_compiler_are_loaded_without_harm() {
    let name = "crashing_ptx::texts_that_crash_the_compiler_are_loaded_without_harm";
    alone(name, || {
        on_driver(|driver| {
            driver.with_device(0, |ctx| {
                for (text, why) in crashing() {
                    println!("loading {:.200}", text.escape_debug().to_string());
                    let refused = reason(ctx.load_ptx(ptx(&text)).unwrap_err());
                    assert!(refused.starts_with(why), "{refused}");
                    let mut linker = ctx.linker(&JitOptions::default())?;
                    let refused = reason(linker.add_ptx("text", ptx(&text)).unwrap_err());
                    assert!(refused.contains(why), "{refused}");
                }
                Ok(())
            })
        });
    });
}

#[test]
fn texts_within_the_limits_load() {
    alone("crashing_ptx::texts_within_the_limits_load", || {
        on_driver(|driver| {
            driver.with_device(0, |ctx| {
                for text in close_to_crashing() {
                    println!("loading {:.200}", text.escape_debug().to_string());
                    ctx.load_ptx(ptx(&text))?;
                    let mut linker = ctx.linker(&JitOptions::default())?;
                    linker.add_ptx("text", ptx(&text))?;
                    ctx.load_linked(&linker.finish()?)?;
                }
                Ok(())
            })
        });
    });
}
