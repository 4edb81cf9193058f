//! Devices, primary and created contexts, and what ends with a context.

use super::machine::{Machine, Outcome, State};
use super::registry::{Handle, Kind, in_callback, with_stack};
use super::stream::Stream;
use scoped_cuda_sys::CUresult;
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard};

/// Ids are unique in the process, so that a test which confuses two machines sees it.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// One device.
pub(super) struct Device {
    /// Always the same handle, alive or not.
    pub(super) primary: Handle,
    pub(super) retains: u32,
    /// How the primary context is to wait; kept and told, and nothing else.
    pub(super) flags: u32,
    pub(super) used: usize,
    /// Addresses that may still be handed out.
    pub(super) addresses: (u64, u64),
}

pub(super) struct Context {
    pub(super) device: usize,
    pub(super) id: u64,
    pub(super) is_alive: bool,
    /// Contexts whose memory kernels of this one may touch.
    pub(super) peers: HashSet<ContextRef>,
    /// What the NULL stream means here; made when it is first used.
    pub(super) default_stream: Option<Handle>,
}

/// A context that was alive once: a later one with the same handle has another id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct ContextRef {
    pub(super) handle: Handle,
    pub(super) id: u64,
}

/// What is on top of the calling thread's context stack, as seen from one machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Current {
    None,
    Dead,
    /// A live context of this machine on this device.
    Device(usize),
    /// A context of another machine.
    Foreign,
}

impl State {
    pub(super) fn add_device(&mut self, device: usize) {
        let primary = self.new_handle(Kind::Context);
        self.contexts
            .insert(primary, Context::new(device, 0, false));
        self.devices.push(Device {
            primary,
            retains: 0,
            flags: 0,
            used: 0,
            addresses: (0, 0),
        });
    }

    /// The live context that a handle names.
    pub(super) fn context(&self, handle: Handle) -> Outcome<ContextRef> {
        let context = self
            .contexts
            .get(&handle)
            .ok_or(CUresult::INVALID_CONTEXT)?;
        if !context.is_alive {
            return Err(CUresult::CONTEXT_IS_DESTROYED);
        }
        Ok(ContextRef {
            handle,
            id: context.id,
        })
    }

    /// Whether a context is still the one it was.
    pub(super) fn live(&self, context: ContextRef) -> Outcome {
        match self.contexts.get(&context.handle) {
            Some(found) if found.is_alive && found.id == context.id => Ok(()),
            _ => Err(CUresult::CONTEXT_IS_DESTROYED),
        }
    }

    pub(super) fn device_of(&self, context: ContextRef) -> usize {
        self.contexts
            .get(&context.handle)
            .map_or(0, |context| context.device)
    }

    /// The current context, for a call that needs one.
    pub(super) fn current(&self) -> Outcome<ContextRef> {
        let top = with_stack(|stack| stack.last().copied()).flatten();
        self.context(top.ok_or(CUresult::INVALID_CONTEXT)?)
    }

    pub(super) fn seen_current(&self) -> Current {
        let top = with_stack(|stack| stack.last().copied()).flatten();
        match top.map(|top| self.contexts.get(&top)) {
            None => Current::None,
            Some(None) => Current::Foreign,
            Some(Some(context)) if context.is_alive => Current::Device(context.device),
            Some(Some(_)) => Current::Dead,
        }
    }

    /// Whether the primary context of a device is alive.
    pub(super) fn is_active(&self, device: usize) -> bool {
        self.context(self.devices[device].primary).is_ok()
    }

    pub(super) fn retain(&mut self, device: usize) -> Handle {
        let primary = self.devices[device].primary;
        self.devices[device].retains += 1;
        if !self.is_active(device) {
            self.contexts
                .insert(primary, Context::new(device, new_id(), true));
        }
        primary
    }

    pub(super) fn create_context(&mut self, device: usize) -> Handle {
        let handle = self.new_handle(Kind::Context);
        self.contexts
            .insert(handle, Context::new(device, new_id(), true));
        handle
    }

    pub(super) fn is_primary(&self, handle: Handle) -> bool {
        self.devices.iter().any(|device| device.primary == handle)
    }

