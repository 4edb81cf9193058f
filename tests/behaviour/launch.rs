//! Launches that are more than a grid: dynamic shared memory, cooperative ones, clusters,
//! priorities, overlap. Claim C9.

#![allow(unsafe_code)] // launches

use crate::common::launches::PTX;
use crate::common::{in_context, on, simulated};
use scoped_cuda::error::LaunchField;
use scoped_cuda::ffi::CUresult;
use scoped_cuda::kernel::{CachePreference, Carveout};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Attribute, Context, Error, In, LaunchConfig, Out, Result, SharedBytes};

#[test]
fn shared_memory_above_48_kib_is_opted_into() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let kernel = module.kernel::<(SharedBytes, Out<u32>)>("shared_bytes")?;
        let (stream, mut out) = (ctx.new_stream()?, ctx.zeros::<u32>(2)?);
        let config = LaunchConfig::new([1; 3], [1; 3]).dynamic_shared_bytes(100_000);
        let mut launch = |config| {
            stream.scope(|s| {
                // SAFETY: it writes two elements, and the last word of its shared memory.
                unsafe { s.launch(&kernel, config, (SharedBytes, &mut out.lend(s))) }
            })?;
            out.to_vec()
        };
        let refused = |limit| {
            let (field, value) = (LaunchField::SharedBytes, 100_000);
            Err(Error::BadLaunch {
                field,
                value,
                limit,
            })
        };
        assert_eq!(launch(config), refused(49_152));
        assert_eq!(kernel.max_dynamic_shared_bytes(), 49_152);

        // Of the kernel, whatever it was looked up as.
        let again = module.kernel::<(SharedBytes, Out<u32>)>("shared_bytes")?;
        again.set_max_dynamic_shared_bytes(100_000)?;
        assert_eq!(kernel.max_dynamic_shared_bytes(), 100_000);
        assert_eq!(launch(config), Ok(vec![100_000, 100_000]));
        kernel.set_max_dynamic_shared_bytes(99_999)?;
        assert_eq!(launch(config), refused(99_999));
        Ok(())
    });
}

#[test]
fn opting_into_more_than_the_device_has_is_refused() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let most = ctx
            .device()
            .attribute(Attribute::MaxSharedMemoryPerBlockOptin)? as u32;
        let refused = |value: u32, limit: u32| {
            let (value, limit) = (u64::from(value), u64::from(limit));
            Err(Error::BadLaunch {
                field: LaunchField::SharedBytes,
                value,
                limit,
            })
        };
        let kernel = module.kernel::<(SharedBytes, Out<u32>)>("shared_bytes")?;
        assert_eq!(
            kernel.set_max_dynamic_shared_bytes(most + 1),
            refused(most + 1, most)
        );
        assert_eq!(
            kernel.set_max_dynamic_shared_bytes(u32::MAX),
            refused(u32::MAX, most)
        );
        kernel.set_max_dynamic_shared_bytes(most)?;
        kernel.set_max_dynamic_shared_bytes(0)?;
        assert_eq!(kernel.max_dynamic_shared_bytes(), 0);
        // Static shared memory comes off.
        let kernel = module.kernel::<(Out<u32>,)>("static_shared")?;
        assert_eq!(kernel.max_dynamic_shared_bytes(), 49_152 - 8192);
        let error = kernel.set_max_dynamic_shared_bytes(most);
        assert_eq!(error, refused(most, most - 8192));
        assert_eq!(
            error.unwrap_err().to_string(),
            format!(
                "the dynamic shared memory of a block in bytes is {most}: it must be at most {} here",
                most - 8192
            )
        );
        Ok(())
    });
}

#[test]
fn attributes_are_told_and_asked() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let kernel = module.kernel::<(Out<u32>,)>("static_shared")?;
        let first = kernel.attributes()?;
        assert_eq!((first.static_shared_bytes, first.local_bytes), (8192, 0));
        assert_eq!((first.ptx_version, first.binary_version), ((9, 0), (9, 0)));
        assert_eq!(
            (first.carveout, first.required_cluster),
            (Carveout::Auto, None)
        );
        assert!(first.registers > 0 && !first.needs_cluster && !first.allows_large_clusters);
        let bounded = module.kernel::<(Out<u32>,)>("bounded")?;
        assert_eq!(bounded.attributes()?.max_threads_per_block, 64);

        kernel.set_carveout(Carveout::Percent(50))?;
        kernel.allow_large_clusters(true)?;
        let preferences = [
            CachePreference::Shared,
            CachePreference::L1,
            CachePreference::Equal,
            CachePreference::None,
        ];
        for preference in preferences {
            kernel.set_cache_preference(preference)?;
        }
        let second = kernel.attributes()?;
        assert_eq!(second.carveout, Carveout::Percent(50));
        assert!(second.allows_large_clusters);
        kernel.set_carveout(Carveout::Auto)?;
        assert_eq!(kernel.attributes()?.carveout, Carveout::Auto);
        let error = kernel.set_carveout(Carveout::Percent(101)).unwrap_err();
        let code = error
            .driver_error()
            .map(|error| (error.call(), error.code()));
        assert_eq!(code, Some(("cuFuncSetAttribute", CUresult::INVALID_VALUE)));
        Ok(())
    });
}

