//! Device memory: allocations with owners, pools, and finding what an address points to.

use super::context::{ContextRef, Current};
use super::host::{HostBytes, HostKind};
use super::machine::{Outcome, State};
use super::registry::{self, Handle};
use scoped_cuda_sys::CUresult;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Allocations start at multiples of this.
const ALIGNMENT: u64 = 256;
/// A pool takes memory from its device in pieces of this size.
const RESERVE: usize = 32 << 20;
/// What fresh memory holds, so that reading it shows.
const FRESH: u8 = 0xCD;

/// A memory pool. It belongs to a device, not to a context.
pub(super) struct Pool {
    pub(super) device: usize,
    /// Devices that may access its memory; shared with the allocations, which may outlive the pool.
    pub(super) access: Arc<Mutex<BTreeSet<usize>>>,
    pub(super) attributes: [u64; 9],
    /// Shared with the allocations too.
    pub(super) usage: Arc<Mutex<Usage>>,
}

/// What a pool holds, in bytes.
#[derive(Default)]
pub(super) struct Usage {
    pub(super) used: usize,
    pub(super) used_high: usize,
    pub(super) reserved: usize,
    pub(super) reserved_high: usize,
}

impl Usage {
    fn add(&mut self, bytes: usize) {
        self.used += bytes;
        self.used_high = self.used_high.max(self.used);
        self.reserved = self.reserved.max(self.used.next_multiple_of(RESERVE));
        self.reserved_high = self.reserved_high.max(self.reserved);
    }

    /// Gives back what nobody uses, down to `keep` bytes.
    pub(super) fn trim(&mut self, keep: usize) {
        let needed = self.used.max(keep).min(self.reserved);
        self.reserved = needed.next_multiple_of(RESERVE);
    }
}

/// A piece of device memory.
pub(super) struct Allocation {
    pub(super) base: u64,
    pub(super) bytes: usize,
    pub(super) device: usize,
    /// The context of `cuMemAlloc` memory and of a module's variables. Pool memory has none.
    pub(super) owner: Option<ContextRef>,
    /// It is a module's variable, which nobody frees but by unloading the module.
    pub(super) is_variable: bool,
    access: Arc<Mutex<BTreeSet<usize>>>,
    usage: Arc<Mutex<Usage>>,
    life: AtomicU8,
    /// Its free was called, and perhaps not yet executed.
    is_freed: AtomicBool,
    storage: Storage,
}

/// Where the bytes of an allocation are.
pub(super) enum Storage {
    /// Out of everybody's reach, in units that satisfy the alignment of every plain type.
    Device(Mutex<Vec<u128>>),
    /// Where the program can touch them too; the address is the same on both sides.
    Host(HostBytes),
}

/// Where an allocation is between the execution of its allocate and of its free.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Pending,
    Live,
    Dead,
}

/// A range of device memory.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) allocation: Arc<Allocation>,
    pub(super) offset: usize,
}

impl Allocation {
    pub(super) fn is_freed(&self) -> bool {
        self.is_freed.load(Ordering::Relaxed)
    }

    pub(super) fn is_pool_memory(&self) -> bool {
        self.owner.is_none()
    }

    pub(super) fn is_managed(&self) -> bool {
        self.host()
            .is_some_and(|host| host.kind == HostKind::Managed)
    }

    /// Whether it is page-locked host memory.
    pub(super) fn is_pinned(&self) -> bool {
        self.host()
            .is_some_and(|host| host.kind == HostKind::Pinned)
    }

    /// The program's side of it, when there is one.
    pub(super) fn host(&self) -> Option<&HostBytes> {
        match &self.storage {
            Storage::Device(_) => None,
            Storage::Host(bytes) => Some(bytes),
        }
    }

