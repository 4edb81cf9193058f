//! What needs a process of its own: faults, which end the use of CUDA in theirs, and texts that may
//! crash a compiler. The tests run in child processes of this binary.

#[path = "../common/mod.rs"]
mod common;

mod crashing_ptx;
mod fault;
mod fault_codes;
mod fault_elsewhere;
mod host_function_fault;
mod image_fuzz;
mod owned_copy_fault;
mod owned_fault;
mod redundant;
mod two_drivers;
