//! Why device code did not load or link.

use std::fmt;

/// Why device code was refused: by the driver, or by this crate before it asked the driver.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ImageError {
    /// What was refused.
    pub kind: ImageKind,
    /// Why, in a phrase: the driver's error, or what this crate found.
    pub reason: String,
    /// The error log of the JIT or the linker; empty when it wrote none.
    pub log: String,
}

/// What an [`ImageError`] is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ImageKind {
    /// PTX text.
    Ptx,
    /// A cubin or a fatbin.
    Binary,
    /// The inputs of a linker.
    Link,
}

impl ImageError {
    pub(crate) fn new(kind: ImageKind, reason: impl Into<String>, log: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
            log: log.into(),
        }
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            ImageKind::Ptx => "the PTX did not load",
            ImageKind::Binary => "the image did not load",
            ImageKind::Link => "the code did not link",
        };
        write!(f, "{what}: {}", self.reason)?;
        match self.log.is_empty() {
            true => Ok(()),
            false => write!(f, "\n{}", self.log),
        }
    }
}

impl std::error::Error for ImageError {}
