//! What a stream does: copies, fills, kernels, host functions.

#![allow(unsafe_code)] // reads and writes the host memory of copies, calls host functions

use super::graph::GraphRun;
use super::kernel::Launch;
use super::machine::{Machine, State};
use super::memory::{Allocation, Place};
use super::registry::callback;
use super::rows::{Shape, Side, Start};
use super::stream::Mark;
use scoped_cuda_sys::{CUhostFn, CUresult};
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A piece of work in a stream.
pub(super) enum Work {
    /// Take the time, where a mark is.
    Record(Arc<OnceLock<Instant>>),
    /// Wait until another stream has come to a mark.
    Wait(Mark),
    Allocate(Arc<Allocation>),
    Free(Arc<Allocation>),
    FromHost {
        to: Place,
        from: HostPointer,
        bytes: usize,
    },
    /// From host memory that was read when the copy was called.
    FromStaged {
        to: Place,
        from: Vec<u8>,
    },
    ToHost {
        to: HostPointer,
        from: Place,
        bytes: usize,
    },
    Copy {
        to: Place,
        from: Place,
        bytes: usize,
    },
    /// `count` times `pattern`.
    Fill {
        to: Place,
        pattern: Vec<u8>,
        count: usize,
    },
    CopyRows {
        to: Side,
        from: Side,
        shape: Shape,
    },
    /// Each row full of `pattern`.
    FillRows {
        to: Side,
        pattern: Vec<u8>,
        shape: Shape,
    },
    Launch(Launch),
    Graph(GraphRun),
    Call {
        function: CUhostFn,
        data: HostPointer,
    },
}

/// What a piece of work did that ends the use of its device: the code that every call returns from
/// then on, and what happened.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) code: CUresult,
    pub(super) text: String,
}

impl From<String> for Fault {
    /// A wrong address, in words.
    fn from(text: String) -> Self {
        let code = CUresult::ILLEGAL_ADDRESS;
        Self { code, text }
    }
}

/// Host memory that the caller of a copy keeps valid until the copy has run, or what it gave a host
/// function.
pub(super) struct HostPointer(pub(super) *mut c_void);

// SAFETY: whoever enqueues work promises that the driver may use the pointer on threads of its own.
unsafe impl Send for HostPointer {}
// SAFETY: as for Send; what shares the pointer only copies it.
unsafe impl Sync for HostPointer {}

impl Work {
    /// Whether the work must be over before the end of its context, or a fault, may be reported.
    pub(super) fn touches_memory(&self) -> bool {
        !matches!(self, Self::Call { .. })
    }

    /// Whether it writes pageable memory of the host.
    pub(super) fn writes_pageable(&self, state: &State) -> bool {
        match self {
            Self::CopyRows { to, shape, .. } => is_pageable(to, *shape, state),
            _ => false,
        }
    }

    /// The copy of a row from pageable memory, with what is there now, which is when a graph is
    /// launched.
    pub(super) fn staged(&self, state: &State) -> Option<Self> {
        match self {
            Self::CopyRows { to, from, shape } if is_pageable(from, *shape, state) => {
                let (Start::Device(to), 1, 1) = (&to.start, shape.height, shape.depth) else {
                    return None;
                };
                Some(Self::FromStaged {
                    to: to.clone(),
                    from: from.gather(*shape).ok()?,
                })
            }
            _ => None,
        }
    }

    /// Does it. The machine is not locked meanwhile.
    ///
    /// # Errors
    /// What a kernel or copy did that is a fault.
    pub(super) fn run(&self, machine: &Machine) -> Result<(), Fault> {
        let done = match self {
            Self::Record(_) | Self::Wait(_) | Self::Allocate(_) | Self::Free(_) => Ok(()),
            Self::FromHost { to, from, bytes } => to.with(*bytes, |to| {
                // SAFETY: the caller of the copy promised `bytes` readable bytes at `from` until
                // the copy has run; `to` is as long and lies in memory of the simulated device.
                unsafe { ptr::copy_nonoverlapping(from.0.cast::<u8>(), to.as_mut_ptr(), to.len()) }
            }),
            Self::FromStaged { to, from } => to.with(from.len(), |to| to.copy_from_slice(from)),
            Self::ToHost { to, from, bytes } => from.read(*bytes, |from| {
                // SAFETY: the caller of the copy promised `bytes` writable bytes at `to` until the
                // copy has run; `from` is as long and lies in memory of the simulated device.
                unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to.0.cast::<u8>(), from.len()) }
            }),
            Self::Copy { to, from, bytes } => {
                // By way of a vector, so that never two allocations are locked.
                let mut sent = from.to_vec(*bytes)?;
                let (source, destination) = (from.allocation.device, to.allocation.device);
                let corrupted = &machine.simulation().corrupts_peer_copies;
                if corrupted.allow(source, destination)
                    && from.allocation.is_direct_to(&to.allocation)
                {
                    sent.fill(0);
                }
                to.with(*bytes, |to| to.copy_from_slice(&sent))
            }
            Self::Fill { to, pattern, count } => to.with(pattern.len() * count, |to| {
                // The pattern once, then as much as there is already, again and again.
                let mut filled = pattern.len();
                to[..filled].copy_from_slice(pattern);
                while filled < to.len() {
                    let more = filled.min(to.len() - filled);
                    to.copy_within(..more, filled);
                    filled += more;
                }
            }),
            // By way of a vector too.
            Self::CopyRows { to, from, shape } => to.scatter(*shape, &from.gather(*shape)?),
            Self::FillRows { to, pattern, shape } => {
                let elements = shape.width * shape.height / pattern.len();
                to.scatter(*shape, &pattern.repeat(elements))
            }
            Self::Launch(launch) => return launch.run(machine),
            Self::Graph(run) => return run.run(machine),
            Self::Call { function, data } => {
                // SAFETY: the caller of cuLaunchHostFunc promised that the function may be called
                // once with its data.
                callback(|| unsafe { function(data.0) });
                Ok(())
            }
        };
        Ok(done?)
    }
}

fn is_pageable(side: &Side, shape: Shape, state: &State) -> bool {
    match &side.start {
        Start::Host(memory) => !state.is_page_locked(memory.0.addr() as u64, shape.width),
        Start::Device(_) => false,
    }
}
