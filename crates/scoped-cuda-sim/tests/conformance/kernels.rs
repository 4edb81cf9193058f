//! Modules, kernels and their parameters, and launches.

use crate::rig::*;
use scoped_cuda::ffi::*;
use std::ffi::{CStr, CString, c_uint, c_void};
use std::ptr;

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// Kernels for the questions of this file.
const KERNELS: &str = ".visible .entry limited() .maxntid 128,1,1 { ret; }\n\
    .visible .entry mixed(.param .u64 a,.param .u32 b,.param .f32 c,.param .u8 d,.param .f64 e,.param .align 16 .b8 s[32]){ ret; }\n\
    .visible .entry packed(.param .u8 a,.param .u16 b,.param .u8 c,.param .align 8 .b8 s[24],.param .align 1 .b8 t[3],.param .u64 z){ ret; }\n";

/// Runs a test with a module of [`KERNELS`] on device 0.
fn with_module(test: impl FnOnce(Api, Side, CUmodule)) {
    on_sides(|api, sides| {
        if let Some(machine) = api.driver.machine() {
            machine.kernel("limited", |_| {});
        }
        let own = sides[0];
        let module = api.within(own.context, || api.load(&format!("{HEADER}{KERNELS}")));
        test(api, own, module);
        ok(api.sync(own.stream));
        ok(cu!(api.cuModuleUnload(module)));
    });
}

/// Offsets and sizes of a kernel's parameters. Past the last, nothing is written.
fn layout(api: Api, function: CUfunction) -> Vec<(usize, usize)> {
    let info = api.cu.cuFuncGetParamInfo.unwrap();
    let untouched = UNTOUCHED as usize;
    let mut found = Vec::new();
    loop {
        let (mut offset, mut size) = (untouched, untouched);
        // SAFETY: the out-pointers are valid for the call.
        let code = unsafe { info(function, found.len(), &raw mut offset, &raw mut size) };
        if code != SUCCESS {
            assert_eq!((code, offset, size), (INVALID_VALUE, untouched, untouched));
            return found;
        }
        found.push((offset, size));
    }
}

#[test]
fn parameters_are_where_a_c_struct_would_have_them() {
    with_module(|api, _, module| {
        let of = |name| layout(api, api.function(module, name));
        assert_eq!(
            of("mixed"),
            [(0, 8), (8, 4), (12, 4), (16, 1), (24, 8), (32, 32)]
        );
        assert_eq!(
            of("packed"),
            [(0, 1), (2, 2), (4, 1), (8, 24), (32, 3), (40, 8)]
        );
        assert_eq!(of("limited"), []);
        let info = api.cu.cuFuncGetParamInfo.unwrap();
        let (function, mut offset) = (api.function(module, "mixed"), 99);
        // SAFETY: the out-pointers are null or valid for the call.
        ok(unsafe { info(function, 0, &raw mut offset, ptr::null_mut()) });
        // SAFETY: as above.
        let far = unsafe { info(function, 1 << 40, &raw mut offset, ptr::null_mut()) };
        assert_eq!((offset, far), (0, INVALID_VALUE));
    });
}

/// The launch itself refuses, and the next one works.
#[test]
fn impossible_shapes_are_refused_by_the_launch() {
    with_module(|api, side, module| {
        let launch = |grid, block, shared_bytes| {
            api.launch_as(side.nothing, side.stream, grid, block, shared_bytes)
        };
        let one = [1; 3];
        let grids = [
            [0, 1, 1],
            [1, 0, 1],
            [1, 70_000, 1],
            [1, 1, 70_000],
            [1 << 31, 1, 1],
            [u32::MAX, 1, 1],
        ];
        for grid in grids {
            assert_eq!(launch(grid, one, 0), INVALID_VALUE, "grid {grid:?}");
        }
        let blocks = [
            [0, 1, 1],
            [1025, 1, 1],
            [2048, 1, 1],
            [64, 32, 1],
            [1, 1, 65],
            [1, 1, 128],
        ];
        for block in blocks {
            assert_eq!(launch(one, block, 0), INVALID_VALUE, "block {block:?}");
        }
        for bytes in [(48 << 10) + 1, 64 << 10, 300 << 10] {
            assert_eq!(launch(one, one, bytes), INVALID_VALUE, "{bytes} bytes");
        }
        ok(launch(one, [1, 1, 64], 0));
        ok(launch([1, 65_535, 1], one, 0));
        ok(launch(one, one, 48 << 10));

        let limited = api.function(module, "limited");
        let launch = |block| api.launch_as(limited, side.stream, one, block, 0);
        assert_eq!(launch([256, 1, 1]), INVALID_VALUE);
        ok(launch([1, 128, 1]));
        let mut threads = 0;
        let attribute = CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        ok(cu!(api.cuFuncGetAttribute(
            &raw mut threads,
            attribute,
            limited
        )));
        assert_eq!(threads, 128);
        ok(api.sync(side.stream));
    });
}

