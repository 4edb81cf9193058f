//! The same bytes as elements of another type.

use super::{Slice, SliceMut};
use crate::error::{Error, Result};
use bytemuck::Pod;

impl<'b, 'ctx, T: Pod> Slice<'b, 'ctx, T> {
    /// The same bytes as elements of type `U`. No driver call.
    ///
    /// # Errors
    /// [`Error::BadCast`] when the bytes are no whole number of `U`, or begin at an address that is
    /// not aligned for it.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let words = ctx.upload(&[0x0201u16, 0x0403])?;
    /// assert_eq!(words.as_slice().cast::<u32>()?.to_vec()?, [0x0403_0201]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "transmute")]
    pub fn cast<U: Pod>(self) -> Result<Slice<'b, 'ctx, U>> {
        let len = length_as::<U>(self.as_raw(), self.size_bytes())?;
        Ok(Slice::new(self.context(), self.as_raw(), len))
    }
}

impl<'b, 'ctx, T: Pod> SliceMut<'b, 'ctx, T> {
    /// The same bytes as elements of type `U`. No driver call.
    ///
    /// # Errors
    /// As [`Slice::cast`].
    #[doc(alias = "transmute_mut")]
    pub fn cast<U: Pod>(self) -> Result<SliceMut<'b, 'ctx, U>> {
        let len = length_as::<U>(self.as_raw(), self.size_bytes())?;
        Ok(SliceMut::new(self.context(), self.as_raw(), len))
    }
}

/// How many `U` there are in `bytes` bytes at `address`.
fn length_as<U>(address: u64, bytes: usize) -> Result<usize> {
    let (size, align) = (size_of::<U>(), align_of::<U>());
    let is_whole = match size {
        0 => bytes == 0,
        _ => bytes % size == 0,
    };
    if is_whole && address % align as u64 == 0 {
        Ok(bytes.checked_div(size).unwrap_or(0))
    } else {
        Err(Error::BadCast {
            bytes,
            address,
            size,
            align,
        })
    }
}
