//! Memory of one device as an argument for the kernels of another.

use super::Transfer;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ffi::{CUdeviceptr, CUstream};
use crate::kernel::{Arg, In, InOut, LaunchConfig, Out, Use, seal};
use crate::memory::sealed::Token;
use crate::memory::{Buffer, HandOver, OnStream, resolve, sealed};
use crate::stream::ScopedStream;
use bytemuck::Pod;
use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// Elements of a buffer of another device that kernels of `'dst` read over NVLink or PCI, where
/// they are. `Copy`, like `&[T]`.
///
/// Made by [`Transfer::peer_slice`](crate::Transfer::peer_slice). It is an argument for a parameter
/// [`In`] and nothing else: copies go through the [`Transfer`] itself.
pub struct PeerSlice<'m, 'dst, T> {
    context: Context<'dst>,
    address: CUdeviceptr,
    len: usize,
    _borrow: PhantomData<&'m [T]>,
}

/// Elements of a buffer of another device that kernels of `'dst` read and write where they are.
///
/// Made by [`Transfer::peer_slice_mut`](crate::Transfer::peer_slice_mut).
/// [`PeerSliceMut::lend`](crate::PeerSliceMut::lend) puts it into the order of a stream; what that
/// gives is an argument for [`Out`], [`InOut`] and [`In`] and nothing else.
pub struct PeerSliceMut<'m, 'dst, T> {
    context: Context<'dst>,
    address: CUdeviceptr,
    len: usize,
    _borrow: PhantomData<&'m mut [T]>,
}

static_assertions::assert_impl_all!(PeerSlice<'static, 'static, f32>: Copy, Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
static_assertions::assert_impl_all!(PeerSliceMut<'static, 'static, f32>: Send, Sync, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(PeerSliceMut<'static, 'static, f32>: Clone);

impl<'src, 'dst> Transfer<'src, 'dst> {
    /// The elements of a buffer of `'src`, for kernels of `'dst` to read where they are. Only with
    /// a direct token.
    ///
    /// The direction is the direction of the bytes: a kernel that reads from `'src` brings them to
    /// `'dst`. It may write too, with [`peer_slice_mut`](Self::peer_slice_mut) of the same token.
    ///
    /// The path is the one that direct copies take, so where a platform corrupts those,
    /// [`verify`](Self::verify) finds it for these too. A kernel gets far less out of a link than
    /// out of memory of its own: reach for what is read once and copy the rest.
    ///
    /// Driver calls: `cuCtxGetId`; access was granted when the token was made.
    ///
    /// # Errors
    /// [`Error::NotDirect`] with a staged token, [`Error::ContextLost`] when the buffer's context
    /// was reset.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, In, InOut, LaunchConfig, Transfer, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # driver.machine().unwrap().kernel("add", |call| {
    /// #     let n = call.scalar::<u32>(2) as usize;
    /// #     let x = call.load_n::<f32>(0, n);
    /// #     call.update::<f32>(1, |y| y.iter_mut().zip(&x).for_each(|(y, x)| *y += x));
    /// # });
    /// # let ptx = scoped_cuda::ptx!(".version 8.0\n.target sm_80\n.address_size 64\n
    /// #     .visible .entry add(.param .u64 x, .param .u64 y, .param .u32 n) { ret; }");
    /// driver.with_two_devices([0, 1], |gpu0, gpu1| {
    ///     let add = gpu1.load_ptx(ptx)?.kernel::<(In<f32>, InOut<f32>, u32)>("add")?;
    ///     let stream = gpu1.new_stream()?;
    ///     let far = gpu0.upload(&[1.0f32, 2.0, 3.0])?;
    ///     let mut near = gpu1.filled(3, 10.0f32)?;
    ///     let far = Transfer::direct(gpu0, gpu1)?.peer_slice(&far)?;
    ///     stream.scope(|s| {
    ///         let mut near = near.lend(s);
    ///         // SAFETY: `add` reads x and updates y at indices below n, and both have 3 elements.
    ///         unsafe { s.launch(&add, LaunchConfig::for_elements(3), (far, &mut near, 3)) }
    ///     })?;
    ///     assert_eq!(near.to_vec()?, [11.0, 12.0, 13.0]);
    ///     Ok(())
    /// })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn peer_slice<'m, T>(self, buffer: &'m Buffer<'src, T>) -> Result<PeerSlice<'m, 'dst, T>> {
        // A buffer and not any memory: only of a buffer is it certain that it came from the pool
        // that the token opened.
        self.reaches()?;
        Ok(PeerSlice::new(self.to(), buffer.as_raw(), buffer.len()))
    }

    /// The elements of a buffer of `'src`, for kernels of `'dst` to read and write where they are.
    /// Only with a direct token.
    ///
    /// Until the borrow ends nobody else has them: neither the device whose memory it is nor the
    /// host.
    ///
    /// # Errors
    /// As [`peer_slice`](Self::peer_slice).
    pub fn peer_slice_mut<'m, T>(
        self,
        buffer: &'m mut Buffer<'src, T>,
    ) -> Result<PeerSliceMut<'m, 'dst, T>> {
        self.reaches()?;
        Ok(PeerSliceMut::new(self.to(), buffer.as_raw(), buffer.len()))
    }

    fn reaches(self) -> Result<()> {
        if !self.is_direct() {
            return Err(Error::NotDirect {
                from: self.from().device().ordinal(),
                to: self.to().device().ordinal(),
            });
        }
        // The scope in which a kernel runs asks for its own context only.
        self.from().state().not_lost()
    }
}

