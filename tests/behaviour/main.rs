//! What the crate does, noun by noun, on the driver that `SCOPED_CUDA_TEST_DRIVER` names.

#[path = "../common/mod.rs"]
mod common;

mod captures;
mod context;
mod declared;
mod detached;
mod driver;
mod event;
mod executed;
mod forget;
mod global;
mod graph;
mod host_function;
mod images;
mod kernel;
mod kinds;
mod launch;
mod linker;
mod managed;
mod memory;
mod occupancy;
mod owned_context;
mod owned_copy;
mod parameters;
mod parts;
mod peer_queries;
mod peers;
mod pinned;
mod pitched;
mod pitched_scoped;
mod registered;
mod reset;
mod safe_kernel;
mod scoped_memory;
mod stream;
mod submit;
mod transfer;
mod untyped;
mod wakers;
