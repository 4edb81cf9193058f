//! Host memory that a machine gives out or knows of: page-locked, and managed.

#![allow(unsafe_code)] // memory that two sides share

use super::context::ContextRef;
use super::machine::{Outcome, State};
use super::registry;
use scoped_cuda_sys::CUresult;
use std::alloc::{self, Layout};
use std::ops::Range;
use std::ptr::NonNull;
use std::slice;

/// As on a real machine, such memory comes in pages.
const PAGE: usize = 4096;
/// What fresh memory holds, so that reading it shows.
const FRESH: u8 = 0xCD;

/// What kind of host memory a machine has given out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HostKind {
    /// `cuMemHostAlloc`.
    Pinned,
    /// `cuMemAllocManaged`.
    Managed,
}

/// Bytes at an address that program and devices both use.
pub(super) struct HostBytes {
    pub(super) kind: HostKind,
    first: NonNull<u8>,
    layout: Layout,
}

// SAFETY: owned bytes; what orders the accesses of program and streams is the same as on a real
// machine.
unsafe impl Send for HostBytes {}
// SAFETY: as for Send.
unsafe impl Sync for HostBytes {}

/// The program's own memory, page-locked for a while (`cuMemHostRegister`). Where pages begin and
/// end is not simulated.
pub(super) struct Registered {
    address: u64,
    bytes: usize,
    pub(super) owner: ContextRef,
}

impl Registered {
    fn end(&self) -> u64 {
        self.address + self.bytes as u64
    }

    fn contains(&self, address: u64, bytes: usize) -> bool {
        self.address <= address && address.saturating_add(bytes as u64) <= self.end()
    }

    fn meets(&self, address: u64, end: u64) -> bool {
        self.address < end && address < self.end()
    }
}

impl HostBytes {
    /// `None` when there is not enough memory. `bytes` is not 0.
    pub(super) fn new(machine: u32, bytes: usize, kind: HostKind) -> Option<Self> {
        let layout = Layout::from_size_align(bytes.max(1), PAGE).ok()?;
        // SAFETY: the size is not 0.
        let first = NonNull::new(unsafe { alloc::alloc(layout) })?;
        // SAFETY: `bytes` were just allocated there.
        unsafe { first.write_bytes(FRESH, layout.size()) };
        registry::share(first.addr().get() as u64, bytes, machine);
        Some(Self {
            kind,
            first,
            layout,
        })
    }

    pub(super) fn address(&self) -> u64 {
        // Exposed: the program gets its pointer back from this number.
        self.first.as_ptr().expose_provenance() as u64
    }

    /// Runs `f` on bytes that a stream has come to. The range lies within the bytes.
    pub(super) fn read<R>(&self, range: Range<usize>, f: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: the range lies within the bytes (the callers check it).
        let first = unsafe { self.first.add(range.start) };
        // SAFETY: initialised in `new`; whoever gave the work promised that nobody writes the
        // memory meanwhile.
        f(unsafe { slice::from_raw_parts(first.as_ptr(), range.len()) })
    }

    /// Runs `f` on bytes that a stream has come to. The range lies within the bytes.
    pub(super) fn write<R>(&self, range: Range<usize>, f: impl FnOnce(&mut [u8]) -> R) -> R {
        // SAFETY: the range lies within the bytes (the callers check it).
        let first = unsafe { self.first.add(range.start) };
        // SAFETY: as in `read`; whoever gave the work promised that nobody else touches the memory
        // meanwhile.
        f(unsafe { slice::from_raw_parts_mut(first.as_ptr(), range.len()) })
    }
}

impl Drop for HostBytes {
    fn drop(&mut self) {
        registry::unshare(self.first.addr().get() as u64);
        // SAFETY: allocated in `new` with this layout; the program gave it back.
        unsafe { alloc::dealloc(self.first.as_ptr(), self.layout) };
    }
}

impl State {
    /// Whether a copy to or from these bytes does not keep the caller.
    pub(super) fn is_page_locked(&self, address: u64, bytes: usize) -> bool {
        let is_allocated = self
            .place(address, bytes)
            .is_ok_and(|place| place.allocation.is_pinned());
        is_allocated
            || self
                .registered
                .iter()
                .any(|known| known.contains(address, bytes))
    }

    pub(super) fn register_host(
        &mut self,
        address: u64,
        bytes: usize,
        owner: ContextRef,
    ) -> Outcome {
        let end = address
            .checked_add(bytes as u64)
            .ok_or(CUresult::INVALID_VALUE)?;
        if address == 0 || bytes == 0 {
            return Err(CUresult::INVALID_VALUE);
        }
        let mut pinned = self.allocations.range(..end).rev().take(1);
        let is_pinned = pinned.any(|(&base, allocation)| {
            allocation.is_pinned() && base + allocation.bytes as u64 > address
        });
        // Measured: what the driver page-locked itself is not "registered".
        if is_pinned {
            return Err(CUresult::INVALID_VALUE);
        }
        if self
            .registered
            .iter()
            .any(|known| known.meets(address, end))
        {
            return Err(CUresult::HOST_MEMORY_ALREADY_REGISTERED);
        }
        self.registered.push(Registered {
            address,
            bytes,
            owner,
        });
        Ok(())
    }

    pub(super) fn unregister_host(&mut self, address: u64) -> Outcome {
        let known = self
            .registered
            .iter()
            .position(|known| known.address == address);
        self.registered
            .remove(known.ok_or(CUresult::HOST_MEMORY_NOT_REGISTERED)?);
        Ok(())
    }
}
