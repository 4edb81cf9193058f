//! What plain data is, while the program is compiled.
//!
//! A constant cannot compare types on Rust 1.85. But the constant of a type is found before the
//! constant of a trait: so numbers say what they are, and everything else is bytes.

use super::kind::Kind;
use crate::memory::sealed::Sealed;
use std::marker::PhantomData;

/// Plain data of type `T`, of which constants tell what it is.
pub struct Plain<T>(PhantomData<T>);

/// What [`Plain`] says of a type that is no number: it is bytes of which nothing more is known.
/// Sealed.
pub trait PlainData: Sealed {
    /// What the type is.
    const KIND: Kind = Kind::Bytes;

    /// What its elements are, if it is an array of numbers, and the size of one.
    const ELEMENT: (Kind, usize) = (Kind::Any, 0);
}

impl<T> Sealed for Plain<T> {}
impl<T> PlainData for Plain<T> {}

macro_rules! numbers {
    ($($number:ident $kind:ident,)*) => {$(
        impl Plain<$number> {
            /// What the number is.
            pub const KIND: Kind = Kind::$kind;

            /// The same, and its size.
            pub const ELEMENT: (Kind, usize) = (Kind::$kind, size_of::<$number>());
        }

        impl<const N: usize> Plain<[$number; N]> {
            /// What the elements are, and the size of one.
            pub const ELEMENT: (Kind, usize) = Plain::<$number>::ELEMENT;
        }

        impl<const N: usize, const M: usize> Plain<[[$number; M]; N]> {
            /// What the elements are, and the size of one.
            pub const ELEMENT: (Kind, usize) = Plain::<$number>::ELEMENT;
        }
    )*};
}

numbers! {
    f32 Float, f64 Float,
    u8 Integer, u16 Integer, u32 Integer, u64 Integer, usize Integer,
    i8 Integer, i16 Integer, i32 Integer, i64 Integer, isize Integer,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_other_data() {
        assert_eq!(Plain::<f32>::KIND, Kind::Float);
        assert_eq!(Plain::<u64>::KIND, Kind::Integer);
        assert_eq!(Plain::<[f32; 2]>::KIND, Kind::Bytes);
        assert_eq!(Plain::<u128>::KIND, Kind::Bytes);
        assert_eq!(Plain::<f64>::ELEMENT, (Kind::Float, 8));
        assert_eq!(Plain::<[[i16; 3]; 2]>::ELEMENT, (Kind::Integer, 2));
        assert_eq!(Plain::<[(); 2]>::ELEMENT, (Kind::Any, 0));
    }
}
