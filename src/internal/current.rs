//! The thread's context stack (claim C3): the only code that reads or changes it.
//!
//! Three tools. [`bind`] runs one driver call under the context it needs and does nothing but one
//! comparison when that is current already. [`Entered`] is the frame of a whole `with_device`: user
//! code runs inside, and may call other CUDA libraries, so the frame remembers the stack entry by
//! entry and puts exactly that back. [`Visit`] is the frame of an owned context's `with`, which is
//! entered often: it remembers what was current, and looks at the entries below only when that is
//! not current again afterwards.
//!
//! The driver has no way to ask for the depth, and `cuCtxSetCurrent` by other code replaces or
//! removes the top entry: only taking the stack apart tells what is on it. At about 70 ns an entry
//! (measured) that is nothing beside the rest of a `with_device`.

#![allow(unsafe_code)] // pushes and pops

use crate::device::Device;
use crate::error::{Error, Result};
use crate::ffi::{CUcontext, CUresult};
use crate::internal::api::Api;
use crate::internal::calls;
use crate::internal::context_handle::ContextHandle;
use std::mem;

/// Runs `call` with `context` current on this thread and leaves the thread's stack as it was.
///
/// `call` makes one driver call and nothing else, so nothing of it can change the stack.
#[inline]
pub(crate) fn bind<R>(context: &ContextHandle, call: impl FnOnce() -> Result<R>) -> Result<R> {
    let driver = context.api();
    driver.unpoisoned()?;
    if calls::ctx_get_current(driver)? == context.raw() {
        call().map_err(|error| context.explained(error))
    } else {
        bind_other(context, call)
    }
}

#[cold]
fn bind_other<R>(context: &ContextHandle, call: impl FnOnce() -> Result<R>) -> Result<R> {
    // SAFETY: the state holds a retain (C1).
    let pushed = unsafe { Pushed::new(context.device(), context.raw()) }?;
    let result = call().map_err(|error| context.explained(error));
    drop(pushed);
    result
}

/// Runs `call` in the device's primary context as it is now, which another one may have been
/// before: retained for the call (`cuDevicePrimaryCtxRetain`, `cuDevicePrimaryCtxRelease`).
#[cold]
pub(crate) fn within_primary<R>(device: Device, call: impl FnOnce() -> Result<R>) -> Result<R> {
    let api = device.api();
    let raw = calls::primary_ctx_retain(api, device.as_raw())?;
    // SAFETY: retained, until below.
    let pushed = unsafe { Pushed::new(device, raw) };
    let result = pushed.and_then(|pushed| {
        let result = call();
        drop(pushed);
        result
    });
    // SAFETY: the retain is from above, and nothing was made in the context.
    if let Err(error) = unsafe { calls::primary_ctx_release(api, device.as_raw()) } {
        api.log_teardown(device.ordinal(), error);
    }
    result
}

/// Runs `call`, which may make several driver calls, with `raw` current on this thread.
///
/// # Safety
/// `raw` is a context of the device that stays retained meanwhile.
#[cold]
pub(crate) unsafe fn within<R>(
    device: Device,
    raw: CUcontext,
    call: impl FnOnce() -> Result<R>,
) -> Result<R> {
    // SAFETY: the caller promises: `raw` is a context of the device that stays retained meanwhile.
    let pushed = unsafe { Pushed::new(device, raw) }?;
    let result = call();
    drop(pushed);
    result
}

/// [`within`] for a destructor: `call` is made in any case, and errors go to the log.
///
/// # Safety
/// As there.
#[cold]
pub(crate) unsafe fn within_if_possible(device: Device, raw: CUcontext, call: impl FnOnce()) {
    // SAFETY: the caller promises: as there.
    let pushed = unsafe { Pushed::new(device, raw) };
    call();
    match pushed {
        Ok(pushed) => drop(pushed),
        Err(error) => device.api().log_teardown(device.ordinal(), error),
    }
}

/// One entry that this module put on the stack; dropping it takes it off.
struct Pushed {
    device: Device,
    raw: CUcontext,
}

impl Pushed {
    /// # Safety
    /// `raw` is a context of the device that stays retained while this lives.
    unsafe fn new(device: Device, raw: CUcontext) -> Result<Self> {
        // SAFETY: retained (the caller's promise).
        unsafe { calls::ctx_push_current(device.api(), raw) }?;
        Ok(Self { device, raw })
    }
}

impl Drop for Pushed {
    fn drop(&mut self) {
        let problem = match pop(self.device) {
            Ok(popped) if popped == self.raw => return,
            Ok(_) => Error::ContextStack {
                problem: "another entry was on top than the one pushed",
            },
            Err(error) => error,
        };
        self.device
            .api()
            .log_teardown(self.device.ordinal(), problem);
    }
}

/// A thread inside a `with_device`: its stack is what it was before, with one more entry on top.
pub(crate) struct Entered {
    device: Device,
    /// What was on the stack, the top first.
    before: Vec<CUcontext>,
    left: bool,
}

impl Entered {
    /// Makes `context`, which must be retained, current.
    pub(crate) fn new(device: Device, context: CUcontext) -> Result<Self> {
        let before = alive(device, take_apart(device)?);
        put_together(device, &before)?;
        // SAFETY: retained (the caller's promise).
        unsafe { calls::ctx_push_current(device.api(), context) }?;
        Ok(Self {
            device,
            before,
            left: false,
        })
    }

