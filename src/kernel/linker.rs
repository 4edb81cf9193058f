//! Linking code at run time.

#![allow(unsafe_code)] // creates and destroys linkers, and gives them their inputs

use super::binary::{check_cubin, check_fatbin, check_library, check_object};
use super::jit::JitOptions;
use super::load_image::{is_about_the_image, load_binary};
use super::module::Module;
use super::ptx::Ptx;
use super::ptx_check::ptx_text;
use crate::context::Context;
use crate::driver::Driver;
use crate::error::{Error, ImageError, ImageKind, Result};
use crate::ffi::*;
use crate::internal::calls::{self, JitArguments};
use crate::internal::current;
use std::collections::HashMap;
use std::ffi::CString;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// Puts code from several places together: kernels in one text, the functions that they call in
/// another. Made by [`Context::linker`].
///
/// Inputs are added one after the other, in any order, and [`finish`](Self::finish) resolves what
/// they want of each other. The driver's linker is of no use any more once it has refused an input:
/// from then on every call returns [`Error::Image`] with the first reason, and only a new linker
/// helps.
///
/// Dropping it destroys the driver's linker (`cuLinkDestroy`).
///
/// ```
/// # use scoped_cuda::{Driver, Error, JitOptions, Ptx, ptx, sim::Simulation};
/// const HELPER: Ptx<'_> = ptx!(".version 8.0\n.target sm_75\n.address_size 64
///     .visible .func helper(.param .b32 x) { ret; }");
/// const KERNEL: Ptx<'_> = ptx!(".version 8.0\n.target sm_75\n.address_size 64
///     .extern .func helper(.param .b32 x);
///     .visible .entry kernel() {
///         .param .b32 p; st.param.b32 [p], 7; call helper, (p); ret;
///     }");
///
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let mut linker = ctx.linker(&JitOptions::default())?;
/// linker.add_ptx("kernel.ptx", KERNEL)?;
/// linker.add_ptx("helper.ptx", HELPER)?;
/// let linked = linker.finish()?;
/// ctx.load_linked(&linked)?.kernel::<()>("kernel")?;
///
/// let mut alone = ctx.linker(&JitOptions::default())?;
/// alone.add_ptx("kernel.ptx", KERNEL)?;
/// assert!(matches!(alone.finish(), Err(Error::Image(_))));
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
pub struct Linker<'ctx> {
    context: Context<'ctx>,
    raw: CUlinkState,
    /// The driver writes logs to it until the linker is destroyed.
    arguments: ManuallyDrop<JitArguments>,
    inputs: usize,
    /// Why an input was refused.
    refused: Option<String>,
}

static_assertions::assert_impl_all!(Linker<'static>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(Linker<'static>: Clone);

impl<'ctx> Context<'ctx> {
    /// A linker for this device (`cuLinkCreate`). The options are for the inputs that have to be
    /// compiled.
    ///
    /// # Errors
    /// [`Error::BadJitOptions`], or what the driver returns.
    #[doc(alias = "cuLinkCreate")]
    pub fn linker(self, options: &JitOptions) -> Result<Linker<'ctx>> {
        let state = self.state();
        let arguments = options.arguments(state.limits())?;
        // SAFETY: once there is a linker, the arguments are dropped after it was destroyed
        // (`Linker::drop`).
        let create = || unsafe { calls::link_create(self.api(), &arguments) };
        let raw = current::bind(state, create)?;
        Ok(Linker {
            context: self,
            raw,
            arguments: ManuallyDrop::new(arguments),
            inputs: 0,
            refused: None,
        })
    }
}

impl<'ctx> Linker<'ctx> {
    /// Adds PTX text, which is compiled now (`cuLinkAddData`); how far it has to be trusted,
    /// [`load_ptx`](Context::load_ptx) says. `name` identifies this input in error messages.
    ///
    /// # Errors
    /// [`Error::Image`] with the error log, [`Error::ContextLost`], or what the driver returns. The
    /// linker is useless then.
    #[doc(alias = "cuLinkAddData")]
    pub fn add_ptx(&mut self, name: &str, ptx: Ptx<'_>) -> Result<()> {
        let text = ptx_text(ptx.as_str()).map_err(str::to_owned);
        let data = text
            .as_ref()
            .map_or(&[][..], |text| text.as_bytes_with_nul());
        let checked = text.as_ref().map(drop).map_err(String::clone);
        // SAFETY: text with a NUL at its end.
        unsafe { self.add(name, checked, CU_JIT_INPUT_PTX, data) }
    }

