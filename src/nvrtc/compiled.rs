//! Compiling, and what comes of it.

use super::compiler::Compiler;
use super::options::{CompileOptions, c_text};
use super::program::Program;
use super::trusted::Trusted;
use crate::error::{Error, NvrtcError, Result};
use crate::kernel::Ptx;
use std::fmt;
use std::panic::resume_unwind;
use std::thread;

/// A compiled program: PTX, and what the compiler had to say.
#[derive(Clone, PartialEq, Eq)]
pub struct Compiled {
    ptx: String,
    cubin: Vec<u8>,
    log: String,
    /// Name expressions, each with its lowered name.
    names: Vec<(String, String)>,
}

static_assertions::assert_impl_all!(Compiled: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);

impl Compiler {
    /// Compiles CUDA C++, on a thread of its own that is waited for. Takes milliseconds to seconds,
    /// every time; needs no device and no driver.
    ///
    /// [The module](super) says how far the source text has to be trusted.
    ///
    /// NVRTC calls: `nvrtcCreateProgram`, `nvrtcAddNameExpression`, `nvrtcCompileProgram`, those
    /// that get what came of it, and `nvrtcDestroyProgram`, on every path.
    ///
    /// # Errors
    /// [`NvrtcError::Compile`] with the compiler's log when it refuses the source, a name
    /// expression or an option; [`NvrtcError::ArchitectureTooOld`]; [`NvrtcError::Quoted`];
    /// [`NvrtcError::NulInText`]; or
    /// what NVRTC returns.
    ///
    /// ```
    /// use scoped_cuda::nvrtc::{CompileOptions, Compiler, NvrtcError, Trusted};
    /// use scoped_cuda::{ComputeCapability, Error, trusted};
    ///
    /// # let Ok(compiler) = Compiler::load() else { return Ok(()) };
    /// # /*
    /// let compiler = Compiler::load()?;
    /// # */
    /// let options = CompileOptions::for_capability(ComputeCapability::new(9, 0)).program_name("broken.cu");
    /// const SOURCE: Trusted<'_> = trusted!("extern \"C\" __global__ void f() { oops }");
    /// match compiler.compile(SOURCE, &options) {
    ///     Err(Error::Nvrtc(NvrtcError::Compile { log, .. })) => assert!(log.contains("broken.cu(1): error:"), "{log}"),
    ///     other => panic!("{other:?}"),
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn compile(self, source: Trusted<'_>, options: &CompileOptions) -> Result<Compiled> {
        let source = c_text("the source", source.as_str())?;
        let name = c_text("the program's name", &options.program_name)?;
        let headers = || options.headers.iter();
        let header_names = headers().map(|(name, _)| c_text("a header's name", name));
        let header_names = header_names.collect::<Result<Vec<_>>>()?;
        let header_texts = headers().map(|(_, text)| c_text("a header", text));
        let header_texts = header_texts.collect::<Result<Vec<_>>>()?;
        let expressions = options.name_expressions.iter();
        let expressions = expressions.map(|expression| c_text("a name expression", expression));
        let expressions = expressions.collect::<Result<Vec<_>>>()?;
        let arguments = options.arguments(self.architectures())?;
        options.check_quotes()?;

        on_a_large_stack(|| {
            let functions = self.functions();
            let mut program =
                Program::create(functions, &source, &name, &header_names, &header_texts)?;
            for expression in &expressions {
                program.add_name_expression(expression)?;
            }
            program.compile(&arguments)?;
            let names = options.name_expressions.iter().zip(&expressions);
            let names = names
                .map(|(name, expression)| Ok((name.clone(), program.lowered_name(expression)?)))
                .collect::<Result<_>>()?;
            Ok(Compiled {
                ptx: program.ptx()?,
                cubin: program.cubin()?,
                log: program.log()?,
                names,
            })
        })
    }
}

/// The stack that the compiler gets. It takes about 5 KiB for each pair of parentheses around a
/// number (measured, 13.5), so that a thousand of them are a segmentation fault on a thread of 2
/// MiB, which is what Rust's threads have.
const STACK_BYTES: usize = 64 << 20;

/// Runs `compile` on a thread of its own and waits for it.
fn on_a_large_stack<T: Send>(compile: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    thread::scope(|threads| {
        let builder = thread::Builder::new().name("nvrtc".to_owned());
        match builder
            .stack_size(STACK_BYTES)
            .spawn_scoped(threads, compile)
        {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(error) => Err(Error::Nvrtc(NvrtcError::Compile {
                reason: format!("no thread for the compiler: {error}"),
                log: String::new(),
            })),
        }
    })
}

impl Compiled {
    /// The PTX, for [`Context::load_ptx`](crate::Context::load_ptx).
    ///
    /// # Errors
    /// [`NvrtcError::NoPtx`] when an option made the compiler write something else, as `-dlto`
    /// does.
    pub fn ptx(&self) -> Result<Ptx<'_>> {
        match self.ptx.is_empty() {
            true => Err(Error::Nvrtc(NvrtcError::NoPtx)),
            false => Ok(Ptx::compiled(&self.ptx)),
        }
    }

    /// Machine code, when the [architecture](CompileOptions::for_architecture) is a real one
    /// (`sm_90`).
    #[must_use]
    pub fn cubin(&self) -> Option<&[u8]> {
        (!self.cubin.is_empty()).then_some(&*self.cubin)
    }

    /// What the compiler wrote: warnings and remarks, or nothing.
    #[must_use]
    pub fn log(&self) -> &str {
        &self.log
    }

    /// What is called in the PTX what this [expression](CompileOptions::name_expression) names: a
    /// name for [`Module::kernel`](crate::Module::kernel).
    ///
    /// # Errors
    /// [`NvrtcError::NoNameExpression`] when it was not given to the compilation, in exactly this
    /// spelling.
    pub fn lowered_name(&self, expression: &str) -> Result<&str> {
        let found = self.names.iter().find(|(known, _)| known == expression);
        found.map(|(_, name)| name.as_str()).ok_or_else(|| {
            Error::Nvrtc(NvrtcError::NoNameExpression {
                expression: expression.to_owned(),
            })
        })
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled")
            .field("ptx_bytes", &self.ptx.len())
            .field("cubin_bytes", &self.cubin.len())
            .field("log", &self.log)
            .field("names", &self.names)
            .finish()
    }
}
