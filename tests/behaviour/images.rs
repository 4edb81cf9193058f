//! Images: options of the JIT, PTX in files, cubins and fatbins. Claims C1, C9, C12.

#![allow(unsafe_code)] // launches, binary images

use crate::common::crashing_ptx::crashing;
use crate::common::link::{KERNEL, asked, assert_linked, fatbin, link};
use crate::common::{PTX, in_context, never_seen, ptx, real};
use scoped_cuda::error::ImageError;
use scoped_cuda::kernel::{CacheMode, OptimizationLevel};
use scoped_cuda::{ComputeCapability, Error, InOut, JitOptions, LaunchConfig, Module, Result};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::{env, fs, process};

/// Launches `scale` of a module.
fn assert_scales(module: &Module<'_>) -> Result<()> {
    let ctx = module.context();
    let scale = module.kernel::<(InOut<f32>, u32, f32)>("scale")?;
    let (stream, mut x) = (ctx.new_stream()?, ctx.upload(&[1.0f32, 2.0])?);
    stream.scope(|s| {
        let mut x = x.lend(s);
        // SAFETY: two elements.
        unsafe { s.launch(&scale, LaunchConfig::for_elements(2), (&mut x, 2, 3.0)) }
    })?;
    assert_eq!(x.to_vec()?, [3.0, 6.0]);
    Ok(())
}

/// A file of this process.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, content: &[u8]) -> Self {
        let path = env::temp_dir().join(format!("scoped-cuda-{}-{name}", process::id()));
        fs::write(&path, content).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

fn bad_image(error: Error) -> (String, String) {
    match error {
        Error::Image(ImageError { reason, log, .. }) => (reason, log),
        other => panic!("{other:?}"),
    }
}

#[test]
fn options_change_how_it_is_compiled_and_not_what_it_does() {
    let none = JitOptions::default();
    let options = [
        none.optimization(OptimizationLevel::O0),
        none.optimization(OptimizationLevel::O1),
        none.optimization(OptimizationLevel::O2),
        none.optimization(OptimizationLevel::O3).line_info(true),
        none.optimization(OptimizationLevel::O4).verbose(true),
        none.optimization(OptimizationLevel::O0).debug_info(true),
        none.debug_info(true),
        none.max_registers(NonZeroU32::new(1)),
        none.max_registers(NonZeroU32::new(u32::MAX)),
        none.threads_per_block(NonZeroU32::new(1)),
        none.threads_per_block(NonZeroU32::new(1024))
            .max_registers(NonZeroU32::new(64)),
        none.cache(CacheMode::SecondLevel),
        none.cache(CacheMode::BothLevels),
    ];
    in_context(|ctx| {
        let target = Some(ctx.device().compute_capability()?);
        assert_scales(&ctx.load_ptx_with(PTX, &none.target(target))?)?;
        for options in options {
            let module = ctx.load_ptx_with(PTX, &options)?;
            assert_scales(&module)?;
        }
        Ok(())
    });
}

#[test]
fn verbose_log_tells_of_each_kernel() {
    in_context(|ctx| {
        let verbose = JitOptions::default().verbose(true);
        let module = ctx.load_ptx_with(ptx(&never_seen(PTX.as_str())), &verbose)?;
        for kernel in ["scale", "add", "nothing"] {
            let line = format!("Compiling entry function '{kernel}' for 'sm_");
            assert!(module.log().contains(&line), "{}", module.log());
        }
        assert_eq!(ctx.load_ptx(PTX)?.log(), "");
        Ok(())
    });
}

/// 0 threads cannot be written. What the driver would do with four thousand million of them nobody
/// has to find out.
#[test]
fn impossible_options_are_refused_before_the_driver_is_asked() {
    in_context(|ctx| {
        let none = JitOptions::default();
        let many = NonZeroU32::new(u32::MAX);
        let impossible = [
            none.debug_info(true).optimization(OptimizationLevel::O4),
            none.threads_per_block(many),
            none.threads_per_block(NonZeroU32::MIN)
                .target(ComputeCapability::new(9, 0)),
            none.target(ComputeCapability::new(90, 10)),
        ];
        for options in impossible {
            let reasons = [
                ctx.load_ptx_with(PTX, &options).unwrap_err(),
                ctx.linker(&options).unwrap_err(),
                // SAFETY: whole, and as the tools have it.
                unsafe { ctx.load_fatbin(&fatbin(&[]), &options) }.unwrap_err(),
            ];
            for error in reasons {
                assert!(matches!(error, Error::BadJitOptions { .. }), "{error:?}");
            }
        }
        assert_eq!(asked(ctx), 0);
        Ok(())
    });
}

