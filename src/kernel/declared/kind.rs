//! What a value is, as far as its type tells.

use std::fmt;

/// What a parameter or a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An address in global memory.
    Pointer,
    /// An address in shared, constant or local memory, which no argument is.
    OtherPointer,
    /// A floating-point number.
    Float,
    /// An integer.
    Integer,
    /// Bytes of a struct.
    Bytes,
    /// Bits of any type, or what this module does not read. Rust's types are never of this kind.
    Any,
}

impl Kind {
    /// Whether a value of kind `passed` may stand for a parameter that is declared as this one.
    /// Sizes are another matter.
    pub(crate) const fn admits(self, passed: Self) -> bool {
        match self {
            Self::Any => true,
            // Older compilers declare pointers as integers of 64 bits. Plain data may be a wrapper
            // of what is declared.
            Self::Bytes => !matches!(passed, Self::Pointer),
            Self::Integer => !matches!(passed, Self::Float),
            Self::Float => matches!(passed, Self::Float | Self::Bytes),
            // An address may be passed as a number.
            Self::Pointer => matches!(passed, Self::Pointer | Self::Integer),
            Self::OtherPointer => matches!(passed, Self::Integer),
        }
    }

    /// In words.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pointer => "a pointer",
            Self::OtherPointer => "a pointer into shared, constant or local memory",
            Self::Float => "a floating-point number",
            Self::Integer => "an integer",
            Self::Bytes => "plain data",
            Self::Any => "bits of any type",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
