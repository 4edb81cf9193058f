//! The values that a launch passes.

use super::access::Use;
use super::launch_config::LaunchConfig;
use super::params::{
    Count, In, InOut, Null, Optional, Out, Param, Params, Pointer, PtrLen, SharedBytes, WithLen,
};
use crate::error::{Error, Result};
use crate::ffi::CUdeviceptr;
use crate::memory::sealed::{Near, Sealed, Token};
use crate::memory::{MemoryMut, OnStream, Readable};
use bytemuck::{AnyBitPattern, Pod};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

/// An argument for a kernel parameter `P`, on stream `'s` in scope `'scope`.
///
/// | parameter | argument |
/// |---|---|
/// | `In<T>` | `&OnStream` of the stream; `&Buffer`, `Slice` or `PeerSlice` at rest that outlives the scope |
/// | `Out<T>`, `InOut<T>` | `&mut OnStream` of the stream |
/// | [`Optional`] of one of these | an `Option` of its argument, or [`Null`] |
/// | [`WithLen`], [`PtrLen`] of one of these | its argument |
/// | [`SharedBytes`] | [`SharedBytes`] |
/// | plain data `T` | a `T` |
///
/// Sealed: an implementation vouches for the value that it passes (claim C12).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an argument for a kernel parameter `{P}`",
    label = "the kernel's parameter here is `{P}`",
    note = "pass `&OnStream`, or `&Buffer` at rest, for `In<T>`; `&mut OnStream` for `Out<T>` and `InOut<T>`: `let mut y = y.lend(s);` makes an `OnStream` of a buffer `y`, to be passed as `&mut y`; `Some` of these or `Null` for `Optional`; a value of exactly type `T` for `T`: numbers are not converted, so `2.0f32` or `u32::try_from(n)`"
)]
pub trait Arg<'s, 'scope, 'ctx, P: Param> {
    /// What the kernel gets: an address or the plain data itself.
    #[doc(hidden)]
    type Value: seal::Value + 'static;

    /// The value to pass. The token keeps other crates from implementing this.
    #[doc(hidden)]
    fn value(self, config: &LaunchConfig, token: Token) -> Result<Self::Value>;

    /// What a precondition sees of it.
    #[doc(hidden)]
    fn seen(&self, config: &LaunchConfig) -> P::Seen;

    /// Tells the memory that the kernel may touch through it.
    #[doc(hidden)]
    fn uses(&self, token: Token, tell: &mut dyn FnMut(Use));
}

/// Not to be named by other crates.
pub(crate) mod seal {
    use std::ffi::c_void;
    use std::mem::MaybeUninit;

    /// One parameter.
    #[derive(Clone, Copy)]
    pub struct One<T>(pub(crate) T);

    /// Two parameters that follow each other.
    #[derive(Clone, Copy)]
    pub struct Two<T, U>(pub(crate) T, pub(crate) U);

    /// The values of one or two parameters.
    pub trait Value {
        /// Writes a pointer to each, and says how many there are.
        fn point(&mut self, to: &mut [MaybeUninit<*mut c_void>]) -> usize;
    }
}

use seal::{One, Two, Value};

impl<T> Value for One<T> {
    #[inline]
    fn point(&mut self, to: &mut [MaybeUninit<*mut c_void>]) -> usize {
        to[0].write(ptr::from_mut(&mut self.0).cast());
        1
    }
}

impl<T, U> Value for Two<T, U> {
    #[inline]
    fn point(&mut self, to: &mut [MaybeUninit<*mut c_void>]) -> usize {
        to[0].write(ptr::from_mut(&mut self.0).cast());
        to[1].write(ptr::from_mut(&mut self.1).cast());
        2
    }
}

impl<'s, 'scope, 'ctx, T: Pod, A: Readable<'s, 'scope, 'ctx, T> + Near> Arg<'s, 'scope, 'ctx, In<T>>
    for A
{
    type Value = One<CUdeviceptr>;

    #[inline]
    fn value(self, _: &LaunchConfig, _: Token) -> Result<Self::Value> {
        Ok(One(self.region().0))
    }

    #[inline]
    fn seen(&self, _: &LaunchConfig) -> usize {
        self.region().1
    }

    fn uses(&self, _: Token, tell: &mut dyn FnMut(Use)) {
        let (address, len) = self.region();
        tell(Use::read::<T>(address, len));
    }
}

impl<'s, 'scope, 'ctx, T: Pod, B: MemoryMut<'ctx, T> + Near> Arg<'s, 'scope, 'ctx, Out<T>>
    for &mut OnStream<'s, B>
{
    type Value = One<CUdeviceptr>;

    #[inline]
    fn value(self, _: &LaunchConfig, _: Token) -> Result<Self::Value> {
        Ok(One(self.memory().as_raw()))
    }

    #[inline]
    fn seen(&self, _: &LaunchConfig) -> usize {
        self.memory().len()
    }

    fn uses(&self, _: Token, tell: &mut dyn FnMut(Use)) {
        tell(Use::write::<T>(self.memory().as_raw(), self.memory().len()));
    }
}

