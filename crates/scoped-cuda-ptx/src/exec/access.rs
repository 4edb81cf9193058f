//! Loads and stores, and where addresses lead.

use super::grid::Grid;
use super::lanes::{Registers, WARP};
use super::private::{Part, Private, part};
use super::team::Block;
use super::warp::{Fault, Seen};
use super::worker::Regions;
use crate::check::{Access as What, Class, Thread};
use crate::memory::{Conflict, Region, Tag};
use crate::program::op::{Access, Address, Bank, Copy, Place};
use crate::program::{LOCAL_WINDOW, SHARED_BYTES, SHARED_WINDOW, WINDOW};
use crate::text::types::Space;
use std::sync::atomic::Ordering;

/// What an access has at hand.
pub(crate) struct Lanes<'w> {
    pub(crate) registers: &'w mut Registers,
    pub(crate) private: Private<'w>,
    pub(crate) finder: Finder<'w>,
    pub(crate) mask: u32,
}

/// Finds allocations for a warp.
pub(crate) struct Finder<'w> {
    pub(crate) pc: usize,
    pub(crate) regions: &'w mut Regions,
    pub(crate) blocks: &'w [Block],
    pub(crate) rank: u32,
    pub(crate) warp: u32,
    pub(crate) clock: u32,
    pub(crate) seen: Seen<'w>,
}

/// An allocation and the lanes whose addresses lie in it.
pub(crate) struct Home<'h> {
    pub(crate) region: &'h Region,
    pub(crate) is_shared: bool,
    pub(crate) tag: Tag,
    /// The address of its first byte, as the threads see it.
    pub(crate) base: u64,
    pub(crate) lanes: u32,
}

/// A fault of an access at an address.
#[cold]
pub(crate) fn fault(class: Class, lane: u32, access: What, address: u64) -> Box<Fault> {
    let mut fault = Fault::new(class, lane);
    fault.access = Some(access);
    fault.address = Some(address);
    fault
}

/// The lanes of a mask.
#[inline(always)]
pub(crate) fn each(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

impl Home<'_> {
    /// The fault of two accesses without order. The finding resolves the other thread.
    #[cold]
    pub(crate) fn race(
        &self,
        conflict: Conflict,
        lane: u32,
        access: What,
        offset: u64,
    ) -> Box<Fault> {
        let other = Thread {
            block: [0; 3],
            thread: [conflict.earlier.warp(), conflict.earlier.lane(), 0],
        };
        let class = Class::Race {
            other,
            was_write: conflict.was_write,
            is_shared: self.is_shared,
        };
        fault(class, lane, access, self.base.wrapping_add(offset))
    }
}

/// The address of every lane.
#[inline(always)]
pub(crate) fn addresses(registers: &Registers, address: &Address) -> [u64; WARP] {
    let offset = address.offset as u64;
    match address.base {
        None => [offset; WARP],
        Some(Place {
            bank: Bank::Long,
            slot,
        }) => registers.long(slot).map(|base| base.wrapping_add(offset)),
        Some(Place { slot, .. }) => registers
            .word(slot)
            .map(|base| u64::from(base.wrapping_add(offset as u32))),
    }
}

/// The value of every lane of a register.
pub(crate) fn values(registers: &Registers, place: Place) -> [u64; WARP] {
    match place.bank {
        Bank::Long => *registers.long(place.slot),
        Bank::Word => registers.word(place.slot).map(u64::from),
        Bank::Predicate => [0; WARP],
    }
}

/// Gives lanes of a register their values.
pub(crate) fn set(registers: &mut Registers, place: Place, row: &[u64; WARP], mask: u32) {
    match place.bank {
        Bank::Long => registers.set_longs(place.slot, row, mask),
        Bank::Word => registers.set_words(place.slot, &row.map(|value| value as u32), mask),
        Bank::Predicate => {
            let bits = row
                .iter()
                .rev()
                .fold(0, |bits, value| bits << 1 | u32::from(*value != 0));
            registers.set_predicate(place.slot, bits, mask);
        }
    }
}

