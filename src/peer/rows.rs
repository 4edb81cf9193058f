//! Rows from one context to another, and of one scope in another.

#![allow(unsafe_code)] // copies between devices

use super::{SameContext, Transfer};
use crate::error::Result;
use crate::extent::Extent;
use crate::ffi::CUcontext;
use crate::internal::at_rest::complete;
use crate::internal::wait::HostUse;
use crate::memory::OnStream;
use crate::memory::region::{self, End, Region};
use crate::memory::{
    PitchedBuffer, PitchedMemory, PitchedMemoryMut, PitchedSlice, PitchedSliceMut,
};
use crate::stream::ScopedStream;
use bytemuck::Pod;

impl<'src, 'dst> Transfer<'src, 'dst> {
    /// Copies the rows of `source` to `destination`, which has the same extent; both at rest, and
    /// complete when it returns (`cuMemcpy3DPeerAsync`). What lies between the rows is not written.
    ///
    /// # Errors
    /// [`Error::ExtentMismatch`](crate::Error::ExtentMismatch),
    /// [`Error::ContextLost`](crate::Error::ContextLost) when one of the two contexts was reset, or
    /// what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, Extent, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # driver.with_two_devices([0, 1], |gpu0, gpu1| {
    /// let source = gpu0.upload_rows(&[1u8, 2, 3, 4, 5, 6], Extent::new(3, 2))?;
    /// let mut destination = gpu1.zeros_rows::<u8>(Extent::new(2, 2))?;
    /// gpu0.transfer_to(gpu1)?.copy_rows(&source.region(1.., .., ..)?, &mut destination)?;
    /// assert_eq!(destination.to_vec()?, [2, 3, 5, 6]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuMemcpy3DPeerAsync")]
    pub fn copy_rows<T: Pod>(
        self,
        source: &impl PitchedMemory<'src, T>,
        destination: &mut impl PitchedMemoryMut<'dst, T>,
    ) -> Result<()> {
        let from = source.as_slice().geometry();
        let to = destination.as_mut_slice().as_slice().geometry();
        Extent::same(from.extent, to.extent)?;
        if to.is_empty::<T>() {
            return Ok(());
        }
        let (state, [from, to]) = (self.from().state(), self.ends(from, to));
        // That the source's context is alive, `complete` asks.
        self.to().state().not_lost()?;
        complete(state, HostUse::None, |stream| {
            // SAFETY: both sides have the rows in the contexts named (equal brands, C2, C8), share
            // no element (`destination` is a mutable borrow), and are at rest and borrowed until
            // `complete` returns, which is after the wait (C5, C6).
            unsafe { region::copy_between::<T>(state, to, from, stream) }
        })
    }

    /// Enqueues a copy of the rows of `source`, in the order of stream `from`, to `destination`, in
    /// the order of stream `to`, of the same extent: what [`enqueue`](Self::enqueue) is for buffers
    /// (`cuMemcpy3DPeerAsync`, with an event record and a wait before and after it).
    ///
    /// # Errors
    /// [`Error::ExtentMismatch`](crate::Error::ExtentMismatch) or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when host memory is lent to a stream.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, Extent, scope, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # driver.with_two_devices([0, 1], |gpu0, gpu1| {
    /// let (sender, receiver) = (gpu0.new_stream()?, gpu1.new_stream()?);
    /// let mut source = gpu0.upload_rows(&[1u8, 2, 3, 4], Extent::new(2, 2))?;
    /// let mut destination = gpu1.zeros_rows::<u8>(Extent::new(2, 1))?;
    /// let transfer = gpu0.transfer_to(gpu1)?;
    /// scope(|scope| {
    ///     scope.on(&sender, |a| {
    ///         scope.on(&receiver, |b| {
    ///             let source = source.lend(a);
    ///             let mut destination = destination.lend(b);
    ///             transfer.enqueue_rows(a, &source.region(.., 1.., ..)?, b, &mut destination)
    ///         })
    ///     })
    /// })?;
    /// assert_eq!(destination.to_vec()?, [3, 4]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn enqueue_rows<'a, 'b, 'scope, T: Pod>(
        self,
        from: ScopedStream<'a, 'scope, 'src>,
        source: &OnStream<'a, impl PitchedMemory<'src, T>>,
        to: ScopedStream<'b, 'scope, 'dst>,
        destination: &mut OnStream<'b, impl PitchedMemoryMut<'dst, T>>,
    ) -> Result<()> {
        let here = source.memory().as_slice().geometry();
        let there = destination
            .memory_mut()
            .as_mut_slice()
            .as_slice()
            .geometry();
        Extent::same(here.extent, there.extent)?;
        if there.is_empty::<T>() {
            return Ok(());
        }
        let [here, there] = self.ends(here, there);
        self.in_both_orders(from, to, |stream| {
            // SAFETY: both sides have the rows in the contexts named (equal brands, C2, C8). The
            // source is in the order of `from`, where the copy runs; the destination in that of
            // `to`, which the copy waited for and which waits for the copy next (C6).
            unsafe { region::copy_between::<T>(self.from().state(), there, here, stream) }
        })
    }

    fn ends(self, from: Region, to: Region) -> [End; 2] {
        let end = |context: CUcontext, region| End { context, region };
        [end(self.from().as_raw(), from), end(self.to().as_raw(), to)]
    }
}

impl<'ctx, 'other> SameContext<'ctx, 'other> {
    /// The elements of pitched memory of scope `'other`, to read in scope `'ctx`; what
    /// [`slice_of`](Self::slice_of) is for buffers.
    #[must_use]
    pub fn pitched<'m, T>(self, memory: &'m PitchedBuffer<'other, T>) -> PitchedSlice<'m, 'ctx, T> {
        PitchedSlice::new(self.context(), memory.as_slice().geometry())
    }

    /// The elements of pitched memory of scope `'other`, to read and write in scope `'ctx`.
    #[must_use]
    pub fn pitched_mut<'m, T>(
        self,
        memory: &'m mut PitchedBuffer<'other, T>,
    ) -> PitchedSliceMut<'m, 'ctx, T> {
        PitchedSliceMut::new(self.context(), memory.as_slice().geometry())
    }
}
