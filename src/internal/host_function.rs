//! Host functions: Rust closures that run in the order of a stream.
//!
//! The driver is given a number and never a pointer. The closure stays in a table of this crate,
//! from which the call takes it out, so whatever the driver does, call it or (after a fault,
//! measured) not, a closure runs at most once and its captures are dropped exactly once: by the
//! call, by a failed enqueue, or by its owner when the stream has stopped without calling it.

#![allow(unsafe_code)] // enqueues host functions

use crate::device::Device;
use crate::error::{Error, Result};
use crate::ffi::CUstream;
use crate::internal::{calls, inside};
use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::{mem, ptr};

/// Identifies the scope or the context that enqueued a host function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owner(u64);

type Function = Box<dyn FnOnce() + Send>;

/// A host function that was not called yet.
struct Enqueued {
    owner: Owner,
    device: Device,
    function: Function,
}

struct Table {
    pending: BTreeMap<usize, Enqueued>,
    next_key: usize,
    /// An entry for each call in progress.
    running: Vec<Owner>,
    /// What owners were not told yet.
    panics: Vec<(Owner, Device, String)>,
}

static TABLE: Mutex<Table> = Mutex::new(Table {
    pending: BTreeMap::new(),
    next_key: 1,
    running: Vec::new(),
    panics: Vec::new(),
});
/// A call has returned.
static RETURNED: Condvar = Condvar::new();
/// How many things are in the table: an owner without host functions has to look no further.
static IN_TABLE: AtomicUsize = AtomicUsize::new(0);
static NEXT_OWNER: AtomicU64 = AtomicU64::new(0);

fn table() -> MutexGuard<'static, Table> {
    // No code of a user runs while it is locked.
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Enqueues `function` on a stream of `device`; after an error it has been dropped.
///
/// # Safety
/// `stream` is live.
pub(crate) unsafe fn enqueue(
    device: Device,
    stream: CUstream,
    owner: Owner,
    function: Function,
) -> Result<()> {
    let pending = Enqueued {
        owner,
        device,
        function,
    };
    let key = table().insert(pending);
    // SAFETY: the stream is live (the caller's promise); `call` takes any number, at any time and
    // on any thread (C11).
    let enqueued = unsafe {
        calls::launch_host_func(device.api(), stream, call, ptr::without_provenance_mut(key))
    };
    if enqueued.is_err() {
        // A statement of its own, so that the captures are dropped after the table was unlocked.
        let refused = table().remove(key);
        drop(refused);
    }
    enqueued
}

/// What the driver calls. It unwinds into nobody: the caller is C.
unsafe extern "C" fn call(key: *mut c_void) {
    let Some((owner, device, function)) = table().start(key.addr()) else {
        return;
    };
    let was_inside = inside::enter();
    let outcome = catch_unwind(AssertUnwindSafe(function)).map_err(message);
    inside::leave(was_inside);
    table().finish(owner, device, outcome);
    RETURNED.notify_all();
}

/// The text of a panic. Its payload is dropped, which may panic in turn; what that one says is not
/// told.
fn message(payload: Box<dyn Any + Send>) -> String {
    let text = match payload.downcast_ref::<&str>() {
        Some(text) => (*text).to_owned(),
        None => payload
            .downcast_ref::<String>()
            .cloned()
            .unwrap_or_else(|| "(not text)".to_owned()),
    };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(payload);
    }
    text
}

impl Table {
    fn insert(&mut self, pending: Enqueued) -> usize {
        let key = self.next_key;
        self.next_key = key.wrapping_add(1);
        self.pending.insert(key, pending);
        IN_TABLE.fetch_add(1, Ordering::Relaxed);
        key
    }

    fn remove(&mut self, key: usize) -> Option<Enqueued> {
        let removed = self.pending.remove(&key);
        IN_TABLE.fetch_sub(usize::from(removed.is_some()), Ordering::Relaxed);
        removed
    }

    fn take_uncalled(&mut self, owner: Owner) -> Vec<Enqueued> {
        let own = self.pending.iter().filter(|(_, p)| p.owner == owner);
        let keys: Vec<_> = own.map(|(&key, _)| key).collect();
        keys.iter().filter_map(|&key| self.remove(key)).collect()
    }

    /// A call in progress counts as in the table.
    fn start(&mut self, key: usize) -> Option<(Owner, Device, Function)> {
        let Enqueued {
            owner,
            device,
            function,
        } = self.pending.remove(&key)?;
        self.running.push(owner);
        Some((owner, device, function))
    }

    /// Of a call in progress only a panic stays in the table.
    fn finish(&mut self, owner: Owner, device: Device, outcome: Result<(), String>) {
        if let Some(index) = self.running.iter().position(|&running| running == owner) {
            self.running.swap_remove(index);
        }
        match outcome {
            Ok(()) => drop(IN_TABLE.fetch_sub(1, Ordering::Relaxed)),
            Err(message) => self.panics.push((owner, device, message)),
        }
    }
}

impl Owner {
    pub(crate) fn new() -> Self {
        Self(NEXT_OWNER.fetch_add(1, Ordering::Relaxed))
    }

    /// Drops what the owner has enqueued and the driver has not called.
    pub(crate) fn abandon(self) {
        // A statement of its own, so that the captures are dropped after the table was unlocked.
        let uncalled = table().take_uncalled(self);
        drop(uncalled);
    }

    /// Whether one of the owner's functions is being called.
    pub(crate) fn is_running(self) -> bool {
        // Relaxed: as in `finish`.
        IN_TABLE.load(Ordering::Relaxed) != 0 && table().running.contains(&self)
    }

    /// Ends what the owner has enqueued, once its streams have done or dropped it: a function that
    /// was not called is dropped, one that is being called is waited for (after a fault the driver
    /// does not do that). Returns what panicked, the first first.
    pub(crate) fn finish(self) -> Vec<(Device, Error)> {
        // Relaxed: whoever enqueued or was called is ordered before the wait that came before this.
        if IN_TABLE.load(Ordering::Relaxed) == 0 {
            return Vec::new();
        }
        let mut table = table();
        let uncalled = table.take_uncalled(self);
        while table.running.contains(&self) {
            table = RETURNED.wait(table).unwrap_or_else(PoisonError::into_inner);
        }
        let (own, others) = mem::take(&mut table.panics)
            .into_iter()
            .partition(|(owner, ..)| *owner == self);
        table.panics = others;
        let own: Vec<(Self, Device, String)> = own;
        IN_TABLE.fetch_sub(own.len(), Ordering::Relaxed);
        drop(table);
        let mut panicked: Vec<_> = own.into_iter().map(|(_, d, text)| (d, text)).collect();
        for Enqueued {
            device, function, ..
        } in uncalled
        {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(function))) {
                panicked.push((device, message(payload)));
            }
        }
        panicked
            .into_iter()
            .map(|(device, message)| (device, Error::CallbackPanicked { message }))
            .collect()
    }
}
