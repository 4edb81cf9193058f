//! Kernels with a checked parameter list.

#![allow(unsafe_code)] // asks the driver about functions

use super::declared::Declared;
use super::image::Image;
use super::limits::Limits;
use super::module::Module;
use super::parameter::{check_kinds, check_parameters, declared_parameters};
use super::params::Params;
use crate::context::Context;
use crate::error::Result;
use crate::ffi::{
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    CUfunction, CUfunction_attribute,
};
use crate::internal::calls;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, PoisonError};

/// A kernel whose parameters are the types of the tuple `P`, as far as the driver can tell. Made by
/// [`Module::kernel`](crate::Module::kernel).
///
/// It keeps its module loaded. [`launch`](crate::ScopedStream::launch) is `unsafe`;
/// [`assert_safe_when`](Self::assert_safe_when) makes a kernel whose launch is not.
pub struct Kernel<'ctx, P> {
    image: Arc<Image<'ctx>>,
    function: CUfunction,
    name: Arc<str>,
    limits: Arc<Limits>,
    _parameters: PhantomData<fn(P)>,
}

static_assertions::assert_impl_all!(Kernel<'static, (u32,)>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);

/// Keeps a kernel's image loaded.
pub(crate) struct Loaded<'ctx> {
    _image: Arc<Image<'ctx>>,
}

impl<'ctx, P> Kernel<'ctx, P> {
    /// What keeps the function loaded without the kernel.
    pub(crate) fn keep(&self) -> Loaded<'ctx> {
        Loaded {
            _image: Arc::clone(&self.image),
        }
    }

    /// `function` belongs to the image.
    pub(super) fn new(image: Arc<Image<'ctx>>, function: CUfunction, name: &str) -> Result<Self>
    where
        P: Params,
    {
        let driver = image.context.api();
        if driver.symbols().cuFuncGetParamInfo.is_some() {
            // SAFETY: the function lives as long as its image.
            let declared = unsafe { declared_parameters(driver, function) }?;
            check_parameters(P::LAYOUT, &declared, name)?;
        }
        if let Some(declared) = image.declared.get(name) {
            check_kinds(P::LAYOUT, declared, name)?;
        }
        Self::unchecked(image, function, name)
    }

    /// `function` belongs to the image; its parameters are compared elsewhere.
    pub(super) fn unchecked(
        image: Arc<Image<'ctx>>,
        function: CUfunction,
        name: &str,
    ) -> Result<Self> {
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

    /// The most threads that a block of this kernel may have (`cuFuncGetAttribute`); less than the
    /// device's limit when it uses many registers.
    #[must_use]
    #[doc(alias = "cuFuncGetAttribute")]
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

    /// The parameters as the PTX of the module declares them, when it was loaded from text.
    pub(super) fn kinds(&self) -> Option<&[Declared]> {
        self.image.declared.get(&*self.name).map(Vec::as_slice)
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
    let value = unsafe { calls::func_get_attribute(context.api(), function, attribute) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}

impl<'ctx> Module<'ctx> {
    /// The kernel of this name, if its parameters are the types of `P` (`cuModuleGetFunction`,
    /// `cuFuncGetParamInfo`).
    ///
    /// `P` is a tuple with one type for each parameter: [`In`](crate::In), [`Out`](crate::Out) and
    /// [`InOut`](crate::InOut) for pointers to device memory, plain-data types for values, and what
    /// else [`Param`](crate::kernel::Param) lists. Their number, sizes and offsets are compared
    /// with what the kernel declares, once, here. Drivers before CUDA 12.4 cannot tell; with them
    /// nothing is compared, and `P` is a promise of the launch.
    ///
    /// # Errors
    /// [`Error::NoKernel`](crate::Error::NoKernel); [`Error::ArgCount`](crate::Error::ArgCount),
    /// [`Error::ArgSize`](crate::Error::ArgSize), [`Error::ArgOffset`](crate::Error::ArgOffset);
    /// [`Error::ContextLost`](crate::Error::ContextLost), or what the driver returns.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, Error, In, Out, sim::Simulation};
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// let module = ctx.load_ptx(scoped_cuda::ptx!(
    ///     ".version 8.0\n.target sm_80\n.address_size 64\n
    ///     .visible .entry double(.param .u64 from, .param .u64 to, .param .u32 n) { ret; }"
    /// ))?;
    /// let double = module.kernel::<(In<f32>, Out<f32>, u32)>("double")?;
    /// let error = module.kernel::<(In<f32>, Out<f32>, u64)>("double").unwrap_err();
    /// assert_eq!(error, Error::ArgSize { kernel: "double".into(), index: 2, want: 8, got: 4 });
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuModuleGetFunction")]
    #[doc(alias = "cuFuncGetParamInfo")]
    #[doc(alias = "load_function")]
    pub fn kernel<P: Params>(&self, name: &str) -> Result<Kernel<'ctx, P>> {
        let function = self.function(name)?;
        Kernel::new(Arc::clone(&self.image), function, name)
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