    /// Devices that may access it, when it is pool memory.
    pub(super) fn devices(&self) -> BTreeSet<usize> {
        self.access
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether copies and fills on behalf of a device may touch it: the memory is there, or the
    /// host's, or in a pool that admits the device.
    pub(super) fn admits(&self, device: usize) -> bool {
        self.device == device || self.host().is_some() || self.devices().contains(&device)
    }

    /// Whether a copy between the two goes from device to device: fast when either's pool admits
    /// the other's device, whichever sends.
    pub(super) fn is_direct_to(&self, other: &Self) -> bool {
        let reaches = |from: &Self, to: &Self| to.devices().contains(&from.device);
        self.device != other.device && (reaches(self, other) || reaches(other, self))
    }

    /// The stream has come to the allocate.
    pub(super) fn begin(&self) {
        if self.life() == Life::Pending {
            self.set_life(Life::Live);
        }
    }

    fn life(&self) -> Life {
        match self.life.load(Ordering::Acquire) {
            0 => Life::Pending,
            1 => Life::Live,
            _ => Life::Dead,
        }
    }

    fn set_life(&self, life: Life) {
        self.life.store(life as u8, Ordering::Release);
    }
}

impl Place {
    /// Runs `f` on `bytes` bytes from here on, at the time at which a stream gets to it.
    pub(super) fn with<R>(
        &self,
        bytes: usize,
        f: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R, String> {
        match &self.allocation.storage {
            Storage::Device(data) => {
                let mut data = data.lock().unwrap_or_else(PoisonError::into_inner);
                let range = self.range(bytes)?;
                Ok(f(&mut bytemuck::cast_slice_mut(&mut data)[range]))
            }
            Storage::Host(host) => Ok(host.write(self.range(bytes)?, f)),
        }
    }

    /// Writes the bytes of `after` that are not as `before`: others may belong to work that runs
    /// meanwhile.
    pub(super) fn write_changes(&self, before: &[u8], after: &[u8]) -> Result<(), String> {
        self.with(before.len(), |bytes| {
            for (to, (new, old)) in bytes.iter_mut().zip(after.iter().zip(before)) {
                if new != old {
                    *to = *new;
                }
            }
        })
    }

    /// Like [`with`](Self::with), to read only.
    pub(super) fn read<R>(&self, bytes: usize, f: impl FnOnce(&[u8]) -> R) -> Result<R, String> {
        match &self.allocation.storage {
            Storage::Device(_) => self.with(bytes, |bytes| f(bytes)),
            Storage::Host(host) => Ok(host.read(self.range(bytes)?, f)),
        }
    }

    /// Where `bytes` bytes from here on are in the allocation, if they are in it and it is alive.
    fn range(&self, bytes: usize) -> Result<Range<usize>, String> {
        let allocation = &*self.allocation;
        match allocation.life() {
            Life::Pending => {
                return Err(format!(
                    "{self} was touched before the stream that allocates it had done so"
                ));
            }
            Life::Dead => return Err(format!("{self} was touched after it had been freed")),
            Life::Live => {}
        }
        let end = self
            .offset
            .checked_add(bytes)
            .filter(|&end| end <= allocation.bytes);
        let end =
            end.ok_or_else(|| format!("{self}: {bytes} bytes from there leave the allocation"))?;
        Ok(self.offset..end)
    }

    pub(super) fn to_vec(&self, bytes: usize) -> Result<Vec<u8>, String> {
        self.read(bytes, |bytes| bytes.to_vec())
    }

    /// Bytes from here to the end of the allocation.
    pub(super) fn remaining(&self) -> usize {
        self.allocation.bytes - self.offset
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Allocation {
            base,
            bytes,
            device,
            ..
        } = &*self.allocation;
        write!(
            f,
            "byte {} of the {bytes} bytes at {base:#x} (device {device})",
            self.offset
        )
    }
}

impl State {
    /// Allocates on behalf of a context, at once.
    pub(super) fn allocate_plain(&mut self, bytes: usize, owner: ContextRef) -> Outcome<u64> {
        let device = self.device_of(owner);
        let (access, usage) = Default::default();
        let allocation = self.allocate(bytes, device, Some(owner), false, access, usage)?;
        allocation.begin();
        Ok(allocation.base)
    }

    /// Memory for a module's variable, with what `initialise` writes there.
    pub(super) fn allocate_variable(
        &mut self,
        bytes: usize,
        owner: ContextRef,
        initialise: impl FnOnce(&mut [u8]),
    ) -> Outcome<Arc<Allocation>> {
        let device = self.device_of(owner);
        let (access, usage) = Default::default();
        let allocation = self.allocate(bytes, device, Some(owner), true, access, usage)?;
        allocation.begin();
        let place = Place {
            allocation: Arc::clone(&allocation),
            offset: 0,
        };
        place
            .with(bytes, initialise)
            .map_err(|_| CUresult::UNKNOWN)?;
        Ok(allocation)
    }

