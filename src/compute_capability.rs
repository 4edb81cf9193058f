//! Which features a device has, as a version.

use std::fmt;

/// The compute capability of a device, or of those that code is made for: 9.0 for an H200. It is
/// printed as `major.minor`, and a newer one is greater.
///
/// ```
/// use scoped_cuda::ComputeCapability;
///
/// let hopper = ComputeCapability::new(9, 0);
/// assert!(hopper > ComputeCapability::new(8, 9));
/// assert_eq!(hopper.to_string(), "9.0");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ComputeCapability {
    /// The generation.
    pub major: u32,
    /// The variant of it.
    pub minor: u32,
}

impl ComputeCapability {
    /// `major.minor`.
    #[must_use]
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// As NVRTC writes it: 90 for 9.0, 103 for 10.3.
    #[cfg(feature = "nvrtc")]
    pub(crate) const fn from_number(number: u32) -> Self {
        Self::new(number / 10, number % 10)
    }

    /// As NVRTC writes it.
    #[cfg(feature = "nvrtc")]
    pub(crate) const fn number(self) -> u32 {
        self.major.saturating_mul(10).saturating_add(self.minor)
    }
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
