//! Barriers in shared memory.
//!
//! The 64 bits of a barrier hold the arrivals that are still expected in this phase, those that
//! every phase expects, and the number of the phase. A state is a copy of them.

use super::access::{Lanes, addresses, each, fault, set, values};
use super::lanes::WARP;
use super::warp::Fault;
use crate::check::{Access as What, Class};
use crate::program::op::{Mbarrier, Phase};
use crate::text::types::Space;

/// The most arrivals of a phase.
const COUNT_MAX: u64 = (1 << 20) - 1;
const EXPECTED: u32 = 20;
const NUMBER: u32 = 40;

#[derive(Clone, Copy)]
struct Barrier {
    pending: u64,
    expected: u64,
    phase: u64,
}

impl Barrier {
    fn of(bits: u64) -> Self {
        Self {
            pending: bits & COUNT_MAX,
            expected: bits >> EXPECTED & COUNT_MAX,
            phase: bits >> NUMBER,
        }
    }

    fn bits(self) -> u64 {
        self.pending | self.expected << EXPECTED | self.phase << NUMBER
    }

    fn arrive(&mut self, count: u64) {
        self.pending = self.pending.saturating_sub(count);
        if self.pending == 0 {
            self.pending = self.expected;
            self.phase += 1;
        }
    }
}

/// An operation on a barrier, lane by lane.
pub(crate) fn run(lanes: &mut Lanes<'_>, x: &Mbarrier) -> Result<(), Box<Fault>> {
    let value = x.value.map(|place| values(lanes.registers, place));
    let mut results = [0; WARP];
    if x.phase == Phase::Pending {
        let states = value.unwrap_or([0; WARP]);
        for (result, state) in results.iter_mut().zip(states) {
            *result = Barrier::of(state).pending;
        }
    } else {
        let places = addresses(lanes.registers, &x.address);
        let space = if x.space == Space::Generic {
            Space::Generic
        } else {
            Space::Shared
        };
        for lane in each(lanes.mask) {
            let what = What::Atomic(8);
            let home = lanes.finder.home(space, &places, 1 << lane, what, true)?;
            let offset = places[lane].wrapping_sub(home.base);
            let wrong = |class| Err(fault(class, lane as u32, what, places[lane]));
            if x.phase == Phase::Init {
                let count = value.map_or(0, |row| row[lane]);
                if count == 0 || count > COUNT_MAX {
                    return wrong(Class::BadTarget);
                }
                let barrier = Barrier {
                    pending: count,
                    expected: count,
                    phase: 0,
                };
                home.region.write(offset, &barrier.bits().to_le_bytes());
                continue;
            }
            if !home.region.is_initialised(offset..offset + 8) {
                return wrong(Class::Uninitialised);
            }
            let mut barrier = Barrier::of(home.region.get(offset, 8));
            let count = value.map_or(1, |row| row[lane]);
            match x.phase {
                Phase::Arrive => {
                    results[lane] = barrier.bits();
                    barrier.arrive(count);
                }
                Phase::ArriveDrop => {
                    results[lane] = barrier.bits();
                    barrier.expected = barrier.expected.saturating_sub(count);
                    barrier.arrive(count);
                }
                // The copies are complete: what they add to the count is taken at once.
                Phase::CopyArrive { increments: true } => {}
                Phase::CopyArrive { increments: false } => barrier.arrive(1),
                Phase::TestState => {
                    let state = Barrier::of(value.map_or(0, |row| row[lane]));
                    results[lane] = u64::from(barrier.phase != state.phase);
                }
                Phase::TestParity => {
                    let parity = value.map_or(0, |row| row[lane]) & 1;
                    results[lane] = u64::from(barrier.phase & 1 != parity);
                }
                Phase::Invalidate => {
                    home.region.clear_initialised(offset..offset + 8);
                    continue;
                }
                _ => {}
            }
            home.region.put(offset, 8, barrier.bits());
        }
    }
    if let Some(place) = x.to {
        set(lanes.registers, place, &results, lanes.mask);
    }
    Ok(())
}
