//! The values that a launch passes.

use super::params::{In, InOut, Out, Param};
use crate::ffi::CUdeviceptr;
use crate::memory::sealed::{Near, Sealed};
use crate::memory::{MemoryMut, Ordered, Readable};
use bytemuck::Pod;
use std::ffi::c_void;
use std::ptr;

/// An argument for a kernel parameter `P`, on stream `'s` in scope `'scope`.
///
/// | parameter | argument |
/// |---|---|
/// | `In<T>` | `&Ordered` of the stream; `&Buffer`, `Slice` or `PeerSlice` at rest that outlives the scope |
/// | `Out<T>`, `InOut<T>` | `&mut Ordered` of the stream |
/// | plain data `T` | a `T` |
///
/// Sealed: an implementation vouches for the value that it passes (claim C12).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an argument for a kernel parameter `{P}`",
    label = "the kernel's parameter here is `{P}`",
    note = "pass `&Ordered`, or `&Buffer` at rest, for `In<T>`; `&mut Ordered` for `Out<T>` and `InOut<T>`; a value of exactly type `T` for `T`: numbers are not converted, so `2.0f32` or `u32::try_from(n)`"
)]
pub trait Arg<'s, 'scope, 'ctx, P> {
    /// What the kernel gets: an address or the plain data itself.
    #[doc(hidden)]
    type Value: Copy;

    /// The value to pass. The token keeps other crates from implementing this.
    #[doc(hidden)]
    fn value(self, token: seal::Token) -> Self::Value;
}

pub(crate) mod seal {
    #[derive(Clone, Copy)]
    pub struct Token;
}

use seal::Token;

impl<'s, 'scope, 'ctx, T: Pod, A: Readable<'s, 'scope, 'ctx, T> + Near> Arg<'s, 'scope, 'ctx, In<T>>
    for A
{
    type Value = CUdeviceptr;

    #[inline]
    fn value(self, _: Token) -> CUdeviceptr {
        self.region().0
    }
}

impl<'s, 'scope, 'ctx, T: Pod, B: MemoryMut<'ctx, T> + Near> Arg<'s, 'scope, 'ctx, Out<T>>
    for &mut Ordered<'s, B>
{
    type Value = CUdeviceptr;

    #[inline]
    fn value(self, _: Token) -> CUdeviceptr {
        self.memory().as_raw()
    }
}

impl<'s, 'scope, 'ctx, T: Pod, B: MemoryMut<'ctx, T> + Near> Arg<'s, 'scope, 'ctx, InOut<T>>
    for &mut Ordered<'s, B>
{
    type Value = CUdeviceptr;

    #[inline]
    fn value(self, _: Token) -> CUdeviceptr {
        self.memory().as_raw()
    }
}

impl<'s, 'scope, 'ctx, T: Pod> Arg<'s, 'scope, 'ctx, T> for T {
    type Value = T;

    #[inline]
    fn value(self, _: Token) -> T {
        self
    }
}

/// The arguments for a parameter list `P`: a tuple with one [`Arg`] for each. Sealed.
#[diagnostic::on_unimplemented(
    message = "these arguments do not fit the kernel's parameters `{P}`",
    label = "one argument for each of `{P}` is expected here",
    note = "pass a tuple with as many arguments as the kernel has parameters, in their order"
)]
pub trait Args<'s, 'scope, 'ctx, P>: Sealed {
    /// Calls `launch` with an array of pointers to the values.
    #[doc(hidden)]
    fn with_pointers<R>(self, launch: impl FnOnce(*mut *mut c_void) -> R) -> R;
}

macro_rules! tuples {
    ($($($P:ident $A:ident)*;)*) => {$(
        #[allow(non_snake_case, unused_mut)] // the variables are named after the types; a kernel may have no parameters
        impl<'s, 'scope, 'ctx, $($P: Param, $A: Arg<'s, 'scope, 'ctx, $P>),*> Args<'s, 'scope, 'ctx, ($($P,)*)>
            for ($($A,)*)
        {
            #[inline]
            fn with_pointers<R>(self, launch: impl FnOnce(*mut *mut c_void) -> R) -> R {
                let ($($A,)*) = self;
                $(let mut $A = $A.value(Token);)*
                let mut pointers = [$(ptr::from_mut(&mut $A).cast::<c_void>()),*];
                launch(pointers.as_mut_ptr())
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