/// An array that is too short is another matter: there the driver reads what is not there.
#[test]
fn a_launch_without_its_arguments_is_refused() {
    with_module(|api, side, module| {
        let mixed = api.function(module, "mixed");
        assert_eq!(api.launch(mixed, side.stream), INVALID_VALUE);
        ok(api.sync(side.stream));
    });
}

#[test]
fn the_first_launch_of_a_kernel_needs_no_context_either() {
    on_sides(|api, sides| {
        let own = sides[0];
        let mut modules = Vec::new();
        api.answers(sides, [SUCCESS; 3], || {
            let module = api.within(own.context, || api.load(crate::common::PTX.as_str()));
            modules.push(module);
            api.launch(api.function(module, "nothing"), own.stream)
        });
        ok(api.sync(own.stream));
        for module in modules {
            ok(cu!(api.cuModuleUnload(module)));
        }
    });
}

#[test]
fn a_kernel_is_found_by_its_name() {
    with_module(|api, _, module| {
        let untouched = CUfunction::from_ptr(ptr::without_provenance_mut(0x77));
        let find = |name: &CStr| {
            let mut function = untouched;
            let code = cu!(api.cuModuleGetFunction(&raw mut function, module, name.as_ptr()));
            (code, function)
        };
        let (code, function) = find(c"limited");
        ok(code);
        assert_eq!(find(c"limited"), (SUCCESS, function));
        assert_eq!(find(c"nope"), (CUresult::NOT_FOUND, CUfunction::NULL));
        assert_eq!(find(c""), (INVALID_VALUE, untouched));
        let long = CString::new("a".repeat(99_999)).unwrap();
        assert_eq!(find(&long).0, CUresult::NOT_FOUND);
        let mut function = untouched;
        let code = cu!(api.cuModuleGetFunction(&raw mut function, module, ptr::null()));
        assert_eq!(code, INVALID_VALUE);
    });
}

#[test]
fn an_unloaded_module_and_its_kernels_are_refused() {
    on_sides(|api, sides| {
        let own = sides[0];
        let module = api.within(own.context, || api.load(crate::common::PTX.as_str()));
        let nothing = api.function(module, "nothing");
        ok(cu!(api.cuModuleUnload(module)));
        assert_eq!(cu!(api.cuModuleUnload(module)), INVALID_HANDLE);
        let mut function = CUfunction::NULL;
        let name = c"nothing".as_ptr();
        let code = cu!(api.cuModuleGetFunction(&raw mut function, module, name));
        assert_eq!(code, INVALID_HANDLE);
        let (mut offset, mut size) = (0, 0);
        let info = api.cu.cuFuncGetParamInfo.unwrap();
        // SAFETY: the out-pointers are valid for the call.
        let code = unsafe { info(nothing, 0, &raw mut offset, &raw mut size) };
        assert_eq!(code, INVALID_HANDLE);
        assert_eq!(api.launch(nothing, own.stream), INVALID_HANDLE);
        ok(api.sync(own.stream));
    });
}

/// What loading an image answers, the log, and how long the driver says that it is.
struct Loaded {
    code: CUresult,
    log: String,
    log_bytes: usize,
}

/// Loads an image into the current context, with a log of `room` bytes, and unloads it.
fn load(api: Api, image: Option<&str>, room: usize) -> Loaded {
    let untouched = CUmodule::from_ptr(ptr::without_provenance_mut(0x77));
    let image = image.map(|image| CString::new(image).unwrap());
    let (mut log, mut module) = (vec![0_u8; room], untouched);
    let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        ptr::without_provenance_mut(room),
    ];
    let code = cu!(api.cuModuleLoadDataEx(
        &raw mut module,
        image
            .as_ref()
            .map_or(ptr::null(), |image| image.as_ptr().cast()),
        options.len() as c_uint,
        options.as_mut_ptr(),
        values.as_mut_ptr()
    ));
    if code == SUCCESS {
        ok(cu!(api.cuModuleUnload(module)));
    } else {
        assert_eq!(module, untouched, "a failed load writes no module");
    }
    let log = CStr::from_bytes_until_nul(&log).expect("the log ends with a NUL");
    Loaded {
        code,
        log: log.to_str().unwrap().to_owned(),
        log_bytes: values[1].addr() & c_uint::MAX as usize,
    }
}

