//! CUDA C++ compiled while the program runs. Most tests need the library: `cargo test --test nvrtc
//! -- --ignored`.
//!
//! With `SCOPED_CUDA_TEST_DRIVER=cuda` what was compiled runs on the GPU, which needs an NVRTC that
//! is no newer than the driver.

#![allow(unsafe_code)] // launches, and loads libraries by name

mod common;

use common::launches::{Aligned, Float4};
use common::{on, real, simulated};
use scoped_cuda::error::{ImageError, Version};
use scoped_cuda::kernel::Parameter;
use scoped_cuda::nvrtc::{CompileOptions, Compiled, Compiler, NvrtcError, Trusted};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{
    ComputeCapability, Context, Driver, Error, InOut, LaunchConfig, Out, Result, trusted,
};
use std::{env, fs, process, thread};

/// `scale<T>` multiplies, then adds what a header and a macro say.
const SCALE: &str = r#"
#include "offset.cuh"
template <typename T> __global__ void scale(T *x, unsigned n, T factor) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = offset(x[i] * factor);
}
"#;
const OFFSET: &str = "template <typename T> __device__ T offset(T x) { return x + T(OFFSET); }";

/// Text of this file, though some of it is made by a loop.
fn own(text: &str) -> Trusted<'_> {
    // SAFETY: the tests write it, and what crashes the driver's compiler is refused before that.
    unsafe { Trusted::text(text) }
}

fn compiler() -> Compiler {
    Compiler::load().expect("these tests need libnvrtc")
}

fn for_90() -> CompileOptions {
    CompileOptions::for_capability(ComputeCapability::new(9, 0))
}

/// Compiles and expects the compiler to refuse: the log.
fn refused(source: &str, options: &CompileOptions, reason: &str) -> String {
    match compiler().compile(own(source), options).unwrap_err() {
        Error::Nvrtc(NvrtcError::Compile { reason: found, log }) => {
            assert_eq!(found, reason, "{log}");
            log
        }
        other => panic!("{other:?}"),
    }
}

fn compiled(source: &str, options: &CompileOptions) -> Compiled {
    let compiled = compiler().compile(own(source), options).unwrap();
    assert_eq!(compiled.log(), "");
    compiled
}

/// Runs a test in a context of a driver that reads this compiler's PTX.
fn in_context(test: impl for<'ctx> FnOnce(Context<'ctx>) -> Result<()>) {
    let compiler = compiler().version();
    let driver = match real() {
        true => Driver::load().expect("SCOPED_CUDA_TEST_DRIVER=cuda needs a driver"),
        false => simulated(Simulation::default().version(compiler.0.max(13_000))),
    };
    let version = driver.version();
    assert!(
        compiler <= version,
        "a driver of CUDA {version} does not read what NVRTC {compiler} writes: these tests need an older NVRTC"
    );
    on(driver, |driver| driver.with_device(0, test));
}

