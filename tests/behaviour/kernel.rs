//! Kernels: loading, look-up, arguments, launch shapes. Claims C2, C6, C9.

#![allow(unsafe_code)] // launches

use crate::common::{PTX, in_context, in_two_contexts, ptx, real, simulated};
use scoped_cuda::error::{ImageError, LaunchField, Version};
use scoped_cuda::kernel::{CachePreference, Carveout, Parameter};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Error, In, InOut, LaunchConfig, Out};

#[test]
fn kernel_gets_its_arguments() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let scale = module.kernel::<(InOut<f32>, u32, f32)>("scale")?;
        let add = module.kernel::<(In<u32>, InOut<u32>, u32)>("add")?;
        let store_pair = module.kernel::<(Out<u32>, [u32; 2])>("store_pair")?;
        let nothing = module.kernel::<()>("nothing")?;
        let stream = ctx.new_stream()?;
        let mut floats = ctx.upload(&[1.0f32, 2.0, 3.0, 4.0])?;
        let x = ctx.upload(&[1u32, 2, 3])?;
        let mut y = ctx.upload(&[10u32, 20, 30])?;
        let mut pair = ctx.zeros::<u32>(2)?;
        stream.scope(|s| {
            let (mut floats, mut y, mut pair) = (floats.lend(s), y.lend(s), pair.lend(s));
            // SAFETY: each kernel stays below the number of elements that it is told, which is what
            // its memory has.
            unsafe {
                s.launch(
                    &scale,
                    LaunchConfig::for_elements(3),
                    (&mut floats, 3, 10.0),
                )?;
            }
            // SAFETY: as above.
            unsafe {
                s.launch(
                    &add,
                    LaunchConfig::new([3, 1, 1], [1, 1, 1]),
                    (&x, &mut y, 3),
                )?;
            }
            // SAFETY: it stores two elements.
            unsafe {
                s.launch(
                    &store_pair,
                    LaunchConfig::for_elements(1),
                    (&mut pair, [7, 8]),
                )?;
            }
            // SAFETY: it does nothing.
            unsafe { s.launch(&nothing, LaunchConfig::for_elements(1), ()) }
        })?;
        assert_eq!(
            floats.to_vec()?,
            [10.0, 20.0, 30.0, 4.0],
            "the fourth element is past n"
        );
        assert_eq!(y.to_vec()?, [11, 22, 33]);
        // 256 threads stored the same pair.
        assert_eq!(pair.to_vec()?, [7, 8]);
        Ok(())
    });
}

#[test]
fn view_is_passed_at_its_offset() {
    in_context(|ctx| {
        let add = ctx
            .load_ptx(PTX)?
            .kernel::<(In<u32>, InOut<u32>, u32)>("add")?;
        let stream = ctx.new_stream()?;
        let x = ctx.upload(&[1u32, 2, 3, 4])?;
        let mut y = ctx.zeros::<u32>(4)?;
        let view = x.slice(2..)?;
        stream.scope(|s| {
            let mut y = y.lend(s);
            let mut part = y.slice_mut(1..3)?;
            // SAFETY: `add` stays below n, which is what both views have.
            unsafe { s.launch(&add, LaunchConfig::for_elements(2), (view, &mut part, 2)) }
        })?;
        assert_eq!(y.to_vec()?, [0, 3, 4, 0]);
        Ok(())
    });
}

/// The module is gone by name, and its kernel still works.
#[test]
fn kernel_keeps_its_module_loaded() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let clone = module.clone();
        assert_eq!(clone.as_raw(), module.as_raw());
        drop(module);
        let scale = clone.kernel::<(InOut<f32>, u32, f32)>("scale")?;
        drop(clone);
        let (stream, mut x) = (ctx.new_stream()?, ctx.upload(&[1.0f32])?);
        stream.scope(|s| {
            // SAFETY: one element.
            unsafe {
                s.launch(
                    &scale,
                    LaunchConfig::for_elements(1),
                    (&mut x.lend(s), 1, 3.0),
                )
            }
        })?;
        assert_eq!(x.to_vec()?, [3.0]);
        Ok(())
    });
}

