//! A simulated CUDA driver: machines without a GPU that answer driver calls as a real one does.
//!
//! It is for tests and examples, this crate's and yours. [`Simulation`] says what the machine is
//! like, and the [`Machine`] behind the driver registers kernels, provokes faults and tells what is
//! still alive.
//!
//! - **State is real.** Context stacks per thread, retain counts, peer access, memory with owners
//!   and pools, bounds.
//! - **Work is asynchronous.** A stream is a queue with a thread behind it; what is enqueued rests
//!   for [`latency`](Simulation::latency) unless somebody waits for it, and reads host memory only
//!   when it runs. A missing wait shows as wrong data, every time. Host functions of one context
//!   run one at a time.
//! - **Answers are measured ones.** Where the real driver silently creates an object on the wrong
//!   device, so does this one. Where the real one crashes or is undefined, this one returns an
//!   error and keeps a sentence in [`violations`](Machine::violations).
//! - **A fault ends every call**, and stops the device that had it. Other devices go on with what
//!   they were given, unseen, as those of a real machine do. (A fault that [`Machine::fail_call`]
//!   provokes is of no device: it stops all.)
//! - **Kernels run from their PTX**, and every access is checked: bounds, alignment, constants,
//!   races, barriers. What a kernel does wrong ends the launch as a fault does, and stands in
//!   [`Machine::findings`] with its line, block, thread and address. A launch works on a copy of
//!   each allocation that it touches, and gives back what it has changed at its end. The
//!   documentation of `scoped-cuda-ptx` says which instructions are not executed (matrices, bulk
//!   copies, textures).
//! - **A kernel may be a host function instead**, registered under the name of a PTX entry with
//!   [`Machine::kernel`]. It wins over the PTX. The
//!   linker puts texts together, and what it makes is an ELF file with the texts in it: machine
//!   code is not simulated, so that a real cubin is answered as one for other devices.
//!
//! Each machine has a range of device ordinals of its own, so that tests which run side by side in
//! one process do not meet. As on real hardware, a thread has one context stack, whatever machines
//! its contexts belong to.
//!
//! What it does not do: take the time a device would take, find races between kernels, find reads
//! of device memory that nobody has written, textures, IPC. It never takes the place of a real
//! driver by itself.

mod abi;
mod attributes;
mod capture;
mod context;
mod graph;
mod host;
mod image;
mod jit;
mod kernel;
mod linker;
mod machine;
mod memory;
mod occupancy;
mod program;
mod ptx;
mod registry;
mod rows;
mod stream;
#[cfg(test)]
mod tests;
mod work;

pub use kernel::KernelCall;
pub use machine::{Live, Machine, Paused};
pub use scoped_cuda_ptx::{Access, Class, Finding, Nearest, Thread};

use std::time::Duration;

/// What a simulated machine is like.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Simulation {
    /// How many devices it has; at most 64.
    pub devices: u32,
    /// Memory of each device, in bytes.
    pub memory: usize,
    /// The CUDA version of its driver, as `1000 * major + 10 * minor`.
    pub version: i32,
    /// Which devices can access each other's memory.
    pub peers: Peers,
    /// Entry points that its driver lacks.
    pub missing: &'static [&'static str],
    /// Whether host and devices may touch managed memory at the same time.
    pub concurrent_managed_access: bool,
    /// Whether blocks can run in clusters, as from compute capability 9.0 on.
    pub clusters: bool,
    /// Pairs of devices, the one that sends first, between which direct copies deliver zeros,
    /// without an error, as on platforms whose peer path is reported as available and is broken.
    /// Direct is a copy while the memory pool of one of its sides admits the other side's device
    /// (`cuMemPoolSetAccess`); staged ones deliver what was sent.
    pub corrupts_peer_copies: Peers,
    /// How long enqueued work rests before it runs when nobody waits for it.
    pub latency: Duration,
}

impl Simulation {
    /// Sets [`devices`](Self#structfield.devices).
    #[must_use]
    pub const fn devices(mut self, devices: u32) -> Self {
        self.devices = devices;
        self
    }

    /// Sets [`memory`](Self#structfield.memory).
    #[must_use]
    pub const fn memory(mut self, memory: usize) -> Self {
        self.memory = memory;
        self
    }

    /// Sets [`version`](Self#structfield.version).
    #[must_use]
    pub const fn version(mut self, version: i32) -> Self {
        self.version = version;
        self
    }

    /// Sets [`peers`](Self#structfield.peers).
    #[must_use]
    pub fn peers(mut self, peers: Peers) -> Self {
        self.peers = peers;
        self
    }

    /// Sets [`missing`](Self#structfield.missing).
    #[must_use]
    pub const fn missing(mut self, missing: &'static [&'static str]) -> Self {
        self.missing = missing;
        self
    }

    /// Sets [`concurrent_managed_access`](Self#structfield.concurrent_managed_access).
    #[must_use]
    pub const fn concurrent_managed_access(mut self, concurrent_managed_access: bool) -> Self {
        self.concurrent_managed_access = concurrent_managed_access;
        self
    }

    /// Sets [`clusters`](Self#structfield.clusters).
    #[must_use]
    pub const fn clusters(mut self, clusters: bool) -> Self {
        self.clusters = clusters;
        self
    }

    /// Sets [`corrupts_peer_copies`](Self#structfield.corrupts_peer_copies).
    #[must_use]
    pub fn corrupts_peer_copies(mut self, corrupts_peer_copies: Peers) -> Self {
        self.corrupts_peer_copies = corrupts_peer_copies;
        self
    }

    /// Sets [`latency`](Self#structfield.latency).
    #[must_use]
    pub const fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }
}

impl Default for Simulation {
    /// Two devices of 1 GiB that can access each other, CUDA 13.0, 200 microseconds of rest.
    fn default() -> Self {
        Self {
            devices: 2,
            memory: 1 << 30,
            version: 13_000,
            peers: Peers::All,
            missing: &[],
            concurrent_managed_access: true,
            clusters: true,
            corrupts_peer_copies: Peers::None,
            latency: Duration::from_micros(200),
        }
    }
}

/// Which devices of a machine can access each other's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Peers {
    /// Every device every other.
    All,
    /// None.
    None,
    /// These pairs of ordinals, in this direction and not the other way round: the first accesses
    /// the memory of the second.
    Only(Vec<(u32, u32)>),
}

impl Peers {
    fn allow(&self, from: usize, to: usize) -> bool {
        from != to
            && match self {
                Self::All => true,
                Self::None => false,
                Self::Only(pairs) => pairs
                    .iter()
                    .any(|&(a, b)| (a as usize, b as usize) == (from, to)),
            }
    }
}