impl<'m, 'dst, T> PeerSlice<'m, 'dst, T> {
    /// `len` elements at `address` are reachable from the context's device and borrowed for `'m`.
    fn new(context: Context<'dst>, address: CUdeviceptr, len: usize) -> Self {
        Self {
            context,
            address,
            len,
            _borrow: PhantomData,
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device address; 0 for empty memory.
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// The elements of `range`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
        let (start, len) = resolve(range, self.len)?;
        let address = self.address + (start * size_of::<T>()) as u64;
        Ok(Self::new(self.context, address, len))
    }

    fn describe(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, element) = (self.context.device().ordinal(), type_name::<T>());
        let (len, address) = (self.len, self.address);
        write!(
            f,
            "{name}(for device {device}, {len} x {element}, {address:#x})"
        )
    }
}

impl<'m, 'dst, T> PeerSliceMut<'m, 'dst, T> {
    /// `len` elements at `address` are reachable from the context's device and mutably borrowed for
    /// `'m`.
    fn new(context: Context<'dst>, address: CUdeviceptr, len: usize) -> Self {
        Self {
            context,
            address,
            len,
            _borrow: PhantomData,
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device address; 0 for empty memory.
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// The same elements for a shorter time, to read.
    #[must_use]
    pub fn as_slice(&self) -> PeerSlice<'_, 'dst, T> {
        PeerSlice::new(self.context, self.address, self.len)
    }

    /// The same elements for a shorter time, to write.
    #[must_use]
    pub fn reborrow(&mut self) -> PeerSliceMut<'_, 'dst, T> {
        PeerSliceMut::new(self.context, self.address, self.len)
    }

    /// The elements before `middle` and those from it on, which may go to different streams.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when `middle` is past the end.
    pub fn split_at_mut(self, middle: usize) -> Result<(Self, Self)> {
        let (_, tail) = resolve(middle.., self.len)?;
        let tail_address = self.address + (middle * size_of::<T>()) as u64;
        Ok((
            Self::new(self.context, self.address, middle),
            Self::new(self.context, tail_address, tail),
        ))
    }
}

impl<'scope, 'ctx, T> PeerSliceMut<'scope, 'ctx, T> {
    /// Puts memory of another device into the order of `stream`, for its kernels, until the end of
    /// the scope. No driver call.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, InOut, LaunchConfig, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # driver.machine().unwrap().kernel("scale", |call| {
    /// #     let (n, k) = (call.scalar::<u32>(1) as usize, call.scalar::<f32>(2));
    /// #     call.update::<f32>(0, |x| x[..n].iter_mut().for_each(|x| *x *= k));
    /// # });
    /// # let ptx = scoped_cuda::ptx!(".version 8.0\n.target sm_80\n.address_size 64\n
    /// #     .visible .entry scale(.param .u64 x, .param .u32 n, .param .f32 k) { ret; }");
    /// # driver.with_two_devices([0, 1], |gpu0, gpu1| {
    /// let scale = gpu1.load_ptx(ptx)?.kernel::<(InOut<f32>, u32, f32)>("scale")?;
    /// let (stream, mut far) = (gpu1.new_stream()?, gpu0.upload(&[1.0f32, 2.0, 3.0])?);
    /// let there = gpu0.transfer_to(gpu1)?.peer_slice_mut(&mut far)?;
    /// stream.scope(|s| {
    ///     let mut there = there.lend(s);
    ///     // SAFETY: `scale` multiplies the first n elements of x by k, and x has 3.
    ///     unsafe { s.launch(&scale, LaunchConfig::for_elements(3), (&mut there, 3, 10.0)) }
    /// })?;
    /// assert_eq!(far.to_vec()?, [10.0, 20.0, 30.0]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[must_use]
    pub fn lend<'s>(self, stream: ScopedStream<'s, 'scope, 'ctx>) -> OnStream<'s, Self> {
        OnStream::new(self, stream.brand())
    }
}

