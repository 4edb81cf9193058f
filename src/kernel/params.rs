//! The types of kernel parameters.

use super::declared::Kind;
use crate::ffi::CUdeviceptr;
use crate::memory::sealed::{Sealed, Token};
use bytemuck::{AnyBitPattern, Pod};
use std::any::TypeId;
use std::marker::PhantomData;

/// A pointer parameter to memory of `T` that the kernel only reads: `const T *`.
pub struct In<T>(PhantomData<fn(T)>);

/// A pointer parameter to memory of `T` that the kernel only writes: `T *`.
pub struct Out<T>(PhantomData<fn(T)>);

/// A pointer parameter to memory of `T` that the kernel reads and writes: `T *`.
pub struct InOut<T>(PhantomData<fn(T)>);

/// A pointer parameter that may be null: `Optional<In<T>>` and so on.
///
/// The argument is an [`Option`] of one for the pointer, or [`Null`].
pub struct Optional<P: Pointer>(PhantomData<fn(P)>);

/// Two parameters, a pointer and the number of elements behind it as an `N`: `const T *x, unsigned
/// n` is `WithLen<In<T>, u32>`.
///
/// The argument is the one for the pointer alone; the number is its length, so the two cannot
/// disagree. A length that an `N` does not hold is
/// [`Error::CountTooLarge`](crate::Error::CountTooLarge), and null has length 0.
pub struct WithLen<P: Pointer, N: Count>(PhantomData<fn(P, N)>);

/// One parameter of 16 bytes, a pointer and the number of elements behind it: `struct { const T
/// *data; size_t len; }`, or a `std::span`.
///
/// The argument is the one for the pointer alone.
pub struct PtrLen<P: Pointer>(PhantomData<fn(P)>);

/// A parameter of type `unsigned int` that is told how much dynamic shared memory a block has, in
/// bytes; and its argument.
///
/// The number is that of the [`LaunchConfig`](crate::LaunchConfig), so kernel and launch cannot
/// disagree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct SharedBytes;

/// The argument for an [`Optional`] pointer that is not there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Null;

/// Size and alignment of a parameter in a kernel's parameter list, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct ParamLayout {
    pub(super) size: usize,
    pub(super) align: usize,
    pub(super) kind: KindOf,
}

/// How what a parameter is is known.
#[derive(Clone, Copy, Debug)]
pub(super) enum KindOf {
    Known(Kind),
    /// By its type, which a constant cannot compare on Rust 1.85.
    Type(fn() -> Kind),
}

impl ParamLayout {
    /// The layout of a Rust type, which is also the layout of the C type that it stands for.
    #[must_use]
    pub const fn of<T: 'static>() -> Self {
        Self {
            size: size_of::<T>(),
            align: align_of::<T>(),
            kind: KindOf::Type(kind_of::<T>),
        }
    }

    /// The layout of a pointer to device memory.
    pub(super) const fn pointer() -> Self {
        Self::known::<CUdeviceptr>(Kind::Pointer)
    }

    /// The layout of a type of which it is known what it is.
    const fn known<T: 'static>(kind: Kind) -> Self {
        Self {
            kind: KindOf::Known(kind),
            ..Self::of::<T>()
        }
    }

    /// What the parameter is.
    pub(super) fn kind(self) -> Kind {
        match self.kind {
            KindOf::Known(kind) => kind,
            KindOf::Type(kind) => kind(),
        }
    }

    /// The size in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        self.size
    }

    /// The alignment in bytes, a power of two: the parameter begins at the first multiple of it
    /// after the parameter before, as in C.
    #[must_use]
    pub const fn align(self) -> usize {
        self.align
    }
}

/// What a type of plain data is, as far as its name tells.
fn kind_of<T: 'static>() -> Kind {
    let is = |types: &[TypeId]| types.contains(&TypeId::of::<T>());
    if is(&[TypeId::of::<f32>(), TypeId::of::<f64>()]) {
        Kind::Float
    } else if is(&[
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<i8>(),
        TypeId::of::<i16>(),
        TypeId::of::<i32>(),
        TypeId::of::<i64>(),
        TypeId::of::<isize>(),
    ]) {
        Kind::Integer
    } else {
        Kind::Bytes
    }
}