#[test]
fn a_missing_library_is_named_and_what_to_install() {
    // SAFETY: there is no such library.
    let error = unsafe { Compiler::load_from("libno-such-nvrtc.so") }.unwrap_err();
    let text = error.to_string();
    let Error::Nvrtc(NvrtcError::NotFound { tried }) = error else {
        panic!("another error")
    };
    assert_eq!(tried.len(), 1);
    for part in [
        "libno-such-nvrtc.so (",
        "CUDA toolkit",
        "cuda-nvrtc-13-0",
        "pip install nvidia-cuda-nvrtc",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn another_library_is_not_taken_for_nvrtc() {
    // SAFETY: it is loaded already; nothing of it is called.
    let error = unsafe { Compiler::load_from("libc.so.6") }.unwrap_err();
    let name = "nvrtcGetErrorString";
    assert_eq!(error, Error::Nvrtc(NvrtcError::Incomplete { name }));
    assert_eq!(
        error.to_string(),
        "the library has no `nvrtcGetErrorString`: it is not NVRTC, or older than CUDA 11.2"
    );
}

/// The library, or the error of a machine without it.
#[test]
fn load_is_the_same_from_many_threads() {
    let loaded: Vec<_> = thread::scope(|threads| {
        let loads: Vec<_> = (0..8).map(|_| threads.spawn(Compiler::load)).collect();
        loads.into_iter().map(|load| load.join().unwrap()).collect()
    });
    for load in &loaded {
        match (load, &loaded[0]) {
            (Ok(one), Ok(first)) => {
                assert!(std::ptr::eq(one.architectures(), first.architectures()))
            }
            (Err(Error::Nvrtc(NvrtcError::NotFound { tried })), Err(_)) => {
                assert!(tried.len() >= 2, "{tried:?}")
            }
            different => panic!("{different:?}"),
        }
    }
}

#[test]
fn a_device_says_what_to_compile_for() {
    on(simulated(Simulation::default()), |driver| {
        let options = CompileOptions::for_device(driver.device(1)?)?;
        assert_eq!(
            options,
            CompileOptions::for_capability(ComputeCapability::new(9, 0))
        );
        Ok(())
    });
}

#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn the_library_says_what_it_is() {
    let compiler = compiler();
    assert!(compiler.version() >= Version(12_000), "{compiler:?}");
    let known = compiler.architectures();
    assert!(
        known.is_sorted() && known.contains(&ComputeCapability::new(9, 0)),
        "{known:?}"
    );
}

/// A template, a header, a macro and a name expression; the numbers are right.
#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn a_template_compiles_and_runs() {
    in_context(|ctx| {
        let options = CompileOptions::for_device(ctx.device())?
            .header("offset.cuh", trusted!(OFFSET))
            .define("OFFSET", 1.5)
            .name_expression("scale<float>")
            .name_expression("scale<double>");
        let compiled = compiled(SCALE, &options);
        let name = compiled.lowered_name("scale<float>")?;
        assert_ne!(name, compiled.lowered_name("scale<double>")?);
        if let Some(machine) = ctx.driver().machine() {
            machine.kernel(name, |call| {
                let (n, factor) = (call.scalar::<u32>(1) as usize, call.scalar::<f32>(2));
                call.update::<f32>(0, |x| {
                    x[..n].iter_mut().for_each(|x| *x = *x * factor + 1.5)
                });
            });
        }
        let module = ctx.load_ptx(compiled.ptx()?)?;
        let scale = module.kernel::<(InOut<f32>, u32, f32)>(name)?;
        let mut x = ctx.upload(&[1.0f32, 2.0, 3.0, 4.0])?;
        ctx.new_stream()?.scope(|s| {
            let mut x = x.lend(s);
            let config = LaunchConfig::for_elements(4);
            // SAFETY: `scale` updates x at indices below n, and x has 4 elements.
            unsafe { s.launch(&scale, config, (&mut x, 3, 2.0)) }
        })?;
        assert_eq!(x.to_vec()?, [3.5, 5.5, 7.5, 4.0]);

        let name = compiled.lowered_name("scale<double>")?;
        let error = module.kernel::<(InOut<f64>, u32, f32)>(name).unwrap_err();
        assert!(matches!(
            error,
            Error::ArgSize {
                index: 2,
                want: 4,
                got: 8,
                ..
            }
        ));
        Ok(())
    });
}

