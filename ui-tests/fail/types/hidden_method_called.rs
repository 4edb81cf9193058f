//! Claim:   C12
//! Misuse:  call a method that is hidden from the documentation
//! In C:    what is not in the header is a symbol all the same, and can be called
//! Real:    none known
//! rustc:   argument #3 of type `memory::sealed::Token` is missing
//! Reads:   the method asks for a token, and other crates have no way to make one
//! Fix:     launch the kernel, which asks the arguments itself

use scoped_cuda::{LaunchConfig, kernel::Arg};

fn f(config: &LaunchConfig) -> u32 {
    Arg::<u32>::value(7u32, config); // <-
    Arg::<u32>::seen(&7u32, config)
}

fn main() {}