impl Finder<'_> {
    /// The allocation of a row of words, one for every lane, if it is an ordinary one.
    #[inline(always)]
    fn home_of_row(&mut self, space: Space, first: u64, is_strong: bool) -> Option<Home<'_>> {
        let tag = |epoch| Tag::new(epoch, self.warp, 0, self.clock, is_strong);
        let home = if space == Space::Shared {
            let block = self.blocks.get(self.rank as usize)?;
            Home {
                region: &block.shared,
                is_shared: true,
                tag: tag(block.epoch),
                base: 0,
                lanes: !0,
            }
        } else {
            let grid = self.seen.grid;
            let region = self.regions.find(self.pc, first, grid.memory, grid.epoch)?;
            Home {
                region,
                is_shared: false,
                tag: tag(grid.epoch),
                base: region.base(),
                lanes: !0,
            }
        };
        let offset = first.wrapping_sub(home.base);
        let fits = home.region.bytes() >= 128 && offset <= home.region.bytes() - 128;
        (fits && offset % 4 == 0 && !home.region.is_freed()).then_some(home)
    }

    /// The allocation of the first lane of a mask, with the lanes that are in it too.
    pub(crate) fn home(
        &mut self,
        space: Space,
        addresses: &[u64; WARP],
        mask: u32,
        what: What,
        is_strong: bool,
    ) -> Result<Home<'_>, Box<Fault>> {
        let bytes = match what {
            What::Read(bytes) | What::Write(bytes) | What::Atomic(bytes) => bytes,
        };
        let lane = mask.trailing_zeros() & 31;
        let address = addresses[lane as usize];
        let wrong = |class| Err(fault(class, lane, what, address));
        let tag = |epoch| Tag::new(epoch, self.warp, lane, self.clock, is_strong);
        let is_shared = space == Space::Shared || address & WINDOW == SHARED_WINDOW;
        let mut home = if is_shared {
            let window = if space == Space::Shared {
                0
            } else {
                SHARED_WINDOW
            };
            let rank = ((address & 0xFFFF_FFFF) >> 24) as u32;
            let block = rank.checked_sub(1).unwrap_or(self.rank);
            let Some(block) = self.blocks.get(block as usize) else {
                return wrong(Class::OutOfBounds);
            };
            Home {
                region: &block.shared,
                is_shared: true,
                tag: tag(block.epoch),
                base: window | u64::from(rank) << 24,
                lanes: 0,
            }
        } else {
            let grid = self.seen.grid;
            let found = match grid.workspace_of(address) {
                Some(region) => Some(region),
                None => self.regions.find(self.pc, address, grid.memory, grid.epoch),
            };
            let Some(region) = found else {
                return wrong(Class::OutOfBounds);
            };
            if region.is_freed() {
                return wrong(Class::UseAfterFree);
            }
            Home {
                region,
                is_shared: false,
                tag: tag(grid.epoch),
                base: region.base(),
                lanes: 0,
            }
        };
        let Some(last) = home.region.bytes().checked_sub(u64::from(bytes)) else {
            return wrong(Class::OutOfBounds);
        };
        let (mut inside, mut crooked) = (0, 0);
        for (lane, address) in addresses.iter().enumerate() {
            inside |= u32::from(address.wrapping_sub(home.base) <= last) << lane;
            crooked |= u32::from(address & u64::from(bytes - 1) != 0) << lane;
        }
        home.lanes = inside & mask;
        if home.lanes >> lane & 1 == 0 {
            return wrong(Class::OutOfBounds);
        }
        if crooked & home.lanes != 0 {
            let lane = (crooked & home.lanes).trailing_zeros() & 31;
            return Err(fault(
                Class::Misaligned,
                lane,
                what,
                addresses[lane as usize],
            ));
        }
        Ok(home)
    }
}

/// A value with its sign, as wide as a register.
#[inline(always)]
fn extended(value: u64, access: &Access) -> u64 {
    match (access.signed, access.bytes) {
        (true, 1) => value as i8 as u64,
        (true, 2) => value as i16 as u64,
        (true, 4) => value as i32 as u64,
        _ => value,
    }
}

/// Whether every lane addresses the word after the last lane's.
#[inline(always)]
fn is_row(addresses: &[u64; WARP]) -> bool {
    let first = addresses[0];
    let differs = |(lane, address): (usize, &u64)| address ^ first.wrapping_add(4 * lane as u64);
    addresses
        .iter()
        .enumerate()
        .map(differs)
        .fold(0, |all, one| all | one)
        == 0
}

/// A load.
pub(crate) fn load(lanes: &mut Lanes<'_>, access: &Access) -> Result<(), Box<Fault>> {
    let addresses = addresses(lanes.registers, &access.address);
    let total = access.bytes * access.places.len() as u32;
    if lanes.mask == !0 && total == 4 && is_row(&addresses) && is_common(access.space, addresses[0])
    {
        if let Some(place) = access.places.first().copied().flatten() {
            let seen = lanes.finder.seen;
            let home = lanes
                .finder
                .home_of_row(access.space, addresses[0], access.is_strong);
            if let Some(row) = home.and_then(|home| load_row(&home, &seen, addresses[0])) {
                match place.bank {
                    Bank::Word => lanes.registers.set_words(place.slot, &row, !0),
                    _ => {
                        let row = row.map(|value| extended(value.into(), access));
                        set(lanes.registers, place, &row, !0);
                    }
                }
                return Ok(());
            }
        }
    }
    load_by_lane(lanes, access, &addresses, total)
}

