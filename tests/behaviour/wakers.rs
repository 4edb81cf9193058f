//! Wakers are code of the user: what they do when they are cloned or dropped touches neither a copy
//! in flight nor its memory. Claims C4, C6, C11.

#![allow(unsafe_code)] // a waker of its own

use crate::common::{Gate, in_context};
use scoped_cuda::{Buffer, Context, OwnedCopy, PinnedBuffer, Result, Stream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread;

const N: usize = 1000;

fn numbers(seed: u32) -> Vec<u32> {
    (0..N as u32).map(|i| i * 1000 + seed).collect()
}

type Sides<'ctx> = (PinnedBuffer<'ctx, u32>, Buffer<'ctx, u32>);

fn sides(ctx: Context<'_>, seed: u32) -> Result<Sides<'_>> {
    Ok((ctx.pinned_from(&numbers(seed))?, ctx.zeros(N)?))
}

fn begin<'ctx>(stream: &Stream<'ctx>, (host, device): Sides<'ctx>) -> Result<OwnedCopy<'ctx, u32>> {
    Ok(stream.upload_owned(host, device)?)
}

/// A waker whose data panics when the last reference to it is dropped, unless the thread panics.
struct PanicsWhenDropped;

impl Wake for PanicsWhenDropped {
    fn wake(self: Arc<Self>) {}
}

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("a waker's data was dropped");
        }
    }
}

/// Polls a copy in flight with a waker of which the copy has the only reference afterwards.
fn poll_with_a_bad_waker(copy: &mut (impl Future + Unpin)) {
    let waker = Waker::from(Arc::new(PanicsWhenDropped));
    assert!(
        Pin::new(copy)
            .poll(&mut Task::from_waker(&waker))
            .is_pending()
    );
}

/// C4, C6, C11: what a waker does when it is dropped touches neither the copy nor its memory.
#[test]
fn a_waker_that_panics_when_it_is_dropped_leaves_the_copy_in_flight() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let sides_30 = sides(ctx, 30)?;
        let gate = Gate::close(&stream);
        let mut copy = begin(&stream, sides_30)?;
        poll_with_a_bad_waker(&mut copy);
        // This poll drops the first waker.
        poll_with_a_bad_waker(&mut copy);
        assert!(
            !copy.is_complete()?,
            "the copy is in flight, with its memory"
        );
        gate.open();
        assert_eq!(copy.wait()?.1.to_vec()?, numbers(30));
        Ok(())
    });
}

#[test]
fn a_copy_with_a_waker_that_panics_is_dropped_and_waited_for_quietly() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let (sides_31, sides_32) = (sides(ctx, 31)?, sides(ctx, 32)?);
        let gate = Gate::close(&stream);
        let mut dropped = begin(&stream, sides_31)?;
        let mut waited = begin(&stream, sides_32)?;
        poll_with_a_bad_waker(&mut dropped);
        poll_with_a_bad_waker(&mut waited);
        drop(dropped);
        gate.open();
        assert_eq!(waited.wait()?.1.to_vec()?, numbers(32));
        Ok(())
    });
}

/// While a task unwinds, a second panic would end the process.
#[test]
fn a_copy_with_a_waker_that_panics_is_dropped_while_its_task_unwinds() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let sides_33 = sides(ctx, 33)?;
        let gate = Gate::close(&stream);
        let mut copy = begin(&stream, sides_33)?;
        poll_with_a_bad_waker(&mut copy);
        let unwound = catch_unwind(AssertUnwindSafe(move || {
            let _copy = copy;
            panic!("in the task");
        }));
        assert!(unwound.is_err());
        gate.open();
        Ok(())
    });
}

/// A waker that cannot be cloned panics in the poll, and the copy stays what it was.
#[test]
fn a_waker_that_panics_when_it_is_cloned_leaves_the_copy_in_flight() {
    const VTABLE: RawWakerVTable =
        RawWakerVTable::new(|_| panic!("a waker was cloned"), |_| (), |_| (), |_| ());
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let sides_34 = sides(ctx, 34)?;
        let gate = Gate::close(&stream);
        let mut copy = begin(&stream, sides_34)?;
        // SAFETY: the functions of the table use no data.
        let waker = unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) };
        let polled = catch_unwind(AssertUnwindSafe(|| {
            Pin::new(&mut copy)
                .poll(&mut Task::from_waker(&waker))
                .map(drop)
        }));
        assert!(polled.is_err());
        assert!(!copy.is_complete()?);
        gate.open();
        assert_eq!(copy.wait()?.1.to_vec()?, numbers(34));
        Ok(())
    });
}
