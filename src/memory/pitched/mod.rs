//! Device memory in rows: two- and three-dimensional, each row at an aligned address.

mod extent;
mod host;
mod in_scope;
mod on_stream;
#[allow(clippy::module_inception)] // the noun's own file
mod pitched;
pub(crate) mod region;
mod slice;

pub use host::{HostRows, HostRowsMut};
pub use pitched::PitchedBuffer;
pub use slice::{LentRows, PitchedSlice, PitchedSliceMut};

use super::OnStream;
use super::sealed::Token;

/// Device memory in rows: a [`PitchedBuffer`], a [`PitchedSlice`] or a [`PitchedSliceMut`].
///
/// Sealed: an implementation vouches that the rows are allocated on the context's device (claim
/// C12).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not device memory in rows of `{T}`",
    note = "that is a `PitchedBuffer`, a `PitchedSlice` or a `PitchedSliceMut` of the same context and element type"
)]
pub trait PitchedMemory<'ctx, T> {
    /// The elements, to read.
    fn as_slice(&self) -> PitchedSlice<'_, 'ctx, T>;

    #[doc(hidden)]
    fn seal(&self, token: Token);
}

/// Device memory in rows that may be written: a [`PitchedBuffer`] or a [`PitchedSliceMut`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not device memory in rows of `{T}` that may be written",
    note = "a `PitchedBuffer` or a `PitchedSliceMut` of the same context and element type may"
)]
pub trait PitchedMemoryMut<'ctx, T>: PitchedMemory<'ctx, T> {
    /// The elements, to write.
    fn as_mut_slice(&mut self) -> PitchedSliceMut<'_, 'ctx, T>;

    #[doc(hidden)]
    fn seal_mut(&mut self, token: Token);
}

/// Rows of element type `T` that stream `'s` may read in scope `'scope`: what
/// [`Readable`](crate::memory::Readable) is for buffers.
///
/// That is an [`OnStream`] of the same stream, or memory that is at rest and stays so: a `&'scope
/// PitchedBuffer` or a [`PitchedSlice`] of one, which nobody can write before the scope has waited.
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory in rows of `{T}` that this stream may read",
    note = "pass `&OnStream` of the same stream, or `&PitchedBuffer` (or a `PitchedSlice` of one) that outlives the scope"
)]
pub trait ReadableRows<'s, 'scope, 'ctx, T> {
    /// Where the rows are.
    #[doc(hidden)]
    fn rows(&self, token: Token) -> PitchedSlice<'_, 'ctx, T>;
}

impl<'s, 'scope, 'ctx, T, B: PitchedMemory<'ctx, T>> ReadableRows<'s, 'scope, 'ctx, T>
    for &OnStream<'s, B>
{
    fn rows(&self, _: Token) -> PitchedSlice<'_, 'ctx, T> {
        self.memory().as_slice()
    }
}

impl<'s, 'scope, 'ctx, T> ReadableRows<'s, 'scope, 'ctx, T> for &'scope PitchedBuffer<'ctx, T> {
    fn rows(&self, _: Token) -> PitchedSlice<'_, 'ctx, T> {
        PitchedBuffer::as_slice(self)
    }
}

impl<'s, 'scope, 'ctx, T> ReadableRows<'s, 'scope, 'ctx, T> for PitchedSlice<'scope, 'ctx, T> {
    fn rows(&self, _: Token) -> PitchedSlice<'_, 'ctx, T> {
        *self
    }
}