/// Everything that a kernel's declaration may have in PTX, with debug information around it; and a
/// value arrives where it should.
#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn parameters_of_every_kind_are_read() {
    const SOURCE: &str = r#"
        struct alignas(16) Pair { int a; double b; };
        enum Choice { FIRST, SECOND };
        __constant__ float table[4] = {1, 2, 3, 4};
        __device__ int counter;
        __managed__ int shared_with_the_host;
        __device__ __noinline__ float twice(float x) { return 2 * x; }
        extern "C" __global__ void __launch_bounds__(128, 2) many(
            float *__restrict__ out, float4 v, const __grid_constant__ Pair pair, bool flag, short s, Choice choice)
        {
            extern __shared__ float dynamic[];
            __shared__ int fixed[32];
            if (choice == SECOND) printf("\"%d\" }{ %f\n", fixed[s], dynamic[s]);
            out[0] = flag ? twice(v.y) + table[3] : counter;
            out[1] = (float)pair.b + pair.a;
        }
    "#;
    in_context(|ctx| {
        let options = || CompileOptions::for_device(ctx.device());
        let of = |offset, size| Parameter { offset, size };
        let expected = [(0, 8), (16, 16), (32, 16), (48, 1), (50, 2), (52, 4)];
        for options in [
            options()?,
            options()?.line_info(),
            options()?.device_debug(),
        ] {
            let compiled = compiled(SOURCE, &options.program_name("every kind.cu"));
            let module = ctx.load_ptx(compiled.ptx()?)?;
            assert_eq!(
                module.parameters("many")?,
                expected.map(|(offset, size)| of(offset, size))
            );
        }
        let module = ctx.load_ptx(compiled(SOURCE, &options()?).ptx()?)?;
        if let Some(machine) = ctx.driver().machine() {
            machine.kernel("many", |call| {
                let (v, pair) = (call.scalar::<[f32; 4]>(1), call.scalar::<[f64; 2]>(2));
                let a = pair[0].to_bits() as u32 as f32;
                call.store(0, &[2.0 * v[1] + 4.0, pair[1] as f32 + a]);
            });
        }
        type Many = (Out<f32>, Float4, Aligned, u8, u16, u32);
        let many = module.kernel::<Many>("many")?;
        let mut out = ctx.zeros::<f32>(2)?;
        ctx.new_stream()?.scope(|s| {
            let mut out = out.lend(s);
            let config = LaunchConfig::new([1; 3], [1; 3]).dynamic_shared_bytes(256);
            let pair = Aligned([f64::from_bits(7), 0.25]);
            let v = Float4([1.0, 10.0, 100.0, 1000.0]);
            let arguments = (&mut out, v, pair, 1, 0, 0);
            // SAFETY: `many` writes two floats.
            unsafe { s.launch(&many, config, arguments) }
        })?;
        assert_eq!(out.to_vec()?, [24.0, 7.25]);
        Ok(())
    });
}

#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn errors_name_file_and_line() {
    let options = for_90().program_name("broken.cu");
    let source = "extern \"C\" __global__ void f() {\n    oops;\n}\n";
    let log = refused(source, &options, "NVRTC_ERROR_COMPILATION");
    assert!(
        log.contains("broken.cu(2): error: identifier \"oops\" is undefined"),
        "{log}"
    );

    let options = options.header("worse.cuh", trusted!("\n\nint f() { return worse; }"));
    let log = refused(
        "#include \"worse.cuh\"",
        &options,
        "NVRTC_ERROR_COMPILATION",
    );
    assert!(log.contains("worse.cuh(3): error:"), "{log}");

    let options = for_90().name_expression("scale<floa>");
    let log = refused("", &options, "NVRTC_ERROR_COMPILATION");
    assert!(log.contains("scale") && log.contains("floa"), "{log}");
}

#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn options_that_are_none_are_named() {
    const INVALID: &str = "NVRTC_ERROR_INVALID_OPTION";
    for (options, part) in [
        (
            for_90().option(trusted!("--no-such-option")),
            "--no-such-option",
        ),
        (for_90().std("c++99"), "--std"),
        (for_90().option(trusted!("")), "option"),
        (
            CompileOptions::for_architecture("compute_1"),
            "--gpu-architecture",
        ),
    ] {
        let log = refused("", &options, INVALID);
        assert!(log.contains(part), "{log}");
    }
}

#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn warnings_are_in_the_log() {
    let source = "__global__ void f() {\n    int never_used = 3;\n}";
    let options = for_90().program_name("k.cu");
    let compiled = compiler().compile(own(source), &options).unwrap();
    let log = compiled.log();
    assert!(
        log.starts_with("k.cu(2): warning #177-D: variable \"never_used\""),
        "{log}"
    );
    assert!(compiled.ptx().unwrap().as_str().contains(".entry _Z1fv("));
}

