//! Variables of a loaded module.

use super::image::Image;
use super::module::Module;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ffi::{CUdeviceptr, CUresult};
use crate::memory::{Element, Slice, SliceMut, size_of_elements};
use std::ffi::CString;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// A `__device__` or `__constant__` variable of a module: `len` elements of plain data, which its
/// kernels use by name.
///
/// There is one handle of a variable at a time, and who has it has the variable as if it were a
/// [`Buffer`](crate::Buffer): outside scopes it is at rest, and its operations are complete when
/// they return. In a scope, [`SliceMut::lend`](crate::SliceMut::lend) of its
/// [`as_mut_slice`](Self::as_mut_slice) puts it into the order of a stream, and its
/// [`as_slice`](Self::as_slice) is memory that streams read, an argument for [`In`](crate::In) too.
///
/// What no borrow tells is which kernels use the variable, since it is no argument of theirs: that
/// is a promise of the `unsafe` [`launch`](crate::ScopedStream::launch).
///
/// It keeps its module loaded. Dropping it frees nothing and makes no driver call; the variable
/// keeps its value, and [`Module::global`] gives a new handle. If a handle is forgotten with
/// `mem::forget`, no further handle to that variable can be obtained.
///
/// ```
/// # use scoped_cuda::{Driver, Error, LaunchConfig, sim::Simulation};
/// # let driver = Driver::simulated(Simulation::default())?;
/// # driver.machine().unwrap().kernel("count", |call| {
/// #     let step = call.global::<u32>("step")[0];
/// #     call.update_global::<u32>("total", |total| total[0] += step);
/// # });
/// // __constant__ unsigned step = 1; __device__ unsigned total;
/// // __global__ void count() { total += step; }
/// # let ptx = scoped_cuda::ptx!(".version 8.0\n.target sm_80\n.address_size 64\n
/// #     .visible .const .align 4 .u32 step = 1;
/// #     .visible .global .align 4 .u32 total;
/// #     .visible .entry count() { ret; }");
/// # driver.with_device(0, |ctx| {
/// let (stream, module) = (ctx.new_stream()?, ctx.load_ptx(ptx)?);
/// let count = module.kernel::<()>("count")?;
/// let mut step = module.global::<u32>("step", 1)?;
/// let total = module.global::<u32>("total", 1)?;
/// assert_eq!(step.get()?, 1);
/// step.set(20)?;
/// stream.scope(|s| {
///     // SAFETY: one thread, the only one that uses `total`; nobody writes `step`.
///     unsafe { s.launch(&count, LaunchConfig::new([1; 3], [1; 3]), ()) }
/// })?;
/// assert_eq!(total.get()?, 20);
/// # Ok(()) })?;
/// # Ok::<(), Error>(())
/// ```
pub struct Global<'ctx, T> {
    pub(super) image: Arc<Image<'ctx>>,
    name: Box<str>,
    /// Where it is: taken in the image until the handle is dropped.
    pub(super) memory: Range<CUdeviceptr>,
    len: usize,
    _elements: PhantomData<T>,
}