/// A kernel parameter: [`In`], [`Out`] or [`InOut`] of plain data, one of the types made of these,
/// or plain data itself by value. Sealed.
///
/// Plain data by value is any type that is [`bytemuck::AnyBitPattern`], so a `#[repr(C)]` struct
/// that mirrors the kernel's goes by value, with padding as C has it (`derive(AnyBitPattern)`); its
/// alignment counts too (`float4` has 16: write `#[repr(C, align(16))]`). A reference is not a
/// parameter: its address means nothing on the device.
///
/// | Rust | CUDA C++ | a precondition sees |
/// |---|---|---|
/// | `In<T>` | `const T *` | its length, a `usize` |
/// | `Out<T>`, `InOut<T>` | `T *` | its length |
/// | [`Optional<In<T>>`](Optional), ... | a pointer that may be null | an `Option` of its length |
/// | [`WithLen<In<T>, u32>`](WithLen), ... | `const T *, unsigned`: two parameters | its length |
/// | [`PtrLen<In<T>>`](PtrLen), ... | `struct { const T *; size_t; }` | its length |
/// | [`In<Rows<T>>`](crate::Rows), ... | a pointer to the first of rows | their [`RowsShape`](crate::kernel::RowsShape) |
/// | [`SharedBytes`] | `unsigned` | the number of bytes, a `u32` |
/// | plain data `T` | the same by value | the `T` |
///
/// ```
/// # use scoped_cuda::{WithLen, Driver, In, InOut, LaunchConfig, Null, Optional, SharedBytes, sim::Simulation};
/// # use bytemuck::{Pod, Zeroable};
/// # let driver = Driver::simulated(Simulation::default())?;
/// # driver.machine().unwrap().kernel("clamp", |call| {
/// #     let (n, range) = (call.scalar::<u32>(1) as usize, call.scalar::<[f32; 2]>(3));
/// #     assert_eq!((call.scalar::<u64>(2), call.scalar::<u32>(4)), (0, 1024));
/// #     call.update::<f32>(0, |x| x[..n].iter_mut().for_each(|x| *x = x.clamp(range[0], range[1])));
/// # });
/// # let ptx = scoped_cuda::ptx!(".version 8.0\n.target sm_80\n.address_size 64\n
/// #     .visible .entry clamp(.param .u64 x, .param .u32 n, .param .u64 mask, .param .align 4 .b8 range[8], .param .u32 shared) { ret; }");
/// # driver.with_device(0, |ctx| {
/// // struct Range { float low, high; };
/// #[derive(Clone, Copy, Pod, Zeroable)]
/// #[repr(C)]
/// struct Range {
///     low: f32,
///     high: f32,
/// }
/// // __global__ void clamp(float *x, unsigned n, const unsigned char *mask_or_null, Range range, unsigned shared_bytes)
/// type Clamp = (WithLen<InOut<f32>, u32>, Optional<In<u8>>, Range, SharedBytes);
/// let clamp = ctx.load_ptx(ptx)?.kernel::<Clamp>("clamp")?;
/// let (stream, mut x) = (ctx.new_stream()?, ctx.upload(&[-1.0f32, 0.5, 7.0])?);
/// stream.scope(|s| {
///     let mut x = x.lend(s);
///     let config = LaunchConfig::for_elements(3).dynamic_shared_bytes(1024);
///     // SAFETY: `clamp` stays below n, which is the length of x, and within its shared memory; there is no mask.
///     unsafe { s.launch(&clamp, config, (&mut x, Null, Range { low: 0.0, high: 1.0 }, SharedBytes)) }
/// })?;
/// assert_eq!(x.to_vec()?, [0.0, 0.5, 1.0]);
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel parameter",
    note = "parameters are `In<T>`, `Out<T>`, `InOut<T>` for device memory, and plain-data types (`bytemuck::Pod`) for values"
)]
pub trait Param {
    /// The parameters that it is in the kernel's list, one or two.
    const LAYOUT: &'static [ParamLayout];

    /// What a precondition sees of its argument: see
    /// [`Kernel::assert_safe_when`](crate::Kernel::assert_safe_when).
    type Seen: Copy;

    /// Keeps other crates from implementing this.
    #[doc(hidden)]
    fn seal(token: Token);
}

