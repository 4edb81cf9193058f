#![doc = include_str!("safety.md")]