    /// Adds machine code: a cubin that was made to be linked, by `nvcc -cubin -rdc=true` or `ptxas
    /// -c`.
    ///
    /// # Errors
    /// As [`add_ptx`](Self::add_ptx); a cubin that is cut off is [`Error::Image`].
    ///
    /// # Safety
    /// As [`Context::load_cubin`].
    pub unsafe fn add_cubin(&mut self, name: &str, image: &[u8]) -> Result<()> {
        // SAFETY: whole, by its own headers; that they are right is the caller's promise.
        unsafe { self.add(name, check_cubin(image), CU_JIT_INPUT_CUBIN, image) }
    }

    /// Adds a fatbin that was made to be linked, by `nvcc -fatbin -rdc=true`. PTX in it is
    /// compiled.
    ///
    /// # Errors
    /// As [`add_ptx`](Self::add_ptx); a fatbin that is cut off is [`Error::Image`].
    ///
    /// # Safety
    /// As [`Context::load_fatbin`].
    pub unsafe fn add_fatbin(&mut self, name: &str, image: &[u8]) -> Result<()> {
        // SAFETY: whole, by its own header; that it is right is the caller's promise.
        unsafe { self.add(name, check_fatbin(image), CU_JIT_INPUT_FATBINARY, image) }
    }

    /// Adds an object file of the host that has device code in it, as `nvcc -dc` makes it.
    ///
    /// # Errors
    /// As [`add_ptx`](Self::add_ptx); an ELF file that is cut off is [`Error::Image`].
    ///
    /// # Safety
    /// `image` was written by `nvcc` and has not been changed since. The length of object files
    /// that are not ELF (those of Windows) is not checked: such a one has to be whole.
    pub unsafe fn add_object(&mut self, name: &str, image: &[u8]) -> Result<()> {
        // SAFETY: whole, as far as can be seen; the rest is the caller's promise.
        unsafe { self.add(name, check_object(image), CU_JIT_INPUT_OBJECT, image) }
    }

    /// Adds an archive of such object files, a static library.
    ///
    /// # Errors
    /// As [`add_ptx`](Self::add_ptx); an archive that is cut off within a member is
    /// [`Error::Image`].
    ///
    /// # Safety
    /// As [`add_object`](Self::add_object), for each of the archive's members.
    pub unsafe fn add_library(&mut self, name: &str, image: &[u8]) -> Result<()> {
        // SAFETY: whole, as far as can be seen; the rest is the caller's promise.
        unsafe { self.add(name, check_library(image), CU_JIT_INPUT_LIBRARY, image) }
    }

    /// # Safety
    /// If `checked` is `Ok`, `data` is a whole input of this kind.
    unsafe fn add(
        &mut self,
        name: &str,
        checked: Result<(), String>,
        kind: CUjitInputType,
        data: &[u8],
    ) -> Result<()> {
        self.usable()?;
        let c_name = CString::new(name).map_err(|_| "its name contains a NUL".to_owned());
        let outcome = match checked.and(c_name) {
            Err(reason) => Err(Error::from(ImageError::new(
                ImageKind::Link,
                format!("input `{name}`: {reason}"),
                String::new(),
            ))),
            Ok(c_name) => self.context.state().not_lost().and_then(|()| {
                // SAFETY: the linker is live, and borrowed mutably, so that no other thread uses
                // it; the input is whole (the caller's promise).
                let added = unsafe {
                    calls::link_add_data(self.context.api(), self.raw, kind, data, &c_name)
                };
                added.map_err(|error| self.explained(error, &format!("input `{name}`: ")))
            }),
        };
        match &outcome {
            Ok(()) => self.inputs += 1,
            Err(Error::Image(ImageError { reason, .. })) => self.refused = Some(reason.clone()),
            Err(error) => self.refused = Some(error.to_string()),
        }
        outcome
    }

