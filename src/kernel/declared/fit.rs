//! Whether a type of Rust is what PTX declares, and the types of which the compiler's message is
//! made when it is not.
//!
//! A constant that panics is blamed on the whole macro. A trait that a type does not implement is
//! blamed on the place where the type is written. So what the PTX declares is made a type, and a
//! trait is asked of the parameter's type that is not implemented for it.

use super::kind::Kind;
use super::text::min;
use super::value::Value;
use crate::memory::sealed::{Sealed, Token};

/// Whether a type fits what the PTX declares: 0, or the number of the type of this module that
/// names what is declared, in the upper half, and a size or alignment in bytes in the lower.
///
/// A number, because the compiler looks at each part of a constant, but takes numbers by the row.
pub type Fit = u64;

pub(super) const FITS: Fit = 0;

const fn fit(tag: u32, number: usize) -> Fit {
    (tag as u64) << 32 | min(number, u32::MAX as usize) as u64
}

/// What was found out about a type, as a type: the halves of a [`Fit`].
pub struct Found<const TAG: u32, const NUMBER: u32>;

/// What the PTX declares, as a message calls it. Sealed.
pub trait Declares: Sealed {
    /// What it is called.
    type Name;
}

/// What the type of Rust is.
pub struct WhatItIs;
/// So many bytes.
pub struct SizeInBytes<const BYTES: u32>;
/// An alignment of so many bytes.
pub struct AlignmentInBytes<const BYTES: u32>;
/// A struct of so many bytes: `.align n .b8 x[m]`.
pub struct StructOfBytes<const BYTES: u32>;
/// An address in global memory: `.u64 .ptr`.
pub struct PointerToGlobalMemory;
/// An address in shared, constant or local memory, `.u64 .ptr .shared`: no argument is one.
pub struct PointerToOtherMemory;

const SIZE: u32 = 1;
const ALIGN: u32 = 2;
const STRUCT: u32 = 3;
const POINTER: u32 = 4;
const ELSEWHERE: u32 = 5;

impl<const TAG: u32, const NUMBER: u32> Sealed for Found<TAG, NUMBER> {}

macro_rules! names {
    ($($tag:expr => $name:ty;)*) => {$(
        impl<const NUMBER: u32> Declares for Found<{ $tag }, NUMBER> {
            type Name = $name;
        }
    )*};
}

names! {
    0 => WhatItIs;
    SIZE => SizeInBytes<NUMBER>;
    ALIGN => AlignmentInBytes<NUMBER>;
    STRUCT => StructOfBytes<NUMBER>;
    POINTER => PointerToGlobalMemory;
    ELSEWHERE => PointerToOtherMemory;
}

macro_rules! scalars {
    ($($scalar:ident $letter:literal $bytes:literal $name:literal;)*) => {
        $(
            #[doc = concat!("The PTX type `", $name, "`.")]
            pub struct $scalar;
        )*
        names! { $(scalar($letter, $bytes) => $scalar;)* }
    };
}

scalars! {
    F16 b'f' 2 ".f16"; F32 b'f' 4 ".f32"; F64 b'f' 8 ".f64";
    U8 b'u' 1 ".u8"; U16 b'u' 2 ".u16"; U32 b'u' 4 ".u32"; U64 b'u' 8 ".u64";
    S8 b's' 1 ".s8"; S16 b's' 2 ".s16"; S32 b's' 4 ".s32"; S64 b's' 8 ".s64";
    B8 b'b' 1 ".b8"; B16 b'b' 2 ".b16"; B32 b'b' 4 ".b32"; B64 b'b' 8 ".b64";
    B128 b'b' 16 ".b128";
}

/// The tag of a scalar type.
const fn scalar(letter: u8, bytes: usize) -> u32 {
    letter as u32 * 256 + bytes as u32
}

/// Types that may stand for parameter `P` of kernel `K`, for which the PTX declares `D`: all, where
/// that is [`WhatItIs`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "kernel `{K}`, parameter `{P}`: the PTX declares `{D}`, and `{Self}` is not that",
    label = "the PTX declares `{D}`"
)]
pub trait Takes<K, P, D>: Any {}

/// Types that may stand for the variable `N`; as [`Takes`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "variable `{N}`: the PTX declares `{D}`, and `{Self}` is not that",
    label = "the PTX declares `{D}`"
)]
pub trait Holds<N, D>: Any {}

/// All types; keeps other crates from implementing [`Takes`] and [`Holds`]. Sealed.
pub trait Any {
    /// Keeps other crates from implementing this.
    #[doc(hidden)]
    fn seal(token: Token);
}

#[diagnostic::do_not_recommend]
impl<T> Any for T {
    fn seal(_: Token) {}
}

#[diagnostic::do_not_recommend]
impl<T, K, P> Takes<K, P, WhatItIs> for T {}

#[diagnostic::do_not_recommend]
impl<T, N> Holds<N, WhatItIs> for T {}

/// Compiles where `T` may stand for parameter `P` of kernel `K`.
pub const fn takes<T: Takes<K, P, F::Name>, K, P, F: Declares>() {}

/// Compiles where `T` may stand for the variable `N`.
pub const fn holds<T: Holds<N, F::Name>, N, F: Declares>() {}

impl Value {
    /// Whether a type fits that is passed for this parameter. What the text does not tell fits.
    pub(super) const fn fit_of_parameter(&self, size: usize, align: usize, kind: Kind) -> Fit {
        let Some(declared) = self.size else {
            return FITS;
        };
        if declared != size || !self.kind.admits(kind) {
            return match self.kind {
                Kind::Pointer => fit(POINTER, 0),
                Kind::OtherPointer => fit(ELSEWHERE, 0),
                Kind::Bytes => fit(STRUCT, declared),
                _ => self.named_by_scalar(declared),
            };
        }
        if self.align != align {
            return fit(ALIGN, self.align);
        }
        FITS
    }

    /// Whether a type fits that a variable is declared to hold, whose elements are `element`.
    pub(super) const fn fit_of_variable(
        &self,
        size: usize,
        align: usize,
        (kind, element_size): (Kind, usize),
    ) -> Fit {
        let declared = match self.size {
            Some(size) => size,
            None => 0,
        };
        if declared != size {
            return fit(SIZE, declared);
        }
        if self.align < align {
            return fit(ALIGN, self.align);
        }
        // Bits, or bytes, may be anything.
        if matches!(self.letter, b'b' | 0) || matches!(kind, Kind::Any) {
            return FITS;
        }
        if (self.letter == b'f') != matches!(kind, Kind::Float) || self.scalar != element_size {
            return self.named_by_scalar(self.scalar);
        }
        FITS
    }

    const fn named_by_scalar(&self, size: usize) -> Fit {
        match (self.letter, size) {
            (b'f', 2 | 4 | 8) | (b'u' | b's' | b'b', 1 | 2 | 4 | 8) | (b'b', 16) => {
                fit(scalar(self.letter, min(size, 16)), 0)
            }
            _ => fit(SIZE, size),
        }
    }
}