/// Launches `meet`, in which each block waits for all others.
fn meet(ctx: Context<'_>, config: LaunchConfig, blocks: u32) -> Result<Vec<u32>> {
    let meet = ctx.load_ptx(PTX)?.kernel::<(Out<u32>, Out<u32>)>("meet")?;
    let (stream, mut arrived) = (ctx.new_stream()?, ctx.zeros::<u32>(1)?);
    let mut seen = ctx.zeros::<u32>(blocks as usize)?;
    stream.scope(|s| {
        let (mut arrived, mut seen) = (arrived.lend(s), seen.lend(s));
        // SAFETY: cooperative; it counts in one element, and writes one for each block.
        unsafe { s.launch(&meet, config, (&mut arrived, &mut seen)) }
    })?;
    seen.to_vec()
}

#[test]
fn blocks_of_a_cooperative_launch_meet() {
    in_context(|ctx| {
        let config = LaunchConfig::new([48, 1, 1], [64, 1, 1]).cooperative();
        assert_eq!(meet(ctx, config, 48)?, [48; 48]);
        Ok(())
    });
}

#[test]
fn cooperative_grid_is_limited_to_what_runs_at_once() {
    in_context(|ctx| {
        let kernel = ctx.load_ptx(PTX)?.kernel::<(Out<u32>, Out<u32>)>("meet")?;
        let multiprocessors = ctx.device().attribute(Attribute::MultiprocessorCount)? as u32;
        let limit = kernel.active_blocks(1024, 0)? * multiprocessors;
        let shape = |blocks| LaunchConfig::new([blocks, 1, 1], [1024, 1, 1]).cooperative();
        assert_eq!(
            meet(ctx, shape(limit + 1), 1),
            Err(Error::BadLaunch {
                field: LaunchField::CooperativeBlocks,
                value: u64::from(limit) + 1,
                limit: u64::from(limit),
            })
        );
        assert_eq!(meet(ctx, shape(limit), limit)?, vec![limit; limit as usize]);
        Ok(())
    });
}

/// Launches `clusters`, and returns what its first block says of the cluster that it is in.
fn clusters(ctx: Context<'_>, config: LaunchConfig, allow_large: bool) -> Result<u32> {
    let kernel = ctx.load_ptx(PTX)?.kernel::<(Out<u32>,)>("clusters")?;
    if allow_large {
        kernel.allow_large_clusters(true)?;
    }
    let blocks = config.grid()[0] as usize;
    let (stream, mut out) = (ctx.new_stream()?, ctx.zeros::<u32>(blocks)?);
    stream.scope(|s| {
        // SAFETY: it writes an element for each block along x.
        unsafe { s.launch(&kernel, config, (&mut out.lend(s),)) }
    })?;
    let seen = out.to_vec()?;
    assert!(seen.iter().all(|of| *of == seen[0]), "{seen:?}");
    Ok(seen[0])
}

#[test]
fn blocks_run_in_clusters() {
    in_context(|ctx| {
        let shape = LaunchConfig::new([16, 1, 1], [64, 1, 1]);
        assert_eq!(
            clusters(ctx, shape, false)?,
            10_101,
            "without: each is one of its own"
        );
        assert_eq!(clusters(ctx, shape.cluster([4, 1, 1]), false)?, 10_104);
        let flat = LaunchConfig::new([8, 4, 1], [64, 1, 1]).cluster([2, 4, 1]);
        assert_eq!(clusters(ctx, flat, false)?, 10_402);
        let both = shape.cluster([2, 1, 1]).cooperative();
        assert_eq!(clusters(ctx, both, false)?, 10_102);
        Ok(())
    });
}

