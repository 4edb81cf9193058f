//! Twin of `fail/types/hidden_method_called.rs`.

use scoped_cuda::{LaunchConfig, kernel::Arg};

fn f(config: &LaunchConfig) -> u32 {
    Arg::<u32>::seen(&7u32, config)
}
