//! Permission to copy from one context to another.

#![allow(unsafe_code)] // copies between devices

use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::ffi::CUstream;
use crate::internal::at_rest::complete;
use crate::internal::calls::{self, PeerAddress};
use crate::internal::wait::HostUse;
use crate::internal::wait::wait;
use crate::memory::{Memory, MemoryMut, OnStream, same_len};
use crate::stream::ScopedStream;
use bytemuck::Pod;
use std::fmt;

/// Permission to copy from context `'src` to context `'dst`. `Copy`; for the other direction there
/// is another token.
///
/// *Direct*, the devices reach each other's memory over NVLink or PCI; *staged*, the driver goes
/// through host memory. Both copy the same bytes through the same call (`cuMemcpyPeerAsync` with
/// both contexts named); on two H200 with NVLink direct is ten times faster. And with a direct one
/// kernels of `'dst` [reach](Self::peer_slice) memory of `'src` where it is.
///
/// ```
/// # use scoped_cuda::{Driver, sim::Simulation};
/// # let driver = Driver::simulated(Simulation::default())?;
/// driver.with_device(0, |gpu0| {
///     driver.with_device(1, |gpu1| {
///         let source = gpu0.upload(&[1u8, 2, 3])?;
///         let mut destination = gpu1.zeros::<u8>(3)?;
///         gpu0.transfer_to(gpu1)?.copy(&source, &mut destination)?;
///         assert_eq!(destination.to_vec()?, [1, 2, 3]);
///         Ok(())
///     })
/// })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Transfer<'src, 'dst> {
    from: Context<'src>,
    to: Context<'dst>,
    is_direct: bool,
}

static_assertions::assert_impl_all!(Transfer<'static, 'static>: Copy, Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);

impl<'src, 'dst> Transfer<'src, 'dst> {
    pub(crate) fn new(from: Context<'src>, to: Context<'dst>) -> Result<Self> {
        match Self::direct(from, to) {
            Err(Error::PeerUnsupported { .. }) => Self::staged(from, to),
            other => other,
        }
    }

    /// A token for copies through host memory: works between any two devices of a driver. No driver
    /// call.
    ///
    /// Should the memory be reachable directly already, because another token of these contexts
    /// made it so, the driver uses that.
    ///
    /// # Errors
    /// [`Error::DifferentDrivers`] when one of the contexts is of another
    /// [`Driver`](crate::Driver), for example of a simulated one.
    pub fn staged(from: Context<'src>, to: Context<'dst>) -> Result<Self> {
        if from.api() != to.api() {
            return Err(Error::DifferentDrivers);
        }
        Ok(Self {
            from,
            to,
            is_direct: false,
        })
    }

    /// A token for direct copies: lets `to`'s device access the memory that `from` allocates
    /// (`cuDeviceCanAccessPeer`, `cuMemPoolSetAccess`). Doing it again changes nothing.
    ///
    /// The crate allocates from pools, and access to those is granted pool by pool: the
    /// process-wide `cuCtxEnablePeerAccess`, which other libraries in the process share, does not
    /// concern them (measured) and is left alone.
    ///
    /// # Errors
    /// [`Error::PeerUnsupported`] when the devices cannot, [`Error::DifferentDrivers`], or what the
    /// driver returns.
    #[doc(alias = "cuDeviceCanAccessPeer")]
    #[doc(alias = "cuMemPoolSetAccess")]
    pub fn direct(from: Context<'src>, to: Context<'dst>) -> Result<Self> {
        let staged = Self::staged(from, to)?;
        let (source, destination) = (from.device(), to.device());
        // Two scopes on one device: its memory is its own.
        if source != destination {
            if !destination.can_access(source)? {
                let (from, to) = (destination.ordinal(), source.ordinal());
                return Err(Error::PeerUnsupported { from, to });
            }
            from.state().pool().allow(destination)?;
        }
        Ok(Self {
            is_direct: true,
            ..staged
        })
    }