    /// Puts the stack back to what it was before, whatever has happened to it since.
    pub(crate) fn leave(mut self) -> Result<()> {
        self.restore()
    }

    fn restore(&mut self) -> Result<()> {
        self.left = true;
        take_apart(self.device)?;
        let before = alive(self.device, mem::take(&mut self.before));
        put_together(self.device, &before)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if !self.left {
            if let Err(error) = self.restore() {
                self.device.api().log_teardown(self.device.ordinal(), error);
            }
        }
    }
}

/// A thread inside an owned context's `with`: that context is current, and afterwards again what
/// was current before.
pub(crate) struct Visit {
    device: Device,
    raw: CUcontext,
    /// What was current; null when the stack was empty.
    before: CUcontext,
    left: bool,
}

impl Visit {
    /// Makes the context current (`cuCtxGetCurrent`, and `cuCtxPushCurrent` if it is not).
    ///
    /// # Errors
    /// [`Error::ContextLost`], [`Error::Poisoned`], or what the driver returns.
    #[inline]
    pub(crate) fn new(context: &ContextHandle) -> Result<Self> {
        let (device, raw, api) = (context.device(), context.raw(), context.api());
        api.unpoisoned()?;
        context.not_lost()?;
        let before = calls::ctx_get_current(api)?;
        if before != raw {
            // SAFETY: retained (C1), and not dead, as was just asked.
            unsafe { calls::ctx_push_current(api, raw) }?;
        }
        Ok(Self {
            device,
            raw,
            before,
            left: false,
        })
    }

    /// Makes current what was before (`cuCtxPopCurrent` if that is another one, `cuCtxGetCurrent`).
    #[inline]
    pub(crate) fn leave(mut self) -> Result<()> {
        self.restore()
    }

    #[inline]
    fn restore(&mut self) -> Result<()> {
        self.left = true;
        let has_pushed = self.before != self.raw;
        // It fails on a stack that other code has emptied.
        let is_popped = !has_pushed || pop(self.device).is_ok();
        if is_popped && persist(self.device, calls::ctx_get_current)? == self.before {
            return Ok(());
        }
        self.repair(has_pushed)
    }

    /// Other code has left the stack in another state than it met. The entries above what was
    /// current go; if that is not there any more, it was replaced (`cuCtxSetCurrent`), or popped.
    #[cold]
    fn repair(&self, has_pushed: bool) -> Result<()> {
        let mut entries = take_apart(self.device)?;
        match entries.iter().position(|&entry| entry == self.before) {
            _ if self.before == CUcontext::NULL => entries.clear(),
            Some(above) => drop(entries.drain(..above)),
            None => {
                if !has_pushed && !entries.is_empty() {
                    entries.remove(0);
                }
                entries.insert(0, self.before);
            }
        }
        put_together(self.device, &alive(self.device, entries))
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if !self.left {
            if let Err(error) = self.restore() {
                self.device.api().log_teardown(self.device.ordinal(), error);
            }
        }
    }
}

/// Pops everything; the top comes first.
fn take_apart(device: Device) -> Result<Vec<CUcontext>> {
    let mut entries = Vec::new();
    // The stack is empty when nothing is current: a null entry cannot be pushed (measured).
    let failure = loop {
        match persist(device, calls::ctx_get_current) {
            Ok(CUcontext::NULL) => return Ok(entries),
            Ok(_) => {}
            Err(error) => break error,
        }
        match pop(device) {
            Ok(context) => entries.push(context),
            Err(error) => break error,
        }
    };
    // Other code may have ended a context meanwhile: a dead entry must not be pushed (measured:
    // that corrupts the heap now and then).
    put_together(device, &alive(device, entries))?;
    Err(failure)
}

/// Pushes `entries`, whose first is to be the top.
fn put_together(device: Device, entries: &[CUcontext]) -> Result<()> {
    for &context in entries.iter().rev() {
        // SAFETY: the handle came off this thread's stack, and its context was alive (`alive`).
        persist(device, |driver| unsafe {
            calls::ctx_push_current(driver, context)
        })?;
    }
    Ok(())
}

fn pop(device: Device) -> Result<CUcontext> {
    // SAFETY: each caller puts back what it takes off, or put it on itself.
    persist(device, |driver| unsafe { calls::ctx_pop_current(driver) })
}

/// The entries without those whose context is gone. Such an entry is not made current again: the
/// driver takes a dead handle without complaint, but a program that pushed the handle of a
/// destroyed context, and destroyed it again, had a corrupted heap (seen).
fn alive(device: Device, mut entries: Vec<CUcontext>) -> Vec<CUcontext> {
    entries.retain(|&context| !is_dead(device, context));
    entries
}

fn is_dead(device: Device, context: CUcontext) -> bool {
    // SAFETY: the handle came off this thread's stack, so from the driver; a dead one is what is
    // being asked about.
    let asked = unsafe { calls::ctx_get_id(device.api(), context) };
    matches!(asked, Err(Error::Driver(error)) if error.code() == CUresult::CONTEXT_IS_DESTROYED)
}

/// Makes a call on the stack a second time if it fails: a passing failure must not cost the caller
/// an entry, or leave one too many. What was made good is kept in the log of teardown errors.
fn persist<R>(device: Device, call: impl Fn(Api) -> Result<R>) -> Result<R> {
    let driver = device.api();
    call(driver).or_else(|first| {
        let second = call(driver)?;
        driver.log_teardown(device.ordinal(), first);
        Ok(second)
    })
}
