//! What every load of an image goes through.

#![allow(unsafe_code)] // hands images to the driver

use super::declared::Declared;
use super::image::Image;
use super::jit::JitOptions;
use super::module::Module;
use crate::context::Context;
use crate::error::{DriverError, Error, ImageError, ImageKind, Result};
use crate::ffi::CUresult;
use crate::internal::{calls, current};
use std::collections::HashMap;
use std::ffi::c_void;

/// What a failed load comes from.
pub(super) enum LoadFailure {
    /// The image, with the JIT's error log.
    Image {
        error: DriverError,
        log: String,
    },
    Other(Error),
}

/// # Safety
/// `image` is a whole cubin or fatbin, as the CUDA tools make them.
pub(super) unsafe fn load_binary<'ctx>(
    context: Context<'ctx>,
    image: &[u8],
    options: &JitOptions,
    declared: HashMap<String, Vec<Declared>>,
) -> Result<Module<'ctx>> {
    // SAFETY: the caller promises: `image` is a whole cubin or fatbin, as the CUDA tools make them.
    unsafe { load(context, image.as_ptr().cast(), options, declared) }.map_err(|refused| {
        match refused {
            LoadFailure::Image { error, log } => {
                let reason = error.to_string();
                Error::from(ImageError::new(ImageKind::Binary, reason, log))
            }
            LoadFailure::Other(error) => error,
        }
    })
}

/// # Safety
/// `image` is PTX text that ends with a NUL, or a whole cubin or fatbin, as the CUDA tools make
/// them.
pub(super) unsafe fn load<'ctx>(
    context: Context<'ctx>,
    image: *const c_void,
    options: &JitOptions,
    declared: HashMap<String, Vec<Declared>>,
) -> Result<Module<'ctx>, LoadFailure> {
    let state = context.state();
    let arguments = options
        .arguments(state.limits())
        .map_err(LoadFailure::Other)?;
    let loaded = current::bind(state, || {
        // SAFETY: the caller promises: `image` is PTX text that ends with a NUL, or a whole cubin
        // or fatbin, as the CUDA tools make them.
        unsafe { calls::module_load(context.api(), image, &arguments) }
    });
    match loaded {
        Ok(raw) => Ok(Module::new(
            Image::new(context, raw, declared),
            arguments.info(),
        )),
        Err(Error::Driver(error)) if is_about_the_image(error.code()) => Err(LoadFailure::Image {
            error,
            log: arguments.error(),
        }),
        Err(Error::Driver(source)) if source.code() == CUresult::NO_BINARY_FOR_GPU => {
            Err(LoadFailure::Other(no_code(context, source)))
        }
        Err(error) => Err(LoadFailure::Other(error)),
    }
}

fn no_code(context: Context<'_>, source: DriverError) -> Error {
    match context.device().compute_capability() {
        Ok(compute_capability) => Error::NoCodeForDevice {
            ordinal: context.device().ordinal(),
            compute_capability,
            source,
        },
        Err(_) => Error::Driver(source),
    }
}

pub(super) fn bad_image(reason: String) -> Error {
    Error::from(ImageError::new(ImageKind::Binary, reason, String::new()))
}

/// Codes by which the driver refuses the image itself.
pub(super) fn is_about_the_image(code: CUresult) -> bool {
    matches!(
        code,
        CUresult::INVALID_IMAGE
            | CUresult::INVALID_PTX
            | CUresult::UNSUPPORTED_PTX_VERSION
            | CUresult::INVALID_SOURCE
    )
}