    /// Marks the end of all that was made from a context. Streams and events keep their handles,
    /// for the answers that the driver gives to stale ones. Pool memory has no context and stays.
    fn end(&mut self, context: ContextRef) {
        let Some(found) = self.contexts.get_mut(&context.handle) else {
            return;
        };
        found.is_alive = false;
        found.peers = HashSet::new();
        found.default_stream = None;
        self.drop_pending(|stream| stream.context == context);
        self.modules.retain(|_, module| module.context != context);
        self.functions
            .retain(|_, function| function.context != context);
        self.linkers.retain(|_, linker| linker.context != context);
        self.graphs
            .retain(|_, graph| graph.context != Some(context));
        self.graph_execs.retain(|_, exec| exec.context != context);
        self.registered.retain(|known| known.owner != context);
        let own = self
            .allocations
            .values()
            .filter(|memory| memory.owner == Some(context));
        for memory in own.map(Arc::clone).collect::<Vec<_>>() {
            if memory.host().is_some() {
                // The program may hold references to it: to a real one, that is what another
                // library's reset does.
                std::mem::forget(Arc::clone(&memory));
            }
            self.mark_freed(&memory);
            self.bury(&memory);
        }
    }

    pub(super) fn enable_peer(
        &mut self,
        peer: Handle,
        allowed: impl Fn(usize, usize) -> bool,
    ) -> Outcome {
        let current = self.current()?;
        let peer = self.context(peer)?;
        if !allowed(self.device_of(current), self.device_of(peer)) {
            return Err(CUresult::PEER_ACCESS_UNSUPPORTED);
        }
        let is_new = self
            .contexts
            .get_mut(&current.handle)
            .is_some_and(|context| context.peers.insert(peer));
        if is_new {
            Ok(())
        } else {
            Err(CUresult::PEER_ACCESS_ALREADY_ENABLED)
        }
    }

    pub(super) fn disable_peer(&mut self, peer: Handle) -> Outcome {
        let current = self.current()?;
        let peer = self.context(peer)?;
        let was_there = self
            .contexts
            .get_mut(&current.handle)
            .is_some_and(|context| context.peers.remove(&peer));
        if was_there {
            Ok(())
        } else {
            Err(CUresult::PEER_ACCESS_NOT_ENABLED)
        }
    }

    /// Whether kernels of `context` may touch memory that belongs to `owner` or, as pool memory,
    /// admits `devices`.
    pub(super) fn may_touch(
        &self,
        context: ContextRef,
        device: usize,
        owner: Option<ContextRef>,
        devices: &BTreeSet<usize>,
    ) -> bool {
        let has_peer = |owner| {
            self.contexts
                .get(&context.handle)
                .is_some_and(|context| context.peers.contains(&owner))
        };
        owner.map_or_else(|| devices.contains(&device), has_peer)
    }
}

impl Machine {
    pub(super) fn release(&self, mut state: MutexGuard<'_, State>, device: usize) -> Outcome {
        let found = &mut state.devices[device];
        found.retains = found
            .retains
            .checked_sub(1)
            .ok_or(CUresult::INVALID_CONTEXT)?;
        if found.retains == 0 {
            drop(self.reset(state, device));
        }
        Ok(())
    }

    /// Ends the primary context of a device, whoever retains it.
    pub(super) fn reset<'a>(
        &self,
        state: MutexGuard<'a, State>,
        device: usize,
    ) -> MutexGuard<'a, State> {
        let primary = state.devices[device].primary;
        match state.context(primary) {
            Ok(context) => self.end(state, context),
            Err(_) => state,
        }
    }

    /// Ends a context: its pending work is dropped and its running work finished first.
    pub(super) fn end<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        context: ContextRef,
    ) -> MutexGuard<'a, State> {
        state.end(context);
        self.announce();
        let is_busy = |state: &State| {
            let mut own = state
                .streams
                .values()
                .filter(|stream| stream.context == context);
            own.any(Stream::is_touching_memory)
        };
        // A kernel's body that gets here, by way of its machine, cannot wait for itself.
        while is_busy(&state) && !in_callback() {
            state = self.progress(state);
        }
        state
    }
}

impl Context {
    fn new(device: usize, id: u64, is_alive: bool) -> Self {
        Self {
            device,
            id,
            is_alive,
            peers: HashSet::new(),
            default_stream: None,
        }
    }
}

fn new_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}
