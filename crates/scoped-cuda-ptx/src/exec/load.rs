//! Loads.

use super::access::{Home, Lanes, addresses, each, fault, is_common, is_row, set};
use super::lanes::WARP;
use super::private::{Part, part};
use super::runs;
use super::seen::Seen;
use super::warp::Fault;
use crate::check::{Access as What, Class};
use crate::memory::get;
use crate::program::op::{Access, Bank};
use std::sync::atomic::Ordering;

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
    let (region, words) = (home.region, home.region.words());
    let is_full = region.is_full();
    let locks = access.is_strong && access.bytes == 8;
    let mut walker = (!region.is_constant()).then(|| region.cells().walk());
    let is_free = runs::are_free(&home, &seen, addresses, total, false, walker.as_mut());
    if let (true, 4, [Some(place)]) = (is_free, access.bytes, access.places.as_slice()) {
        let mut row = [0; WARP];
        for (lane, value) in row.iter_mut().enumerate() {
            let offset = addresses[lane].wrapping_sub(home.base);
            let word = words.get((offset / 4) as usize);
            *value = word.map_or(0, |word| word.load(Ordering::Relaxed));
        }
        match place.bank {
            Bank::Word => lanes.registers.set_words(place.slot, &row, home.lanes),
            _ => {
                let row = row.map(|value| extended(value.into(), access));
                set(lanes.registers, *place, &row, home.lanes);
            }
        }
        return Ok(home.lanes);
    }
    let (mut row, mut rows) = ([0; WARP], [[0; WARP]; 7]);
    let is_one = access.places.len() == 1;
    for lane in each(home.lanes) {
        let address = addresses[lane];
        let offset = address.wrapping_sub(home.base);
        if !is_free && !is_full && !region.shadow().covers(offset, total) {
            return Err(fault(Class::Uninitialised, lane as u32, what, address));
        }
        if let Some(walker) = walker.as_mut().filter(|_| !is_free) {
            let tag = home.tag.with_lane(lane as u32);
            if let Some(conflict) = walker.visit(offset, total, false, tag, &seen) {
                return Err(home.race(conflict, lane as u32, what, offset));
            }
        }
        let _guard = locks.then(|| super::atomic::lock(region, offset));
        row[lane] = extended(get(words, offset, access.bytes), access);
        if !is_one {
            let places = (offset..).step_by(access.bytes as usize).skip(1);
            for (place, row) in places.zip(rows.iter_mut().take(access.places.len() - 1)) {
                row[lane] = extended(get(words, place, access.bytes), access);
            }
        }
    }
    let rows = std::iter::once(&row).chain(&rows);
    for (place, row) in access.places.iter().zip(rows) {
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