    /// Sends patterns over this path, and back, and compares what arrives, once, before real data
    /// depends on it; gives the token back.
    ///
    /// On some platforms the direct path is reported as available and delivers wrong bytes without
    /// any error (an IOMMU or a PCI bridge in between; B43, pytorch/pytorch#84803).
    ///
    /// Contexts that had a direct token copy directly from then on, in both directions and with
    /// [staged](Self::staged) tokens too. The way around a broken path is a staged token of
    /// contexts without a direct one: check in contexts made for it.
    ///
    /// # Errors
    /// [`Error::PeerUnreliable`] when other bytes arrived, or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, Error, Transfer, sim::{Peers, Simulation}};
    /// # let driver = Driver::simulated(Simulation::default().corrupts_peer_copies(Peers::All))?;
    /// let checked = driver.with_device(0, |gpu0| {
    ///     driver.with_device(1, |gpu1| gpu0.transfer_to(gpu1)?.verify().map(drop))
    /// });
    /// let is_reliable = match checked {
    ///     Err(Error::PeerUnreliable { .. }) => false,
    ///     other => other.map(|()| true)?,
    /// };
    /// driver.with_device(0, |gpu0| {
    ///     driver.with_device(1, |gpu1| {
    ///         let transfer = match is_reliable {
    ///             true => gpu0.transfer_to(gpu1)?,
    ///             false => Transfer::staged(gpu0, gpu1)?,
    ///         };
    ///         # assert!(!is_reliable);
    ///         # transfer.verify()?;
    ///         let source = gpu0.upload(&[1u8, 2, 3])?;
    ///         let mut destination = gpu1.zeros::<u8>(3)?;
    ///         transfer.copy(&source, &mut destination)?;
    ///         assert_eq!(destination.to_vec()?, [1, 2, 3]);
    ///         Ok(())
    ///     })
    /// })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn verify(self) -> Result<Self> {
        // More than one page and not a whole number of them; zeros and ones alone are what a broken
        // path may deliver by chance.
        const WORDS: u32 = 70_001;
        // What a direct token opens is open in both directions.
        let back = Transfer {
            from: self.to,
            to: self.from,
            is_direct: self.is_direct,
        };
        let mut received = self.to.zeros::<u32>(WORDS as usize)?;
        let mut returned = self.from.zeros::<u32>(WORDS as usize)?;
        let unreliable = |from: Device, to: Device| {
            let (from, to) = (from.ordinal(), to.ordinal());
            Err(Error::PeerUnreliable { from, to })
        };
        let (here, there) = (self.from.device(), self.to.device());
        for salt in [0x0000_0000, 0x5555_5555, 0xFFFF_FFFF] {
            let sent: Vec<u32> = (0..WORDS)
                .map(|i| i.wrapping_mul(0x9E37_79B9) ^ salt)
                .collect();
            self.copy(&self.from.upload(&sent)?, &mut received)?;
            if received.to_vec()? != sent {
                return unreliable(here, there);
            }
            back.copy(&received, &mut returned)?;
            if returned.to_vec()? != sent {
                return unreliable(there, here);
            }
        }
        Ok(self)
    }

    pub(crate) fn from(self) -> Context<'src> {
        self.from
    }

    pub(crate) fn to(self) -> Context<'dst> {
        self.to
    }

    /// Whether copies go directly from device to device.
    #[must_use]
    pub fn is_direct(self) -> bool {
        self.is_direct
    }

    /// Copies `source` to `destination`, which has as many elements; both at rest, and complete
    /// when it returns (`cuMemcpyPeerAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::ContextLost`] when one of the two contexts was reset, or
    /// what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when there is host memory that a
    /// device may reach.
    #[doc(alias = "cuMemcpyPeerAsync")]
    #[doc(alias = "memcpy_dtod")]
    pub fn copy<T: Pod>(
        self,
        source: &impl Memory<'src, T>,
        destination: &mut impl MemoryMut<'dst, T>,
    ) -> Result<()> {
        same_len(source.len(), destination.len())?;
        let bytes = source.len() * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        let (from, to) = (
            self.source(source.as_raw()),
            self.destination(destination.as_raw()),
        );
        // That the source's context is alive, `complete` asks.
        self.to.state().not_lost()?;
        complete(self.from.state(), HostUse::None, |stream| {
            // SAFETY: both sides have `bytes` in the contexts named (equal brands, C2, C8), at rest
            // and borrowed until `complete` returns, which is after the wait (C5, C6).
            unsafe { calls::memcpy_peer_async(self.from.api(), to, from, bytes, stream) }
        })
    }

    /// Enqueues a copy of `source`, in the order of stream `from`, to `destination`, in the order
    /// of stream `to`, with as many elements.
    ///
    /// The copy runs on `from`, after what `to` has been given so far; what `to` is given next
    /// waits for it. The host does not wait.
    ///
    /// Driver calls: `cuMemcpyPeerAsync` with an event record and a wait before and after it.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), when host memory is lent to a stream.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, scope, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # driver.with_device(0, |gpu0| driver.with_device(1, |gpu1| {
    /// let (sender, receiver) = (gpu0.new_stream()?, gpu1.new_stream()?);
    /// let (mut source, mut destination) = (gpu0.zeros::<u32>(2)?, gpu1.zeros::<u32>(2)?);
    /// let transfer = gpu0.transfer_to(gpu1)?;
    /// scope(|scope| {
    ///     scope.on(&sender, |a| {
    ///         scope.on(&receiver, |b| {
    ///             let (mut source, mut destination) = (source.lend(a), destination.lend(b));
    ///             a.fill(&mut source, 4)?;
    ///             transfer.enqueue(a, &source, b, &mut destination)
    ///         })
    ///     })
    /// })?;
    /// assert_eq!(destination.to_vec()?, [4, 4]);
    /// # Ok(()) }))?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn enqueue<'a, 'b, 'scope, T: Pod>(
        self,
        from: ScopedStream<'a, 'scope, 'src>,
        source: &OnStream<'a, impl Memory<'src, T>>,
        to: ScopedStream<'b, 'scope, 'dst>,
        destination: &mut OnStream<'b, impl MemoryMut<'dst, T>>,
    ) -> Result<()> {
        let (source, destination) = (source.memory(), destination.memory_mut());
        same_len(source.len(), destination.len())?;
        let bytes = source.len() * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        let (source, destination) = (
            self.source(source.as_raw()),
            self.destination(destination.as_raw()),
        );
        self.in_both_orders(from, to, |stream| {
            // SAFETY: both sides have `bytes` in the contexts named (equal brands, C2, C8). The
            // source is in the order of `from`, where the copy runs; the destination in that of
            // `to`, which the copy waited for and which waits for the copy next (C6).
            unsafe { calls::memcpy_peer_async(self.from.api(), destination, source, bytes, stream) }
                .map_err(|error| {
                    self.from
                        .state()
                        .explained(self.to.state().explained(error))
                })
        })
    }

    /// Runs `copy`, which enqueues a copy on the stream of `from`, after what `to` has been given
    /// so far, and before what `to` is given next.
    pub(crate) fn in_both_orders<'scope>(
        self,
        from: ScopedStream<'_, 'scope, 'src>,
        to: ScopedStream<'_, 'scope, 'dst>,
        copy: impl FnOnce(CUstream) -> Result<()>,
    ) -> Result<()> {
        let stream = from.stream().as_raw();
        from.wait_for(to)?;
        let copied = copy(stream);
        // If the destination's stream cannot be made to wait, the host does: nothing may touch the
        // memory before the copy is done.
        let ordered = to.wait_for(from).or_else(|error| {
            wait(self.from.state(), stream, || {
                from.stream().loans().is_lent()
            })?;
            Err(error)
        });
        copied.and(ordered)
    }

    fn source(self, address: u64) -> PeerAddress {
        PeerAddress {
            context: self.from.as_raw(),
            address,
        }
    }

    fn destination(self, address: u64) -> PeerAddress {
        PeerAddress {
            context: self.to.as_raw(),
            address,
        }
    }
}

impl fmt::Debug for Transfer<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from.device().ordinal(), self.to.device().ordinal());
        write!(
            f,
            "Transfer(device {from} to {to}, {})",
            if self.is_direct { "direct" } else { "staged" }
        )
    }
}

impl<'ctx> Context<'ctx> {
    /// Permission to copy from this context to `dst`: direct when the devices have peer access,
    /// else staged through the host.
    ///
    /// [`Transfer::direct`] and [`Transfer::staged`] choose explicitly.
    ///
    /// # Errors
    /// What the driver returns.
    pub fn transfer_to<'dst>(self, dst: Context<'dst>) -> Result<Transfer<'ctx, 'dst>> {
        Transfer::new(self, dst)
    }
}
