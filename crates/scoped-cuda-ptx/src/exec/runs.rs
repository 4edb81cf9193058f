//! Accesses by runs of lanes: those that read the same place, or one place after the other.

use super::access::Home;
use super::lanes::WARP;
use super::seen::Seen;
use crate::memory::Walker;

/// Checks and notes an access of so many bytes by each lane, run by run. Whether it is without a
/// mistake; if not, it has to be looked at lane by lane.
#[inline(always)]
pub(super) fn are_free(
    home: &Home<'_>,
    seen: &Seen<'_>,
    addresses: &[u64; WARP],
    bytes: u32,
    is_write: bool,
    walker: Option<&mut Walker<'_>>,
) -> bool {
    match bytes {
        4 => of_words::<1>(home, seen, addresses, is_write, walker),
        8 => of_words::<2>(home, seen, addresses, is_write, walker),
        16 => of_words::<4>(home, seen, addresses, is_write, walker),
        32 => of_words::<8>(home, seen, addresses, is_write, walker),
        _ => false,
    }
}

#[inline(always)]
fn of_words<const WORDS: usize>(
    home: &Home<'_>,
    seen: &Seen<'_>,
    addresses: &[u64; WARP],
    is_write: bool,
    mut walker: Option<&mut Walker<'_>>,
) -> bool {
    let needs_bits = !is_write && !home.region.is_full();
    let stride = 4 * WORDS as u64;
    let mut lane = 0;
    while lane < WARP {
        if home.lanes >> lane & 1 == 0 {
            lane += 1;
            continue;
        }
        let address = addresses[lane];
        let offset = address.wrapping_sub(home.base);
        let follows = |step: u64| {
            let mut expected = address;
            let others = addresses.iter().enumerate().skip(lane + 1);
            let others = others.take_while(|(lane, address)| {
                expected = expected.wrapping_add(step);
                **address == expected && home.lanes >> lane & 1 == 1
            });
            others.count() + 1
        };
        let same = follows(0);
        let count = if same > 1 { 1 } else { follows(stride) };
        if same > 1 && is_write {
            return false;
        }
        let end = offset + stride * count as u64;
        if needs_bits && !home.region.is_initialised(offset..end) {
            return false;
        }
        if let Some(walker) = walker.as_deref_mut() {
            // Two readers of a word are enough to remember.
            for reader in 0..same.min(2) {
                let tag = home.tag.with_lane((lane + reader) as u32);
                if !walker.visit_run::<WORDS>(offset, count, is_write, tag, seen) {
                    return false;
                }
            }
        }
        if is_write {
            home.region.set_initialised(offset..end);
        }
        lane += same.max(count);
    }
    true
}
