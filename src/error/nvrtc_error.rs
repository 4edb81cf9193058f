//! Why CUDA C++ did not become PTX.

use crate::compute_capability::ComputeCapability;

/// Why NVRTC, CUDA's run-time compiler, made no PTX.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NvrtcError {
    /// NVRTC, CUDA's run-time compiler, is not installed, or not where programs find libraries.
    #[error(
        "no NVRTC, CUDA's run-time compiler: could not open {}. It comes with the CUDA toolkit (the package cuda-nvrtc-13-0 is NVRTC alone), \
         or with `pip install nvidia-cuda-nvrtc`, whose folder nvidia/cu13/lib then has to be where the system looks for libraries \
         (LD_LIBRARY_PATH)",
        tried.join(", ")
    )]
    NotFound {
        /// Each library or folder with the reason why it is none.
        tried: Vec<String>,
    },

    /// A library was opened as NVRTC and lacks one of its functions.
    #[error("the library has no `{name}`: it is not NVRTC, or older than CUDA 11.2")]
    Incomplete {
        /// The function.
        name: &'static str,
    },

    /// A call of NVRTC failed, other than the compilation itself.
    #[error("{call} returned {name} ({code})")]
    Call {
        /// The call.
        call: &'static str,
        /// The result, an `nvrtcResult`.
        code: i32,
        /// NVRTC's name for it.
        name: String,
    },

    /// The CUDA C++ did not compile, or an option is none.
    #[error("the CUDA C++ did not compile: {reason}{}{log}", if log.is_empty() { "" } else { "\n" })]
    Compile {
        /// Why, in a phrase: NVRTC's name for it, `NVRTC_ERROR_COMPILATION` for example.
        reason: String,
        /// What the compiler wrote, with file and line of each error.
        log: String,
    },

    /// NVRTC does not compile for devices as old as this one any more; one of an older CUDA version
    /// does.
    #[error("this NVRTC compiles for compute capability {oldest} and newer, not for {asked}")]
    ArchitectureTooOld {
        /// The compute capability asked for.
        asked: ComputeCapability,
        /// The oldest one that this NVRTC knows.
        oldest: ComputeCapability,
    },

    /// The name expression was not given to the compilation, so that it has no lowered name.
    #[error("`{expression}` was not among the name expressions of the compilation")]
    NoNameExpression {
        /// The expression asked for.
        expression: String,
    },

    /// A name or a value that the program does not vouch for contains a quotation mark or a control
    /// character: it could bring an `asm` statement or an option into the compilation.
    #[error("{what} contains a quotation mark or a control character, which only trusted text may")]
    Quoted {
        /// Which text.
        what: &'static str,
    },

    /// A text for the compiler contains a NUL, where C would take it to end.
    #[error("{what} contains a NUL")]
    NulInText {
        /// Which text.
        what: &'static str,
    },

    /// The compilation made no PTX.
    #[error("the compilation made no PTX: an option asked for something else, such as `-dlto`")]
    NoPtx,
}