impl<'s, 'scope, 'ctx, T: Pod, B: MemoryMut<'ctx, T> + Near> Arg<'s, 'scope, 'ctx, InOut<T>>
    for &mut OnStream<'s, B>
{
    type Value = One<CUdeviceptr>;

    #[inline]
    fn value(self, _: &LaunchConfig, _: Token) -> Result<Self::Value> {
        Ok(One(self.memory().as_raw()))
    }

    #[inline]
    fn seen(&self, _: &LaunchConfig) -> usize {
        self.memory().len()
    }

    fn uses(&self, _: Token, tell: &mut dyn FnMut(Use)) {
        tell(Use::write::<T>(self.memory().as_raw(), self.memory().len()));
    }
}

#[diagnostic::do_not_recommend]
impl<'s, 'scope, 'ctx, P: Pointer, A> Arg<'s, 'scope, 'ctx, Optional<P>> for Option<A>
where
    A: Arg<'s, 'scope, 'ctx, P, Value = One<CUdeviceptr>>,
{
    type Value = One<CUdeviceptr>;

    #[inline]
    fn value(self, config: &LaunchConfig, token: Token) -> Result<Self::Value> {
        self.map_or(Ok(One(0)), |memory| memory.value(config, token))
    }

    #[inline]
    fn seen(&self, config: &LaunchConfig) -> Option<P::Seen> {
        self.as_ref().map(|memory| memory.seen(config))
    }

    fn uses(&self, token: Token, tell: &mut dyn FnMut(Use)) {
        if let Some(memory) = self {
            memory.uses(token, tell);
        }
    }
}

#[diagnostic::do_not_recommend]
impl<'s, 'scope, 'ctx, P: Pointer> Arg<'s, 'scope, 'ctx, Optional<P>> for Null {
    type Value = One<CUdeviceptr>;

    #[inline]
    fn value(self, _: &LaunchConfig, _: Token) -> Result<Self::Value> {
        Ok(One(0))
    }

    #[inline]
    fn seen(&self, _: &LaunchConfig) -> Option<P::Seen> {
        None
    }

    fn uses(&self, _: Token, _: &mut dyn FnMut(Use)) {}
}

/// What a precondition sees of memory, when that is a number of elements.
#[diagnostic::on_unimplemented(message = "`{Self}` is not the length of memory")]
pub trait Length: Copy + Sealed {
    /// The number of elements; of no memory, 0.
    #[doc(hidden)]
    fn elements(self) -> usize;
}

impl Length for usize {
    fn elements(self) -> usize {
        self
    }
}

impl Sealed for Option<usize> {}

impl Length for Option<usize> {
    fn elements(self) -> usize {
        self.unwrap_or(0)
    }
}

#[diagnostic::do_not_recommend]
impl<'s, 'scope, 'ctx, P, N: Count, A> Arg<'s, 'scope, 'ctx, WithLen<P, N>> for A
where
    P: Pointer<Seen: Length>,
    A: Arg<'s, 'scope, 'ctx, P, Value = One<CUdeviceptr>>,
{
    type Value = Two<CUdeviceptr, N>;

    #[inline]
    fn value(self, config: &LaunchConfig, token: Token) -> Result<Self::Value> {
        let len = <A as Arg<P>>::seen(&self, config).elements();
        let count = N::try_from(len).map_err(|_| Error::CountTooLarge {
            len,
            limit: N::LIMIT,
        })?;
        <A as Arg<P>>::value(self, config, token).map(|One(address)| Two(address, count))
    }

    #[inline]
    fn seen(&self, config: &LaunchConfig) -> P::Seen {
        <A as Arg<P>>::seen(self, config)
    }

    fn uses(&self, token: Token, tell: &mut dyn FnMut(Use)) {
        <A as Arg<P>>::uses(self, token, tell);
    }
}

#[diagnostic::do_not_recommend]
impl<'s, 'scope, 'ctx, P, A> Arg<'s, 'scope, 'ctx, PtrLen<P>> for A
where
    P: Pointer<Seen: Length>,
    A: Arg<'s, 'scope, 'ctx, P, Value = One<CUdeviceptr>>,
{
    type Value = One<[u64; 2]>;

    #[inline]
    fn value(self, config: &LaunchConfig, token: Token) -> Result<Self::Value> {
        let len = <A as Arg<P>>::seen(&self, config).elements() as u64;
        <A as Arg<P>>::value(self, config, token).map(|One(address)| One([address, len]))
    }

    #[inline]
    fn seen(&self, config: &LaunchConfig) -> P::Seen {
        <A as Arg<P>>::seen(self, config)
    }

    fn uses(&self, token: Token, tell: &mut dyn FnMut(Use)) {
        <A as Arg<P>>::uses(self, token, tell);
    }
}

