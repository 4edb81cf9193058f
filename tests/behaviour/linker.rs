//! Linking code at run time. Claims C1, C3, C6, C12.

#![allow(unsafe_code)] // binary inputs

use crate::common::link::{HELPER, KERNEL, asked, assert_linked, fatbin, link};
use crate::common::{in_context, in_two_contexts, on_driver, ptx, real, simulated};
use scoped_cuda::error::ImageError;
use scoped_cuda::kernel::OptimizationLevel;
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Error, JitOptions, LaunchConfig, Out};
use std::{mem, thread};

/// An archive with one member.
fn archive(member: &[u8]) -> Vec<u8> {
    let header = format!("!<arch>\n{:<48}{:<10}`\n", "a.o/", member.len());
    [header.as_bytes(), member].concat()
}

fn link_error(error: Error) -> (String, String) {
    match error {
        Error::Image(ImageError { reason, log, .. }) => (reason, log),
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_texts_are_linked() {
    in_context(|ctx| {
        let linked = link(ctx, &JitOptions::default())?;
        assert_eq!(linked.bytes()[..4], *b"\x7fELF");
        assert_linked(&ctx.load_linked(&linked)?)?;
        // In the other order, without names, on another thread.
        let options = JitOptions::default()
            .optimization(OptimizationLevel::O1)
            .line_info(true);
        let mut linker = ctx.linker(&options)?;
        let linked = thread::scope(|threads| {
            let linking = threads.spawn(move || {
                linker.add_ptx("", HELPER)?;
                linker.add_ptx("", KERNEL)?;
                linker.finish()
            });
            linking.join().unwrap()
        })?;
        assert_linked(&ctx.load_linked(&linked)?)
    });
}

#[test]
fn linked_code_outlives_its_context() {
    on_driver(|driver| {
        let linked = driver.with_device(0, |ctx| link(ctx, &JitOptions::default()))?;
        let copy = linked.clone();
        driver.with_device(0, |ctx| {
            assert_linked(&ctx.load_linked(&linked)?)?;
            drop(linked);
            assert_linked(&ctx.load_linked(&copy)?)
        })
    });
}

/// C3: it is made in its own context, and leaves the current one alone.
#[test]
fn linker_does_not_depend_on_the_current_context() {
    in_two_contexts(|a, b| {
        assert_eq!(crate::common::current(b.driver()), b.as_raw());
        let linked = link(a, &JitOptions::default())?;
        let module = a.load_linked(&linked)?;
        assert_eq!(crate::common::current(b.driver()), b.as_raw());
        assert_linked(&module)
    });
}

#[test]
fn missing_function_is_explained() {
    in_context(|ctx| {
        let mut linker = ctx.linker(&JitOptions::default())?;
        linker.add_ptx("kernel.ptx", KERNEL)?;
        let (reason, log) = link_error(linker.finish().unwrap_err());
        assert!(
            reason.contains("cuLinkComplete returned CUDA_ERROR_INVALID_SOURCE"),
            "{reason}"
        );
        assert!(log.contains("Undefined reference to 'helper'"), "{log}");
        Ok(())
    });
}

/// What one text declares and another one defines is one variable.
#[test]
fn variable_of_another_text_is_linked() {
    const HEADER: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";
    let user = format!(
        "{HEADER}.extern .global .align 4 .u32 step;
        .visible .entry read_step(.param .u64 to)
        {{
            .reg .b32 %r<2>;
            .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [to];
            cvta.to.global.u64 %rd2, %rd1;
            ld.global.u32 %r1, [step];
            st.global.u32 [%rd2], %r1;
            ret;
        }}"
    );
    let owner = format!("{HEADER}.visible .global .align 4 .u32 step = 9;");
    in_context(|ctx| {
        if let Some(machine) = ctx.driver().machine() {
            machine.kernel("read_step", |call| {
                let step = call.global::<u32>("step");
                call.store(0, &step);
            });
        }
        let mut linker = ctx.linker(&JitOptions::default())?;
        linker.add_ptx("user", ptx(&user))?;
        linker.add_ptx("owner", ptx(&owner))?;
        let module = ctx.load_linked(&linker.finish()?)?;
        let mut step = module.global::<u32>("step", 1)?;
        assert_eq!(step.get()?, 9);
        step.set(10)?;
        let kernel = module.kernel::<(Out<u32>,)>("read_step")?;
        // SAFETY: it reads `step`, and writes one element.
        let kernel = unsafe {
            kernel.assert_safe_when_reading(step, [("to has an element", |_, (to,)| to > 0)])
        };
        let (stream, mut to) = (ctx.new_stream()?, ctx.zeros::<u32>(1)?);
        let one = LaunchConfig::new([1; 3], [1; 3]);
        stream.scope(|s| kernel.launch(s, one, (&mut to.lend(s),)))?;
        assert_eq!(to.to_vec()?, [10]);
        Ok(())
    });
}

/// The driver calls the linking of nothing a success.
#[test]
fn nothing_is_not_linked() {
    in_context(|ctx| {
        let linker = ctx.linker(&JitOptions::default())?;
        assert_eq!(format!("{linker:?}").split(", ").last(), Some("0 inputs)"));
        let before = asked(ctx);
        let (reason, _) = link_error(linker.finish().unwrap_err());
        assert_eq!(reason, "nothing was added");
        assert_eq!(asked(ctx), before);
        Ok(())
    });
}

/// The driver might link what is left, and say that all is well.
#[test]
fn refused_input_ends_the_linker() {
    let broken = HELPER.as_str().replace("ret;\n}", "ret;\n");
    in_context(|ctx| {
        let inputs = [
            ("hello", "does not begin with a `.version`"),
            (".version 8.0\0", "contains a NUL"),
            (&broken, "CUDA_ERROR_INVALID_PTX"),
        ];
        for (text, what) in inputs {
            let mut linker = ctx.linker(&JitOptions::default())?;
            linker.add_ptx("helper.ptx", HELPER)?;
            let (first, _) = link_error(linker.add_ptx("the other", ptx(text)).unwrap_err());
            assert!(first.starts_with("input `the other`: "), "{first}");
            assert!(first.contains(what), "{first}");
            let before = asked(ctx);
            let (again, _) = link_error(linker.add_ptx("kernel.ptx", KERNEL).unwrap_err());
            assert_eq!(again, format!("an input was refused before: {first}"));
            let (reason, _) = link_error(linker.finish().unwrap_err());
            assert_eq!(reason, again);
            assert_eq!(asked(ctx), before, "the driver was not asked again");
        }
        let mut linker = ctx.linker(&JitOptions::default())?;
        let (reason, _) = link_error(linker.add_ptx("a\0b", HELPER).unwrap_err());
        assert!(reason.contains("its name contains a NUL"), "{reason}");
        Ok(())
    });
}

/// C6: the driver writes to what a linker owns until it is destroyed, so that a forgotten one takes
/// it along.
#[test]
fn linker_may_be_forgotten() {
    on_driver(|driver| {
        driver.with_device(0, |ctx| {
            let mut linker = ctx.linker(&JitOptions::default())?;
            linker.add_ptx("helper.ptx", HELPER)?;
            if let Some(machine) = driver.machine() {
                assert_eq!(machine.live().linkers, 1);
            }
            mem::forget(linker);
            let mut moved = vec![ctx.linker(&JitOptions::default().verbose(true))?];
            moved[0].add_ptx("kernel.ptx", KERNEL)?;
            moved.reserve(100);
            let mut linker = Box::new(moved.remove(0));
            linker.add_ptx("helper.ptx", HELPER)?;
            let linked = linker.finish()?;
            assert_linked(&ctx.load_linked(&linked)?)
        })
    });
}

#[test]
fn code_of_another_driver_is_refused() {
    let [one, other] = [(); 2].map(|()| simulated(Simulation::default()));
    let linked = one
        .with_device(0, |ctx| link(ctx, &JitOptions::default()))
        .unwrap();
    let error = other.with_device(0, |ctx| ctx.load_linked(&linked).map(drop));
    assert_eq!(error, Err(Error::DifferentDrivers));
}

/// What other code in the process does to the context, the linker hears of.
#[test]
fn linker_of_a_lost_context_is_left_alone() {
    crate::common::on(simulated(Simulation::default()), |driver| {
        let lost = Error::ContextLost { ordinal: 0 };
        let result = driver.with_device(0, |ctx| {
            let mut linker = ctx.linker(&JitOptions::default())?;
            let mut second = ctx.linker(&JitOptions::default())?;
            second.add_ptx("helper.ptx", HELPER)?;
            driver.machine().unwrap().reset_primary(0);
            assert_eq!(linker.add_ptx("helper.ptx", HELPER), Err(lost.clone()));
            assert_eq!(second.finish().map(drop), Err(lost.clone()));
            let (reason, _) = link_error(linker.finish().unwrap_err());
            assert!(reason.contains(&lost.to_string()), "{reason}");
            Ok(())
        });
        assert_eq!(result, Ok(()));
        assert!(!driver.take_teardown_errors().is_empty());
        Ok(())
    });
}

/// Whole ones of each kind have to be relocatable machine code, which only NVIDIA's tools make:
/// they are linked on the simulated driver, where what the linker made stands for them.
#[test]
fn binary_inputs_are_linked_when_they_are_whole() {
    in_context(|ctx| {
        let linked = link(ctx, &JitOptions::default())?;
        let cubin = linked.bytes();
        let (fatbin, library) = (fatbin(&[(2, (9, 0), cubin)]), archive(cubin));
        let add = |kind: usize, bytes: usize| {
            let mut linker = ctx.linker(&JitOptions::default())?;
            let whole = [cubin, &fatbin, cubin, &library][kind];
            let image = &whole[..whole.len().min(bytes)];
            // SAFETY: laid out as the tools do it; an image may have been cut off.
            let added = match kind {
                // SAFETY: as above.
                0 => unsafe { linker.add_cubin("it", image) },
                // SAFETY: as above.
                1 => unsafe { linker.add_fatbin("it", image) },
                // SAFETY: as above.
                2 => unsafe { linker.add_object("it", image) },
                // SAFETY: as above.
                _ => unsafe { linker.add_library("it", image) },
            };
            added.and_then(|()| linker.finish())
        };
        for kind in 0..4 {
            for bytes in [9, 60, 100, library.len() / 2, cubin.len() - 1] {
                let (reason, _) = link_error(add(kind, bytes).unwrap_err());
                assert!(reason.starts_with("input `it`: it is cut off"), "{reason}");
            }
            if !real() {
                assert_linked(&ctx.load_linked(&add(kind, usize::MAX)?)?)?;
            }
        }
        Ok(())
    });
}

/// What nvcc makes of a source file, of each kind, is linked with PTX; and it is refused when it
/// was cut off anywhere.
///
/// ```text
/// cd tests/common
/// nvcc -cubin -rdc=true -arch=sm_90 -o $DIR/helper.cubin link_helper.cu
/// nvcc -fatbin -rdc=true -arch=sm_90 -o $DIR/helper.fatbin link_helper.cu
/// nvcc -dc -arch=sm_90 -o $DIR/helper.o link_helper.cu
/// nvcc -lib -o $DIR/helper.a $DIR/helper.o
/// SCOPED_CUDA_TEST_DRIVER=cuda SCOPED_CUDA_LINK_INPUTS=$DIR cargo test --test linker -- --ignored
/// ```
#[test]
#[ignore = "needs binaries that nvcc makes: see its comment"]
fn binaries_of_nvcc_are_linked() {
    let folder = std::env::var("SCOPED_CUDA_LINK_INPUTS").expect("SCOPED_CUDA_LINK_INPUTS");
    assert!(real(), "machine code is not simulated");
    let read = |name: &str| std::fs::read(format!("{folder}/{name}")).expect(name);
    in_context(|ctx| {
        for name in ["helper.cubin", "helper.fatbin", "helper.o", "helper.a"] {
            let whole = read(name);
            let add = |image: &[u8]| {
                let mut linker = ctx.linker(&JitOptions::default())?;
                linker.add_ptx("kernel.ptx", KERNEL)?;
                // SAFETY: made by nvcc; it may have been cut off.
                let added = match name {
                    // SAFETY: as above.
                    "helper.cubin" => unsafe { linker.add_cubin(name, image) },
                    // SAFETY: as above.
                    "helper.fatbin" => unsafe { linker.add_fatbin(name, image) },
                    // SAFETY: as above.
                    "helper.o" => unsafe { linker.add_object(name, image) },
                    // SAFETY: as above.
                    _ => unsafe { linker.add_library(name, image) },
                };
                added.and_then(|()| linker.finish())
            };
            let linked = add(&whole)?;
            assert_linked(&ctx.load_linked(&linked)?)?;
            // (The first 8 bytes of an archive are one without members.)
            for end in [12, whole.len() / 3, whole.len() - 9] {
                let (reason, _) = link_error(add(&whole[..end]).unwrap_err());
                assert!(reason.contains("cut off"), "{name}, {end}: {reason}");
            }
        }
        Ok(())
    });
}
