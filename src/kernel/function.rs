//! Kernels with a checked parameter list.

#![allow(unsafe_code)] // asks the driver about functions

use super::config::LaunchConfig;
use super::image::Image;
use super::module::{Parameter, declared_parameters};
use super::params::Params;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ffi::{CUfunction, calls};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A kernel whose parameters are those of the tuple `P`, as far as the driver can tell. Made by [`Module::kernel`](crate::Module::kernel).
///
/// It keeps its module loaded.
pub struct Kernel<'ctx, P> {
    image: Arc<Image<'ctx>>,
    function: CUfunction,
    /// The most threads that a block of it may have.
    threads_per_block: u32,
    _parameters: PhantomData<fn(P)>,
}

static_assertions::assert_impl_all!(Kernel<'static, (u32,)>: Send, Sync);

impl<'ctx, P> Kernel<'ctx, P> {
    /// `function` belongs to the image.
    pub(super) fn new(image: Arc<Image<'ctx>>, function: CUfunction, name: &str) -> Result<Self>
    where
        P: Params,
    {
        let driver = image.context.driver();
        if driver.symbols().cuFuncGetParamInfo.is_some() {
            // SAFETY: the function lives as long as its image.
            let declared = unsafe { declared_parameters(driver, function) }?;
            check_parameters(P::SIZES, &declared, name)?;
        }
        // SAFETY: as above.
        let threads = unsafe { calls::func_max_threads_per_block(driver, function) }?;
        let threads_per_block = u32::try_from(threads).unwrap_or(0);
        Ok(Self {
            image,
            function,
            threads_per_block,
            _parameters: PhantomData,
        })
    }

    /// The context it is loaded in.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.image.context
    }

    /// The most threads that a block of this kernel may have (`cuFuncGetAttribute`); less than the device's limit when it uses many
    /// registers.
    #[must_use]
    pub fn max_threads_per_block(&self) -> u32 {
        self.threads_per_block
    }

    /// The driver's handle, for calls to other libraries. It is live while the kernel is.
    #[must_use]
    pub fn as_raw(&self) -> CUfunction {
        self.function
    }

    /// The launch as the driver takes it; `None` for an empty problem.
    #[inline]
    pub(crate) fn prepare(&self, config: LaunchConfig) -> Result<Option<calls::Launch>> {
        if config.is_empty() {
            return Ok(None);
        }
        let grid = config.check(self.image.context.state().limits(), self.threads_per_block)?;
        let (block, shared_bytes) = (config.block(), config.shared_bytes());
        Ok(Some(calls::Launch {
            function: self.function,
            grid,
            block,
            shared_bytes,
        }))
    }
}

/// Compares the sizes that a Rust type has with those that the kernel declares.
fn check_parameters(sizes: &[usize], declared: &[Parameter], kernel: &str) -> Result<()> {
    let kernel = || kernel.to_owned();
    let pairs = sizes.iter().zip(declared).enumerate();
    for (index, (&want, &Parameter { size: got, .. })) in pairs {
        if want != got {
            return Err(Error::ArgSize {
                kernel: kernel(),
                index,
                want,
                got,
            });
        }
    }
    let (want, got) = (sizes.len(), declared.len());
    if want == got {
        Ok(())
    } else {
        Err(Error::ArgCount {
            kernel: kernel(),
            want,
            got,
        })
    }
}

impl<P> fmt::Debug for Kernel<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = self.image.context.device().ordinal();
        write!(
            f,
            "Kernel(device {device}, {:p}, {})",
            self.function.as_ptr(),
            std::any::type_name::<P>()
        )
    }
}
