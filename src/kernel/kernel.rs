//! Kernels with a checked parameter list.

#![allow(unsafe_code)] // asks the driver about functions

use super::image::Image;
use super::module::{Parameter, declared_parameters};
use super::params::{Layout, Params};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ffi::{
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    CUfunction, CUfunction_attribute,
};
use crate::internal::calls;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A kernel whose parameters are those of the tuple `P`, as far as the driver can tell. Made by [`Module::kernel`](crate::Module::kernel).
///
/// It keeps its module loaded. [`launch`](crate::ScopedStream::launch) is `unsafe`; [`safe_when`](Self::safe_when) makes a kernel whose
/// launch is not.
pub struct Kernel<'ctx, P> {
    image: Arc<Image<'ctx>>,
    function: CUfunction,
    name: Arc<str>,
    limits: Arc<Limits>,
    _parameters: PhantomData<fn(P)>,
}

static_assertions::assert_impl_all!(Kernel<'static, (u32,)>: Send, Sync);

/// What a launch is compared with.
pub(super) struct Limits {
    threads_per_block: u32,
    /// Dynamic shared memory; it can be raised.
    shared_bytes: AtomicU32,
    /// Held by who raises it.
    turn: Mutex<()>,
}

impl Limits {
    pub(super) fn new(threads_per_block: u32, shared_bytes: u32) -> Self {
        Self {
            threads_per_block,
            shared_bytes: AtomicU32::new(shared_bytes),
            turn: Mutex::default(),
        }
    }

    #[inline]
    pub(super) fn threads_per_block(&self) -> u32 {
        self.threads_per_block
    }

    #[inline]
    pub(super) fn shared_bytes(&self) -> u32 {
        self.shared_bytes.load(Ordering::Relaxed)
    }

    /// `tell` tells the driver. One thread at a time does, so that what is kept here is what the driver was told last.
    pub(super) fn set_shared_bytes(
        &self,
        bytes: u32,
        tell: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        tell()?;
        self.shared_bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }
}

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
            check_parameters(P::LAYOUT, &declared, name)?;
        }
        let limits = limits_of(&image, function)?;
        Ok(Self {
            image,
            function,
            name: name.into(),
            limits,
            _parameters: PhantomData,
        })
    }

    /// The context it is loaded in.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.image.context
    }

    /// The name by which it was looked up.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The most threads that a block of this kernel may have (`cuFuncGetAttribute`); less than the device's limit when it uses many
    /// registers.
    #[must_use]
    pub fn max_threads_per_block(&self) -> u32 {
        self.limits.threads_per_block()
    }

    /// The most dynamic shared memory that a block may have, in bytes, unless it is
    /// [raised](Self::set_max_dynamic_shared_bytes).
    #[must_use]
    pub fn max_dynamic_shared_bytes(&self) -> u32 {
        self.limits.shared_bytes()
    }

    /// The driver's handle, for calls to other libraries. It is live while the kernel is.
    #[must_use]
    pub fn as_raw(&self) -> CUfunction {
        self.function
    }

    #[inline]
    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The function, for questions to the driver about it, if it has not gone with its context.
    pub(super) fn loaded(&self) -> Result<CUfunction> {
        self.image.context.state().not_lost()?;
        Ok(self.function)
    }
}

fn limits_of(image: &Image<'_>, function: CUfunction) -> Result<Arc<Limits>> {
    let mut functions = image
        .functions
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = functions.get(&function) {
        return Ok(Arc::clone(known));
    }
    let ask = |attribute| attribute_of(image.context, function, attribute);
    let limits = Arc::new(Limits::new(
        ask(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        ask(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
    ));
    functions.insert(function, Arc::clone(&limits));
    Ok(limits)
}

/// An attribute of a function that is loaded in the context, when it is a number of something.
fn attribute_of(
    context: Context<'_>,
    function: CUfunction,
    attribute: CUfunction_attribute,
) -> Result<u32> {
    // SAFETY: the function lives as long as its image, which its caller has.
    let value = unsafe { calls::func_get_attribute(context.driver(), function, attribute) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// Compares the layout of Rust types with the parameters that the kernel declares.
fn check_parameters(layout: &[&[Layout]], declared: &[Parameter], kernel: &str) -> Result<()> {
    let kernel = || kernel.to_owned();
    let count = layout.iter().map(|part| part.len()).sum();
    let mut end: usize = 0;
    let layout = layout.iter().copied().flatten();
    for (index, (&Layout { size, align }, parameter)) in layout.zip(declared).enumerate() {
        if size != parameter.size {
            return Err(Error::ArgSize {
                kernel: kernel(),
                index,
                want: size,
                got: parameter.size,
            });
        }
        let want = end.next_multiple_of(align);
        if want != parameter.offset {
            return Err(Error::ArgOffset {
                kernel: kernel(),
                index,
                want,
                got: parameter.offset,
            });
        }
        end = want.saturating_add(size);
    }
    let (want, got) = (count, declared.len());
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
            "Kernel({}, device {device}, {:p}, {})",
            self.name,
            self.function.as_ptr(),
            std::any::type_name::<P>()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::thread;

    /// What is kept is what the driver was told last, whoever else told it something.
    #[test]
    fn limits_are_those_that_the_driver_was_told_last() {
        let (limits, told) = (Limits::new(1024, 0), AtomicU32::new(0));
        let tell = |bytes: u32| {
            limits.set_shared_bytes(bytes, || {
                told.store(bytes, Ordering::Relaxed);
                thread::yield_now();
                Ok(())
            })
        };
        for round in 0..500 {
            thread::scope(|threads| {
                for bytes in [2 * round, 2 * round + 1] {
                    threads.spawn(move || tell(bytes));
                }
            });
            assert_eq!(limits.shared_bytes(), told.load(Ordering::Relaxed));
        }
    }

    #[test]
    fn limit_that_the_driver_refuses_is_not_kept() {
        let limits = Limits::new(1024, 7);
        let refused = limits.set_shared_bytes(8, || Err(Error::InsideHostFunction));
        assert_eq!(refused, Err(Error::InsideHostFunction));
        assert_eq!(limits.shared_bytes(), 7);
    }
}
