//! Which devices have work in flight: what a fault proves depends on it (claim C5).
//!
//! After a fault on one device every call on every device of the process returns it, and waits
//! return at once. On the device that had the fault the work has been stopped by then. On another
//! one it goes on (measured on two H200: a copy to host memory that was queued there arrived after
//! the wait for its stream had returned the fault). The driver does not say which device had it; it
//! is one with work in flight.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Devices with a counter of their own.
const COUNTED: usize = 64;

/// For each device, how many scopes, operations at rest and copies that outlive scopes may have
/// work in flight. Those of devices beyond [`COUNTED`] are counted together.
pub(crate) struct InFlightCounts([AtomicUsize; COUNTED + 1]);

impl InFlightCounts {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicUsize::new(0) }; COUNTED + 1])
    }

    fn slot(ordinal: u32) -> usize {
        (ordinal as usize).min(COUNTED)
    }

    /// Whether no device but this one has work in flight, so that a fault is its own.
    pub(crate) fn is_alone(&self, ordinal: u32) -> bool {
        let own = Self::slot(ordinal);
        let mut counts = self.0.iter().enumerate();
        own < COUNTED
            && counts.all(|(slot, count)| slot == own || count.load(Ordering::SeqCst) == 0)
    }
}

/// While this exists, its device counts as having work in flight. Forgotten, it does for ever,
/// which is the safe side.
pub(crate) struct InFlight(Option<&'static AtomicUsize>);

impl InFlight {
    /// To be made before anything is enqueued on device `ordinal`.
    #[inline]
    pub(crate) fn on(counts: &'static InFlightCounts, ordinal: u32) -> Self {
        let count = &counts.0[InFlightCounts::slot(ordinal)];
        count.fetch_add(1, Ordering::SeqCst);
        Self(Some(count))
    }

    /// Counts nothing.
    pub(crate) fn none() -> Self {
        Self(None)
    }
}

impl Drop for InFlight {
    #[inline]
    fn drop(&mut self) {
        if let Some(count) = self.0 {
            count.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_of_the_only_device_with_work() {
        let counts = InFlightCounts::new();
        let begin =
            |ordinal| counts.0[InFlightCounts::slot(ordinal)].fetch_add(1, Ordering::SeqCst);
        assert!(counts.is_alone(0) && counts.is_alone(63));
        begin(2);
        assert!(counts.is_alone(2) && !counts.is_alone(0));
        begin(0);
        assert!(!counts.is_alone(2) && !counts.is_alone(0));
    }

    #[test]
    fn devices_that_share_a_counter_are_never_alone() {
        assert!(!InFlightCounts::new().is_alone(64));
        let counts = InFlightCounts::new();
        counts.0[InFlightCounts::slot(u32::MAX)].fetch_add(1, Ordering::SeqCst);
        assert!(!counts.is_alone(0));
    }
}
