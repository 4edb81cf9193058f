//! The types of registers, variables and instructions.

/// A type, as the ISA names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
    Pred,
    TexRef,
    SamplerRef,
    SurfRef,
}

const NAMES: [(&str, Type, u32); 23] = [
    ("b8", Type::B8, 1),
    ("b16", Type::B16, 2),
    ("b32", Type::B32, 4),
    ("b64", Type::B64, 8),
    ("b128", Type::B128, 16),
    ("u8", Type::U8, 1),
    ("u16", Type::U16, 2),
    ("u32", Type::U32, 4),
    ("u64", Type::U64, 8),
    ("s8", Type::S8, 1),
    ("s16", Type::S16, 2),
    ("s32", Type::S32, 4),
    ("s64", Type::S64, 8),
    ("f16", Type::F16, 2),
    ("f16x2", Type::F16x2, 4),
    ("bf16", Type::Bf16, 2),
    ("bf16x2", Type::Bf16x2, 4),
    ("f32", Type::F32, 4),
    ("f64", Type::F64, 8),
    ("pred", Type::Pred, 1),
    ("texref", Type::TexRef, 8),
    ("samplerref", Type::SamplerRef, 8),
    ("surfref", Type::SurfRef, 8),
];

impl Type {
    /// The type that a word names.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let found = NAMES.iter().find(|(name, ..)| *name == word);
        found.map(|(_, kind, _)| *kind)
    }

    /// The word for the type.
    pub fn name(self) -> &'static str {
        let found = NAMES.iter().find(|(_, kind, _)| *kind == self);
        found.map_or("", |(name, ..)| name)
    }

    /// Its size in bytes.
    pub fn bytes(self) -> u32 {
        let found = NAMES.iter().find(|(_, kind, _)| *kind == self);
        found.map_or(0, |(.., bytes)| *bytes)
    }

    /// Whether it is a signed integer.
    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }
}

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Space {
    Generic,
    Reg,
    Const,
    Global,
    Local,
    Param,
    Shared,
    Tex,
}

impl Space {
    /// The space that a word names.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "reg" => Self::Reg,
            "const" => Self::Const,
            "global" => Self::Global,
            "local" => Self::Local,
            "param" | "param::entry" | "param::func" => Self::Param,
            "shared" | "shared::cta" | "shared::cluster" => Self::Shared,
            "tex" => Self::Tex,
            _ => return None,
        })
    }
}