#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn options_do_what_they_say() {
    const SOURCE: &str = "extern \"C\" __global__ void f(float *x) { x[0] = x[1] * x[2] + x[3]; }";
    let ptx = |options: CompileOptions| {
        compiled(SOURCE, &options)
            .ptx()
            .unwrap()
            .as_str()
            .to_owned()
    };
    for (options, with, without) in [
        (for_90(), "fma.rn.f32", ".loc"),
        (for_90(), ".target sm_90", "debug"),
        (for_90().fmad(false), "mul.rn.f32", "fma.rn.f32"),
        (for_90().line_info(), ".loc", ".debug_info"),
        (for_90().device_debug(), ".target sm_90, debug", "?"),
        (for_90().fast_math(), "fma.rn.ftz.f32", "?"),
        (
            CompileOptions::for_capability(ComputeCapability::new(8, 6)),
            ".target sm_86",
            "?",
        ),
        (
            CompileOptions::for_architecture("compute_90a"),
            ".target sm_90a",
            "?",
        ),
    ] {
        let ptx = ptx(options);
        assert!(
            ptx.contains(with) && !ptx.contains(without),
            "{with}:\n{ptx}"
        );
    }
    let limited = compiled(SOURCE, &for_90().max_registers(32));
    assert!(limited.ptx().unwrap().as_str().contains(".entry f("));
    compiled(
        "static_assert(__cplusplus == 202002L);",
        &for_90().std("c++20"),
    );
    compiled(
        "static_assert(__cplusplus == 201402L, \"\");",
        &for_90().std("c++14"),
    );
    compiled(
        "static_assert(SUM == 3);",
        &for_90().define("SUM", "(1 + 2)"),
    );
}

#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn headers_are_found_in_folders() {
    let folder = env::temp_dir().join(format!("scoped-cuda nvrtc {}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("offset.cuh"), OFFSET).unwrap();
    let options = for_90()
        .include_dir(own(folder.to_str().unwrap()))
        .define("OFFSET", 1);
    let found = compiler().compile(trusted!(SCALE), &options.name_expression("scale<int>"));
    fs::remove_dir_all(&folder).unwrap();
    let found = found.unwrap();
    let name = found.lowered_name("scale<int>").unwrap();
    assert!(
        found
            .ptx()
            .unwrap()
            .as_str()
            .contains(&format!(".entry {name}("))
    );
    let log = refused(SCALE, &for_90(), "NVRTC_ERROR_COMPILATION");
    assert!(log.contains("offset.cuh"), "{log}");
}

/// A value is one value, whatever it looks like: no option begins in the middle of it. Claim C12.
#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn a_macro_brings_no_option_with_it() {
    let file = env::temp_dir().join(format!("scoped-cuda-{}.cuh", process::id()));
    fs::write(&file, "int from_the_file;").unwrap();
    for gap in [" ", " -", ";", "' '", "\\"] {
        let options = for_90()
            .define("A", format_args!("1{gap}--pre-include={}", file.display()))
            .define(format_args!("B{gap}--pre-include={}", file.display()), 1);
        let source = "__device__ int use() { return from_the_file; }";
        let refused = compiler().compile(own(source), &options);
        assert!(
            matches!(refused, Err(Error::Nvrtc(NvrtcError::Compile { .. }))),
            "{gap}: {refused:?}"
        );
    }
    fs::remove_file(&file).unwrap();
}

