//! What outlives closures: entering an owned context, and work that owns what it uses.

#![allow(unsafe_code)] // the raw side

use crate::measure::{Comparison, Plan, repeat};
use crate::operations::Lab;
use crate::raw::succeed;
use scoped_cuda::ffi::{CU_EVENT_DISABLE_TIMING, CUcontext, CUevent};
use scoped_cuda::{Buffer, Result};

/// From a thread with an empty stack, against `cuCtxPushCurrent` and `cuCtxPopCurrent`.
pub(crate) fn with(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    let (gpu, symbols) = (lab.ctx.owner(), lab.symbols);
    let mut lab_context = CUcontext::NULL;
    // SAFETY: takes off the lab's entry, which is put back below.
    succeed(unsafe { (symbols.cuCtxPopCurrent)(&raw mut lab_context) })?;
    let raw = || {
        let mut popped = CUcontext::NULL;
        // SAFETY: the lab's context is retained.
        succeed(unsafe { (symbols.cuCtxPushCurrent)(lab_context) })?;
        // SAFETY: pops what was pushed; the out-pointer is valid for the call.
        succeed(unsafe { (symbols.cuCtxPopCurrent)(&raw mut popped) })
    };
    let comparison = plan.compare(|n| repeat(n, raw), |n| repeat(n, || gpu.with(|_| Ok(()))));
    // SAFETY: retained; it was there before.
    succeed(unsafe { (symbols.cuCtxPushCurrent)(lab_context) })?;
    comparison
}

/// Where the context is current already, against asking for that.
pub(crate) fn with_inside(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    let (gpu, symbols) = (lab.ctx.owner(), lab.symbols);
    let raw = || {
        let mut current = CUcontext::NULL;
        // SAFETY: the out-pointer is valid for the call.
        succeed(unsafe { (symbols.cuCtxGetCurrent)(&raw mut current) })
    };
    plan.compare(|n| repeat(n, raw), |n| repeat(n, || gpu.with(|_| Ok(()))))
}

/// A fill that is submitted and waited for, against the same with an event.
pub(crate) fn submit(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    fills(lab, plan, 1)
}

/// The same with a hundred of them: operations that nobody waits for one by one.
pub(crate) fn chain(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    fills(lab, plan, 100)
}

fn fills(lab: &Lab<'_>, plan: Plan, count: usize) -> Result<Comparison> {
    let (symbols, stream) = (lab.symbols, lab.stream.as_raw());
    let mut kept: Option<Buffer<'_, u32>> = Some(lab.ctx.zeros(1)?);
    let address = kept.as_ref().map_or(0, Buffer::as_raw);
    let mut event = CUevent::NULL;
    // SAFETY: the out-pointer is valid for the call, and the lab's context is current.
    succeed(unsafe { (symbols.cuEventCreate)(&raw mut event, CU_EVENT_DISABLE_TIMING) })?;
    let raw = || {
        for _ in 0..count {
            // SAFETY: the memory has a number and is the benchmark's.
            succeed(unsafe { (symbols.cuMemsetD32Async)(address, 7, 1, stream) })?;
        }
        // SAFETY: event and stream are live, of one context.
        succeed(unsafe { (symbols.cuEventRecord)(event, stream) })?;
        // SAFETY: the event is live.
        succeed(unsafe { (symbols.cuEventSynchronize)(event) })
    };
    let mut ours = || {
        if let Some(owned) = kept.take() {
            let work = lab.stream.submit(owned, |s, own| {
                let mut own = own.lend(s);
                (0..count).try_for_each(|_| s.fill(&mut own, 7))
            })?;
            kept = Some(work.wait()?);
        }
        Ok(())
    };
    let comparison = plan.compare(|n| repeat(n, raw), |n| repeat(n, &mut ours));
    // SAFETY: live, and not used afterwards.
    succeed(unsafe { (symbols.cuEventDestroy)(event) })?;
    comparison
}
