//! Rows as arguments of a kernel.

use super::access::Use;
use super::{Arg, In, InOut, LaunchConfig, Out, Param, ParamLayout, seal};
use crate::error::Result;
use crate::extent::Extent;
use crate::ffi::CUdeviceptr;
use crate::memory::sealed::Token;
use crate::memory::{OnStream, PitchedMemoryMut, PitchedSlice, ReadableRows};
use bytemuck::Pod;
use std::marker::PhantomData;

/// In the type of a kernel parameter, says that rows are meant: `In<Rows<f32>>` is a pointer to the
/// first element of rows whose pitch the kernel is told in another parameter.
///
/// | parameter | argument |
/// |---|---|
/// | `In<Rows<T>>` | `&OnStream` of the stream, `&PitchedBuffer` or `PitchedSlice` at rest that outlives the scope |
/// | `Out<Rows<T>>`, `InOut<Rows<T>>` | `&mut OnStream` of the stream |
///
/// A kernel that expects rows is not given a [`Buffer`](crate::Buffer), and one that expects
/// elements without gaps is not given rows. The elements that it may touch, in the words of
/// [`launch`](crate::ScopedStream::launch), are those in the argument's
/// [`extent`](crate::PitchedSlice::extent), not what lies between the rows.
///
/// ```
/// # use scoped_cuda::{Driver, Extent, InOut, LaunchConfig, Rows, sim::Simulation};
/// # let driver = Driver::simulated(Simulation::default())?;
/// # driver.machine().unwrap().kernel("clear_column", |call| {
/// #     let (pitch, height) = (call.scalar::<u64>(1) as usize, call.scalar::<u32>(2) as usize);
/// #     call.update::<f32>(0, |x| (0..height).for_each(|y| x[y * pitch / 4] = 0.0));
/// # });
/// # let ptx = scoped_cuda::ptx!(".version 8.0\n.target sm_80\n.address_size 64\n
/// #     .visible .entry clear_column(.param .u64 rows, .param .u64 pitch, .param .u32 height) { ret; }");
/// # driver.with_device(0, |ctx| {
/// let clear = ctx.load_ptx(ptx)?.kernel::<(InOut<Rows<f32>>, u64, u32)>("clear_column")?;
/// let mut image = ctx.upload_rows(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], Extent::new(3, 2))?;
/// let (stream, pitch) = (ctx.new_stream()?, image.pitch_bytes() as u64);
/// stream.scope(|s| {
///     let mut image = image.lend(s);
///     let mut column = image.region_mut(1..2, .., ..)?;
///     // SAFETY: `clear_column` writes the first element of each row; the column has 2 rows that are `pitch` bytes apart.
///     unsafe { s.launch(&clear, LaunchConfig::for_elements(2), (&mut column, pitch, 2)) }
/// })?;
/// assert_eq!(image.to_vec()?, [1.0, 0.0, 3.0, 4.0, 0.0, 6.0]);
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
pub struct Rows<T>(PhantomData<fn(T)>);

/// What a precondition sees of rows: which elements there are, and where.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RowsShape {
    /// The elements that there are.
    pub extent: Extent,
    /// Bytes from the beginning of a row to the beginning of the next.
    pub pitch_bytes: usize,
    /// Rows from the beginning of a slice to the beginning of the next.
    pub slice_rows: usize,
}

impl RowsShape {
    fn of<T>(rows: &PitchedSlice<'_, '_, T>) -> Self {
        Self {
            extent: rows.extent(),
            pitch_bytes: rows.pitch_bytes(),
            slice_rows: rows.slice_rows(),
        }
    }
}

/// Bytes from the first row to the end of the last one's pitch: no less than what the rows are in.
fn span_of<T>(rows: &PitchedSlice<'_, '_, T>) -> usize {
    let extent = rows.extent();
    let slices = extent.depth.saturating_sub(1);
    let lines = slices
        .saturating_mul(rows.slice_rows())
        .saturating_add(extent.height);
    lines.saturating_mul(rows.pitch_bytes())
}

#[diagnostic::do_not_recommend]
impl<T: Pod> Param for In<Rows<T>> {
    const LAYOUT: &'static [ParamLayout] = &[ParamLayout::pointer()];
    type Seen = RowsShape;

    fn seal(_: Token) {}
}

#[diagnostic::do_not_recommend]
impl<T: Pod> Param for Out<Rows<T>> {
    const LAYOUT: &'static [ParamLayout] = &[ParamLayout::pointer()];
    type Seen = RowsShape;

    fn seal(_: Token) {}
}

#[diagnostic::do_not_recommend]
impl<T: Pod> Param for InOut<Rows<T>> {
    const LAYOUT: &'static [ParamLayout] = &[ParamLayout::pointer()];
    type Seen = RowsShape;

    fn seal(_: Token) {}
}

impl<'s, 'scope, 'ctx, T: Pod, A: ReadableRows<'s, 'scope, 'ctx, T>>
    Arg<'s, 'scope, 'ctx, In<Rows<T>>> for A
{
    type Value = seal::One<CUdeviceptr>;

    #[inline]
    fn value(self, _: &LaunchConfig, _: Token) -> Result<Self::Value> {
        Ok(seal::One(self.rows(Token).as_raw()))
    }

    #[inline]
    fn seen(&self, _: &LaunchConfig) -> RowsShape {
        RowsShape::of(&self.rows(Token))
    }

    fn uses(&self, _: Token, tell: &mut dyn FnMut(Use)) {
        tell(Use::read::<u8>(
            self.rows(Token).as_raw(),
            span_of(&self.rows(Token)),
        ));
    }
}

#[diagnostic::do_not_recommend]
impl<'s, 'scope, 'ctx, T: Pod, B: PitchedMemoryMut<'ctx, T>> Arg<'s, 'scope, 'ctx, Out<Rows<T>>>
    for &mut OnStream<'s, B>
{
    type Value = seal::One<CUdeviceptr>;

    #[inline]
    fn value(self, _: &LaunchConfig, _: Token) -> Result<Self::Value> {
        Ok(seal::One(self.memory().as_slice().as_raw()))
    }

    #[inline]
    fn seen(&self, _: &LaunchConfig) -> RowsShape {
        RowsShape::of(&self.memory().as_slice())
    }

    fn uses(&self, _: Token, tell: &mut dyn FnMut(Use)) {
        let rows = self.memory().as_slice();
        tell(Use::write::<u8>(rows.as_raw(), span_of(&rows)));
    }
}

#[diagnostic::do_not_recommend]
impl<'s, 'scope, 'ctx, T: Pod, B: PitchedMemoryMut<'ctx, T>> Arg<'s, 'scope, 'ctx, InOut<Rows<T>>>
    for &mut OnStream<'s, B>
{
    type Value = seal::One<CUdeviceptr>;

    #[inline]
    fn value(self, _: &LaunchConfig, _: Token) -> Result<Self::Value> {
        Ok(seal::One(self.memory().as_slice().as_raw()))
    }

    #[inline]
    fn seen(&self, _: &LaunchConfig) -> RowsShape {
        RowsShape::of(&self.memory().as_slice())
    }

    fn uses(&self, _: Token, tell: &mut dyn FnMut(Use)) {
        let rows = self.memory().as_slice();
        tell(Use::write::<u8>(rows.as_raw(), span_of(&rows)));
    }
}
