//! What a kernel is compiled to, and how it prefers to run.

#![allow(unsafe_code)] // asks and tells the driver about functions

use super::kernel::Kernel;
use crate::attribute::Attribute;
use crate::error::{Error, LaunchField, Result};
use crate::ffi::{
    CU_FUNC_ATTRIBUTE_BINARY_VERSION, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
    CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, CU_FUNC_ATTRIBUTE_NUM_REGS,
    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, CU_FUNC_ATTRIBUTE_PTX_VERSION,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
    CU_FUNC_CACHE_PREFER_EQUAL, CU_FUNC_CACHE_PREFER_L1, CU_FUNC_CACHE_PREFER_NONE,
    CU_FUNC_CACHE_PREFER_SHARED, CUfunction_attribute,
};
use crate::internal::calls;

/// What the driver says about a kernel (`cuFuncGetAttribute`). Made by [`Kernel::attributes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct KernelAttributes {
    /// The most threads of a block.
    pub max_threads_per_block: u32,
    /// Static shared memory of a block in bytes.
    pub static_shared_bytes: u32,
    /// The most dynamic shared memory of a block in bytes: see
    /// [`Kernel::set_max_dynamic_shared_bytes`].
    pub max_dynamic_shared_bytes: u32,
    /// Constant memory of its own in bytes.
    pub constant_bytes: u32,
    /// Local memory of a thread in bytes, spilled registers among it.
    pub local_bytes: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// The virtual architecture that it was compiled for, as major and minor.
    pub ptx_version: (u32, u32),
    /// The architecture of its machine code, as major and minor.
    pub binary_version: (u32, u32),
    /// How much of a multiprocessor's memory it prefers to have as shared memory: see
    /// [`Kernel::set_carveout`].
    pub carveout: Carveout,
    /// Blocks of a cluster along x, y and z, when it was compiled for clusters of one size.
    pub required_cluster: Option<[u32; 3]>,
    /// Whether a launch has to name its clusters.
    pub needs_cluster: bool,
    /// Whether clusters may have more blocks than every device supports: see
    /// [`Kernel::allow_large_clusters`].
    pub allows_large_clusters: bool,
}

/// The part of a multiprocessor's memory that a kernel prefers to have as shared memory; the rest
/// is cache. A hint.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[non_exhaustive]
pub enum Carveout {
    /// The driver chooses.
    #[default]
    Auto,
    /// In per cent, 0 to 100.
    Percent(u8),
}

/// What a kernel would rather have more of. A hint, which [`Carveout`] says more exactly.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[non_exhaustive]
pub enum CachePreference {
    /// Neither.
    #[default]
    None,
    /// Shared memory.
    Shared,
    /// Cache.
    L1,
    /// As much of the one as of the other.
    Equal,
}