/// Whether an address is in global memory, or in shared memory by an address that is not generic.
#[inline(always)]
fn is_common(space: Space, address: u64) -> bool {
    match space {
        Space::Shared => address < SHARED_BYTES,
        Space::Local | Space::Param => false,
        _ => address < SHARED_WINDOW,
    }
}

#[inline(never)]
fn load_by_lane(
    lanes: &mut Lanes<'_>,
    access: &Access,
    addresses: &[u64; WARP],
    total: u32,
) -> Result<(), Box<Fault>> {
    let mut left = lanes.mask;
    while left != 0 {
        let done = match part(access.space, addresses, left) {
            Some(part) => load_private(lanes, access, addresses, &part)?,
            None => load_common(lanes, access, addresses, left, total)?,
        };
        left &= !done;
    }
    Ok(())
}

fn load_private(
    lanes: &mut Lanes<'_>,
    access: &Access,
    addresses: &[u64; WARP],
    part: &Part,
) -> Result<u32, Box<Fault>> {
    for (n, place) in (0..).zip(&access.places) {
        let mut row = [0; WARP];
        for lane in each(part.lanes) {
            let address = addresses[lane].wrapping_add(n * u64::from(access.bytes));
            let what = What::Read(access.bytes);
            let wrong = |class| fault(class, lane as u32, what, address);
            if address % u64::from(access.bytes) != 0 {
                return Err(wrong(Class::Misaligned));
            }
            let offset = address.wrapping_sub(part.window);
            let value = lanes.private.get(part.space, offset, access.bytes, lane);
            row[lane] = extended(value.ok_or_else(|| wrong(Class::OutOfBounds))?, access);
        }
        if let Some(place) = place {
            set(lanes.registers, *place, &row, part.lanes);
        }
    }
    Ok(part.lanes)
}

/// Loads from global or shared memory: the lanes that were served.
fn load_common(
    lanes: &mut Lanes<'_>,
    access: &Access,
    addresses: &[u64; WARP],
    mask: u32,
    total: u32,
) -> Result<u32, Box<Fault>> {
    let what = What::Read(total);
    let seen = lanes.finder.seen;
    let home = lanes
        .finder
        .home(access.space, addresses, mask, what, access.is_strong)?;
    let region = home.region;
    let is_full = region.is_full();
    let locks = access.is_strong && access.bytes == 8;
    let mut rows = [[0u64; WARP]; 8];
    for lane in each(home.lanes) {
        let offset = addresses[lane].wrapping_sub(home.base);
        if !is_full && !region.is_initialised(offset..offset + u64::from(total)) {
            return Err(fault(
                Class::Uninitialised,
                lane as u32,
                what,
                addresses[lane],
            ));
        }
        if !region.is_constant() {
            let tag = home.tag.with_lane(lane as u32);
            if let Some(conflict) = region.cells().visit(offset, total, false, tag, &seen) {
                return Err(home.race(conflict, lane as u32, what, offset));
            }
        }
        let _guard = locks.then(|| super::atomic::lock(region, offset));
        for (n, row) in (0..).zip(rows.iter_mut().take(access.places.len())) {
            let place = offset + n * u64::from(access.bytes);
            row[lane] = extended(region.get(place, access.bytes), access);
        }
    }
    for (place, row) in access.places.iter().zip(&rows) {
        if let Some(place) = place {
            set(lanes.registers, *place, row, home.lanes);
        }
    }
    Ok(home.lanes)
}

/// Loads a word for every lane, one after the other in memory. `None`: it has to be done by lane.
#[inline(always)]
fn load_row(home: &Home<'_>, seen: &Seen<'_>, first: u64) -> Option<[u32; WARP]> {
    let region = home.region;
    let offset = first.wrapping_sub(home.base);
    let place = (offset / 4) as usize;
    let words = region.words().get(place..place + WARP)?;
    if !region.is_full() && !region.is_initialised(offset..offset + 128) {
        return None;
    }
    if !region.is_constant() && !region.cells().visit_row(offset, false, home.tag, seen) {
        return None;
    }
    let mut row = [0; WARP];
    for (to, from) in row.iter_mut().zip(words) {
        *to = from.load(Ordering::Relaxed);
    }
    Some(row)
}

