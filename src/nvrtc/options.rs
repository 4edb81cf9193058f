//! What a compilation is told apart from the source.

use super::trusted::Trusted;
use crate::compute_capability::ComputeCapability;
use crate::device::Device;
use crate::error::{Error, NvrtcError, Result};
use std::ffi::CString;
use std::fmt::Display;

/// The options of a compilation: for which architecture, and what else the compiler should know.
///
/// ```
/// use scoped_cuda::nvrtc::CompileOptions;
/// use scoped_cuda::{ComputeCapability, trusted};
///
/// let options = CompileOptions::for_capability(ComputeCapability::new(9, 0))
///     .program_name("filter.cu")
///     .header("taps.cuh", trusted!("__device__ const float taps[TAPS] = {0.25f, 0.5f, 0.25f};"))
///     .define("TAPS", 3)
///     .name_expression("filter<float>")
///     .fmad(false);
/// ```
///
/// Each method adds one option; how often one may be given, and what its value may be, is up to the
/// compiler. Names and values that are not [`Trusted`] have neither quotation marks nor control
/// characters in them, so that no `asm` statement comes in with them:
/// [`compile`](super::Compiler::compile) refuses others ([`NvrtcError::Quoted`]).
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use]
pub struct CompileOptions {
    architecture: Architecture,
    pub(super) program_name: String,
    /// Names and texts.
    pub(super) headers: Vec<(String, String)>,
    pub(super) name_expressions: Vec<String>,
    arguments: Vec<String>,
    /// What has a quotation mark in it, the first time.
    quoted: Option<&'static str>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Architecture {
    Device(ComputeCapability),
    /// As the compiler names it.
    Named(String),
}

impl CompileOptions {
    /// PTX for `device`: [`for_capability`](Self::for_capability) of what it says its compute
    /// capability is.
    ///
    /// # Errors
    /// What the driver returns.
    pub fn for_device(device: Device) -> Result<Self> {
        Ok(Self::for_capability(device.compute_capability()?))
    }

    /// PTX for devices of this compute capability and newer ones: `--gpu-architecture=compute_90`
    /// for 9.0. When the compiler does not know such a device yet, it is told the newest one it
    /// knows that is older, whose PTX the device runs as well.
    pub fn for_capability(capability: ComputeCapability) -> Self {
        Self::new(Architecture::Device(capability))
    }

    /// Code for exactly this architecture, by NVRTC's own name: for example `compute_90a`, whose
    /// PTX has instructions that only such devices have; or `sm_90`, for which there is machine
    /// code too ([`Compiled::cubin`](super::Compiled::cubin)).
    pub fn for_architecture(name: impl Into<String>) -> Self {
        Self::new(Architecture::Named(name.into()))
    }

    fn new(architecture: Architecture) -> Self {
        Self {
            architecture,
            program_name: String::new(),
            headers: Vec::new(),
            name_expressions: Vec::new(),
            arguments: Vec::new(),
            quoted: None,
        }
    }

    /// The name that the source has in messages and in debug information. Without it NVRTC says
    /// `default_program`.
    pub fn program_name(mut self, name: impl Into<String>) -> Self {
        self.program_name = name.into();
        self
    }

    /// A header that the source may `#include` by this name. No file is read for it.
    pub fn header(mut self, name: impl Into<String>, text: Trusted<'_>) -> Self {
        self.headers.push((name.into(), text.as_str().to_owned()));
        self
    }

    /// A folder in which `#include` looks for files, after the [headers](Self::header)
    /// (`--include-path`).
    pub fn include_dir(self, folder: Trusted<'_>) -> Self {
        self.argument(format!("--include-path={}", folder.as_str()))
    }

    /// An expression that names a kernel or a variable, `filter<float>` or `&table`: a template is
    /// instantiated for it, and [`Compiled::lowered_name`](super::Compiled::lowered_name) knows
    /// what it is called in the PTX (`nvrtcAddNameExpression`).
    pub fn name_expression(mut self, expression: impl Into<String>) -> Self {
        self.name_expressions.push(expression.into());
        self
    }

