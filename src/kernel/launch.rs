//! From a kernel and a configuration to what the driver takes.

#![allow(unsafe_code)] // asks for limits

use super::args::Args;
use super::kernel::Kernel;
use super::launch_config::{LaunchConfig, within};
use super::params::Params;
use crate::attribute::Attribute;
use crate::error::{Error, LaunchField, Result};
use crate::ffi::{
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
    CU_LAUNCH_ATTRIBUTE_IGNORE, CU_LAUNCH_ATTRIBUTE_PRIORITY,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, CUlaunchAttribute, CUlaunchAttributeID,
    CUlaunchAttributeValue, CUlaunchConfig, CUstream,
};
use crate::internal::calls;
use crate::internal::current;
use crate::memory::sealed::Token;
use crate::stream::ScopedStream;
use std::ffi::{c_uint, c_void};
use std::ptr;

impl<P> Kernel<'_, P> {
    /// The grid as the driver takes it; `None` for an empty problem.
    #[inline]
    pub(crate) fn check(&self, config: &LaunchConfig) -> Result<Option<[u32; 3]>> {
        if config.is_empty() {
            return Ok(None);
        }
        let grid = config.check(self.context().state().limits(), self.limits())?;
        if !config.is_plain() {
            self.check_special(config, grid)?;
        }
        Ok(Some(grid))
    }

    /// What a launch that is more than a grid is compared with is asked of the driver at the
    /// launch.
    #[cold]
    fn check_special(&self, config: &LaunchConfig, grid: [u32; 3]) -> Result<()> {
        if let Some(asked) = config.get_priority() {
            // The driver would take the nearest one, and say nothing (measured).
            let range = self.context().stream_priorities()?;
            if !range.contains(&asked) {
                return Err(Error::BadPriority {
                    asked,
                    least: *range.end(),
                    greatest: *range.start(),
                });
            }
        }
        if let Some(cluster) = config.get_cluster() {
            self.check_cluster(config, cluster, grid)?;
        }
        if config.is_cooperative() {
            let limit = self.cooperative_blocks(config, grid)?;
            if config.blocks() > limit {
                return Err(Error::BadLaunch {
                    field: LaunchField::CooperativeBlocks,
                    value: config.blocks(),
                    limit,
                });
            }
        }
        Ok(())
    }

    fn check_cluster(
        &self,
        config: &LaunchConfig,
        cluster: [u32; 3],
        grid: [u32; 3],
    ) -> Result<()> {
        let limit = match self
            .context()
            .device()
            .attribute(Attribute::ClusterLaunch)?
        {
            // A device without clusters: each block is one of its own.
            0 => 1,
            _ => self.cluster_limit(config, grid)?,
        };
        let mut blocks: u64 = 1;
        for (axis, &along) in cluster.iter().enumerate() {
            within(LaunchField::CLUSTER[axis], u64::from(along), limit)?;
            blocks = blocks.saturating_mul(u64::from(along));
        }
        within(LaunchField::BlocksPerCluster, blocks, limit)?;
        for (axis, (&blocks, &cluster)) in grid.iter().zip(&cluster).enumerate() {
            if blocks % cluster != 0 {
                return Err(Error::UnevenClusters {
                    field: LaunchField::GRID[axis],
                    blocks: u64::from(blocks),
                    cluster,
                });
            }
        }
        Ok(())
    }

    /// The most blocks of a cluster of such a launch.
    fn cluster_limit(&self, config: &LaunchConfig, grid: [u32; 3]) -> Result<u32> {
        let (context, driver) = (self.context(), self.context().api());
        let function = self.loaded()?;
        // The driver refuses the question about a launch whose clusters cannot be (measured).
        let blocks = config
            .without_cluster()
            .with_raw(grid, CUstream::NULL, |raw| {
                // SAFETY: the function is loaded while the kernel lives; `with_raw` counts the
                // attributes.
                current::bind(context.state(), || unsafe {
                    calls::occupancy_max_cluster_size(driver, function, raw)
                })
            })?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// How many clusters of such a launch the device runs at once.
    pub(super) fn clusters_at_once(&self, config: &LaunchConfig, grid: [u32; 3]) -> Result<u32> {
        let (context, driver) = (self.context(), self.context().api());
        let function = self.loaded()?;
        let clusters = config.with_raw(grid, CUstream::NULL, |raw| {
            // SAFETY: as in `cluster_limit`.
            current::bind(context.state(), || unsafe {
                calls::occupancy_max_active_clusters(driver, function, raw)
            })
        })?;
        Ok(u32::try_from(clusters).unwrap_or(0))
    }

    /// The most blocks of a cooperative launch like this one.
    fn cooperative_blocks(&self, config: &LaunchConfig, grid: [u32; 3]) -> Result<u64> {
        if let Some([x, y, z]) = config.get_cluster() {
            let clusters = self.clusters_at_once(config, grid)?;
            return Ok(u64::from(clusters) * u64::from(x) * u64::from(y) * u64::from(z));
        }
        let device = self.context().device();
        if device.attribute(Attribute::CooperativeLaunch)? == 0 {
            return Ok(0);
        }
        let threads = u32::try_from(config.threads_per_block()).unwrap_or(u32::MAX);
        let blocks = self.active_blocks(threads, config.get_dynamic_shared_bytes())?;
        let multiprocessors = device.attribute(Attribute::MultiprocessorCount)?;
        Ok(u64::from(blocks) * u64::try_from(multiprocessors).unwrap_or(0))
    }
}