/// A store.
pub(crate) fn store(lanes: &mut Lanes<'_>, access: &Access) -> Result<(), Box<Fault>> {
    let addresses = addresses(lanes.registers, &access.address);
    let total = access.bytes * access.places.len() as u32;
    if lanes.mask == !0 && total == 4 && is_row(&addresses) && is_common(access.space, addresses[0])
    {
        let place = access.places.first().copied().flatten();
        if let Some(place) = place.filter(|place| place.bank == Bank::Word) {
            let seen = lanes.finder.seen;
            let home = lanes
                .finder
                .home_of_row(access.space, addresses[0], access.is_strong);
            let row = lanes.registers.word(place.slot);
            if home.is_some_and(|home| store_row(&home, &seen, addresses[0], row)) {
                return Ok(());
            }
        }
    }
    store_by_lane(lanes, access, &addresses, total)
}

#[inline(never)]
fn store_by_lane(
    lanes: &mut Lanes<'_>,
    access: &Access,
    addresses: &[u64; WARP],
    total: u32,
) -> Result<(), Box<Fault>> {
    let mut left = lanes.mask;
    while left != 0 {
        let done = match part(access.space, addresses, left) {
            Some(part) => store_private(lanes, access, addresses, &part)?,
            None => store_common(lanes, access, addresses, left, total)?,
        };
        left &= !done;
    }
    Ok(())
}

fn store_private(
    lanes: &mut Lanes<'_>,
    access: &Access,
    addresses: &[u64; WARP],
    part: &Part,
) -> Result<u32, Box<Fault>> {
    for (n, place) in (0..).zip(&access.places) {
        let row = place.map_or([0; WARP], |place| values(lanes.registers, place));
        for lane in each(part.lanes) {
            let address = addresses[lane].wrapping_add(n * u64::from(access.bytes));
            let what = What::Write(access.bytes);
            let wrong = |class| fault(class, lane as u32, what, address);
            if address % u64::from(access.bytes) != 0 {
                return Err(wrong(Class::Misaligned));
            }
            let offset = address.wrapping_sub(part.window);
            let is_done = lanes
                .private
                .put(part.space, offset, access.bytes, lane, row[lane]);
            is_done.ok_or_else(|| wrong(Class::OutOfBounds))?;
        }
    }
    Ok(part.lanes)
}

/// Whether a launch may write at an address.
pub(crate) fn is_writable(grid: &Grid<'_>, home: &Home<'_>, address: u64, bytes: u32) -> bool {
    let end = address.saturating_add(bytes.into());
    let is_lent = |range: &std::ops::Range<u64>| address < range.end && range.start < end;
    !home.region.is_constant() && (home.is_shared || !grid.options.read_only.iter().any(is_lent))
}

/// Stores to global or shared memory: the lanes that were served.
fn store_common(
    lanes: &mut Lanes<'_>,
    access: &Access,
    addresses: &[u64; WARP],
    mask: u32,
    total: u32,
) -> Result<u32, Box<Fault>> {
    let what = What::Write(total);
    let seen = lanes.finder.seen;
    let home = lanes
        .finder
        .home(access.space, addresses, mask, what, access.is_strong)?;
    let region = home.region;
    let is_free =
        !region.is_constant() && (home.is_shared || seen.grid.options.read_only.is_empty());
    let mut rows = [[0u64; WARP]; 8];
    for (place, row) in access.places.iter().zip(&mut rows) {
        if let Some(place) = place {
            *row = values(lanes.registers, *place);
        }
    }
    let rows = rows.get(..access.places.len()).unwrap_or(&rows);
    let locks = access.is_strong && access.bytes == 8;
    for lane in each(home.lanes) {
        let address = addresses[lane];
        let offset = address.wrapping_sub(home.base);
        if !is_free && !is_writable(seen.grid, &home, address, total) {
            return Err(fault(Class::ReadOnly, lane as u32, what, address));
        }
        let tag = home.tag.with_lane(lane as u32);
        let conflict = region.cells().visit(offset, total, true, tag, &seen);
        let kept = access.bytes.min(8) * 8;
        let ones = if kept == 64 { !0 } else { (1u64 << kept) - 1 };
        let places = (0..).map(|n| offset + n * u64::from(access.bytes));
        if let Some(conflict) = conflict {
            // Two writes of the same value make no difference.
            let same = places
                .clone()
                .zip(rows)
                .all(|(place, row)| region.get(place, access.bytes) == row[lane] & ones);
            if !conflict.was_write || !same {
                return Err(home.race(conflict, lane as u32, what, offset));
            }
        }
        let _guard = locks.then(|| super::atomic::lock(region, offset));
        for (place, row) in places.zip(rows) {
            region.put(place, access.bytes, row[lane]);
        }
        region.set_initialised(offset..offset + u64::from(total));
    }
    Ok(home.lanes)
}

