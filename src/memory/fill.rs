//! Filling device memory with one value.

#![allow(unsafe_code)] // sets device memory

use super::sealed;
use crate::error::Result;
use crate::ffi::{CUdeviceptr, CUstream};
use crate::internal::api::Api;
use crate::internal::calls;
use bytemuck::{Pod, bytes_of};

/// Element types that the device can fill memory with: 8, 16 and 32 bits wide.
#[diagnostic::on_unimplemented(
    message = "the device cannot fill memory with a `{Self}`",
    note = "`cuMemsetD8Async`, `D16` and `D32` write integers and `f32` of 8, 16 or 32 bits; write other element types with `write`"
)]
pub trait Fill: Pod + sealed::Sealed {}

macro_rules! fill {
    ($($type:ty),*) => {$(
        impl sealed::Sealed for $type {}
        impl Fill for $type {}
    )*};
}

fill!(u8, i8, u16, i16, u32, i32, f32);

/// The bits of an element, in the width of a memset.
#[derive(Clone, Copy)]
pub(crate) enum Pattern {
    D8(u8),
    D16(u16),
    D32(u32),
}

impl Pattern {
    /// `None` for elements of another size than 1, 2 or 4 bytes.
    #[inline]
    pub(crate) fn of<T: Pod>(value: &T) -> Option<Self> {
        match *bytes_of(value) {
            [a] => Some(Self::D8(a)),
            [a, b] => Some(Self::D16(u16::from_ne_bytes([a, b]))),
            [a, b, c, d] => Some(Self::D32(u32::from_ne_bytes([a, b, c, d]))),
            _ => None,
        }
    }

    /// # Safety
    /// `to` has room for `count` elements of the pattern's width and is aligned to it, until
    /// `stream`, a live stream of its device, has passed this point; nothing else touches them.
    #[inline]
    pub(crate) unsafe fn fill(
        self,
        driver: Api,
        to: CUdeviceptr,
        count: usize,
        stream: CUstream,
    ) -> Result<()> {
        match self {
            // SAFETY: what `fill` asks of its caller.
            Self::D8(value) => unsafe { calls::memset_d8_async(driver, to, value, count, stream) },
            // SAFETY: what `fill` asks of its caller.
            Self::D16(value) => unsafe {
                calls::memset_d16_async(driver, to, value, count, stream)
            },
            // SAFETY: what `fill` asks of its caller.
            Self::D32(value) => unsafe {
                calls::memset_d32_async(driver, to, value, count, stream)
            },
        }
    }
}