    pub(super) fn pool(&self, handle: Handle) -> Outcome<&Pool> {
        self.pools.get(&handle).ok_or(CUresult::INVALID_VALUE)
    }

    /// Allocates from a pool; the memory comes to life when a stream executes that.
    pub(super) fn allocate_from(&mut self, bytes: usize, pool: Handle) -> Outcome<Arc<Allocation>> {
        let pool = self.pool(pool)?;
        let (device, access) = (pool.device, Arc::clone(&pool.access));
        let usage = Arc::clone(&pool.usage);
        self.allocate(bytes, device, None, false, access, usage)
    }

    fn allocate(
        &mut self,
        bytes: usize,
        device: usize,
        owner: Option<ContextRef>,
        is_variable: bool,
        access: Arc<Mutex<BTreeSet<usize>>>,
        usage: Arc<Mutex<Usage>>,
    ) -> Outcome<Arc<Allocation>> {
        if bytes == 0 {
            return Err(CUresult::INVALID_VALUE);
        }
        let (index, memory) = (self.index, self.memory);
        let found = &mut self.devices[device];
        let used = found
            .used
            .checked_add(bytes)
            .filter(|&used| used <= memory)
            .ok_or(CUresult::OUT_OF_MEMORY)?;
        let units = bytes.div_ceil(size_of::<u128>());
        let mut data = Vec::new();
        data.try_reserve_exact(units)
            .map_err(|_| CUresult::OUT_OF_MEMORY)?;
        data.push(u128::from_ne_bytes([FRESH; 16]));
        while data.len() < units {
            data.extend_from_within(..data.len().min(units - data.len()));
        }
        // A gap after each, so that one past the end of an allocation is in none.
        let room = (bytes as u64).next_multiple_of(ALIGNMENT) + ALIGNMENT;
        if found.addresses.1 - found.addresses.0 < room {
            found.addresses = registry::reserve(index, room);
        }
        let base = found.addresses.0;
        found.addresses.0 += room;
        found.used = used;
        usage
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(bytes);
        let allocation = Arc::new(Allocation {
            base,
            bytes,
            device,
            owner,
            is_variable,
            access,
            usage,
            life: AtomicU8::new(Life::Pending as u8),
            is_freed: AtomicBool::new(false),
            storage: Storage::Device(Mutex::new(data)),
        });
        self.allocations.insert(base, Arc::clone(&allocation));
        Ok(allocation)
    }

    /// Allocates memory that the program can touch too. It takes no device's memory.
    pub(super) fn allocate_host(
        &mut self,
        bytes: usize,
        owner: ContextRef,
        kind: HostKind,
    ) -> Outcome<u64> {
        if bytes == 0 {
            return Err(CUresult::INVALID_VALUE);
        }
        if bytes > self.memory {
            return Err(CUresult::OUT_OF_MEMORY);
        }
        let host = HostBytes::new(self.index, bytes, kind).ok_or(CUresult::OUT_OF_MEMORY)?;
        let base = host.address();
        let allocation = Allocation {
            base,
            bytes,
            device: self.device_of(owner),
            owner: Some(owner),
            is_variable: false,
            access: Arc::default(),
            life: AtomicU8::new(Life::Live as u8),
            is_freed: AtomicBool::new(false),
            storage: Storage::Host(host),
            usage: Arc::default(),
        };
        self.allocations.insert(base, Arc::new(allocation));
        Ok(base)
    }

    /// The allocation that starts at `address`, for freeing it.
    pub(super) fn allocation(&self, address: u64) -> Outcome<Arc<Allocation>> {
        let found = self
            .allocations
            .get(&address)
            .filter(|allocation| !allocation.is_freed() && !allocation.is_variable);
        found.map(Arc::clone).ok_or(CUresult::INVALID_VALUE)
    }

    /// Takes note of a free at the time of the call: no later call may name the memory, and its
    /// bytes are available.
    pub(super) fn mark_freed(&mut self, allocation: &Allocation) {
        if !allocation.is_freed.swap(true, Ordering::Relaxed) && allocation.host().is_none() {
            let device = &mut self.devices[allocation.device];
            device.used = device.used.saturating_sub(allocation.bytes);
            let mut usage = allocation
                .usage
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            usage.used = usage.used.saturating_sub(allocation.bytes);
        }
    }

