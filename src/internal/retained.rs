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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A retained primary context with all that is made for it once. It always lives in an [`Arc`].
pub(crate) struct Retained {
    me: Weak<Self>,
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
    pub(crate) fn open(device: Device) -> Result<Arc<Self>> {
        let retain = Retain::new(device)?;
        let raw = retain.raw;
        // SAFETY: just retained.
        let state = unsafe { current::within(device, raw, || ContextState::open(device, raw)) }?;
        Ok(Arc::new_cyclic(|me| Self {
            me: Weak::clone(me),
            is_shared: AtomicBool::new(false),
            state: ManuallyDrop::new(state),
            retain,
        }))
    }

    #[inline]
    pub(crate) fn state(&self) -> &ContextState {
        &self.state
    }

    /// One owner more of this context, which others find from now on.
    pub(crate) fn owner(&self) -> Arc<Self> {
        let me = self.me.as_ptr();
        // SAFETY: `me` points into the `Arc` that `self` lives in, and it has an owner: nobody has
        // a reference after the last one is gone but its destructor, which runs no code that could
        // come here.
        unsafe { Arc::increment_strong_count(me) };
        // SAFETY: the count was raised for this one.
        let me = unsafe { Arc::from_raw(me) };
        if !self.is_shared.swap(true, Ordering::Relaxed) {
            share(&me);
        }
        me
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

/// The context that is shared by the owners of a device.
struct Shared {
    api: Api,
    ordinal: u32,
    context: Weak<Retained>,
}

impl Shared {
    fn is_of(&self, device: Device) -> bool {
        self.api == device.api() && self.ordinal == device.ordinal()
    }
}

/// One for each device that has owners.
static SHARED: Mutex<Vec<Shared>> = Mutex::new(Vec::new());

/// The context that the owners of `device` share, unless other code has reset it.
pub(crate) fn shared(device: Device) -> Option<Arc<Retained>> {
    let all = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let context = all.iter().find(|shared| shared.is_of(device))?;
    let context = context.context.upgrade();
    // From here on the context may be dropped, which takes its time.
    drop(all);
    context.filter(|context| !context.state().is_lost())
}

/// Makes `context` the one that the owners of its device share, unless they have one that works:
/// that one is returned.
pub(crate) fn share(context: &Arc<Retained>) -> Arc<Retained> {
    let device = context.state().device();
    let mut all = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let before = all.iter().find(|shared| shared.is_of(device));
    let before = before.and_then(|shared| shared.context.upgrade());
    let result = match &before {
        Some(before) if !before.state().is_lost() => Arc::clone(before),
        _ => {
            all.retain(|shared| !shared.is_of(device) && shared.context.strong_count() > 0);
            all.push(Shared {
                api: device.api(),
                ordinal: device.ordinal(),
                context: Arc::downgrade(context),
            });
            Arc::clone(context)
        }
    };
    // From here on a context may be dropped, which takes its time.
    drop(all);
    result
}