impl LaunchConfig {
    /// Calls `f` with what the driver takes. Its attributes live for the call.
    #[inline]
    pub(crate) fn with_raw<R>(
        &self,
        [gx, gy, gz]: [u32; 3],
        stream: CUstream,
        f: impl FnOnce(&CUlaunchConfig) -> R,
    ) -> R {
        let [bx, by, bz] = self.block();
        let mut raw = CUlaunchConfig {
            gridDimX: gx,
            gridDimY: gy,
            gridDimZ: gz,
            blockDimX: bx,
            blockDimY: by,
            blockDimZ: bz,
            sharedMemBytes: self.get_dynamic_shared_bytes(),
            hStream: stream,
            attrs: ptr::null_mut(),
            numAttrs: 0,
        };
        if self.is_plain() {
            return f(&raw);
        }
        let mut attributes = self.attributes();
        raw.attrs = attributes.as_mut_ptr();
        raw.numAttrs = attributes.len() as c_uint;
        f(&raw)
    }

    #[cold]
    fn attributes(&self) -> [CUlaunchAttribute; 4] {
        let none = attribute(CU_LAUNCH_ATTRIBUTE_IGNORE, [0; 3]);
        let on = |is_on: bool, id| match is_on {
            true => attribute(id, [1, 0, 0]),
            false => none,
        };
        [
            on(self.is_cooperative(), CU_LAUNCH_ATTRIBUTE_COOPERATIVE),
            on(
                self.overlaps_previous(),
                CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            ),
            self.get_cluster().map_or(none, |blocks| {
                attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, blocks)
            }),
            self.get_priority().map_or(none, |priority| {
                attribute(CU_LAUNCH_ATTRIBUTE_PRIORITY, [priority as u32, 0, 0])
            }),
        ]
    }
}

fn attribute(id: CUlaunchAttributeID, [x, y, z]: [u32; 3]) -> CUlaunchAttribute {
    let mut value = CUlaunchAttributeValue { pad: [0; 16] };
    value.pad[..3].copy_from_slice(&[x, y, z]);
    CUlaunchAttribute {
        id,
        pad: [0; 4],
        value,
    }
}