    /// Links what was added (`cuLinkComplete`).
    ///
    /// # Errors
    /// [`Error::Image`]: nothing was added, an input was refused before, something is missing, or
    /// what the driver made is no whole cubin; [`Error::ContextLost`], or what the driver returns.
    #[doc(alias = "cuLinkComplete")]
    pub fn finish(self) -> Result<LinkedImage> {
        self.usable()?;
        if self.inputs == 0 {
            // The driver would link nothing, and call that a success (measured).
            return Err(Error::from(ImageError::new(
                ImageKind::Link,
                "nothing was added".to_owned(),
                String::new(),
            )));
        }
        self.context.state().not_lost()?;
        let driver = self.context.driver();
        // SAFETY: the linker is live and owned.
        let image = unsafe { calls::link_complete(self.context.api(), self.raw) };
        let image = image.map_err(|error| self.explained(error, ""))?;
        // Loading it is safe, so it is looked at as closely as what others bring.
        check_cubin(&image).map_err(|reason| {
            Error::from(ImageError::new(
                ImageKind::Link,
                format!("what the driver made: {reason}"),
                self.arguments.error(),
            ))
        })?;
        Ok(LinkedImage {
            driver,
            image: image.into(),
            log: self.arguments.info().into(),
        })
    }

    /// The context that it links for.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.context
    }

    fn usable(&self) -> Result<()> {
        match &self.refused {
            None => Ok(()),
            Some(first) => Err(Error::from(ImageError::new(
                ImageKind::Link,
                format!("an input was refused before: {first}"),
                String::new(),
            ))),
        }
    }

    /// The error of a call about the inputs, with the linker's log.
    fn explained(&self, error: Error, subject: &str) -> Error {
        let Error::Driver(error) = error else {
            return error;
        };
        let is_about_inputs =
            is_about_the_image(error.code()) || error.code() == CUresult::NO_BINARY_FOR_GPU;
        if !is_about_inputs {
            return Error::Driver(error);
        }
        let log = self.arguments.error();
        let reason = format!("{subject}{error}");
        Error::from(ImageError::new(ImageKind::Link, reason, log))
    }
}

impl Drop for Linker<'_> {
    fn drop(&mut self) {
        let mut is_destroyed = false;
        self.context.state().tear_down(|driver| {
            // SAFETY: live and owned.
            unsafe { calls::link_destroy(driver, self.raw) }?;
            is_destroyed = true;
            Ok(())
        });
        if is_destroyed {
            // SAFETY: not used afterwards; nobody writes to it any more (C6). In the other case it
            // is leaked.
            unsafe { ManuallyDrop::drop(&mut self.arguments) };
        }
    }
}

impl fmt::Debug for Linker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = self.context.device().ordinal();
        let (raw, inputs) = (self.raw.as_ptr(), self.inputs);
        write!(f, "Linker(device {device}, {raw:p}, {inputs} inputs)")
    }
}

/// Machine code that a [`Linker`] has made: a cubin, in memory of its own.
///
/// It belongs to no context: it can be kept, and loaded with [`Context::load_linked`] wherever the
/// driver is the same and the architecture of the device fits. Clones share the memory.
#[derive(Clone)]
pub struct LinkedImage {
    driver: Driver,
    image: Arc<[u8]>,
    log: Arc<str>,
}

static_assertions::assert_impl_all!(LinkedImage: Send, Sync, Clone, std::panic::UnwindSafe, std::panic::RefUnwindSafe);

impl LinkedImage {
    /// The cubin, to save it. [`Context::load_cubin`] loads it again.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.image
    }

    /// What the compiler and the linker had to say: as [`Module::log`](crate::Module::log).
    #[must_use]
    pub fn log(&self) -> &str {
        &self.log
    }

    /// The driver that made it.
    #[must_use]
    pub fn driver(&self) -> Driver {
        self.driver
    }
}

impl<'ctx> Context<'ctx> {
    /// Loads what a [`Linker`](crate::Linker) has made (`cuModuleLoadDataEx`), of this context or
    /// another of the same driver.
    ///
    /// # Errors
    /// [`Error::NoCodeForDevice`] when it was linked for another architecture,
    /// [`Error::DifferentDrivers`], or what the driver returns.
    #[doc(alias = "cuModuleLoadDataEx")]
    pub fn load_linked(self, linked: &LinkedImage) -> Result<Module<'ctx>> {
        if linked.driver() != self.driver() {
            return Err(Error::DifferentDrivers);
        }
        // SAFETY: whole, by its own headers (`Linker::finish`); this driver made it of inputs that
        // were compiled, or that somebody vouched for, and nobody can have changed it (C12).
        unsafe { load_binary(self, linked.bytes(), &JitOptions::default(), HashMap::new()) }
    }
}

impl fmt::Debug for LinkedImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LinkedImage({} bytes)", self.image.len())
    }
}
