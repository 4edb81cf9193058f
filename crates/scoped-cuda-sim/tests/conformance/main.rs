//! What the driver answers, call by call: each test asserts what the real driver answered when it
//! was asked (two H200, CUDA 13.0).
//!
//! The same tests run on the simulated driver, which is so held to the real one, and on the real
//! one, whose next version may think otherwise. The calls are raw, behind the crate's back: what
//! the crate rests on is tested here, not the crate.
//!
//! Left out is what ends a process: calls on which the real driver crashes (the simulated one has
//! to report them: `crashes`) and faults of a kernel (`conformance_fault.rs`, alone in its
//! process).

#![allow(unsafe_code)] // raw driver calls

#[path = "../../../../tests/common/mod.rs"]
mod common;
#[macro_use]
mod rig;

mod contexts;
mod crashes;
mod current;
mod globals;
mod graphs;
mod host;
mod images;
mod kernels;
mod loading;
mod memory;
mod mixing;
mod order;
mod rows;
