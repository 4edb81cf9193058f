//! Loads and stores, and where addresses lead.

use super::grid::Grid;
use super::lanes::{Registers, WARP};
use super::private::Private;
use super::seen::Seen;
use super::team::Block;
use super::warp::Fault;
use super::worker::Regions;
use crate::check::{Access as What, Class, Thread};
use crate::memory::{Conflict, Region, Tag};
use crate::program::op::{Address, Bank, Place};
use crate::program::{LOCAL_WINDOW, SHARED_BYTES, SHARED_WINDOW, WINDOW};
use crate::text::types::Space;

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
    let mut row = [0; WARP];
    match address.base {
        None => row = [offset; WARP],
        Some(Place {
            bank: Bank::Long,
            slot,
        }) => {
            for (to, base) in row.iter_mut().zip(registers.long(slot)) {
                *to = base.wrapping_add(offset);
            }
        }
        Some(Place { slot, .. }) => {
            for (to, base) in row.iter_mut().zip(registers.word(slot)) {
                *to = u64::from(base.wrapping_add(offset as u32));
            }
        }
    }
    row
}

/// The value of every lane of a register.
pub(crate) fn values(registers: &Registers, place: Place) -> [u64; WARP] {
    match place.bank {
        Bank::Long => *registers.long(place.slot),
        Bank::Word => {
            let mut row = [0; WARP];
            for (value, word) in row.iter_mut().zip(registers.word(place.slot)) {
                *value = u64::from(*word);
            }
            row
        }
        Bank::Predicate => [0; WARP],
    }
}

/// Gives lanes of a register their values.
pub(crate) fn set(registers: &mut Registers, place: Place, row: &[u64; WARP], mask: u32) {
    match place.bank {
        Bank::Long => registers.set_longs(place.slot, row, mask),
        Bank::Word => {
            let mut words = [0; WARP];
            for (word, value) in words.iter_mut().zip(row) {
                *word = *value as u32;
            }
            registers.set_words(place.slot, &words, mask);
        }
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
    pub(crate) fn home_of_row(
        &mut self,
        space: Space,
        first: u64,
        is_strong: bool,
    ) -> Option<Home<'_>> {
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
        // Of all lanes at once: a bit of the sum is set when one is outside.
        let (mut outside, mut low) = (last >> 63, 0);
        for address in addresses {
            let offset = address.wrapping_sub(home.base);
            outside |= offset | last.wrapping_sub(offset);
            low |= address;
        }
        if mask == !0 && outside >> 63 == 0 && low & u64::from(bytes - 1) == 0 {
            home.lanes = !0;
            return Ok(home);
        }
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
/// Whether every lane addresses the word after the last lane's.
#[inline(always)]
pub(crate) fn is_row(addresses: &[u64; WARP]) -> bool {
    let first = addresses[0];
    let differs = |(lane, address): (usize, &u64)| address ^ first.wrapping_add(4 * lane as u64);
    addresses
        .iter()
        .enumerate()
        .map(differs)
        .fold(0, |all, one| all | one)
        == 0
}

/// Whether an address is in global memory, or in shared memory by an address that is not generic.
#[inline(always)]
pub(crate) fn is_common(space: Space, address: u64) -> bool {
    match space {
        Space::Shared => address < SHARED_BYTES,
        Space::Local | Space::Param => false,
        _ => address < SHARED_WINDOW,
    }
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