/// B38: a launch goes to the device of its kernel, whatever is current.
#[test]
fn launch_does_not_depend_on_the_current_context() {
    in_two_contexts(|a, b| {
        let scale = a.load_ptx(PTX)?.kernel::<(InOut<f32>, u32, f32)>("scale")?;
        let (stream, mut x) = (a.new_stream()?, a.upload(&[1.0f32])?);
        assert_eq!(crate::common::current(b.driver()), b.as_raw());
        stream.scope(|s| {
            // SAFETY: one element.
            unsafe {
                s.launch(
                    &scale,
                    LaunchConfig::for_elements(1),
                    (&mut x.lend(s), 1, 5.0),
                )
            }
        })?;
        assert_eq!(x.to_vec()?, [5.0]);
        Ok(())
    });
}

/// B113: the number of parameters is compared at look-up.
#[test]
fn wrong_number_of_parameters_is_refused() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let count = |want, got| Error::ArgCount {
            kernel: "scale".into(),
            want,
            got,
        };
        assert_eq!(
            module.kernel::<(InOut<f32>, u32)>("scale").unwrap_err(),
            count(2, 3)
        );
        assert_eq!(
            module
                .kernel::<(InOut<f32>, u32, f32, u32)>("scale")
                .unwrap_err(),
            count(4, 3)
        );
        assert_eq!(module.kernel::<()>("scale").unwrap_err(), count(0, 3));
        Ok(())
    });
}

/// B114: an `f64` where the kernel takes a `float`.
#[test]
fn wrong_size_of_a_parameter_is_refused() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let error = module
            .kernel::<(InOut<f32>, u32, f64)>("scale")
            .unwrap_err();
        assert_eq!(
            error,
            Error::ArgSize {
                kernel: "scale".into(),
                index: 2,
                want: 8,
                got: 4
            }
        );
        let error = module.kernel::<(f32, u32, f32)>("scale").unwrap_err();
        assert_eq!(
            error,
            Error::ArgSize {
                kernel: "scale".into(),
                index: 0,
                want: 4,
                got: 8
            }
        );
        let error = module
            .kernel::<(Out<u32>, [u32; 3])>("store_pair")
            .unwrap_err();
        assert_eq!(
            error,
            Error::ArgSize {
                kernel: "store_pair".into(),
                index: 1,
                want: 12,
                got: 8
            }
        );
        Ok(())
    });
}

#[test]
fn declared_parameters_can_be_asked_for() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let at = |offset, size| Parameter { offset, size };
        assert_eq!(module.parameters("scale")?, [at(0, 8), at(8, 4), at(12, 4)]);
        assert_eq!(module.parameters("nothing")?, []);
        Ok(())
    });
}

/// A driver that can say how many parameters there are is asked that, and never for one too many.
#[test]
fn newer_driver_is_asked_for_the_number_of_parameters() {
    let driver = simulated(Simulation::default().version(13_020));
    crate::common::on(driver, |driver| {
        driver.with_device(0, |ctx| {
            let module = ctx.load_ptx(PTX)?;
            let machine = driver.machine().unwrap();
            machine.clear_trace();
            module.kernel::<(InOut<f32>, u32, f32)>("scale")?;
            let infos = machine
                .trace()
                .iter()
                .filter(|call| **call == "cuFuncGetParamInfo")
                .count();
            assert_eq!(infos, 3);
            let error = module.kernel::<(InOut<f32>, u32)>("scale").unwrap_err();
            assert_eq!(
                error,
                Error::ArgCount {
                    kernel: "scale".into(),
                    want: 2,
                    got: 3
                }
            );
            Ok(())
        })
    });
}

