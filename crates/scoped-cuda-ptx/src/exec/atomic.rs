//! Atomics and reductions.

use super::access::{Lanes, addresses, each, fault, set, values};
use super::exact::{self, Mode};
use super::lanes::{WARP, bits32, flush};
use super::private::part;
use super::store::is_writable;
use super::warp::Fault;
use crate::check::{Access as What, Class};
use crate::memory::Region;
use crate::program::op::{Atomic, Change};
use crate::text::types::Type;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Atomics of 64 bits hold one of these; so do volatile loads and stores of 64 bits.
static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];

/// Keeps other threads from atomics of 64 bits at the same place.
pub(crate) fn lock(region: &Region, offset: u64) -> MutexGuard<'static, ()> {
    let number = (region.base().wrapping_add(offset) / 8 % 64) as usize;
    LOCKS[number].lock().unwrap_or_else(PoisonError::into_inner)
}

/// An atomic or a reduction, lane by lane.
pub(crate) fn run(lanes: &mut Lanes<'_>, atomic: &Atomic) -> Result<(), Box<Fault>> {
    let bytes = atomic.kind.bytes();
    let what = What::Atomic(bytes);
    let addresses = addresses(lanes.registers, &atomic.address);
    let value = values(lanes.registers, atomic.value);
    let second = atomic
        .second
        .map_or([0; WARP], |place| values(lanes.registers, place));
    let seen = lanes.finder.seen;
    let mut old = [0; WARP];
    let mut left = lanes.mask;
    while left != 0 {
        if let Some(part) = part(atomic.space, &addresses, left) {
            for lane in each(part.lanes) {
                let offset = addresses[lane].wrapping_sub(part.window);
                let was = lanes.private.get(part.space, offset, bytes, lane);
                let Some(was) = was else {
                    return Err(fault(
                        Class::OutOfBounds,
                        lane as u32,
                        what,
                        addresses[lane],
                    ));
                };
                old[lane] = was;
                let new = changed(atomic, true, was, value[lane], second[lane]);
                lanes.private.put(part.space, offset, bytes, lane, new);
            }
            left &= !part.lanes;
            continue;
        }
        let home = lanes
            .finder
            .home(atomic.space, &addresses, left, what, true)?;
        let mut walker = home.region.cells().walk();
        for lane in each(home.lanes) {
            let address = addresses[lane];
            let offset = address.wrapping_sub(home.base);
            let wrong = |class| Err(fault(class, lane as u32, what, address));
            if !is_writable(seen.grid, &home, address, bytes) {
                return wrong(Class::ReadOnly);
            }
            if !home
                .region
                .is_initialised(offset..offset + u64::from(bytes))
            {
                if atomic.change != Change::Exchange {
                    return wrong(Class::Uninitialised);
                }
                home.region
                    .set_initialised(offset..offset + u64::from(bytes));
            }
            let tag = home.tag.with_lane(lane as u32);
            if let Some(conflict) = walker.visit(offset, bytes, true, tag, &seen) {
                return Err(home.race(conflict, lane as u32, what, offset));
            }
            let change = |was| changed(atomic, home.is_shared, was, value[lane], second[lane]);
            old[lane] = exchanged(home.region, offset, bytes, change);
        }
        left &= !home.lanes;
    }
    if let Some(place) = atomic.old {
        set(lanes.registers, place, &old, lanes.mask);
    }
    Ok(())
}

/// Changes a value in memory: the old one.
fn exchanged(region: &Region, offset: u64, bytes: u32, change: impl Fn(u64) -> u64) -> u64 {
    if bytes == 8 {
        let _guard = lock(region, offset);
        let was = region.get(offset, 8);
        region.put(offset, 8, change(was));
        return was;
    }
    let (low, ones) = match bytes {
        2 => (8 * (offset & 2) as u32, 0xFFFF),
        _ => (0, !0),
    };
    let Some(word) = region.words().get((offset / 4) as usize) else {
        return 0;
    };
    let new = |word: u32| {
        let part = change(u64::from(word >> low & ones)) as u32 & ones;
        Some(word & !(ones << low) | part << low)
    };
    let was = word
        .fetch_update(Ordering::AcqRel, Ordering::Acquire, new)
        .unwrap_or(0);
    u64::from(was >> low & ones)
}

/// The new value.
fn changed(atomic: &Atomic, is_shared: bool, was: u64, b: u64, c: u64) -> u64 {
    let (a32, b32) = (was as u32, b as u32);
    let is_wide = atomic.kind.bytes() == 8;
    match (atomic.change, atomic.kind) {
        (Change::And, _) => was & b,
        (Change::Or, _) => was | b,
        (Change::Xor, _) => was ^ b,
        (Change::Exchange, _) => b,
        (Change::Compare, kind) => {
            let ones = if kind.bytes() == 2 { 0xFFFF } else { !0 };
            if was & ones == b & ones { c } else { was }
        }
        (Change::Increment, _) => {
            if a32 >= b32 {
                0
            } else {
                was + 1
            }
        }
        (Change::Decrement, _) => {
            if a32 == 0 || a32 > b32 {
                b
            } else {
                was - 1
            }
        }
        (Change::Add, Type::F32) => {
            let flushes = atomic.flushes && !is_shared;
            let place = |bits: u32| {
                let value = f32::from_bits(bits);
                if flushes { flush(value) } else { value }
            };
            let sum = place(a32) + place(b32);
            u64::from(bits32(if flushes { flush(sum) } else { sum }))
        }
        (Change::Add, Type::F64) => (f64::from_bits(was) + f64::from_bits(b)).to_bits(),
        (Change::Add, Type::F16) => exact::add(exact::F16, was, b, Mode::Nearest),
        (Change::Add, Type::Bf16) => exact::add(exact::BF16, was, b, Mode::Nearest),
        (Change::Add, Type::F16x2) => both(exact::F16, was, b),
        (Change::Add, Type::Bf16x2) => both(exact::BF16, was, b),
        (Change::Add, _) => was.wrapping_add(b),
        (Change::Min, Type::S32) => u64::from((a32 as i32).min(b32 as i32) as u32),
        (Change::Max, Type::S32) => u64::from((a32 as i32).max(b32 as i32) as u32),
        (Change::Min, Type::S64) => (was as i64).min(b as i64) as u64,
        (Change::Max, Type::S64) => (was as i64).max(b as i64) as u64,
        (Change::Min, _) if is_wide => was.min(b),
        (Change::Max, _) if is_wide => was.max(b),
        (Change::Min, _) => u64::from(a32.min(b32)),
        (Change::Max, _) => u64::from(a32.max(b32)),
    }
}

fn both(format: exact::Format, a: u64, b: u64) -> u64 {
    let one = |shift: u32| {
        let [a, b] = [a, b].map(|word| word >> shift & 0xFFFF);
        exact::add(format, a, b, Mode::Nearest) << shift
    };
    one(0) | one(16)
}
