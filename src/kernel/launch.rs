//! From a kernel and a configuration to what the driver takes.

#![allow(unsafe_code)] // asks for limits

use super::config::{LaunchConfig, within};
use super::function::Kernel;
use crate::attribute::Attribute;
use crate::current;
use crate::error::{Error, LaunchField, Result};
use crate::ffi::{
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
    CU_LAUNCH_ATTRIBUTE_IGNORE, CU_LAUNCH_ATTRIBUTE_PRIORITY,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, CUlaunchAttribute, CUlaunchAttributeID,
    CUlaunchAttributeValue, CUlaunchConfig, CUstream,
};
use crate::internal::calls;
use std::ffi::c_uint;
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

    /// What a launch that is more than a grid is compared with is asked of the driver at the launch.
    #[cold]
    fn check_special(&self, config: &LaunchConfig, grid: [u32; 3]) -> Result<()> {
        if let Some(asked) = config.launch_priority() {
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
        if let Some(cluster) = config.cluster_blocks() {
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
        let (context, driver) = (self.context(), self.context().driver());
        let function = self.loaded()?;
        // The driver refuses the question about a launch whose clusters cannot be (measured).
        let blocks = config
            .without_cluster()
            .with_raw(grid, CUstream::NULL, |raw| {
                // SAFETY: the function is loaded while the kernel lives; `with_raw` counts the attributes.
                current::bind(context.state(), || unsafe {
                    calls::occupancy_max_cluster_size(driver, function, raw)
                })
            })?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// How many clusters of such a launch the device runs at once.
    pub(super) fn clusters_at_once(&self, config: &LaunchConfig, grid: [u32; 3]) -> Result<u32> {
        let (context, driver) = (self.context(), self.context().driver());
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
        if let Some([x, y, z]) = config.cluster_blocks() {
            let clusters = self.clusters_at_once(config, grid)?;
            return Ok(u64::from(clusters) * u64::from(x) * u64::from(y) * u64::from(z));
        }
        let device = self.context().device();
        if device.attribute(Attribute::CooperativeLaunch)? == 0 {
            return Ok(0);
        }
        let threads = u32::try_from(config.threads_per_block()).unwrap_or(u32::MAX);
        let blocks = self.active_blocks(threads, config.shared_bytes())?;
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
            sharedMemBytes: self.shared_bytes(),
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
            self.cluster_blocks().map_or(none, |blocks| {
                attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, blocks)
            }),
            self.launch_priority().map_or(none, |priority| {
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