/// B154: what a driver lacks is missed when it is used, not before.
#[test]
fn driver_without_parameter_info_loads_and_launches() {
    let driver = simulated(Simulation::default().version(12_000));
    crate::common::on(driver, |driver| {
        driver.with_device(0, |ctx| {
            let module = ctx.load_ptx(PTX)?;
            let error = module.parameters("scale").unwrap_err();
            let (needs, driver) = (Version(12_040), Version(12_000));
            assert_eq!(
                error,
                Error::SymbolMissing {
                    name: "cuFuncGetParamInfo",
                    needs,
                    driver
                }
            );
            assert_eq!(
                error.to_string(),
                "the driver (CUDA 12.0) has no `cuFuncGetParamInfo`, which appeared in CUDA 12.4"
            );
            // Nothing is compared, as documented: the parameter list is then a promise of the
            // launch.
            let scale = module.kernel::<(InOut<f32>, u32, f32)>("scale")?;
            let (stream, mut x) = (ctx.new_stream()?, ctx.upload(&[1.0f32])?);
            stream.scope(|s| {
                // SAFETY: one element.
                unsafe {
                    s.launch(
                        &scale,
                        LaunchConfig::for_elements(1),
                        (&mut x.lend(s), 1, 4.0),
                    )
                }
            })?;
            assert_eq!(x.to_vec()?, [4.0]);
            Ok(())
        })
    });
}

#[test]
fn unknown_kernel_is_named() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        for name in ["scala", "", "sca\0le", "Scale"] {
            assert_eq!(
                module.kernel::<()>(name).unwrap_err(),
                Error::NoKernel { name: name.into() }
            );
        }
        Ok(())
    });
}

#[test]
fn text_that_is_not_ptx_is_refused() {
    in_context(|ctx| {
        for text in [
            "",
            "hello",
            "\u{7f}ELF\u{2}\u{1}\u{1}",
            "// nothing else",
            ".version 8.0\0.target sm_75",
        ] {
            let Error::Image(ImageError { reason, log, .. }) = ctx.load_ptx(ptx(text)).unwrap_err()
            else {
                panic!("{text:?}")
            };
            assert!(reason.starts_with("the text "), "{reason}");
            assert_eq!(log, "", "the driver was not asked");
        }
        Ok(())
    });
}

