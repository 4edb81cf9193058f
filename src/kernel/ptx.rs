//! PTX that a compiler has written.

#![allow(unsafe_code)] // text whose origin the caller vouches for

use std::fmt;

/// PTX text that came from a compiler.
///
/// The driver's compiler trusts its input: over text that no compiler writes it can crash, and with
/// it the process (measured with drivers of CUDA 13.0). Which texts do that is not known in full.
/// So the driver is given text of known origin only:
///
/// | text | how |
/// |---|---|
/// | a file beside the program | [`include_ptx!`](crate::include_ptx) |
/// | a constant of the program | [`ptx!`](crate::ptx) |
/// | what NVRTC has compiled | `nvrtc::Compiled::ptx`, with the feature `nvrtc` |
/// | a file or a string that is known when the program runs | [`Ptx::from_compiler`], which is `unsafe` |
///
/// ```
/// # use scoped_cuda::{Driver, sim::Simulation};
/// use scoped_cuda::{Ptx, include_ptx};
///
/// const SAXPY: Ptx<'_> = include_ptx!("../../examples/saxpy.ptx");
///
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let module = ctx.load_ptx(SAXPY)?;
/// assert_eq!(module.parameters("saxpy")?.len(), 4);
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ptx<'a> {
    text: &'a str,
}

/// Text as a constant of a type: it was part of the program when that was compiled. Open: any crate
/// may implement it; a constant cannot come from anywhere at run time.
///
/// [`ptx!`](crate::ptx), [`include_ptx!`](crate::include_ptx), [`kernels!`](crate::kernels) and
/// `trusted!` (feature `nvrtc`) implement it for a type of their own.
pub trait ConstText {
    /// The text.
    const TEXT: &'static str;
}

impl<'a> Ptx<'a> {
    /// The text of a type: a constant of the program.
    #[must_use]
    pub const fn of<T: ConstText>() -> Ptx<'static> {
        Ptx { text: T::TEXT }
    }

    /// Text that is known when the program runs.
    ///
    /// # Safety
    /// A compiler that writes PTX for NVIDIA's drivers (nvcc, NVRTC, clang, rustc, Triton, ...)
    /// wrote the text, for a program that is trusted, and nothing has changed it since.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// use scoped_cuda::Ptx;
    ///
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let text = std::fs::read_to_string("examples/saxpy.ptx").unwrap();
    /// // SAFETY: nvcc wrote the file, which is installed with the program.
    /// let module = ctx.load_ptx(unsafe { Ptx::from_compiler(&text) })?;
    /// # let _ = module;
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[must_use]
    pub const unsafe fn from_compiler(text: &'a str) -> Self {
        Self { text }
    }

    /// What NVRTC has written.
    #[cfg(feature = "nvrtc")]
    pub(crate) fn compiled(text: &'a str) -> Self {
        Self { text }
    }

    /// The text.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        self.text
    }
}

impl fmt::Debug for Ptx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ptx({} bytes)", self.text.len())
    }
}

/// A constant of the program as [`Ptx`].
///
/// ```
/// use scoped_cuda::{Ptx, ptx};
///
/// const NOTHING: Ptx<'_> = ptx!(
///     ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }"
/// );
/// assert!(NOTHING.as_str().contains("nothing"));
/// ```
///
/// Text that is known only when the program runs does not compile here.
#[macro_export]
macro_rules! ptx {
    ($text:expr) => {{
        // A name that the text's expression does not have.
        struct PtxOfThisProgram;
        impl $crate::kernel::ConstText for PtxOfThisProgram {
            const TEXT: &'static str = $text;
        }
        $crate::Ptx::of::<PtxOfThisProgram>()
    }};
}

/// A file beside the program as [`Ptx`], by its path from the source file that names it: what
/// [`include_str!`] is for text.
///
/// ```
/// # use scoped_cuda::{Driver, include_ptx, sim::Simulation};
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let module = ctx.load_ptx(include_ptx!("../../examples/saxpy.ptx"))?;
/// # let _ = module;
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[macro_export]
macro_rules! include_ptx {
    ($path:expr) => {
        $crate::ptx!(include_str!($path))
    };
}

#[cfg(test)]
mod tests {
    use super::{ConstText, Ptx};

    const TEXT: &str = ".version 8.0\n.target sm_75";

    struct Text;

    impl Text {
        const PTX: &'static str = TEXT;
    }

    /// A type for many kernels: one constant each.
    struct Numbered<const N: usize>;

    impl<const N: usize> ConstText for Numbered<N> {
        const TEXT: &'static str = [TEXT, ".version 8.1"][N];
    }

    #[test]
    fn constants_of_any_name_are_taken() {
        const MADE: Ptx<'_> = ptx!(concat!(".version 8.0", "\n.target sm_75"));
        for same in [ptx!(TEXT), ptx!(Text::PTX), Ptx::of::<Numbered<0>>()] {
            assert_eq!(same, MADE);
        }
        assert_eq!(Ptx::of::<Numbered<1>>().as_str(), ".version 8.1");
        assert_eq!(format!("{MADE:?}"), "Ptx(26 bytes)");
    }
}
