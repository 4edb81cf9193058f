//! What happens where memory that is lent to a device can never be given back.
//!
//! A scope that has lent the host's memory must not return before the device has let go of it. When
//! a wait fails and nothing proves that the work has stopped, there is no way on for that thread:
//! by default the process ends ([`std::process::abort`]), after the [hook](set_hook) was called. A
//! program that would rather keep its other threads [parks](park_instead) the thread for ever,
//! which is as sound: the loan never ends.
//!
//! [`safety`](crate::safety) lists the places where this can happen, and the functions that say
//! `# Aborts`.

use crate::internal::wake::contain;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

/// A wait that failed without proof that the work has stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UnprovenWait {
    /// The device whose stream was waited for.
    pub ordinal: u32,
    /// What the wait returned, as a number of `CUresult`.
    pub code: u32,
    /// What the last question returned that was asked afterwards.
    pub answer: u32,
    /// The answer is a fault, and other devices have work in flight: it may be a fault of theirs.
    pub may_be_of_another_device: bool,
}

impl fmt::Display for UnprovenWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            ordinal,
            code,
            answer,
            ..
        } = self;
        write!(
            f,
            "waiting for a stream of device {ordinal} failed ({code}, then {answer}), which does not \
             prove that its work has stopped; host memory that is lent to it cannot be given back"
        )?;
        match self.may_be_of_another_device {
            true => f.write_str(" (the answer is a fault, and may be one of another device)"),
            false => Ok(()),
        }
    }
}

/// What [`set_hook`] takes.
pub type Hook = fn(&UnprovenWait);

static HOOK: RwLock<Option<Hook>> = RwLock::new(None);
static PARKS: AtomicBool = AtomicBool::new(false);

/// Sets the function that is called before the process ends, or the thread parks, for a log or a
/// safe state. It runs on the thread that waited. A panic in it is contained. `None` takes it back.
///
/// A line on standard error is written in any case.
///
/// ```
/// scoped_cuda::abort::set_hook(Some(|wait| eprintln!("device {}: brakes on", wait.ordinal)));
/// # scoped_cuda::abort::set_hook(None);
/// ```
pub fn set_hook(hook: Option<Hook>) {
    *HOOK.write().unwrap_or_else(PoisonError::into_inner) = hook;
}

/// Parks the thread for ever instead of ending the process, or no longer does so.
///
/// The scope on that thread never returns, and neither do threads that join it.
pub fn park_instead(parks: bool) {
    PARKS.store(parks, Ordering::SeqCst);
}

/// The end of the process, or of this thread's way on.
#[cold]
pub(crate) fn never_return(wait: &UnprovenWait) -> ! {
    let parks = PARKS.load(Ordering::SeqCst);
    let end = if parks {
        "parking the thread"
    } else {
        "aborting"
    };
    let _ = writeln!(io::stderr(), "scoped-cuda: {wait}: {end}");
    let hook = *HOOK.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(hook) = hook {
        contain(|| hook(wait));
    }
    if parks {
        loop {
            std::thread::park();
        }
    }
    std::process::abort()
}