#[test]
fn clusters_that_cannot_be_are_refused() {
    in_context(|ctx| {
        let refused = |blocks, cluster: [u32; 3]| {
            let shape = LaunchConfig::new([blocks, 1, 1], [64, 1, 1]);
            clusters(ctx, shape.cluster(cluster), false).unwrap_err()
        };
        let bad = |field, value, limit| Error::BadLaunch {
            field,
            value,
            limit,
        };
        assert_eq!(refused(16, [0, 1, 1]), bad(LaunchField::ClusterX, 0, 8));
        assert_eq!(refused(16, [1, 9, 1]), bad(LaunchField::ClusterY, 9, 8));
        assert_eq!(
            refused(16, [1, 1, u32::MAX]),
            bad(LaunchField::ClusterZ, u64::from(u32::MAX), 8)
        );
        assert_eq!(
            refused(16, [4, 4, 1]),
            bad(LaunchField::BlocksPerCluster, 16, 8)
        );
        let uneven = Error::UnevenClusters {
            field: LaunchField::GridX,
            blocks: 7,
            cluster: 2,
        };
        assert_eq!(refused(7, [2, 1, 1]), uneven);
        assert_eq!(
            uneven.to_string(),
            "the grid's x dimension is 7, which is no multiple of the 2 blocks of a cluster"
        );
        let shape = LaunchConfig::new([16, 1, 1], [64, 1, 1]).cluster([16, 1, 1]);
        assert_eq!(
            clusters(ctx, shape, true)?,
            10_116,
            "when the kernel is allowed to"
        );
        Ok(())
    });
}

#[test]
fn device_without_clusters_has_clusters_of_one_block() {
    // Clusters came with compute capability 9.0, which is what the tests have; so this one is about
    // the simulated driver only.
    let driver = simulated(Simulation::default().clusters(false));
    on(driver, |driver| {
        driver.with_device(0, |ctx| {
            let shape = LaunchConfig::new([16, 1, 1], [64, 1, 1]);
            let (field, value, limit) = (LaunchField::ClusterX, 2, 1);
            assert_eq!(
                clusters(ctx, shape.cluster([2, 1, 1]), false),
                Err(Error::BadLaunch {
                    field,
                    value,
                    limit
                })
            );
            Ok(())
        })
    });
}

#[test]
fn priority_of_a_launch_is_one_of_the_streams() {
    in_context(|ctx| {
        let shape = LaunchConfig::new([1; 3], [1; 3]);
        let range = ctx.stream_priorities()?;
        for priority in range.clone() {
            assert_eq!(clusters(ctx, shape.priority(priority), false)?, 10_101);
        }
        for asked in [*range.start() - 1, *range.end() + 1] {
            let (greatest, least) = (*range.start(), *range.end());
            assert_eq!(
                clusters(ctx, shape.priority(asked), false),
                Err(Error::BadPriority {
                    asked,
                    least,
                    greatest
                })
            );
        }
        Ok(())
    });
}

/// The second kernel may start while the first one works; it waits itself, and so reads what that
/// has written.
#[test]
fn launch_that_overlaps_the_one_ahead_waits_for_it_inside() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let write = module.kernel::<(Out<u32>, u32, u32)>("write_late")?;
        let copy = module.kernel::<(In<u32>, Out<u32>, u32)>("copy_after_wait")?;
        let (stream, mut x, mut y) = (
            ctx.new_stream()?,
            ctx.zeros::<u32>(64)?,
            ctx.zeros::<u32>(64)?,
        );
        let shape = LaunchConfig::new([1; 3], [64, 1, 1]);
        stream.scope(|s| {
            let (mut x, mut y) = (x.lend(s), y.lend(s));
            // SAFETY: it writes n elements, which x has.
            unsafe { s.launch(&write, shape, (&mut x, 64, 7)) }?;
            // SAFETY: it copies n elements, which both have, after it has waited for the launch
            // before it.
            unsafe { s.launch(&copy, shape.overlapping_previous(), (&x, &mut y, 64)) }
        })?;
        assert_eq!(y.to_vec()?, [7; 64]);
        Ok(())
    });
}

/// A plain launch asks the driver nothing else; only what is special about one is looked into.
#[test]
fn plain_launch_is_one_driver_call() {
    let driver = simulated(Simulation::default());
    on(driver, |driver| {
        let machine = driver.machine().unwrap();
        driver.with_device(0, |ctx| {
            let kernel = ctx.load_ptx(PTX)?.kernel::<(Out<u32>,)>("clusters")?;
            let (stream, mut out) = (ctx.new_stream()?, ctx.zeros::<u32>(4)?);
            stream.scope(|s| {
                let mut out = out.lend(s);
                machine.clear_trace();
                let config = LaunchConfig::new([4, 1, 1], [32, 1, 1]).dynamic_shared_bytes(64);
                // SAFETY: it writes an element for each block along x.
                unsafe { s.launch(&kernel, config, (&mut out,)) }?;
                assert_eq!(machine.trace(), ["cuLaunchKernelEx"]);
                Ok(())
            })
        })
    });
}
