//! The types of kernel parameters.

use crate::ffi::CUdeviceptr;
use crate::memory::sealed::Sealed;
use bytemuck::Pod;
use std::marker::PhantomData;

/// A pointer parameter to memory of `T` that the kernel only reads: `const T *`.
pub struct In<T>(PhantomData<fn(T)>);

/// A pointer parameter to memory of `T` that the kernel only writes: `T *`.
pub struct Out<T>(PhantomData<fn(T)>);

/// A pointer parameter to memory of `T` that the kernel reads and writes: `T *`.
pub struct InOut<T>(PhantomData<fn(T)>);

/// A kernel parameter: [`In`], [`Out`] or [`InOut`] of plain data, or plain data itself by value.
///
/// A reference is not a parameter: its address means nothing on the device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel parameter",
    note = "parameters are `In<T>`, `Out<T>`, `InOut<T>` for device memory, and plain-data types (`bytemuck::Pod`) for values"
)]
pub trait Param {
    /// Bytes that the parameter has in the kernel's parameter list.
    const SIZE: usize;
}

impl<T: Pod> Param for In<T> {
    const SIZE: usize = size_of::<CUdeviceptr>();
}

impl<T: Pod> Param for Out<T> {
    const SIZE: usize = size_of::<CUdeviceptr>();
}

impl<T: Pod> Param for InOut<T> {
    const SIZE: usize = size_of::<CUdeviceptr>();
}

#[diagnostic::do_not_recommend]
impl<T: Pod> Param for T {
    const SIZE: usize = size_of::<T>();
}

/// A kernel's parameter list: a tuple of up to 16 [`Param`]s. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel's parameter list",
    note = "write a tuple with one parameter type for each parameter of the kernel, `(In<f32>, u32)`; for a single one `(u32,)`"
)]
pub trait Params: Sealed {
    /// The size of each parameter in bytes.
    const SIZES: &'static [usize];
}

macro_rules! tuples {
    ($($($P:ident)*;)*) => {$(
        impl<$($P),*> Sealed for ($($P,)*) {}

        impl<$($P: Param),*> Params for ($($P,)*) {
            const SIZES: &'static [usize] = &[$($P::SIZE),*];
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