/// Runs a test with the context of device 0 current.
fn in_context(test: impl FnOnce(Api)) {
    on_api(|api| {
        let device = api.device(0);
        let context = api.retain(device);
        api.within(context, || test(api));
        ok(api.release(device));
    });
}

#[test]
fn what_does_not_begin_like_ptx_is_no_image() {
    in_context(|api| {
        let without_version = ".target sm_80\n.address_size 64\n.visible .entry k(){ ret; }\n";
        for image in ["", " ", "hello", without_version] {
            let loaded = load(api, Some(image), 2048);
            assert_eq!(loaded.code, CUresult::INVALID_IMAGE, "{image:?}");
            let log = "error   : Binary format for key='0', ident='' is not recognized";
            assert_eq!(loaded.log, log);
        }
        let null = load(api, None, 2048);
        assert_eq!((null.code, null.log.as_str()), (INVALID_VALUE, ""));
        assert_eq!(null.log_bytes, 2048, "untouched");
    });
}

/// Only what the simulated driver reads: it skips the bodies of kernels, so that no wrong
/// instruction is here.
#[test]
fn broken_ptx_is_refused_with_the_line() {
    in_context(|api| {
        let cases = [
            (
                format!("{HEADER}.visible .entry k(){{ .reg .b32 %r<2>; mov.u32 %r1,"),
                "ptxas application ptx input, line 4; fatal   : Parsing error near '': syntax error\n",
            ),
            (
                format!("{HEADER}.visible .entry k(){{ ret; "),
                "ptxas application ptx input, line 4; fatal   : Parsing error near '': syntax error\n",
            ),
            (
                ".version 8.0\n.address_size 64\n.visible .entry k(){ ret; }\n".to_owned(),
                "ptxas application ptx input, line 2; fatal   : Missing .target directive at start of file 'application ptx input'\n",
            ),
            (
                ".version 8.0\n.target sm_999\n.address_size 64\n.visible .entry k(){ ret; }\n"
                    .to_owned(),
                "ptxas application ptx input, line 2; fatal   : Unsupported .target 'sm_999'\n",
            ),
        ];
        for (image, first) in cases {
            let loaded = load(api, Some(&image), 2048);
            assert_eq!(loaded.code, CUresult::INVALID_PTX, "{image}");
            let log = format!("{first}ptxas fatal   : Ptx assembly aborted due to errors");
            assert_eq!(loaded.log, log);
            assert_eq!(loaded.log_bytes, log.len());
        }
        let newer = load(
            api,
            Some(".version 99.0\n.target sm_80\n.address_size 64\n"),
            2048,
        );
        assert_eq!(newer.code, CUresult::UNSUPPORTED_PTX_VERSION);
        let log = "ptxas application ptx input, line 1; fatal   : Unsupported .version 99.0; current version is '";
        assert!(newer.log.starts_with(log), "{}", newer.log);
    });
}

#[test]
fn good_ptx_loads_whatever_surrounds_it() {
    in_context(|api| {
        let kernel = ".visible .entry k(){ ret; }\n";
        let images = [
            HEADER.to_owned(),
            format!("// c\n{HEADER}{kernel}"),
            format!("\n\n{HEADER}{kernel}"),
            format!("{HEADER}{kernel}").replace('\n', "\r\n"),
        ];
        for image in images {
            let loaded = load(api, Some(&image), 2048);
            assert_eq!((loaded.code, loaded.log_bytes), (SUCCESS, 0), "{image}");
            assert_eq!(loaded.log, "");
        }
    });
}

#[test]
fn a_log_that_is_too_long_is_cut() {
    in_context(|api| {
        let loaded = load(
            api,
            Some(&format!("{HEADER}.visible .entry k(){{ ret; ")),
            16,
        );
        assert_eq!(loaded.code, CUresult::INVALID_PTX);
        assert_eq!(
            (loaded.log.as_str(), loaded.log_bytes),
            ("ptxas applicati", 16)
        );
    });
}
