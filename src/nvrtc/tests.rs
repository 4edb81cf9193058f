//! The whole way through a compilation with functions that are not NVRTC's: what they are asked,
//! each of them failing in turn, and that no program is left behind. `tests/nvrtc.rs` has the same
//! with the library.

use super::CompileOptions;
use super::fake::{PTX, fail_call, load, seen, turn};
use super::library::candidates;
use crate::compute_capability::ComputeCapability;
use crate::error::{Error, NvrtcError, Version};
use crate::trusted;
use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::{fs, process};

/// What the stand-in for NVRTC knows.
const KNOWN: [u32; 4] = [75, 80, 90, 103];

fn options() -> CompileOptions {
    CompileOptions::for_capability(ComputeCapability::new(9, 0))
        .program_name("k.cu")
        .header("a.cuh", trusted!("first"))
        .header("b.cuh", trusted!("second"))
        .name_expression("f<int>")
        .name_expression("g")
}

#[test]
fn the_compiler_is_told_everything_and_its_answers_arrive() {
    let _turn = turn();
    let compiler = load().unwrap();
    assert_eq!(compiler.version(), Version(13_050));
    assert_eq!(
        compiler.architectures(),
        KNOWN.map(ComputeCapability::from_number)
    );
    assert_eq!(format!("{compiler:?}"), "Compiler(NVRTC 13.5)");
    let options = options()
        .define("N", 4)
        .line_info()
        .option(trusted!("-x y"));
    let compiled = compiler
        .compile(trusted!("source, warning"), &options)
        .unwrap();
    assert_eq!(
        seen().told,
        [
            "source, warning",
            "k.cu",
            "a.cuh",
            "first",
            "b.cuh",
            "second",
            "--gpu-architecture=compute_90",
            "--define-macro=N=4",
            "--generate-line-info",
            "-x y"
        ]
    );
    assert_eq!(
        compiled.ptx().unwrap().as_str().as_bytes(),
        &PTX[..PTX.len() - 1]
    );
    assert_eq!(compiled.cubin(), Some(&b"\x7FELF\0\0"[..]));
    assert_eq!(compiled.log(), "warning");
    assert_eq!(compiled.lowered_name("f<int>"), Ok("_Zf<int>"));
    assert_eq!(compiled.lowered_name("g"), Ok("_Zg"));
    let expression = "f< int >".to_owned();
    assert_eq!(
        compiled.lowered_name("f< int >"),
        Err(Error::Nvrtc(NvrtcError::NoNameExpression { expression }))
    );
    assert_eq!(seen().live, 0);
}

#[test]
fn each_call_fails_in_turn_and_nothing_is_left() {
    let _turn = turn();
    let mut failed = Vec::new();
    for failing in 0.. {
        fail_call(Some(failing));
        let result = load().and_then(|compiler| compiler.compile(trusted!("source"), &options()));
        assert_eq!(seen().live, 0, "call {failing}");
        let Some(&name) = seen().calls.get(failing) else {
            result.unwrap();
            break;
        };
        match result {
            Err(Error::Nvrtc(NvrtcError::Call {
                call,
                code,
                name: text,
            })) => {
                assert_eq!((call, code), (name, 3));
                assert_eq!(text, "NVRTC_ERROR_INVALID_INPUT");
            }
            Err(Error::Nvrtc(NvrtcError::Compile { reason, log })) => {
                assert_eq!(
                    (name, &*reason),
                    ("nvrtcCompileProgram", "NVRTC_ERROR_INVALID_INPUT")
                );
                assert_eq!(log, "broken.cu(1): error: \u{FFFD}");
            }
            // There is nobody to tell, and nothing left of it.
            other => assert_eq!((name, other.is_ok()), ("nvrtcDestroyProgram", true)),
        }
        failed.push(name);
    }
    assert_eq!(
        failed,
        [
            "nvrtcVersion",
            "nvrtcGetNumSupportedArchs",
            "nvrtcGetSupportedArchs",
            "nvrtcCreateProgram",
            "nvrtcAddNameExpression",
            "nvrtcAddNameExpression",
            "nvrtcCompileProgram",
            "nvrtcGetLoweredName",
            "nvrtcGetLoweredName",
            "nvrtcGetPTXSize",
            "nvrtcGetPTX",
            "nvrtcGetCUBINSize",
            "nvrtcGetCUBIN",
            "nvrtcGetProgramLogSize",
            "nvrtcGetProgramLog",
            "nvrtcDestroyProgram"
        ]
    );
}

#[test]
fn a_program_that_does_not_compile_is_an_error_with_the_log() {
    let _turn = turn();
    let error = load()
        .unwrap()
        .compile(trusted!("broken"), &options())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the CUDA C++ did not compile: NVRTC_ERROR_COMPILATION\nbroken.cu(1): error: \u{FFFD}"
    );
    assert_eq!(seen().live, 0);
}