#[test]
fn error_of_the_jit_comes_with_its_log() {
    in_context(|ctx| {
        let header = ".version 8.0\n.target sm_75\n.address_size 64\n";
        let cut_off = format!("{header}.visible .entry k(.param .u64 p) {{\n ret;\n");
        let Error::Image(ImageError { reason, log, .. }) = ctx.load_ptx(ptx(&cut_off)).unwrap_err()
        else {
            panic!("another error")
        };
        assert!(
            reason.contains("cuModuleLoadDataEx returned CUDA_ERROR_INVALID_PTX"),
            "{reason}"
        );
        assert!(log.contains("ptxas"), "{log}");
        let version = cut_off.replace("8.0", "99.0");
        let Error::Image(ImageError { reason, .. }) = ctx.load_ptx(ptx(&version)).unwrap_err()
        else {
            panic!("another error")
        };
        assert!(
            reason.contains("CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
            "{reason}"
        );
        Ok(())
    });
}

#[test]
fn shapes_beyond_the_limits_are_refused() {
    in_context(|ctx| {
        let nothing = ctx.load_ptx(PTX)?.kernel::<()>("nothing")?;
        let stream = ctx.new_stream()?;
        let refused = |config| {
            // SAFETY: the kernel does nothing.
            match stream.scope(|s| unsafe { s.launch(&nothing, config, ()) }) {
                Err(Error::BadLaunch {
                    field,
                    value,
                    limit,
                }) => (field, value, limit),
                other => panic!("{other:?}"),
            }
        };
        let shape = |grid, block| refused(LaunchConfig::new(grid, block));
        assert_eq!(
            shape([0, 1, 1], [1, 1, 1]),
            (LaunchField::GridX, 0, 2_147_483_647)
        );
        assert_eq!(
            shape([1, 70_000, 1], [1, 1, 1]),
            (LaunchField::GridY, 70_000, 65_535)
        );
        assert_eq!(shape([1, 1, 1], [1, 1, 0]), (LaunchField::BlockZ, 0, 64));
        assert_eq!(
            shape([1, 1, 1], [2048, 1, 1]),
            (LaunchField::BlockX, 2048, 1024)
        );
        assert_eq!(
            shape([1, 1, 1], [32, 64, 1]),
            (LaunchField::ThreadsPerBlock, 2048, 1024)
        );
        let shared = LaunchConfig::new([1; 3], [1; 3]).dynamic_shared_bytes(49_153);
        assert_eq!(refused(shared), (LaunchField::SharedBytes, 49_153, 49_152));
        let huge = LaunchConfig::for_elements(usize::MAX);
        assert_eq!(
            refused(huge),
            (
                LaunchField::GridX,
                (usize::MAX as u64).div_ceil(256),
                2_147_483_647
            )
        );
        Ok(())
    });
}

/// What this crate lets pass, the driver takes.
#[test]
fn largest_shapes_are_accepted() {
    in_context(|ctx| {
        let nothing = ctx.load_ptx(PTX)?.kernel::<()>("nothing")?;
        let stream = ctx.new_stream()?;
        let shapes = [
            ([1, 65_535, 1], [1, 1, 1]),
            ([1, 1, 65_535], [1024, 1, 1]),
            ([1, 1, 1], [16, 1, 64]),
        ];
        stream.scope(|s| {
            for (grid, block) in shapes {
                let config = LaunchConfig::new(grid, block).dynamic_shared_bytes(49_152);
                // SAFETY: the kernel does nothing.
                unsafe { s.launch(&nothing, config, ()) }?;
            }
            Ok(())
        })
    });
}

/// B121: an empty problem is a no-op.
#[test]
fn no_elements_is_no_launch() {
    in_context(|ctx| {
        let add = ctx
            .load_ptx(PTX)?
            .kernel::<(In<u32>, InOut<u32>, u32)>("add")?;
        let stream = ctx.new_stream()?;
        let x = ctx.zeros::<u32>(0)?;
        let mut y = ctx.zeros::<u32>(0)?;
        let launches = || {
            ctx.driver().machine().map(|m| {
                m.trace()
                    .iter()
                    .filter(|c| **c == "cuLaunchKernelEx")
                    .count()
            })
        };
        stream.scope(|s| {
            // SAFETY: no thread runs.
            unsafe { s.launch(&add, LaunchConfig::for_elements(0), (&x, &mut y.lend(s), 0)) }
        })?;
        assert_eq!(launches(), if real() { None } else { Some(0) });
        Ok(())
    });
}

/// What has gone with a context that other code has reset, the driver is not asked about: its
/// handles may be anything's by now.
#[test]
fn module_and_kernel_of_a_context_that_was_reset_say_so() {
    crate::common::on(simulated(Simulation::default()), |driver| {
        let lost = Error::ContextLost { ordinal: 0 };
        let result = driver.with_device(0, |ctx| {
            let module = ctx.load_ptx(PTX)?;
            let add = module.kernel::<(In<u32>, InOut<u32>, u32)>("add")?;
            driver.machine().unwrap().reset_primary(0);
            let one = LaunchConfig::for_elements(1);
            let refused = [
                module.kernel::<()>("nothing").map(drop),
                module.parameters("nothing").map(drop),
                module.global::<u32>("nothing", 1).map(drop),
                add.attributes().map(drop),
                add.set_max_dynamic_shared_bytes(0),
                add.set_carveout(Carveout::Auto),
                add.set_cache_preference(CachePreference::L1),
                add.allow_large_clusters(true),
                add.active_blocks(32, 0).map(drop),
                add.best_block(0).map(drop),
                add.active_clusters(one).map(drop),
                add.active_clusters(one.cooperative()).map(drop),
            ];
            for (index, refused) in refused.into_iter().enumerate() {
                assert_eq!(refused, Err(lost.clone()), "{index}");
            }
            Ok(())
        });
        assert_eq!(result, Ok(()));
        assert!(!driver.take_teardown_errors().is_empty());
        Ok(())
    });
}