#[diagnostic::do_not_recommend]
impl<'s, 'scope, 'ctx> Arg<'s, 'scope, 'ctx, SharedBytes> for SharedBytes {
    type Value = One<u32>;

    #[inline]
    fn value(self, config: &LaunchConfig, _: Token) -> Result<Self::Value> {
        Ok(One(config.get_dynamic_shared_bytes()))
    }

    #[inline]
    fn seen(&self, config: &LaunchConfig) -> u32 {
        config.get_dynamic_shared_bytes()
    }

    fn uses(&self, _: Token, _: &mut dyn FnMut(Use)) {}
}

// A value may have padding, which no program reads: the driver copies its bytes, and the kernel
// reads the fields.
impl<'s, 'scope, 'ctx, T: AnyBitPattern> Arg<'s, 'scope, 'ctx, T> for T {
    type Value = One<T>;

    #[inline]
    fn value(self, _: &LaunchConfig, _: Token) -> Result<Self::Value> {
        Ok(One(self))
    }

    #[inline]
    fn seen(&self, _: &LaunchConfig) -> T {
        *self
    }

    fn uses(&self, _: Token, _: &mut dyn FnMut(Use)) {}
}

/// The arguments for a parameter list `P`: a tuple with one [`Arg`] for each. Sealed.
#[diagnostic::on_unimplemented(
    message = "these arguments do not fit the kernel's parameters `{P}`",
    label = "one argument for each of `{P}` is expected here",
    note = "pass a tuple with as many arguments as the kernel has parameters, in their order"
)]
pub trait Args<'s, 'scope, 'ctx, P: Params>: Sealed {
    /// Calls `launch` with an array of pointers to the values.
    #[doc(hidden)]
    fn with_pointers<R>(
        self,
        token: Token,
        config: &LaunchConfig,
        launch: impl FnOnce(*mut *mut c_void) -> Result<R>,
    ) -> Result<R>;

    /// What a precondition sees of them.
    #[doc(hidden)]
    fn seen(&self, config: &LaunchConfig) -> P::Seen;

    /// Tells the memory that the kernel may touch.
    #[doc(hidden)]
    fn uses(&self, token: Token, tell: &mut dyn FnMut(Use));
}

macro_rules! tuples {
    ($($($P:ident $A:ident)*;)*) => {$(
        // The variables are named after the types; a kernel may have no parameters.
        #[allow(non_snake_case, unused_mut, unused_variables, unused_assignments, clippy::unused_unit)]
        impl<'s, 'scope, 'ctx, $($P: Param, $A: Arg<'s, 'scope, 'ctx, $P>),*> Args<'s, 'scope, 'ctx, ($($P,)*)>
            for ($($A,)*)
        {
            #[inline]
            fn with_pointers<R>(
                self,
                _: Token,
                config: &LaunchConfig,
                launch: impl FnOnce(*mut *mut c_void) -> Result<R>,
            ) -> Result<R> {
                /// Each is two parameters at most.
                const LEN: usize = 2 * <[&str]>::len(&[$(stringify!($P)),*]);
                let ($($A,)*) = self;
                $(let mut $A = $A.value(config, Token)?;)*
                let mut pointers = [MaybeUninit::<*mut c_void>::uninit(); LEN];
                let mut used = 0;
                $(used += $A.point(&mut pointers[used..]);)*
                launch(pointers.as_mut_ptr().cast())
            }

            #[inline]
            fn seen(&self, config: &LaunchConfig) -> ($($P::Seen,)*) {
                let ($($A,)*) = self;
                ($($A.seen(config),)*)
            }

            fn uses(&self, token: Token, tell: &mut dyn FnMut(Use)) {
                let ($($A,)*) = self;
                $($A.uses(token, tell);)*
            }
        }
    )*};
}

tuples! {
    ;
    P0 A0;
    P0 A0 P1 A1;
    P0 A0 P1 A1 P2 A2;
    P0 A0 P1 A1 P2 A2 P3 A3;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7 P8 A8;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7 P8 A8 P9 A9;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7 P8 A8 P9 A9 P10 A10;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7 P8 A8 P9 A9 P10 A10 P11 A11;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7 P8 A8 P9 A9 P10 A10 P11 A11 P12 A12;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7 P8 A8 P9 A9 P10 A10 P11 A11 P12 A12 P13 A13;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7 P8 A8 P9 A9 P10 A10 P11 A11 P12 A12 P13 A13 P14 A14;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7 P8 A8 P9 A9 P10 A10 P11 A11 P12 A12 P13 A13 P14 A14 P15 A15;
}