#[test]
fn code_for_another_target_is_refused() {
    in_context(|ctx| {
        let ComputeCapability { major, minor } = ctx.device().compute_capability()?;
        let newest = PTX.as_str().replace("sm_75", &format!("sm_{major}{minor}"));
        let lower = JitOptions::default().target(ComputeCapability::new(7, 5));
        let Error::Image(ImageError { reason, log, .. }) =
            ctx.load_ptx_with(ptx(&newest), &lower).unwrap_err()
        else {
            panic!("another error")
        };
        assert!(reason.contains("CUDA_ERROR_INVALID_PTX"), "{reason}");
        assert!(
            reason.ends_with("(compiled for compute capability 7.5)"),
            "{reason}"
        );
        assert!(
            log.contains("SM version specified by .target is higher"),
            "{log}"
        );
        if (major, minor) == (9, 0) {
            let higher = lower.target(ComputeCapability::new(10, 0));
            let error = ctx.load_ptx_with(PTX, &higher).unwrap_err();
            assert!(
                error.to_string().contains("CUDA_ERROR_INVALID_SOURCE"),
                "{error}"
            );
        }
        let unknown = lower.target(ComputeCapability::new(99, 9));
        let error = ctx.load_ptx_with(PTX, &unknown).unwrap_err();
        assert!(
            error.to_string().contains("CUDA_ERROR_INVALID_VALUE"),
            "{error}"
        );
        Ok(())
    });
}

#[test]
fn function_that_nobody_has_is_named() {
    in_context(|ctx| {
        let Error::Image(ImageError { log, .. }) = ctx.load_ptx(KERNEL).unwrap_err() else {
            panic!("another error")
        };
        assert_eq!(log, "ptxas fatal   : Unresolved extern function 'helper'");
        Ok(())
    });
}

#[test]
fn ptx_is_read_from_a_file() {
    in_context(|ctx| {
        let file = Scratch::new("kernels.ptx", PTX.as_str().as_bytes());
        let options = JitOptions::default();
        // SAFETY: a compiler wrote the text that was written to the file.
        assert_scales(&unsafe { ctx.load_ptx_file_with(&file.0, &options) }?)?;
        let latin1 = Scratch::new(
            "latin1.ptx",
            &[PTX.as_str().as_bytes(), b"// \xe9\n"].concat(),
        );
        let nowhere = env::temp_dir().join("scoped-cuda-nowhere.ptx");
        let loads = asked(ctx);
        for path in [&latin1.0, &nowhere, &env::temp_dir()] {
            // SAFETY: there is no text in it.
            let error = unsafe { ctx.load_ptx_file_with(path, &options) }.unwrap_err();
            let message = error.to_string();
            let Error::PtxFile {
                path: named,
                reason,
            } = error
            else {
                panic!("{error:?}")
            };
            assert_eq!(&named, path);
            assert!(!reason.is_empty());
            assert_eq!(
                message,
                format!("cannot read PTX from {}: {reason}", path.display())
            );
        }
        assert_eq!(asked(ctx), loads, "the driver was not asked");
        let empty = Scratch::new("empty.ptx", b"");
        // SAFETY: there is no text in it.
        let error = unsafe { ctx.load_ptx_file_with(&empty.0, &options) }.unwrap_err();
        assert!(matches!(error, Error::Image(_)), "{error:?}");
        Ok(())
    });
}

#[test]
fn cubin_is_saved_and_loaded() {
    in_context(|ctx| {
        let linked = link(ctx, &JitOptions::default())?;
        let file = Scratch::new("linked.cubin", linked.bytes());
        let cubin = fs::read(&file.0).unwrap();
        // SAFETY: the linker's, unchanged.
        assert_linked(&unsafe { ctx.load_cubin(&cubin) }?)?;
        // Wherever it lies in memory, and whatever follows.
        let moved = [b"\0", &*cubin, b"and more"].concat();
        // SAFETY: as above.
        assert_linked(&unsafe { ctx.load_cubin(&moved[1..]) }?)
    });
}

/// The real driver crashes on a cubin without its last sections.
#[test]
fn cubin_that_was_cut_off_is_refused() {
    in_context(|ctx| {
        let linked = link(ctx, &JitOptions::default())?;
        let before = asked(ctx);
        for bytes in 0..linked.bytes().len() {
            // SAFETY: an image may have been cut off.
            let error = unsafe { ctx.load_cubin(&linked.bytes()[..bytes]) }.unwrap_err();
            let (reason, log) = bad_image(error);
            let begins = if bytes < 4 {
                "it does not begin"
            } else {
                "it is cut off"
            };
            assert!(reason.starts_with(begins), "{bytes}: {reason}");
            assert_eq!(log, "");
        }
        for other in [&b"hello"[..], PTX.as_str().as_bytes(), &fatbin(&[])] {
            // SAFETY: refused for its first bytes.
            let error = unsafe { ctx.load_cubin(other) }.unwrap_err();
            let message = error.to_string();
            assert_eq!(
                message,
                "the image did not load: it does not begin as an ELF file does"
            );
        }
        assert_eq!(asked(ctx), before, "the driver was not asked");
        Ok(())
    });
}