#[test]
fn answers_that_are_no_text_are_errors() {
    let _turn = turn();
    let compiler = load().unwrap();
    let error = compiler
        .compile(trusted!("latin-1"), &options())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the CUDA C++ did not compile: the PTX is not UTF-8"
    );
    assert_eq!(
        compiler
            .compile(trusted!("nul"), &options())
            .unwrap()
            .ptx()
            .unwrap()
            .as_str(),
        "a\0b"
    );
    let nothing = compiler.compile(trusted!("nothing"), &options()).unwrap();
    assert_eq!(nothing.ptx(), Err(Error::Nvrtc(NvrtcError::NoPtx)));
    assert_eq!(seen().live, 0);
}

#[test]
fn a_nul_and_a_quotation_mark_are_refused_before_the_compiler_is_asked() {
    let _turn = turn();
    let compiler = load().unwrap();
    fail_call(None);
    const NUL: &str = "a\0b";
    let (nul, quoted, empty) = (NUL, "a\"b", trusted!(""));
    for (source, options, what) in [
        (trusted!(NUL), options(), "the source"),
        (empty, options().program_name(nul), "the program's name"),
        (empty, options().header(nul, empty), "a header's name"),
        (empty, options().header("", trusted!(NUL)), "a header"),
        (empty, options().name_expression(nul), "a name expression"),
        (empty, options().define("A", nul), "an option"),
        (empty, options().option(trusted!(NUL)), "an option"),
        (empty, CompileOptions::for_architecture(nul), "an option"),
    ] {
        let error = compiler.compile(source, &options).unwrap_err();
        assert_eq!(error, Error::Nvrtc(NvrtcError::NulInText { what }));
    }
    for (options, what) in [
        (options().program_name(quoted), "the program's name"),
        (options().header(quoted, empty), "a header's name"),
        (options().name_expression(quoted), "a name expression"),
        (options().define("A", quoted), "a macro"),
        (options().define("A\n#include <b>\n", 1), "a macro"),
        (options().std(quoted), "the language"),
        (CompileOptions::for_architecture(quoted), "the architecture"),
    ] {
        let error = compiler.compile(empty, &options).unwrap_err();
        assert_eq!(error, Error::Nvrtc(NvrtcError::Quoted { what }));
    }
    assert_eq!(seen().calls, [""; 0]);
}

#[test]
fn options_are_what_nvrtc_calls_them() {
    let options = CompileOptions::for_architecture("sm_90a")
        .include_dir(trusted!("/with space"))
        .define("N", 1 + 2)
        .std("c++20")
        .fmad(false)
        .line_info()
        .device_debug()
        .max_registers(64)
        .fast_math();
    let arguments = options.arguments(&[]).unwrap();
    assert_eq!(
        arguments,
        [
            c"--gpu-architecture=sm_90a",
            c"--include-path=/with space",
            c"--define-macro=N=3",
            c"--std=c++20",
            c"--fmad=false",
            c"--generate-line-info",
            c"--device-debug",
            c"--maxrregcount=64",
            c"--use_fast_math"
        ]
        .map(CStr::to_owned)
    );
}

#[test]
fn a_device_newer_than_the_compiler_gets_the_newest_architecture_below() {
    let known = KNOWN.map(ComputeCapability::from_number);
    for ((major, minor), architecture) in [
        ((7, 5), "75"),
        ((8, 6), "80"),
        ((9, 0), "90"),
        ((10, 0), "90"),
        ((10, 3), "103"),
        ((99, 9), "103"),
        ((u32::MAX, u32::MAX), "103"),
    ] {
        let options = CompileOptions::for_capability(ComputeCapability::new(major, minor));
        let wanted = CString::new(format!("--gpu-architecture=compute_{architecture}")).unwrap();
        assert_eq!(options.arguments(&known), Ok(vec![wanted]));
    }
    let error = CompileOptions::for_capability(ComputeCapability::new(6, 1))
        .arguments(&known)
        .unwrap_err();
    let (asked, oldest) = (ComputeCapability::new(6, 1), ComputeCapability::new(7, 5));
    assert_eq!(
        error,
        Error::Nvrtc(NvrtcError::ArchitectureTooOld { asked, oldest })
    );
    assert_eq!(
        error.to_string(),
        "this NVRTC compiles for compute capability 7.5 and newer, not for 6.1"
    );
}

#[cfg(unix)]
#[test]
fn toolkits_are_looked_through_after_the_system() {
    let root = std::env::temp_dir().join(format!("scoped-cuda-nvrtc-{}", process::id()));
    let library = root.join("lib64/libnvrtc.so.12");
    fs::create_dir_all(library.parent().unwrap()).unwrap();
    fs::write(&library, "").unwrap();
    let found = candidates(&[PathBuf::from("/no/such/toolkit"), root.clone()]);
    fs::remove_dir_all(&root).unwrap();
    let names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
    let mut expected = names.map(PathBuf::from).to_vec();
    expected.push(library);
    let expected: Vec<_> = expected.into_iter().map(PathBuf::into_os_string).collect();
    let without = vec!["/no/such/toolkit/lib64 (none there)".to_owned()];
    assert_eq!(found, (expected, without));
}
