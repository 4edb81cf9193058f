//! Text that the program vouches for.

#![allow(unsafe_code)] // text whose origin the caller vouches for

use crate::kernel::ConstText;
use std::fmt;

/// Text for the compiler that the program trusts: CUDA C++, a header, an option.
///
/// NVRTC copies `asm` statements into the PTX without reading them, and the driver's compiler,
/// which reads it next, can crash over text that no compiler writes ([`Ptx`](crate::Ptx)). So the
/// compiler is given text of known origin only:
///
/// | text | how |
/// |---|---|
/// | a constant of the program | [`trusted!`](crate::trusted) |
/// | a file beside the program | `trusted!(include_str!("filter.cu"))` |
/// | text that is known when the program runs | [`Trusted::text`], which is `unsafe` |
///
/// What differs from run to run is mostly a number or a name, which
/// [`define`](super::CompileOptions::define) takes as it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Trusted<'a> {
    text: &'a str,
}

impl<'a> Trusted<'a> {
    /// The text of a type: a constant of the program.
    #[must_use]
    pub const fn of<T: ConstText>() -> Trusted<'static> {
        Trusted { text: T::TEXT }
    }

    /// Text that is known when the program runs.
    ///
    /// # Safety
    /// Whoever may have written the text, or the files that it makes the compiler read, is trusted
    /// as the program's author is: its `asm` statements are PTX as a compiler writes it.
    ///
    /// ```no_run
    /// use scoped_cuda::ComputeCapability;
    /// use scoped_cuda::nvrtc::{CompileOptions, Compiler, Trusted};
    ///
    /// let text = std::fs::read_to_string("filter.cu").unwrap();
    /// // SAFETY: the file is installed with the program, and only its author writes it.
    /// let source = unsafe { Trusted::text(&text) };
    /// let options = CompileOptions::for_capability(ComputeCapability::new(9, 0));
    /// let filter = Compiler::load()?.compile(source, &options)?;
    /// # let _ = filter;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[must_use]
    pub const unsafe fn text(text: &'a str) -> Self {
        Self { text }
    }

    /// The text.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        self.text
    }
}

impl fmt::Debug for Trusted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trusted({} bytes)", self.text.len())
    }
}

/// A constant of the program as [`nvrtc::Trusted`](crate::nvrtc::Trusted).
///
/// ```
/// use scoped_cuda::nvrtc::Trusted;
/// use scoped_cuda::trusted;
///
/// const SOURCE: Trusted<'_> = trusted!("__global__ void nothing() {}");
/// assert!(SOURCE.as_str().contains("nothing"));
/// ```
///
/// Text that is known only when the program runs does not compile here.
#[macro_export]
macro_rules! trusted {
    ($text:expr) => {{
        // A name that the text's expression does not have.
        struct TextOfThisProgram;
        impl $crate::kernel::ConstText for TextOfThisProgram {
            const TEXT: &'static str = $text;
        }
        $crate::nvrtc::Trusted::of::<TextOfThisProgram>()
    }};
}