/// Stores a word of every lane, one after the other in memory. Whether it was done.
#[inline(always)]
fn store_row(home: &Home<'_>, seen: &Seen<'_>, first: u64, row: &[u32; WARP]) -> bool {
    let offset = first.wrapping_sub(home.base);
    let place = (offset / 4) as usize;
    let is_free = home.is_shared || seen.grid.options.read_only.is_empty();
    let Some(words) = home.region.words().get(place..place + WARP) else {
        return false;
    };
    if !is_free || home.region.is_constant() {
        return false;
    }
    if !home.region.cells().visit_row(offset, true, home.tag, seen) {
        return false;
    }
    for (to, from) in words.iter().zip(row) {
        to.store(*from, Ordering::Relaxed);
    }
    home.region.set_initialised(offset..offset + 128);
    true
}

/// `cp.async`: a copy to shared memory, done at once.
pub(crate) fn copy(lanes: &mut Lanes<'_>, copy: &Copy) -> Result<(), Box<Fault>> {
    let to = addresses(lanes.registers, &copy.to);
    let from = addresses(lanes.registers, &copy.from);
    let given = copy.given.map(|place| values(lanes.registers, place));
    let ignored = copy
        .ignored
        .map_or(0, |slot| lanes.registers.predicate(slot));
    let seen = lanes.finder.seen;
    for lane in each(lanes.mask) {
        let given = given.map_or(copy.bytes, |row| (row[lane] as u32).min(copy.bytes));
        let given = if ignored >> lane & 1 == 1 { 0 } else { given };
        let mut bytes = [0; 16];
        if given > 0 {
            let what = What::Read(given.next_power_of_two());
            let home = lanes
                .finder
                .home(Space::Global, &from, 1 << lane, what, false)?;
            let offset = from[lane].wrapping_sub(home.base);
            if !home
                .region
                .is_initialised(offset..offset + u64::from(given))
            {
                return Err(fault(Class::Uninitialised, lane as u32, what, from[lane]));
            }
            let tag = home.tag.with_lane(lane as u32);
            if let Some(conflict) = home.region.cells().visit(offset, given, false, tag, &seen) {
                return Err(home.race(conflict, lane as u32, what, offset));
            }
            for (to, from) in bytes
                .iter_mut()
                .zip(home.region.read(offset, given as usize))
            {
                *to = from;
            }
        }
        let what = What::Write(copy.bytes);
        let home = lanes
            .finder
            .home(Space::Shared, &to, 1 << lane, what, false)?;
        let offset = to[lane].wrapping_sub(home.base);
        let tag = home.tag.with_lane(lane as u32);
        if let Some(conflict) = home
            .region
            .cells()
            .visit(offset, copy.bytes, true, tag, &seen)
        {
            return Err(home.race(conflict, lane as u32, what, offset));
        }
        home.region
            .write(offset, bytes.get(..copy.bytes as usize).unwrap_or(&bytes));
    }
    Ok(())
}

/// What is nearest to an address: its label, its first address, its size, whether it was freed.
pub(crate) fn nearest(
    grid: &Grid<'_>,
    blocks: &[Block],
    rank: u32,
    address: u64,
) -> Option<(String, u64, u64, bool)> {
    let bytes = u64::from(grid.shared_bytes);
    match address & WINDOW {
        SHARED_WINDOW => {
            return Some((
                "the block's shared memory".to_owned(),
                SHARED_WINDOW,
                bytes,
                false,
            ));
        }
        LOCAL_WINDOW => {
            let stack = u64::from(grid.options.stack_bytes);
            return Some(("the thread's stack".to_owned(), LOCAL_WINDOW, stack, false));
        }
        // No allocation of the host's lies so low: it is an offset in shared memory.
        _ if address < 1 << 24
            && blocks.get(rank as usize).is_some()
            && bytes > 0
            && grid.memory.region(address).is_none() =>
        {
            return Some(("the block's shared memory".to_owned(), 0, bytes, false));
        }
        _ => {}
    }
    let region = grid
        .memory
        .region(address)
        .or_else(|| grid.memory.nearest(address))?;
    Some((
        region.label().to_owned(),
        region.base(),
        region.bytes(),
        region.is_freed(),
    ))
}