    /// A macro, as `#define name value` would define it (`--define-macro`).
    pub fn define(self, name: impl Display, value: impl Display) -> Self {
        self.untrusted("a macro", format!("--define-macro={name}={value}"))
    }

    /// The language: `c++17`, `c++20` and the like (`--std`).
    pub fn std(self, dialect: impl Display) -> Self {
        self.untrusted("the language", format!("--std={dialect}"))
    }

    /// Whether a product and a sum may become one operation that rounds once (`--fmad`). The
    /// compiler's own choice is that they may.
    pub fn fmad(self, may: bool) -> Self {
        self.argument(format!("--fmad={may}"))
    }

    /// Line numbers for profilers and debuggers (`--generate-line-info`).
    pub fn line_info(self) -> Self {
        self.argument("--generate-line-info")
    }

    /// Everything for the debugger, and no optimisation (`--device-debug`).
    pub fn device_debug(self) -> Self {
        self.argument("--device-debug")
    }

    /// The most registers that a thread may have (`--maxrregcount`).
    pub fn max_registers(self, count: u32) -> Self {
        self.argument(format!("--maxrregcount={count}"))
    }

    /// Faster and less exact mathematics (`--use_fast_math`).
    pub fn fast_math(self) -> Self {
        self.argument("--use_fast_math")
    }

    /// Any other option, in one string as NVRTC's user guide writes it:
    /// `trusted!("--restrict")`. Some make the compiler read or write files.
    pub fn option(self, option: Trusted<'_>) -> Self {
        self.argument(option.as_str())
    }

    fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    fn untrusted(mut self, what: &'static str, argument: String) -> Self {
        if is_quoted(&argument) {
            self.quoted = self.quoted.or(Some(what));
        }
        self.argument(argument)
    }

    /// Refuses names and values with which a string literal may come into the program.
    pub(super) fn check_quotes(&self) -> Result<()> {
        let architecture = match &self.architecture {
            Architecture::Named(name) => name,
            Architecture::Device(_) => "",
        };
        let one = [
            ("the architecture", architecture),
            ("the program's name", &self.program_name),
        ];
        let headers = self
            .headers
            .iter()
            .map(|(name, _)| ("a header's name", name.as_str()));
        let expressions = self.name_expressions.iter();
        let expressions = expressions.map(|it| ("a name expression", it.as_str()));
        let mut all = one.into_iter().chain(headers).chain(expressions);
        let quoted = all.find(|(_, text)| is_quoted(text)).map(|(what, _)| what);
        match quoted.or(self.quoted) {
            Some(what) => Err(Error::Nvrtc(NvrtcError::Quoted { what })),
            None => Ok(()),
        }
    }

    /// What a compiler that knows these architectures is told, in order.
    pub(super) fn arguments(&self, known: &[ComputeCapability]) -> Result<Vec<CString>> {
        let architecture = match &self.architecture {
            Architecture::Named(name) => format!("--gpu-architecture={name}"),
            &Architecture::Device(asked) => {
                let newest = known.iter().copied().filter(|&it| it <= asked).max();
                let newest = newest.ok_or(Error::Nvrtc(NvrtcError::ArchitectureTooOld {
                    asked,
                    oldest: known.iter().copied().min().unwrap_or(asked),
                }))?;
                format!("--gpu-architecture=compute_{}", newest.number())
            }
        };
        let all =
            std::iter::once(architecture.as_str()).chain(self.arguments.iter().map(String::as_str));
        all.map(|option| c_text("an option", option)).collect()
    }
}

/// Whether a string literal, another line or another option may begin in the text. An `asm`
/// statement has a string literal in it.
fn is_quoted(text: &str) -> bool {
    text.contains(|c: char| c == '"' || c.is_control())
}

/// A text for C.
pub(super) fn c_text(what: &'static str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Nvrtc(NvrtcError::NulInText { what }))
}
