//! Stores.

use super::access::{Home, Lanes, addresses, each, fault, is_common, is_row, values};
use super::grid::Grid;
use super::lanes::WARP;
use super::private::{Part, part};
use super::runs;
use super::seen::Seen;
use super::warp::Fault;
use crate::check::{Access as What, Class};
use crate::memory::{get, put};
use crate::program::op::{Access, Bank, Copy, Place};
use crate::text::types::Space;
use std::sync::atomic::Ordering;

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
    let words = region.words();
    let row_of =
        |place: &Option<Place>| place.map_or([0; WARP], |place| values(lanes.registers, place));
    let mut rows = [[0; WARP]; 7];
    let (first, others) = match access.places.split_first() {
        Some((first, others)) => (row_of(first), others),
        None => return Ok(home.lanes),
    };
    for (place, row) in others.iter().zip(&mut rows) {
        *row = row_of(place);
    }
    let rows = rows.get(..others.len()).unwrap_or(&rows);
    let locks = access.is_strong && access.bytes == 8;
    let ones = !0 >> (64 - 8 * access.bytes.clamp(1, 8));
    let mut walker = region.cells().walk();
    let is_checked =
        is_free && runs::are_free(&home, &seen, addresses, total, true, Some(&mut walker));
    for lane in each(home.lanes) {
        let address = addresses[lane];
        let offset = address.wrapping_sub(home.base);
        if !is_free && !is_writable(seen.grid, &home, address, total) {
            return Err(fault(Class::ReadOnly, lane as u32, what, address));
        }
        let all = std::iter::once(&first).chain(rows);
        let places = all.zip((offset..).step_by(access.bytes as usize));
        let tag = home.tag.with_lane(lane as u32);
        let conflict = match is_checked {
            true => None,
            false => walker.visit(offset, total, true, tag, &seen),
        };
        if let Some(conflict) = conflict {
            // Two writes of the same value make no difference.
            let mut places = places.clone();
            let is_same =
                places.all(|(row, place)| get(words, place, access.bytes) == row[lane] & ones);
            if !conflict.was_write || !is_same {
                return Err(home.race(conflict, lane as u32, what, offset));
            }
        }
        let _guard = locks.then(|| super::atomic::lock(region, offset));
        for (row, place) in places {
            put(words, place, access.bytes, row[lane]);
        }
        if !is_checked {
            region.shadow().cover(offset, total);
        }
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
            if let Some(conflict) = home
                .region
                .cells()
                .walk()
                .visit(offset, given, false, tag, &seen)
            {
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
            .walk()
            .visit(offset, copy.bytes, true, tag, &seen)
        {
            return Err(home.race(conflict, lane as u32, what, offset));
        }
        home.region
            .write(offset, bytes.get(..copy.bytes as usize).unwrap_or(&bytes));
    }
    Ok(())
}
