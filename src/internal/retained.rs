//! A primary context that is kept, by one closure or by any number of owners.

#![allow(unsafe_code)] // releases what it retained

use crate::device::Device;
use crate::error::Result;
use crate::ffi::CUcontext;
use crate::internal::api::Api;
use crate::internal::calls;
use crate::internal::context_state::ContextState;
use crate::internal::current;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A retained primary context with all that is made for it once. It always lives in an [`Arc`].
pub(crate) struct Retained {
    me: Weak<Self>,
    shares: AtomicUsize,
    /// Whether it was offered to all owners of the device.
    is_shared: AtomicBool,
    state: ManuallyDrop<ContextState>,
    /// Dropped after the state, which is taken down first.
    retain: Retain,
}

/// One retain of a primary context; dropping it releases.
struct Retain {
    device: Device,
    raw: CUcontext,
}

impl Retain {
    fn new(device: Device) -> Result<Self> {
        let raw = calls::primary_ctx_retain(device.api(), device.as_raw())?;
        Ok(Self { device, raw })
    }
}

impl Drop for Retain {
    fn drop(&mut self) {
        let driver = self.device.api();
        // SAFETY: the retain is this value's, and everything made from the context borrowed it, or
        // owned it together with others (C1).
        if let Err(error) = unsafe { calls::primary_ctx_release(driver, self.device.as_raw()) } {
            driver.log_teardown(self.device.ordinal(), error);
        }
    }
}

impl Retained {
    /// Retains the primary context of a device, and makes what every context has.
    pub(crate) fn open(device: Device) -> Result<Share> {
        let retain = Retain::new(device)?;
        let raw = retain.raw;
        // SAFETY: just retained.
        let state = unsafe { current::within(device, raw, || ContextState::open(device, raw)) }?;
        let retained = Arc::new_cyclic(|me| Self {
            me: Weak::clone(me),
            shares: AtomicUsize::new(0),
            is_shared: AtomicBool::new(false),
            state: ManuallyDrop::new(state),
            retain,
        });
        Ok(Share::new(retained))
    }

    #[inline]
    pub(crate) fn state(&self) -> &ContextState {
        &self.state
    }

    /// One share more of this context, which others find from now on.
    pub(crate) fn share(&self) -> Share {
        let me = self.me.as_ptr();
        // SAFETY: `me` points into the `Arc` that `self` lives in. Somebody has a share for as long
        // as anybody has a reference, but for its destructor, and that runs no code which could
        // come here: what a user's destructor belongs to was dropped by the last share (`Share`).
        unsafe { Arc::increment_strong_count(me) };
        // SAFETY: the count was raised for this one.
        let share = Share::new(unsafe { Arc::from_raw(me) });
        if !self.is_shared.swap(true, Ordering::Relaxed) {
            offer(&share);
        }
        share
    }
}

/// A share of a context. The last one waits for the work that was left to the context, and drops
/// what that work owned, while the context is still what it was.
pub(crate) struct Share(Arc<Retained>);

impl Share {
    fn new(retained: Arc<Retained>) -> Self {
        retained.shares.fetch_add(1, Ordering::Relaxed);
        Self(retained)
    }

    /// Whether both are shares of one context.
    pub(crate) fn is_of(&self, context: &Retained) -> bool {
        ptr::eq(&raw const *self.0, context)
    }
}

impl Deref for Share {
    type Target = Retained;

    #[inline]
    fn deref(&self) -> &Retained {
        &self.0
    }
}

impl Clone for Share {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.0))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // Another one may be made meanwhile, by a destructor or by who finds the context: that one
        // is the last one in its turn.
        if self.0.shares.fetch_sub(1, Ordering::AcqRel) == 1 {
            let state = self.0.state();
            state.completions().finish(state);
        }
    }
}

impl Drop for Retained {
    fn drop(&mut self) {
        let Retain { device, raw } = self.retain;
        let may_enter = device.api().unpoisoned().is_ok() && !self.state.is_lost();
        let state = &mut self.state;
        // SAFETY: once, here; the field is not used again.
        let mut take_down = || unsafe { ManuallyDrop::drop(state) };
        match may_enter {
            // SAFETY: the retain is released after this.
            true => unsafe { current::within_if_possible(device, raw, take_down) },
            false => take_down(),
        }
    }
}

/// The context that the owners of a device share.
struct Offered {
    api: Api,
    ordinal: u32,
    context: Weak<Retained>,
}

impl Offered {
    fn is_of(&self, device: Device) -> bool {
        self.api == device.api() && self.ordinal == device.ordinal()
    }
}

/// One for each device that has owners.
static OFFERED: Mutex<Vec<Offered>> = Mutex::new(Vec::new());

/// The context that the owners of `device` share, unless other code has reset it.
pub(crate) fn find(device: Device) -> Option<Share> {
    let all = OFFERED.lock().unwrap_or_else(PoisonError::into_inner);
    let context = all.iter().find(|offered| offered.is_of(device))?;
    let context = context.context.upgrade();
    // From here on the context may be dropped, which takes its time.
    drop(all);
    let context = context.filter(|context| !context.state().is_lost())?;
    Some(Share::new(context))
}

/// Makes `context` the one that the owners of its device share, unless they have one that works:
/// that one is returned.
pub(crate) fn offer(context: &Share) -> Share {
    let device = context.state().device();
    let mut all = OFFERED.lock().unwrap_or_else(PoisonError::into_inner);
    let before = all.iter().find(|offered| offered.is_of(device));
    let before = before.and_then(|offered| offered.context.upgrade());
    let result = match &before {
        Some(before) if !before.state().is_lost() => Arc::clone(before),
        _ => {
            all.retain(|offered| !offered.is_of(device) && offered.context.strong_count() > 0);
            all.push(Offered {
                api: device.api(),
                ordinal: device.ordinal(),
                context: Arc::downgrade(&context.0),
            });
            Arc::clone(&context.0)
        }
    };
    // From here on a context may be dropped, which takes its time.
    drop(all);
    Share::new(result)
}