    /// Ends an allocation at the time at which the free is executed.
    pub(super) fn bury(&mut self, allocation: &Allocation) {
        allocation.set_life(Life::Dead);
        self.allocations.remove(&allocation.base);
        // Work that runs at this moment may hold the lock; then the bytes go with the last
        // reference.
        if let Storage::Device(data) = &allocation.storage {
            if let Ok(mut data) = data.try_lock() {
                *data = Vec::new();
            }
        }
    }

    /// The memory at an address, freed or not.
    pub(super) fn locate(&self, address: u64) -> Option<Place> {
        let (_, allocation) = self.allocations.range(..=address).next_back()?;
        let offset = usize::try_from(address - allocation.base).ok()?;
        (offset < allocation.bytes).then(|| Place {
            allocation: Arc::clone(allocation),
            offset,
        })
    }

    /// The memory of a copy or fill, as far as the driver checks it when it is called.
    pub(super) fn place(&self, address: u64, bytes: usize) -> Outcome<Place> {
        let place = self
            .locate(address)
            .filter(|place| !place.allocation.is_freed() && bytes <= place.remaining());
        place.ok_or(CUresult::INVALID_VALUE)
    }

    /// Whether a copy on a stream of device `stream` may touch `place`: the driver looks at the
    /// current context for pool memory, and crashes without one.
    pub(super) fn may_copy(&mut self, call: &str, stream: Option<usize>, place: &Place) -> Outcome {
        let allocation = &place.allocation;
        match self.seen_current() {
            Current::Dead => Err(CUresult::CONTEXT_IS_DESTROYED),
            _ if !allocation.is_pool_memory() => Ok(()),
            Current::None if stream.is_none_or(|stream| stream == allocation.device) => Ok(()),
            Current::None => {
                self.violation(format!(
                    "{call} without a current context touched pool memory of another device than its stream's: the real driver crashes"
                ));
                Err(CUresult::INVALID_VALUE)
            }
            Current::Device(device) if allocation.admits(device) => Ok(()),
            Current::Device(_) | Current::Foreign => Err(CUresult::INVALID_VALUE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, Simulation};

    fn machine() -> Machine {
        Machine::start(Simulation::default().memory(1000))
    }

    #[test]
    fn a_device_has_as_much_memory_as_it_has() {
        let machine = machine();
        let mut state = machine.lock();
        let handle = state.retain(0);
        let context = state.context(handle).unwrap();
        let first = state.allocate_plain(600, context).unwrap();
        assert_eq!(
            state.allocate_plain(401, context),
            Err(CUresult::OUT_OF_MEMORY)
        );
        assert_eq!(
            state.allocate_plain(usize::MAX, context),
            Err(CUresult::OUT_OF_MEMORY)
        );
        assert_eq!(
            state.allocate_plain(0, context),
            Err(CUresult::INVALID_VALUE)
        );
        let allocation = state.allocation(first).unwrap();
        state.mark_freed(&allocation);
        state.bury(&allocation);
        assert!(state.allocate_plain(1000, context).unwrap() > first);
    }

    #[test]
    fn places_end_where_their_allocation_ends() {
        let machine = machine();
        let mut state = machine.lock();
        let handle = state.retain(0);
        let context = state.context(handle).unwrap();
        let base = state.allocate_plain(10, context).unwrap();
        assert_eq!(base % ALIGNMENT, 0);
        assert_eq!(
            state.place(base + 4, 6).unwrap().to_vec(6).unwrap(),
            [FRESH; 6]
        );
        assert!(state.place(base + 4, 7).is_err());
        assert!(state.place(base + 10, 0).is_err());
        assert!(state.place(0, 0).is_err());
        assert!(state.place(u64::MAX, 1).is_err());
        let place = state.place(base, 10).unwrap();
        assert!(
            place
                .to_vec(11)
                .unwrap_err()
                .contains("leave the allocation")
        );
        state.bury(&place.allocation);
        assert!(place.to_vec(1).unwrap_err().contains("freed"));
    }
}