#[test]
fn cubin_for_another_device_is_told_so() {
    in_context(|ctx| {
        let compute_capability = ctx.device().compute_capability()?;
        // Code runs on later devices of its generation.
        let other = if compute_capability.major == 8 { 9 } else { 8 };
        let target = ComputeCapability::new(other, 0);
        let linked = link(ctx, &JitOptions::default().target(target))?;
        // SAFETY: the linker's, unchanged.
        let loaded = unsafe { ctx.load_cubin(linked.bytes()) };
        for error in [loaded.unwrap_err(), ctx.load_linked(&linked).unwrap_err()] {
            let call = error.driver_error().map(|error| error.call());
            assert_eq!(call, Some("cuModuleLoadDataEx"));
            let begins = format!(
                "the image has no code for device 0, whose compute capability is {compute_capability}: "
            );
            assert!(error.to_string().starts_with(&begins), "{error}");
            let Error::NoCodeForDevice {
                ordinal: 0,
                compute_capability: found,
                ..
            } = error
            else {
                panic!("{error:?}")
            };
            assert_eq!(found, compute_capability);
        }
        Ok(())
    });
}

#[test]
fn fatbin_is_loaded_with_what_fits_the_device() {
    in_context(|ctx| {
        let options = JitOptions::default().verbose(true);
        let text = fatbin(&[(1, (7, 5), PTX.as_str().as_bytes())]);
        // SAFETY: laid out as the tools do it.
        let module = unsafe { ctx.load_fatbin(&text, &options) }?;
        assert_scales(&module)?;
        if !real() {
            // To name the real driver's code in an entry takes more than is known here.
            let linked = link(ctx, &options)?;
            let both = fatbin(&[
                (1, (7, 5), PTX.as_str().as_bytes()),
                (2, (9, 0), linked.bytes()),
            ]);
            // SAFETY: as above.
            let module = unsafe { ctx.load_fatbin(&both, &options) }?;
            assert_linked(&module)?;
            let error = module.kernel::<()>("nothing").unwrap_err();
            assert!(
                matches!(error, Error::NoKernel { .. }),
                "the text was not needed"
            );
        }
        let broken = PTX.as_str().replace("ret;\n}", "ret;\n");
        let broken = fatbin(&[(1, (7, 5), broken.as_bytes())]);
        // SAFETY: as above; the text is the driver's to read.
        let error = unsafe { ctx.load_fatbin(&broken, &options) }.unwrap_err();
        let (reason, _) = bad_image(error);
        assert!(reason.contains("cuModuleLoadDataEx returned"), "{reason}");
        Ok(())
    });
}

#[test]
fn fatbin_that_was_cut_off_is_refused() {
    in_context(|ctx| {
        let whole = fatbin(&[(1, (7, 5), PTX.as_str().as_bytes())]);
        let before = asked(ctx);
        for bytes in 0..whole.len() {
            // SAFETY: an image may have been cut off.
            let error = unsafe { ctx.load_fatbin(&whole[..bytes], &JitOptions::default()) };
            let (reason, _) = bad_image(error.unwrap_err());
            let begins = if bytes < 4 {
                "it does not begin"
            } else {
                "it is cut off"
            };
            assert!(reason.starts_with(begins), "{bytes}: {reason}");
        }
        assert_eq!(asked(ctx), before, "the driver was not asked");
        Ok(())
    });
}

/// Each of these ends the process when the real driver compiles it. It is not asked.
#[test]
fn text_that_crashes_the_compiler_is_refused() {
    in_context(|ctx| {
        for (text, why) in crashing() {
            let before = asked(ctx);
            let error = ctx.load_ptx(ptx(&text)).unwrap_err();
            let Error::Image(ImageError { reason, log, .. }) = error else {
                panic!("{error:?}")
            };
            assert!(reason.starts_with(why), "{reason}");
            assert_eq!(log, "");
            let mut linker = ctx.linker(&JitOptions::default())?;
            assert!(matches!(
                linker.add_ptx("k", ptx(&text)),
                Err(Error::Image(_))
            ));
            drop(linker);
            // The linker was made, and that is all.
            assert_eq!(asked(ctx) - before, usize::from(!real()));
        }
        Ok(())
    });
}
