//! Two scopes of one context, and the memory of one in the other.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::memory::{Buffer, Slice, SliceMut};
use std::fmt;

/// The proof that two scopes are of one context, so that memory of scope `'other` may be used in
/// scope `'ctx`. `Copy`; for the other direction there is another one.
///
/// Two scopes of one device have two names, and with names alone the compiler cannot know that they
/// stand for the same primary context. Here the driver's handles have been compared. A buffer goes
/// on belonging to its scope, where it is freed; what is used in the other one borrows it.
///
/// ```
/// # use scoped_cuda::{Buffer, Context, Driver, Result, sim::Simulation};
/// // A library with a scope of its own and memory in it.
/// struct Cache<'cache> {
///     ctx: Context<'cache>,
///     table: Buffer<'cache, u32>,
/// }
///
/// fn look_up<'ctx>(ctx: Context<'ctx>, cache: &Cache<'_>) -> Result<Buffer<'ctx, u32>> {
///     let mut found = ctx.zeros(2)?;
///     let same = ctx.same_context(cache.ctx)?;
///     found.copy_from(&same.slice_of(&cache.table).slice(1..3)?)?; // on one device, without a `Transfer`
///     Ok(found)
/// }
///
/// # let driver = Driver::simulated(Simulation::default())?;
/// driver.with_device(0, |ctx| {
///     let cache = Cache { ctx, table: ctx.upload(&[1, 2, 3])? };
///     driver.with_device(0, |ctx| {
///         assert_eq!(look_up(ctx, &cache)?.to_vec()?, [2, 3]);
///         Ok(())
///     })
/// })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct SameContext<'ctx, 'other> {
    context: Context<'ctx>,
    /// Keeps the brand, and with it the proof to what it is about.
    other: Context<'other>,
}

static_assertions::assert_impl_all!(SameContext<'static, 'static>: Copy, Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);

impl<'ctx> Context<'ctx> {
    /// Proves that `other` is a scope of the same context, of the same driver, so that its memory
    /// may be used in this scope (`cuCtxGetId`).
    ///
    /// # Errors
    /// [`Error::DifferentDrivers`]; [`Error::DifferentContexts`] when they are of two devices;
    /// [`Error::ContextLost`](Error::ContextLost) when the context of one of them was reset by
    /// other code in the process.
    #[doc(alias = "cuCtxGetId")]
    pub fn same_context<'other>(self, other: Context<'other>) -> Result<SameContext<'ctx, 'other>> {
        if self.api() != other.api() {
            return Err(Error::DifferentDrivers);
        }
        let (here, there) = (self.state(), other.state());
        // One that was reset is not the one that has its handle now; the ids tell, but which of the
        // two is lost is better news.
        here.not_lost()?;
        there.not_lost()?;
        if !here.is_same_as(there) {
            return Err(Error::DifferentContexts {
                first: here.ordinal(),
                second: there.ordinal(),
            });
        }
        Ok(SameContext {
            context: self,
            other,
        })
    }
}

impl<'ctx, 'other> SameContext<'ctx, 'other> {
    /// The scope under whose name the memory is used.
    pub(crate) fn context(self) -> Context<'ctx> {
        self.context
    }

    /// The elements of a buffer of scope `'other`, to read in scope `'ctx`. No driver call.
    ///
    /// The buffer is at rest and stays so as long as it is borrowed; what scope `'ctx` does is
    /// complete when it returns, or borrows for as long as it is not.
    #[must_use]
    pub fn slice_of<'m, T>(self, buffer: &'m Buffer<'other, T>) -> Slice<'m, 'ctx, T> {
        Slice::new(self.context, buffer.as_raw(), buffer.len())
    }

    /// The elements of a buffer of scope `'other`, to read and write in scope `'ctx`. No driver
    /// call.
    ///
    /// [`SliceMut::lend`](crate::SliceMut::lend) puts them into the order of a stream.
    #[must_use]
    pub fn slice_of_mut<'m, T>(self, buffer: &'m mut Buffer<'other, T>) -> SliceMut<'m, 'ctx, T> {
        SliceMut::new(self.context, buffer.as_raw(), buffer.len())
    }
}

impl fmt::Debug for SameContext<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SameContext(device {})", self.other.device().ordinal())
    }
}