impl<'s, 'scope, 'ctx> ScopedStream<'s, 'scope, 'ctx> {
    /// Launches `kernel` on this stream (`cuLaunchKernelEx`). An empty problem
    /// ([`LaunchConfig::for_elements`] of 0) makes no call.
    ///
    /// # Errors
    /// [`Error::BadLaunch`], [`Error::UnevenClusters`], [`Error::BadPriority`],
    /// [`Error::CountTooLarge`], or what the driver returns.
    ///
    /// # Safety
    /// The kernel, run in this configuration with these arguments,
    /// - takes parameters of the types that `P` names, in this order (their number, sizes and
    ///   offsets were checked at look-up, where the driver can tell; their meaning was not);
    /// - reads only within the elements of `In` and `InOut` arguments and writes only within those
    ///   of `Out` and `InOut`;
    /// - follows no address that it was given as a number, or that memory contains, to anywhere
    ///   else;
    /// - touches variables of its module only while nobody else does: those that it reads are not
    ///   being written, those that it writes are not used, by other work or through a
    ///   [`Global`](crate::Global);
    /// - stays within its static shared memory and the
    ///   [dynamic](LaunchConfig::dynamic_shared_bytes) that it is given;
    /// - is launched in the way that it is written for: [cooperatively](LaunchConfig::cooperative)
    ///   if its blocks wait for each other, with the [clusters](LaunchConfig::cluster) that it
    ///   expects;
    /// - if it [overlaps](LaunchConfig::overlapping_previous) the launch ahead of it: has waited
    ///   for that (`cudaGridDependencySynchronize()`) before it touches memory, and is not done
    ///   before it has waited.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, In, InOut, LaunchConfig, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// # driver.machine().unwrap().kernel("scale", |call| {
    /// #     let (n, k) = (call.scalar::<u32>(1) as usize, call.scalar::<f32>(2));
    /// #     call.update::<f32>(0, |x| x[..n].iter_mut().for_each(|x| *x *= k));
    /// # });
    /// # let ptx = scoped_cuda::ptx!(".version 8.0\n.target sm_80\n.address_size 64\n
    /// #     .visible .entry scale(.param .u64 x, .param .u32 n, .param .f32 k) { ret; }");
    /// # driver.with_device(0, |ctx| {
    /// let scale = ctx.load_ptx(ptx)?.kernel::<(InOut<f32>, u32, f32)>("scale")?;
    /// let (stream, mut x) = (ctx.new_stream()?, ctx.upload(&[1.0f32, 2.0, 3.0])?);
    /// stream.scope(|s| {
    ///     let mut x = x.lend(s);
    ///     // SAFETY: `scale` multiplies the first n elements of x by k, and x has 3.
    ///     unsafe { s.launch(&scale, LaunchConfig::for_elements(3), (&mut x, 3, 10.0)) }
    /// })?;
    /// assert_eq!(x.to_vec()?, [10.0, 20.0, 30.0]);
    /// # Ok(()) })?;
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "cuLaunchKernelEx")]
    pub unsafe fn launch<P: Params, A: Args<'s, 'scope, 'ctx, P>>(
        self,
        kernel: &'scope Kernel<'ctx, P>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<()> {
        let Some(grid) = kernel.check(&config)? else {
            return Ok(());
        };
        arguments.with_pointers(Token, &config, |pointers| {
            // SAFETY: `Args` passes a pointer to a value for each parameter of `P`, which is the
            // kernel's list; what it touches is what the caller promises.
            unsafe { self.enqueue(kernel, &config, grid, pointers) }
        })
    }

    /// Launches `kernel`, in `config`, whose grid is `grid`.
    ///
    /// # Safety
    /// There is a pointer to a value for each parameter of the kernel, and the rest of what
    /// [`launch`](Self::launch) asks for.
    #[inline]
    pub(super) unsafe fn enqueue<P>(
        self,
        kernel: &'scope Kernel<'ctx, P>,
        config: &LaunchConfig,
        grid: [u32; 3],
        pointers: *mut *mut c_void,
    ) -> Result<()> {
        let (driver, stream) = (self.state().api(), self.stream().as_raw());
        let launched = config.with_raw(grid, stream, |raw| {
            // SAFETY: function and stream are of one context (equal brands, C2) and live for
            // `'scope`; `with_raw` counts the attributes; the rest is what `enqueue` asks of its
            // caller, and what the kernel touches stays lent until the wait (C5, C6).
            unsafe { calls::launch_kernel(driver, raw, kernel.as_raw(), pointers) }
        });
        #[cfg(feature = "sim")]
        let launched = launched.map_err(|error| {
            let machine = self.state().api().origin().machine.as_ref();
            error.with_reason(machine.and_then(|machine| machine.violations().pop()))
        });
        self.explained(launched)
    }
}
