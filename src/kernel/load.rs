//! Loading images: PTX text, cubins and fatbins.

#![allow(unsafe_code)] // hands images to the driver

use super::binary::{check_cubin, check_fatbin};
use super::declared;
use super::jit::JitOptions;
use super::load_image::{LoadFailure, bad_image, load, load_binary};
use super::module::Module;
use super::ptx::Ptx;
use super::ptx_check::ptx_text;
use crate::context::Context;
use crate::error::{Error, ImageError, ImageKind, Result};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

impl<'ctx> Context<'ctx> {
    /// Compiles and loads [PTX](Ptx) for this device (`cuModuleLoadDataEx`).
    ///
    /// ```
    /// # use scoped_cuda::{Driver, include_ptx, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let module = ctx.load_ptx(include_ptx!("../../examples/saxpy.ptx"))?;
    /// assert_eq!(module.parameters("saxpy")?.len(), 4);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    ///
    /// Texts that are known to crash the driver's compiler are refused, also when a constant holds
    /// them.
    ///
    /// # Errors
    /// [`Error::Image`] with the JIT's log, or what the driver returns.
    #[doc(alias = "cuModuleLoadDataEx")]
    #[doc(alias = "load_module")]
    pub fn load_ptx(self, ptx: Ptx<'_>) -> Result<Module<'ctx>> {
        self.load_ptx_with(ptx, &JitOptions::default())
    }

    /// [`load_ptx`](Self::load_ptx) with options for the compiler.
    ///
    /// # Errors
    /// [`Error::Image`] with the JIT's log, [`Error::BadJitOptions`], [`Error::NoCodeForDevice`]
    /// when it was compiled for another [target](JitOptions::target), or what the driver returns.
    pub fn load_ptx_with(self, ptx: Ptx<'_>, options: &JitOptions) -> Result<Module<'ctx>> {
        let text =
            ptx_text(ptx.as_str()).map_err(|reason| ImageError::new(ImageKind::Ptx, reason, ""))?;
        let declared = declared::read(ptx.as_str());
        // SAFETY: text with a NUL at its end.
        unsafe { load(self, text.as_ptr().cast(), options, declared) }.map_err(|refused| {
            match refused {
                LoadFailure::Image { error, log } => {
                    let target = options.target;
                    let target =
                        target.map(|it| format!(" (compiled for compute capability {it})"));
                    let reason = format!("{error}{}", target.unwrap_or_default());
                    Error::from(ImageError::new(ImageKind::Ptx, reason, log))
                }
                LoadFailure::Other(error) => error,
            }
        })
    }

    /// [`load_ptx`](Self::load_ptx) of the text in a file that is read when the program runs. A
    /// file that is there when the program is compiled is better [included](crate::include_ptx).
    ///
    /// # Errors
    /// [`Error::PtxFile`] when the file cannot be read or is not UTF-8; else as there.
    ///
    /// # Safety
    /// The text in the file is as [`Ptx::from_compiler`] asks.
    pub unsafe fn load_ptx_file(self, path: impl AsRef<Path>) -> Result<Module<'ctx>> {
        // SAFETY: the promise of `load_ptx_file`.
        unsafe { self.load_ptx_file_with(path, &JitOptions::default()) }
    }

    /// [`load_ptx_file`](Self::load_ptx_file) with options for the compiler.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, Error, JitOptions, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let options = JitOptions::default();
    /// // SAFETY: nvcc wrote the file, which is installed with the program.
    /// let module = unsafe { ctx.load_ptx_file_with("examples/saxpy.ptx", &options) }?;
    /// assert_eq!(module.parameters("saxpy")?.len(), 4);
    ///
    /// // SAFETY: as above.
    /// let error = unsafe { ctx.load_ptx_file_with("saxpi.ptx", &options) }.unwrap_err();
    /// assert!(error.to_string().starts_with("cannot read PTX from saxpi.ptx: "));
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`load_ptx_file`](Self::load_ptx_file) and [`load_ptx_with`](Self::load_ptx_with).
    ///
    /// # Safety
    /// As [`load_ptx_file`](Self::load_ptx_file).
    pub unsafe fn load_ptx_file_with(
        self,
        path: impl AsRef<Path>,
        options: &JitOptions,
    ) -> Result<Module<'ctx>> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(|error| Error::PtxFile {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        // SAFETY: the promise of `load_ptx_file`.
        let ptx = unsafe { Ptx::from_compiler(&text) };
        self.load_ptx_with(ptx, options)
    }

    /// Loads machine code: a cubin, as `nvcc -cubin` and `ptxas` make it (`cuModuleLoadDataEx`).
    ///
    /// A cubin is for one architecture. The driver copies it; it need not be aligned.
    ///
    /// ```no_run
    /// # use scoped_cuda::{Driver, In, InOut};
    /// # const CUBIN: &[u8] = &[];
    /// # /*
    /// const CUBIN: &[u8] = include_bytes!("kernels_sm_90.cubin");
    /// # */
    ///
    /// Driver::load()?.with_device(0, |ctx| {
    ///     // SAFETY: the build script's nvcc wrote it, and nothing has changed it since.
    ///     let module = unsafe { ctx.load_cubin(CUBIN) }?;
    ///     let add = module.kernel::<(In<f32>, InOut<f32>, u32)>("add")?;
    ///     # let _ = add;
    ///     Ok(())
    /// })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Image`] when it is no cubin, or is cut off; [`Error::NoCodeForDevice`] when it is
    /// for another architecture; or what the driver returns.
    ///
    /// # Safety
    /// `image` was written by `nvcc`, `ptxas`, `nvlink` or NVIDIA's run-time compilers, or is
    /// [`LinkedImage::bytes`](crate::LinkedImage::bytes) of a real driver, and has not been changed
    /// since. The driver believes what an image's headers say, and crashes when they lie
    /// (measured). This function checks that everything they speak of is there, so an image may
    /// have been cut off.
    #[doc(alias = "cuModuleLoadDataEx")]
    pub unsafe fn load_cubin(self, image: &[u8]) -> Result<Module<'ctx>> {
        check_cubin(image).map_err(bad_image)?;
        // SAFETY: a whole cubin, by its own headers; that they are right is the caller's promise.
        unsafe { load_binary(self, image, &JitOptions::default(), HashMap::new()) }
    }

    /// Loads a fatbin, as `nvcc -fatbin` and `fatbinary` make it (`cuModuleLoadDataEx`): cubins for
    /// several architectures, of which the driver takes the one that fits, and PTX, which it
    /// compiles when none does.
    ///
    /// ```no_run
    /// # use scoped_cuda::{Driver, JitOptions};
    /// # const FATBIN: &[u8] = &[];
    /// # /*
    /// const FATBIN: &[u8] = include_bytes!("kernels.fatbin");
    /// # */
    ///
    /// Driver::load()?.with_device(0, |ctx| {
    ///     // SAFETY: the build script's nvcc wrote it, and nothing has changed it since.
    ///     let module = unsafe { ctx.load_fatbin(FATBIN, &JitOptions::default()) }?;
    ///     # let _ = module;
    ///     Ok(())
    /// })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Image`] when it is no fatbin, is cut off, or has PTX that does not compile;
    /// [`Error::NoCodeForDevice`], [`Error::BadJitOptions`], or what the driver returns.
    ///
    /// # Safety
    /// `image` was written by `nvcc` or `fatbinary`, and has not been changed since; see
    /// [`load_cubin`](Self::load_cubin).
    #[doc(alias = "cuModuleLoadDataEx")]
    pub unsafe fn load_fatbin(self, image: &[u8], options: &JitOptions) -> Result<Module<'ctx>> {
        check_fatbin(image).map_err(bad_image)?;
        // SAFETY: a whole fatbin, by its own header; that it is right is the caller's promise.
        unsafe { load_binary(self, image, options, HashMap::new()) }
    }
}
