//! Wakers: whom to wake when a copy is done, or will never be.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// A place for one waker, used for one copy after another.
#[derive(Default)]
pub(crate) struct Sleeper {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Which copy: a host function that comes late for one must not wake the next.
    round: u64,
    waker: Option<Waker>,
}

impl Sleeper {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code of a user runs while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whom to wake from now on. Whoever calls this looks afterwards whether there is still something to wait for: before, a call of
    /// [`wake`](Self::wake) could come in between.
    pub(crate) fn store(&self, waker: &Waker) {
        let waker = waker.clone();
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
        wake(waker);
    }

    fn wake(&self) {
        let waker = self.lock().waker.take();
        wake(waker);
    }
}

/// A waker that panics wakes nobody, and that is all: its caller may be the driver, or a frame that must wait.
fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
            mem::forget(payload);
        }
    }
}

/// All places for wakers of a driver.
#[derive(Default)]
pub(crate) struct Sleepers {
    all: Mutex<Vec<Arc<Sleeper>>>,
}

impl Sleepers {
    pub(crate) fn add(&self, sleeper: Arc<Sleeper>) {
        self.lock().push(sleeper);
    }

    pub(crate) fn remove(&self, sleeper: &Arc<Sleeper>) {
        self.lock().retain(|other| !Arc::ptr_eq(sleeper, other));
    }

    /// Wakes everybody: what they wait for will not be told otherwise.
    #[cold]
    pub(crate) fn wake(&self) {
        let all = self.lock().clone();
        for sleeper in all {
            sleeper.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Sleeper>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