#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn architectures_are_as_asked_for() {
    let newest = *compiler().architectures().last().unwrap();
    let for_a_future_device = compiled(
        "",
        &CompileOptions::for_capability(ComputeCapability::new(99, 9)),
    );
    let target = format!(".target sm_{}{}\n", newest.major, newest.minor);
    assert!(
        for_a_future_device
            .ptx()
            .unwrap()
            .as_str()
            .contains(&target)
    );
    assert_eq!(for_a_future_device.cubin(), None);

    let error = compiler().compile(
        trusted!(""),
        &CompileOptions::for_capability(ComputeCapability::new(2, 0)),
    );
    let oldest = compiler().architectures()[0];
    assert_eq!(
        error,
        Err(Error::Nvrtc(NvrtcError::ArchitectureTooOld {
            asked: ComputeCapability::new(2, 0),
            oldest
        }))
    );

    let real = compiled(
        "__global__ void f() {}",
        &CompileOptions::for_architecture("sm_90"),
    );
    assert!(real.cubin().unwrap().starts_with(b"\x7FELF"));
    assert!(real.ptx().unwrap().as_str().contains(".target sm_90\n"));
}

#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn many_threads_compile_at_once() {
    thread::scope(|threads| {
        for number in 0..8 {
            threads.spawn(move || {
                for round in 0..4 {
                    let value = 1000 * number + round;
                    let source = "template <int N> __global__ void f(int *x) { *x = N; }";
                    let expression = format!("f<{value}>");
                    let compiled = compiled(source, &for_90().name_expression(&expression));
                    let name = compiled.lowered_name(&expression).unwrap();
                    assert!(name.contains(&value.to_string()), "{name}");
                    assert!(
                        compiled
                            .ptx()
                            .unwrap()
                            .as_str()
                            .contains(&format!(".entry {name}("))
                    );
                }
            });
        }
    });
}

/// On the thread of a test, which has 2 MiB of stack, this ends the process.
#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn deep_source_has_a_stack_to_go_down() {
    let (open, close) = ("(".repeat(5000), ")".repeat(5000));
    let source = format!("extern \"C\" __global__ void f(int *x) {{ *x = {open}7{close}; }}");
    assert!(
        compiled(&source, &for_90())
            .ptx()
            .unwrap()
            .as_str()
            .contains(".entry f(")
    );
}

/// The compiler copies it into the PTX, whatever it is. Claim C12.
#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn inline_assembly_that_crashes_the_driver_is_refused() {
    const SOURCE: &str = r#"extern "C" __global__ void k(long long *x) {
        asm("add.s64 %0, %0, (-9223372036854775807-1)/-1;" : "+l"(*x));
    }"#;
    in_context(|ctx| {
        let compiled = compiled(SOURCE, &CompileOptions::for_device(ctx.device())?);
        let ptx = compiled.ptx()?;
        assert!(ptx.as_str().contains("(-9223372036854775807-1)/-1;"));
        let Error::Image(ImageError { reason, .. }) = ctx.load_ptx(ptx).unwrap_err() else {
            panic!("another error")
        };
        assert!(
            reason.starts_with("a constant expression divides by"),
            "{reason}"
        );
        Ok(())
    });
}

#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn code_for_the_linker_is_no_ptx() {
    let compiled = compiled("", &for_90().option(trusted!("-dlto")));
    assert_eq!(compiled.ptx(), Err(Error::Nvrtc(NvrtcError::NoPtx)));
}

/// The driver says so at the load, and the words are clear.
#[test]
#[ignore = "needs libnvrtc: cargo test --test nvrtc -- --ignored"]
fn a_driver_older_than_the_compiler_refuses_its_ptx() {
    let version = 12_000;
    if compiler().version() == Version(version) {
        return;
    }
    let driver = simulated(
        Simulation::default()
            .version(version)
            .missing(&["cuFuncGetParamInfo"]),
    );
    on(driver, |driver| {
        driver.with_device(0, |ctx| {
            let error = ctx.load_ptx(compiled("", &for_90()).ptx()?).unwrap_err();
            let Error::Image(ImageError { reason, log, .. }) = error else {
                panic!("{error:?}")
            };
            assert!(
                reason.contains("CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
                "{reason}"
            );
            assert!(log.contains("current version is '8.0'"), "{log}");
            Ok(())
        })
    });
}
