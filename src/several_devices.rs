//! The way into several devices at once.

use crate::context::Context;
use crate::driver::Driver;
use crate::error::{Error, Result};

/// Several devices at once: [`with_device`](Driver::with_device) in itself, with one level of
/// indentation.
///
/// Each context has a lifetime of its own, and what is made from one does not mix with what is made
/// from another, however alike they look. Naming a device twice is allowed: that gives two scopes
/// of one device, which are two names all the same ([`Context::same_context`] compares them).
///
/// # As many devices as there are
///
/// A name is given by the compiler, so a program cannot write down as many as the machine has
/// devices. What each device has is a [`Detached`](crate::Detached) value then, of an
/// [owned context](Driver::retain), and a loop over the devices is a loop. Where two devices meet,
/// both are entered, and a [`Transfer`](crate::Transfer) is made of the two names:
///
/// ```
/// # use scoped_cuda::{Driver, Result, sim::Simulation};
/// # let driver = Driver::simulated(Simulation::default().devices(3))?;
/// let mut rows = Vec::new();
/// for device in driver.devices()? {
///     let gpu = driver.retain(device.ordinal())?;
///     rows.push(gpu.with(|ctx| Ok(ctx.detach(ctx.zeros::<u32>(3)?)))?);
/// }
/// rows[0].with_mut(|_, row| row.write(&[1, 2, 3]))?;
/// for here in 1..rows.len() {
///     let (left, right) = rows.split_at_mut(here);
///     left[here - 1].with(|a, from| {
///         right[0].with_mut(|b, to| a.transfer_to(b)?.copy(from, to))
///     })?;
/// }
/// for row in &rows {
///     assert_eq!(row.with(|_, row| row.to_vec())?, [1, 2, 3]);
/// }
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
///
/// Devices that are to work at the same time are given their work with
/// [`Context::submit`], which does not wait: `examples/multi_gpu.rs` is such a program, on any
/// number of devices.
///
/// If the devices exchange nothing, a thread for each is simpler. Memory stays on its thread's
/// device, and host data, in slices or through channels, is what the threads share:
///
/// ```
/// # use scoped_cuda::{Driver, Result, sim::Simulation};
/// # let driver = Driver::simulated(Simulation::default().devices(3))?;
/// use std::{sync::mpsc, thread};
///
/// let numbers: Vec<u32> = (0..10).collect();
/// let count = driver.device_count()? as usize;
/// let (sender, sums) = mpsc::channel();
/// thread::scope(|threads| -> Result<()> {
///     let workers: Vec<_> = numbers
///         .chunks(numbers.len().div_ceil(count))
///         .zip(0..)
///         .map(|(part, ordinal)| {
///             let sender = sender.clone();
///             threads.spawn(move || {
///                 driver.with_device(ordinal, |ctx| {
///                     let there = ctx.upload(part)?;
///                     let sum: u32 = there.to_vec()?.iter().sum(); // a kernel's work
///                     sender.send(sum).expect("the receiver is waiting");
///                     Ok(())
///                 })
///             })
///         })
///         .collect();
///     workers.into_iter().try_for_each(|worker| worker.join().expect("a worker panicked"))
/// })?;
/// drop(sender); // the last one: the receiver comes to an end
/// assert_eq!(sums.iter().sum::<u32>(), 45);
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
impl Driver {
    /// Runs `f` with contexts of two devices.
    ///
    /// Driver calls: the calls of [`with_device`](Self::with_device), in the order of `ordinals`;
    /// they end in the reverse order. The last device's context is current in `f`.
    ///
    /// # Errors
    /// As [`with_device`](Self::with_device), of each.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// let arrived = driver.with_two_devices([0, 1], |gpu0, gpu1| {
    ///     let source = gpu0.upload(&[1u8, 2, 3])?;
    ///     let mut destination = gpu1.zeros::<u8>(3)?;
    ///     gpu0.transfer_to(gpu1)?.copy(&source, &mut destination)?;
    ///     destination.to_vec()
    /// })?;
    /// assert_eq!(arrived, [1, 2, 3]);
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn with_two_devices<R>(
        self,
        ordinals: [u32; 2],
        f: impl for<'a, 'b> FnOnce(Context<'a>, Context<'b>) -> Result<R>,
    ) -> Result<R> {
        self.try_with_two_devices(ordinals, f)
    }

    /// [`with_two_devices`](Self::with_two_devices) for a caller with an error type of its own.
    ///
    /// # Errors
    /// As there, through `E::from`.
    pub fn try_with_two_devices<R, E: From<Error>>(
        self,
        [first, second]: [u32; 2],
        f: impl for<'a, 'b> FnOnce(Context<'a>, Context<'b>) -> Result<R, E>,
    ) -> Result<R, E> {
        self.try_with_device(first, |a| self.try_with_device(second, |b| f(a, b)))
    }

    /// Runs `f` with contexts of three devices; otherwise
    /// [`with_two_devices`](Self::with_two_devices).
    ///
    /// # Errors
    /// As there.
    pub fn with_three_devices<R>(
        self,
        ordinals: [u32; 3],
        f: impl for<'a, 'b, 'c> FnOnce(Context<'a>, Context<'b>, Context<'c>) -> Result<R>,
    ) -> Result<R> {
        self.try_with_three_devices(ordinals, f)
    }

    /// [`with_three_devices`](Self::with_three_devices) for a caller with an error type of its own.
    ///
    /// # Errors
    /// As there, through `E::from`.
    pub fn try_with_three_devices<R, E: From<Error>>(
        self,
        [first, second, third]: [u32; 3],
        f: impl for<'a, 'b, 'c> FnOnce(Context<'a>, Context<'b>, Context<'c>) -> Result<R, E>,
    ) -> Result<R, E> {
        self.try_with_two_devices([first, second], |a, b| {
            self.try_with_device(third, |c| f(a, b, c))
        })
    }

    /// Runs `f` with contexts of four devices; otherwise
    /// [`with_two_devices`](Self::with_two_devices).
    ///
    /// # Errors
    /// As there.
    pub fn with_four_devices<R>(
        self,
        ordinals: [u32; 4],
        f: impl for<'a, 'b, 'c, 'd> FnOnce(
            Context<'a>,
            Context<'b>,
            Context<'c>,
            Context<'d>,
        ) -> Result<R>,
    ) -> Result<R> {
        self.try_with_four_devices(ordinals, f)
    }

    /// [`with_four_devices`](Self::with_four_devices) for a caller with an error type of its own.
    ///
    /// # Errors
    /// As there, through `E::from`.
    pub fn try_with_four_devices<R, E: From<Error>>(
        self,
        [first, second, third, fourth]: [u32; 4],
        f: impl for<'a, 'b, 'c, 'd> FnOnce(
            Context<'a>,
            Context<'b>,
            Context<'c>,
            Context<'d>,
        ) -> Result<R, E>,
    ) -> Result<R, E> {
        self.try_with_three_devices([first, second, third], |a, b, c| {
            self.try_with_device(fourth, |d| f(a, b, c, d))
        })
    }
}
