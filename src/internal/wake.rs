//! Wakers: whom to wake when a copy is done, or will never be.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// A user's waker. It is code of the user: cloning it may panic in the call that clones it, and
/// waking or dropping it may panic anywhere. The latter two are contained here, because they happen
/// in frames that hold memory in flight, in destructors, and in calls from the driver (claim C4).
pub(crate) struct UserWaker(Option<Waker>);

impl UserWaker {
    /// Runs the user's `Clone`: to be called before anything is taken out of its place.
    pub(crate) fn new(waker: &Waker) -> Self {
        Self(Some(waker.clone()))
    }

    fn wake(mut self) {
        contain(|| {
            if let Some(waker) = self.0.take() {
                waker.wake();
            }
        });
    }
}

impl Drop for UserWaker {
    fn drop(&mut self) {
        contain(|| drop(self.0.take()));
    }
}

/// Runs a user's code whose panic is nobody's business here.
pub(crate) fn contain(user_code: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(user_code)) {
        // Dropping the payload may panic again.
        mem::forget(payload);
    }
}

/// A place for one waker, used for one copy after another.
#[derive(Default)]
pub(crate) struct Sleeper {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Which copy: a host function that comes late for one must not wake the next.
    round: u64,
    waker: Option<UserWaker>,
}

impl Sleeper {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code of a user runs while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whom to wake from now on. Whoever calls this looks afterwards whether there is still
    /// something to wait for: before, a call of [`wake`](Self::wake) could come in between.
    pub(crate) fn store(&self, waker: UserWaker) {
        let before = self.lock().waker.replace(waker);
        drop(before);
    }

    /// Wakes nobody any more in this round; the next one begins.
    pub(crate) fn next_round(&self) {
        let mut state = self.lock();
        state.round += 1;
        let before = state.waker.take();
        drop(state);
        drop(before);
    }

    pub(crate) fn round(&self) -> u64 {
        self.lock().round
    }

    /// Wakes who waits in `round`.
    pub(crate) fn wake_in(&self, round: u64) {
        let mut state = self.lock();
        let waker = if state.round == round {
            state.waker.take()
        } else {
            None
        };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn wake(&self) {
        let waker = self.lock().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// All places for wakers of a driver.
pub(crate) struct Sleepers {
    all: Mutex<Vec<Arc<Sleeper>>>,
}

impl Sleepers {
    pub(crate) const fn new() -> Self {
        Self {
            all: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn add(&self, sleeper: Arc<Sleeper>) {
        self.lock().push(sleeper);
    }

    pub(crate) fn remove(&self, sleeper: &Arc<Sleeper>) {
        self.lock().retain(|other| !Arc::ptr_eq(sleeper, other));
    }

    /// Wakes everybody: what they wait for will not be told otherwise.
    #[cold]
    pub(crate) fn wake(&self) {
        // A copy of the list: the last of its sleepers drops a waker, if at all, outside of the
        // lock.
        let all = self.lock().clone();
        for sleeper in all {
            sleeper.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Sleeper>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    struct PanicsWhenDropped(Arc<AtomicUsize>);

    impl Wake for PanicsWhenDropped {
        fn wake(self: Arc<Self>) {}
    }

    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            panic!("a waker's data was dropped");
        }
    }

    /// C4: each way in which a sleeper loses the last reference to a waker's data drops it quietly.
    #[test]
    fn a_waker_whose_data_panics_when_dropped_is_dropped_quietly() {
        let (dropped, sleeper) = (Arc::new(AtomicUsize::new(0)), Arc::new(Sleeper::default()));
        let store = |sleeper: &Sleeper| {
            let waker = Waker::from(Arc::new(PanicsWhenDropped(Arc::clone(&dropped))));
            sleeper.store(UserWaker::new(&waker));
        };
        let count = || dropped.load(Ordering::Relaxed);
        store(&sleeper);
        store(&sleeper);
        assert_eq!(count(), 1, "the second took the place of the first");
        sleeper.next_round();
        assert_eq!(count(), 2);
        store(&sleeper);
        sleeper.wake_in(sleeper.round());
        assert_eq!(count(), 3);
        let sleepers = Sleepers::new();
        sleepers.add(Arc::clone(&sleeper));
        store(&sleeper);
        sleepers.wake();
        assert_eq!(count(), 4);
        store(&sleeper);
        sleepers.remove(&sleeper);
        drop(sleeper);
        assert_eq!(count(), 5);
    }
}