/// A parameter that is a pointer: [`In`], [`Out`], [`InOut`], or [`Optional`] of one. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pointer parameter",
    note = "pointer parameters are `In<T>`, `Out<T>` and `InOut<T>`"
)]
pub trait Pointer: Param + Sealed {}

const POINTER: &[ParamLayout] = &[ParamLayout::pointer()];

impl<T: Pod> Param for In<T> {
    const LAYOUT: &'static [ParamLayout] = POINTER;
    type Seen = usize;

    fn seal(_: Token) {}
}

impl<T> Sealed for In<T> {}
impl<T> Pointer for In<T> where Self: Param {}

impl<T: Pod> Param for Out<T> {
    const LAYOUT: &'static [ParamLayout] = POINTER;
    type Seen = usize;

    fn seal(_: Token) {}
}

impl<T> Sealed for Out<T> {}
impl<T> Pointer for Out<T> where Self: Param {}

impl<T: Pod> Param for InOut<T> {
    const LAYOUT: &'static [ParamLayout] = POINTER;
    type Seen = usize;

    fn seal(_: Token) {}
}

impl<T> Sealed for InOut<T> {}
impl<T> Pointer for InOut<T> where Self: Param {}

impl<P: Pointer> Param for Optional<P> {
    const LAYOUT: &'static [ParamLayout] = POINTER;
    type Seen = Option<P::Seen>;

    fn seal(_: Token) {}
}

impl<P: Pointer> Sealed for Optional<P> {}
impl<P: Pointer> Pointer for Optional<P> {}

impl<P: Pointer, N: Count> Param for WithLen<P, N> {
    const LAYOUT: &'static [ParamLayout] = &[
        ParamLayout::pointer(),
        ParamLayout::known::<N>(Kind::Integer),
    ];
    type Seen = P::Seen;

    fn seal(_: Token) {}
}

impl<P: Pointer> Param for PtrLen<P> {
    const LAYOUT: &'static [ParamLayout] = &[ParamLayout::known::<[u64; 2]>(Kind::Bytes)];
    type Seen = P::Seen;

    fn seal(_: Token) {}
}

impl Param for SharedBytes {
    const LAYOUT: &'static [ParamLayout] = &[ParamLayout::known::<u32>(Kind::Integer)];
    type Seen = u32;

    fn seal(_: Token) {}
}

#[diagnostic::do_not_recommend]
impl<T: AnyBitPattern> Param for T {
    const LAYOUT: &'static [ParamLayout] = &[ParamLayout::of::<T>()];
    type Seen = T;

    fn seal(_: Token) {}
}

/// Integer types that a kernel counts elements with. Sealed.
#[diagnostic::on_unimplemented(
    message = "a kernel does not count elements with `{Self}`",
    note = "`WithLen` takes `u32`, `i32`, `u64`, `i64` or `usize`, whichever the kernel declares"
)]
pub trait Count: Pod + TryFrom<usize> + Sealed {
    /// The largest number of elements that it can tell.
    const LIMIT: u64;
}

macro_rules! counts {
    ($($count:ident),*) => {$(
        impl Count for $count {
            const LIMIT: u64 = $count::MAX as u64;
        }
    )*};
}

counts!(u32, i32, u64, i64, usize);

impl Sealed for u64 {}
impl Sealed for i64 {}
impl Sealed for usize {}

/// A kernel's parameter list: a tuple of up to 16 [`Param`]s. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel's parameter list",
    note = "write a tuple with one parameter type for each parameter of the kernel, `(In<f32>, u32)`; for a single one `(u32,)`"
)]
pub trait Params: Sealed {
    /// The parameters in the kernel's list that each is.
    const LAYOUT: &'static [&'static [ParamLayout]];

    /// What a precondition sees: a tuple of what it sees of each.
    type Seen: Copy;
}

macro_rules! tuples {
    ($($($P:ident)*;)*) => {$(
        impl<$($P),*> Sealed for ($($P,)*) {}

        impl<$($P: Param),*> Params for ($($P,)*) {
            const LAYOUT: &'static [&'static [ParamLayout]] = &[$($P::LAYOUT),*];
            type Seen = ($($P::Seen,)*);
        }
    )*};
}

tuples! {
    ;
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
    A B C D E F G H I J K L M;
    A B C D E F G H I J K L M N;
    A B C D E F G H I J K L M N O;
    A B C D E F G H I J K L M N O P;
}