impl<'s, 'dst, T> OnStream<'s, PeerSliceMut<'_, 'dst, T>> {
    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.memory().len()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.memory().is_empty()
    }
}

impl<T> Clone for PeerSlice<'_, '_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for PeerSlice<'_, '_, T> {}

// Arguments of a kernel: that is all. Neither type is `Memory`, `MemoryMut` or `Readable`, because
// a copy on behalf of `'dst`'s context reaches pool memory of another device only by the accident
// of which context is current.

#[diagnostic::do_not_recommend]
impl<'s, 'scope, 'ctx, T: Pod> Arg<'s, 'scope, 'ctx, In<T>> for PeerSlice<'scope, 'ctx, T> {
    type Value = seal::One<CUdeviceptr>;

    #[inline]
    fn value(self, _: &LaunchConfig, _: Token) -> Result<Self::Value> {
        Ok(seal::One(self.address))
    }

    #[inline]
    fn seen(&self, _: &LaunchConfig) -> usize {
        self.len
    }

    fn uses(&self, _: Token, tell: &mut dyn FnMut(Use)) {
        tell(Use::read::<T>(self.address, self.len));
    }
}

#[diagnostic::do_not_recommend]
impl<'s, 'scope, 'ctx, T: Pod> Arg<'s, 'scope, 'ctx, In<T>>
    for &OnStream<'s, PeerSliceMut<'_, 'ctx, T>>
{
    type Value = seal::One<CUdeviceptr>;

    #[inline]
    fn value(self, _: &LaunchConfig, _: Token) -> Result<Self::Value> {
        Ok(seal::One(self.memory().address))
    }

    #[inline]
    fn seen(&self, _: &LaunchConfig) -> usize {
        self.memory().len
    }

    fn uses(&self, _: Token, tell: &mut dyn FnMut(Use)) {
        tell(Use::read::<T>(self.memory().address, self.memory().len));
    }
}

#[diagnostic::do_not_recommend]
impl<'s, 'scope, 'ctx, T: Pod> Arg<'s, 'scope, 'ctx, Out<T>>
    for &mut OnStream<'s, PeerSliceMut<'_, 'ctx, T>>
{
    type Value = seal::One<CUdeviceptr>;

    #[inline]
    fn value(self, _: &LaunchConfig, _: Token) -> Result<Self::Value> {
        Ok(seal::One(self.memory().address))
    }

    #[inline]
    fn seen(&self, _: &LaunchConfig) -> usize {
        self.memory().len
    }

    fn uses(&self, _: Token, tell: &mut dyn FnMut(Use)) {
        tell(Use::write::<T>(self.memory().address, self.memory().len));
    }
}

#[diagnostic::do_not_recommend]
impl<'s, 'scope, 'ctx, T: Pod> Arg<'s, 'scope, 'ctx, InOut<T>>
    for &mut OnStream<'s, PeerSliceMut<'_, 'ctx, T>>
{
    type Value = seal::One<CUdeviceptr>;

    #[inline]
    fn value(self, _: &LaunchConfig, _: Token) -> Result<Self::Value> {
        Ok(seal::One(self.memory().address))
    }

    #[inline]
    fn seen(&self, _: &LaunchConfig) -> usize {
        self.memory().len
    }

    fn uses(&self, _: Token, tell: &mut dyn FnMut(Use)) {
        tell(Use::write::<T>(self.memory().address, self.memory().len));
    }
}

impl<T> sealed::Sealed for PeerSliceMut<'_, '_, T> {}

impl<'scope, 'ctx, T> HandOver<'scope, 'ctx> for PeerSliceMut<'scope, 'ctx, T> {
    fn freed_on(&mut self, _: CUstream, _: sealed::Token) {}
}

impl<T> fmt::Debug for PeerSlice<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe("PeerSlice", f)
    }
}

impl<T> fmt::Debug for PeerSliceMut<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().describe("PeerSliceMut", f)
    }
}