static_assertions::assert_impl_all!(Global<'static, f32>: Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
static_assertions::assert_not_impl_any!(Global<'static, f32>: Clone);

impl<'ctx> Module<'ctx> {
    /// The variable of this name, which has `len` elements of type `T` (`cuModuleGetGlobal`).
    ///
    /// A scalar has one element, an array as many as it has, and a struct is one element of a type
    /// that derives [`Pod`](bytemuck::Pod) and has its layout (`repr(C)`). The size is compared;
    /// what the bytes mean is not, and need not be: any are a `T`. In C++ the name of a variable
    /// outside of any namespace is what is written; of others, and of `static` ones, it is mangled.
    ///
    /// # Errors
    /// [`Error::NoGlobal`], [`Error::GlobalSize`], [`Error::GlobalTaken`] while there is another
    /// handle of it; [`Error::SizeOverflow`], [`Error::Misaligned`] for an element type of stricter
    /// alignment than the variable has, [`Error::ContextLost`], or what the driver returns.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, Error, sim::Simulation};
    /// # let ptx = scoped_cuda::ptx!(".version 8.0\n.target sm_80\n.address_size 64\n
    /// #     .visible .const .align 4 .f32 weights[3] = {1.0, 2.0, 3.0};");
    /// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
    /// // __constant__ float weights[3] = {1, 2, 3};
    /// let module = ctx.load_ptx(ptx)?;
    /// let mut weights = module.global::<f32>("weights", 3)?;
    /// weights.as_mut_slice().slice_mut(1..)?.write(&[20.0, 30.0])?;
    /// assert_eq!(weights.to_vec()?, [1.0, 20.0, 30.0]);
    ///
    /// let error = module.global::<f64>("weights", 3).unwrap_err();
    /// assert_eq!(error.to_string(), "the variable `weights` has 12 bytes, not 3 elements of 8 bytes");
    /// let error = module.global::<f32>("weights", 3).unwrap_err();
    /// assert_eq!(error, Error::GlobalTaken { name: "weights".into() });
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[doc(alias = "cuModuleGetGlobal")]
    #[doc(alias = "get_global")]
    pub fn global<T: Element>(&self, name: &str, len: usize) -> Result<Global<'ctx, T>> {
        let asked = size_of_elements::<T>(len)?;
        let (address, bytes) = find(&self.image, name)?;
        if bytes != asked {
            return Err(Error::GlobalSize {
                name: name.to_owned(),
                bytes,
                len,
                element_bytes: size_of::<T>(),
            });
        }
        let (address, align) = (if bytes == 0 { 0 } else { address }, align_of::<T>());
        if address % align as u64 != 0 {
            return Err(Error::Misaligned {
                address: address as usize,
                align,
            });
        }
        let memory = address..address.saturating_add(bytes as u64);
        if !self.image.take(memory.clone()) {
            return Err(Error::GlobalTaken {
                name: name.to_owned(),
            });
        }
        Ok(Global {
            image: Arc::clone(&self.image),
            name: name.into(),
            memory,
            len,
            _elements: PhantomData,
        })
    }
}

/// Address and size of a variable.
fn find(image: &Image<'_>, name: &str) -> Result<(CUdeviceptr, usize)> {
    let not_there = || Error::NoGlobal {
        name: name.to_owned(),
    };
    // As for a kernel: the driver refuses an empty name, and a name with a NUL cannot be a
    // variable's.
    let c_name = CString::new(name)
        .ok()
        .filter(|name| !name.is_empty())
        .ok_or_else(not_there)?;
    image.variable(&c_name).map_err(|error| match error {
        Error::Driver(error) if error.code() == CUresult::NOT_FOUND => not_there(),
        // Measured: the answer for the name of a kernel.
        Error::Driver(error) if error.code() == CUresult::INVALID_VALUE => not_there(),
        other => other,
    })
}

impl<'ctx, T> Global<'ctx, T> {
    /// The context whose device has the variable.
    #[must_use]
    pub fn context(&self) -> Context<'ctx> {
        self.image.context
    }

    /// Its name in the module.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The device address; 0 when there are no bytes. It is the variable's as long as the module is
    /// loaded.
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.memory.start
    }

    /// All elements, to read.
    #[must_use]
    pub fn as_slice(&self) -> Slice<'_, 'ctx, T> {
        Slice::new(self.context(), self.as_raw(), self.len)
    }

    /// All elements, to write.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> SliceMut<'_, 'ctx, T> {
        SliceMut::new(self.context(), self.as_raw(), self.len)
    }
}

impl<T: Element> Global<'_, T> {
    /// A copy in host memory (`cuMemcpyDtoHAsync`).
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemcpyDtoHAsync")]
    #[doc(alias = "clone_dtoh")]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.as_slice().to_vec()
    }

    /// Copies all elements to `host`, which must have as many (`cuMemcpyDtoHAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemcpyDtoHAsync")]
    #[doc(alias = "memcpy_dtoh")]
    pub fn read(&self, host: &mut [T]) -> Result<()> {
        self.as_slice().read(host)
    }

    /// Overwrites all elements with the elements of `host`, which must have as many
    /// (`cuMemcpyHtoDAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemcpyHtoDAsync")]
    #[doc(alias = "memcpy_htod")]
    pub fn write(&mut self, host: &[T]) -> Result<()> {
        self.as_mut_slice().write(host)
    }

    /// The value of a variable of one element (`cuMemcpyDtoHAsync`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for an array of another length, or what the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemcpyDtoHAsync")]
    pub fn get(&self) -> Result<T> {
        let mut value = [T::zeroed()];
        self.read(&mut value)?;
        Ok(value[0])
    }

    /// Overwrites the value of a variable of one element (`cuMemcpyHtoDAsync`).
    ///
    /// # Errors
    /// As [`get`](Self::get).
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    #[doc(alias = "cuMemcpyHtoDAsync")]
    pub fn set(&mut self, value: T) -> Result<()> {
        self.write(&[value])
    }
}

impl<T> Drop for Global<'_, T> {
    fn drop(&mut self) {
        // At rest: what borrowed it in a scope has ended.
        self.image.give_back(&self.memory);
    }
}

impl<T> fmt::Debug for Global<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice()
            .describe(&format!("Global `{}`", self.name), f)
    }
}