impl<P> Kernel<'_, P> {
    /// What the driver says about this kernel.
    ///
    /// # Errors
    /// [`Error::ContextLost`] or what the driver returns.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation, kernel::Carveout};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # let ptx = scoped_cuda::ptx!(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }");
    /// # driver.with_device(0, |ctx| {
    /// let kernel = ctx.load_ptx(ptx)?.kernel::<()>("k")?;
    /// kernel.set_max_dynamic_shared_bytes(100_000)?;
    /// kernel.set_carveout(Carveout::Percent(50))?;
    /// let attributes = kernel.attributes()?;
    /// assert_eq!(attributes.max_dynamic_shared_bytes, 100_000);
    /// assert_eq!(attributes.carveout, Carveout::Percent(50));
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn attributes(&self) -> Result<KernelAttributes> {
        let ask = |attribute| self.ask(attribute);
        let version = |attribute| ask(attribute).map(|version| (version / 10, version % 10));
        let cluster = [
            ask(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)?,
            ask(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT)?,
            ask(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)?,
        ];
        let carveout = self.ask_signed(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)?;
        Ok(KernelAttributes {
            max_threads_per_block: ask(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            static_shared_bytes: ask(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            max_dynamic_shared_bytes: ask(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
            constant_bytes: ask(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
            local_bytes: ask(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            registers: ask(CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            ptx_version: version(CU_FUNC_ATTRIBUTE_PTX_VERSION)?,
            binary_version: version(CU_FUNC_ATTRIBUTE_BINARY_VERSION)?,
            carveout: u8::try_from(carveout).map_or(Carveout::Auto, Carveout::Percent),
            required_cluster: (cluster != [0; 3]).then_some(cluster),
            needs_cluster: ask(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET)? != 0,
            allows_large_clusters: ask(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)? != 0,
        })
    }

    /// Lets launches of this kernel have up to `bytes` bytes of dynamic shared memory for a block
    /// (`cuFuncSetAttribute`).
    ///
    /// It holds for the kernel in its module, under whatever [`Kernel`] it was looked up. Launches
    /// that are enqueued keep what they have.
    ///
    /// # Errors
    /// [`Error::BadLaunch`] above what the device has for a block that opts in, less the kernel's
    /// static shared memory; [`Error::ContextLost`], or what the driver returns.
    #[doc(alias = "cuFuncSetAttribute")]
    pub fn set_max_dynamic_shared_bytes(&self, bytes: u32) -> Result<()> {
        let most = self
            .context()
            .device()
            .attribute(Attribute::MaxSharedMemoryPerBlockOptin)?;
        let fixed = self.ask(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let limit = u32::try_from(most).unwrap_or(0).saturating_sub(fixed);
        if bytes > limit {
            return Err(Error::BadLaunch {
                field: LaunchField::SharedBytes,
                value: u64::from(bytes),
                limit: u64::from(limit),
            });
        }
        self.limits().set_shared_bytes(bytes, || {
            self.tell(
                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                i32::try_from(bytes).unwrap_or(i32::MAX),
            )
        })
    }

    /// Says how much of a multiprocessor's memory this kernel prefers to have as shared memory
    /// (`cuFuncSetAttribute`).
    ///
    /// # Errors
    /// [`Error::ContextLost`] or what the driver returns: `CUDA_ERROR_INVALID_VALUE` above 100 per
    /// cent.
    #[doc(alias = "cuFuncSetAttribute")]
    pub fn set_carveout(&self, carveout: Carveout) -> Result<()> {
        let value = match carveout {
            Carveout::Auto => -1,
            Carveout::Percent(percent) => i32::from(percent),
        };
        self.tell(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, value)
    }

    /// Says what this kernel would rather have more of (`cuFuncSetCacheConfig`).
    ///
    /// # Errors
    /// [`Error::ContextLost`] or what the driver returns.
    #[doc(alias = "cuFuncSetCacheConfig")]
    pub fn set_cache_preference(&self, preference: CachePreference) -> Result<()> {
        let raw = match preference {
            CachePreference::None => CU_FUNC_CACHE_PREFER_NONE,
            CachePreference::Shared => CU_FUNC_CACHE_PREFER_SHARED,
            CachePreference::L1 => CU_FUNC_CACHE_PREFER_L1,
            CachePreference::Equal => CU_FUNC_CACHE_PREFER_EQUAL,
        };
        let function = self.loaded()?;
        // SAFETY: the function is loaded while the kernel lives (C1).
        unsafe { calls::func_set_cache_config(self.context().api(), function, raw) }
    }

    /// Whether clusters of this kernel may have more blocks than the 8 that every device with
    /// clusters supports (`cuFuncSetAttribute`): 16 on an H200. Such a launch works on fewer
    /// devices.
    ///
    /// # Errors
    /// [`Error::ContextLost`] or what the driver returns.
    #[doc(alias = "cuFuncSetAttribute")]
    pub fn allow_large_clusters(&self, allow: bool) -> Result<()> {
        self.tell(
            CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
            i32::from(allow),
        )
    }

    fn ask_signed(&self, attribute: CUfunction_attribute) -> Result<i32> {
        let function = self.loaded()?;
        // SAFETY: the function is loaded while the kernel lives (C1).
        unsafe { calls::func_get_attribute(self.context().api(), function, attribute) }
    }

    /// A number of something.
    fn ask(&self, attribute: CUfunction_attribute) -> Result<u32> {
        let value = self.ask_signed(attribute)?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    fn tell(&self, attribute: CUfunction_attribute, value: i32) -> Result<()> {
        let function = self.loaded()?;
        // SAFETY: the function is loaded while the kernel lives (C1).
        unsafe { calls::func_set_attribute(self.context().api(), function, attribute, value) }
    }
}
