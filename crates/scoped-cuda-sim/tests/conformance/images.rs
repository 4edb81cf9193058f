//! Options of the JIT, binary images, and linkers.

use crate::common::{PTX, never_seen, real};
use crate::crashes::on_simulated;
use crate::rig::*;
use scoped_cuda::ComputeCapability;
use scoped_cuda::ffi::*;
use std::ffi::{CStr, CString, c_uint, c_void};
use std::ptr;

const HEADER: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";
const KERNEL: scoped_cuda::Ptx<'static> =
    scoped_cuda::include_ptx!("../../../../tests/common/link_kernel.ptx");
const HELPER: scoped_cuda::Ptx<'static> =
    scoped_cuda::include_ptx!("../../../../tests/common/link_helper.ptx");
const INVALID_IMAGE: CUresult = CUresult::INVALID_IMAGE;
const INVALID_PTX: CUresult = CUresult::INVALID_PTX;
const INVALID_SOURCE: CUresult = CUresult::INVALID_SOURCE;
/// Bytes of each log.
const ROOM: usize = 4096;

/// Options with an information log and an error log, in place for as long as a linker may want
/// them.
struct Jit {
    info: Vec<u8>,
    error: Vec<u8>,
    options: Vec<CUjit_option>,
    values: Vec<*mut c_void>,
}

impl Jit {
    fn new(given: &[(CUjit_option, c_uint)]) -> Self {
        let (mut info, mut error) = (vec![0; ROOM], vec![0; ROOM]);
        let number = |number: usize| ptr::without_provenance_mut::<c_void>(number);
        let mut options = vec![
            CU_JIT_INFO_LOG_BUFFER,
            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            CU_JIT_ERROR_LOG_BUFFER,
            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values = vec![
            info.as_mut_ptr().cast(),
            number(ROOM),
            error.as_mut_ptr().cast(),
            number(ROOM),
        ];
        options.extend(given.iter().map(|&(option, _)| option));
        values.extend(given.iter().map(|&(_, value)| number(value as usize)));
        Self {
            info,
            error,
            options,
            values,
        }
    }

    /// Loads an image that is text with a NUL or as long as it says, and unloads it.
    fn load(&mut self, api: Api, image: *const u8) -> CUresult {
        let mut module = CUmodule::NULL;
        let code = cu!(api.cuModuleLoadDataEx(
            &raw mut module,
            image.cast(),
            self.options.len() as c_uint,
            self.options.as_mut_ptr(),
            self.values.as_mut_ptr()
        ));
        if code == SUCCESS {
            ok(cu!(api.cuModuleUnload(module)));
        }
        code
    }

    fn linker(&mut self, api: Api) -> (CUresult, CUlinkState) {
        let mut linker = CUlinkState::NULL;
        let code = cu!(api.cuLinkCreate(
            self.options.len() as c_uint,
            self.options.as_mut_ptr(),
            self.values.as_mut_ptr(),
            &raw mut linker
        ));
        (code, linker)
    }

    fn info(&self) -> &str {
        CStr::from_bytes_until_nul(&self.info)
            .unwrap()
            .to_str()
            .unwrap()
    }

    fn error(&self) -> &str {
        CStr::from_bytes_until_nul(&self.error)
            .unwrap()
            .to_str()
            .unwrap()
    }

    /// A value as a number of 32 bits, after a call.
    fn value(&self, index: usize) -> usize {
        self.values[index].addr() & c_uint::MAX as usize
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

/// What loading the kernels of the tests with these options answers, and the error log.
fn with(api: Api, given: &[(CUjit_option, c_uint)], ptx: &str) -> (CUresult, String) {
    let (mut jit, ptx) = (Jit::new(given), CString::new(ptx).unwrap());
    let code = jit.load(api, ptx.as_ptr().cast());
    (code, jit.error().to_owned())
}

/// PTX with the NUL that it has to end with.
fn text(ptx: &str) -> Vec<u8> {
    CString::new(ptx).unwrap().into_bytes_with_nul()
}

fn add(api: Api, linker: CUlinkState, kind: CUjitInputType, data: &[u8]) -> CUresult {
    let data_at = data.as_ptr().cast_mut().cast();
    let (none, nothing) = (ptr::null_mut(), ptr::null_mut());
    cu!(api.cuLinkAddData(
        linker,
        kind,
        data_at,
        data.len(),
        ptr::null(),
        0,
        none,
        nothing
    ))
}

/// The code, and a copy of what came out.
fn complete(api: Api, linker: CUlinkState) -> (CUresult, Vec<u8>) {
    let (mut cubin, mut bytes) = (ptr::null_mut(), 0);
    let code = cu!(api.cuLinkComplete(linker, &raw mut cubin, &raw mut bytes));
    if code != SUCCESS {
        return (code, Vec::new());
    }
    // SAFETY: after success it is that many bytes, in the linker's memory.
    (
        code,
        unsafe { std::slice::from_raw_parts(cubin.cast::<u8>(), bytes) }.to_vec(),
    )
}

#[test]
fn options_are_accepted_or_refused_one_by_one() {
    in_context(|api| {
        let one = |option, value: c_uint| with(api, &[(option, value)], PTX.as_str()).0;
        for (level, code) in [
            (0, SUCCESS),
            (4, SUCCESS),
            (6, SUCCESS),
            (c_uint::MAX, INVALID_PTX),
        ] {
            assert_eq!(one(CU_JIT_OPTIMIZATION_LEVEL, level), code, "level {level}");
        }
        for (registers, code) in [
            (0, INVALID_VALUE),
            (1, SUCCESS),
            (32, SUCCESS),
            (255, SUCCESS),
        ] {
            assert_eq!(
                one(CU_JIT_MAX_REGISTERS, registers),
                code,
                "{registers} registers"
            );
        }
        for (mode, code) in [(0, SUCCESS), (1, SUCCESS), (2, SUCCESS), (3, INVALID_VALUE)] {
            assert_eq!(one(CU_JIT_CACHE_MODE, mode), code, "cache mode {mode}");
        }
        for flag in [0, 1] {
            ok(one(CU_JIT_GENERATE_LINE_INFO, flag));
            ok(one(CU_JIT_GENERATE_DEBUG_INFO, flag));
        }
        let debug = |level| {
            let given = [
                (CU_JIT_GENERATE_DEBUG_INFO, 1),
                (CU_JIT_OPTIMIZATION_LEVEL, level),
            ];
            with(api, &given, PTX.as_str()).0
        };
        assert_eq!((debug(0), debug(4)), (SUCCESS, INVALID_PTX));
        assert_eq!(one(9999, 0), INVALID_VALUE);
    });
}

#[test]
fn number_of_threads_comes_back_as_warps() {
    in_context(|api| {
        for (threads, registers) in [(1, None), (33, None), (1024, None), (1024, Some(64))] {
            let mut given = vec![(CU_JIT_THREADS_PER_BLOCK, threads)];
            given.extend(registers.map(|registers| (CU_JIT_MAX_REGISTERS, registers)));
            let (mut jit, ptx) = (Jit::new(&given), CString::new(PTX.as_str()).unwrap());
            ok(jit.load(api, ptx.as_ptr().cast()));
            let targeted = jit.value(4);
            assert!(
                targeted % 32 == 0 && (32..=1024).contains(&targeted),
                "{targeted}"
            );
        }
    });
}

/// On the real driver it ends the process (SIGFPE).
#[test]
fn compiling_for_blocks_of_no_threads_is_a_violation() {
    on_simulated(&["compile for blocks of 0 threads"], |api, a, _| {
        let given = [(CU_JIT_THREADS_PER_BLOCK, 0)];
        let code = api.within(a.context, || with(api, &given, PTX.as_str()).0);
        assert_eq!(code, INVALID_VALUE);
    });
}

#[test]
fn target_has_to_be_the_devices_to_load() {
    in_context(|api| {
        let device = api.driver.device(0).unwrap();
        let target = |target, ptx: &str| with(api, &[(CU_JIT_TARGET, target)], ptx);
        assert_eq!(target(30, PTX.as_str()).0, INVALID_IMAGE);
        assert_eq!(target(999, PTX.as_str()).0, INVALID_VALUE);
        if device.compute_capability() != Ok(ComputeCapability::new(9, 0)) {
            return;
        }
        ok(target(90, PTX.as_str()).0);
        let (code, log) = target(80, &PTX.as_str().replace("sm_75", "sm_90"));
        assert_eq!(code, INVALID_PTX);
        let higher = "ptxas fatal   : SM version specified by .target is higher than default SM version assumed";
        assert!(log.starts_with(higher), "{log}");
        assert_eq!(
            (target(100, PTX.as_str()).0, target(120, PTX.as_str()).0),
            (INVALID_SOURCE, INVALID_SOURCE)
        );
    });
}

#[test]
fn information_log_is_empty_unless_it_is_verbose() {
    in_context(|api| {
        // What comes from the driver's cache on disk is not compiled, and not talked about.
        let ptx = || CString::new(never_seen(PTX.as_str())).unwrap();
        let mut quiet = Jit::new(&[]);
        ok(quiet.load(api, ptx().as_ptr().cast()));
        assert_eq!((quiet.info(), quiet.value(1)), ("", 0));
        let mut verbose = Jit::new(&[(CU_JIT_LOG_VERBOSE, 1)]);
        ok(verbose.load(api, ptx().as_ptr().cast()));
        let begins = "ptxas info    : Compiling entry function '";
        assert!(verbose.info().contains(begins), "{}", verbose.info());
        assert_eq!(verbose.value(1), verbose.info().len(), "without the NUL");
        let mut small = Jit::new(&[(CU_JIT_LOG_VERBOSE, 1)]);
        small.values[1] = ptr::without_provenance_mut(32);
        ok(small.load(api, ptx().as_ptr().cast()));
        assert_eq!((small.info().len(), small.value(1)), (31, 32));
    });
}

#[test]
fn unresolved_function_is_named_by_a_load() {
    in_context(|api| {
        let (code, log) = with(api, &[], KERNEL.as_str());
        assert_eq!(code, INVALID_PTX);
        assert_eq!(
            log.trim_end(),
            "ptxas fatal   : Unresolved extern function 'helper'"
        );
        ok(with(api, &[], HELPER.as_str()).0);
        ok(with(api, &[], HEADER).0);
    });
}

#[test]
fn linker_is_made_in_the_current_context_and_needs_none_afterwards() {
    on_sides(|api, sides| {
        let mut jits = Vec::new();
        api.answers(sides, [INVALID_CONTEXT, SUCCESS, SUCCESS], || {
            let mut jit = Jit::new(&[]);
            let (code, linker) = jit.linker(api);
            jits.push((code, linker, jit));
            code
        });
        for (code, linker, jit) in jits {
            if code == SUCCESS {
                ok(add(api, linker, CU_JIT_INPUT_PTX, &text(HELPER.as_str())));
                // The NUL may be counted or not.
                let kernel = text(KERNEL.as_str());
                let kernel = &kernel[..kernel.len() - 1];
                ok(add(api, linker, CU_JIT_INPUT_PTX, kernel));
                let (code, cubin) = complete(api, linker);
                ok(code);
                assert_eq!(cubin[..4], *b"\x7fELF");
                assert_eq!(
                    add(api, linker, CU_JIT_INPUT_PTX, &text(HELPER.as_str())),
                    INVALID_VALUE
                );
                ok(cu!(api.cuLinkDestroy(linker)));
                assert_eq!((jit.info(), jit.error()), ("", ""));
            }
        }
    });
}

#[test]
fn what_was_linked_loads_from_anywhere_and_is_copied() {
    in_context(|api| {
        let mut jit = Jit::new(&[]);
        let (code, linker) = jit.linker(api);
        ok(code);
        ok(add(api, linker, CU_JIT_INPUT_PTX, &text(KERNEL.as_str())));
        ok(add(api, linker, CU_JIT_INPUT_PTX, &text(HELPER.as_str())));
        let (code, cubin) = complete(api, linker);
        ok(code);
        ok(cu!(api.cuLinkDestroy(linker)));
        let (mut moved, mut module) = ([&[0], &*cubin].concat(), CUmodule::NULL);
        ok(cu!(api.cuModuleLoadDataEx(
            &raw mut module,
            moved[1..].as_ptr().cast(),
            0,
            ptr::null_mut(),
            ptr::null_mut()
        )));
        moved.fill(0);
        drop(moved);
        assert_ne!(api.function(module, "linked"), CUfunction::NULL);
        ok(cu!(api.cuModuleUnload(module)));
        // The options of a compiler change nothing.
        ok(Jit::new(&[(CU_JIT_OPTIMIZATION_LEVEL, 1)]).load(api, cubin.as_ptr()));
    });
}

#[test]
fn linker_names_what_is_missing() {
    in_context(|api| {
        let mut jit = Jit::new(&[]);
        let (code, linker) = jit.linker(api);
        ok(code);
        ok(add(api, linker, CU_JIT_INPUT_PTX, &text(KERNEL.as_str())));
        for _ in 0..2 {
            assert_eq!(complete(api, linker).0, INVALID_SOURCE);
            let log = jit.error();
            assert!(
                log.starts_with("error   : Undefined reference to 'helper' in "),
                "{log}"
            );
        }
        ok(cu!(api.cuLinkDestroy(linker)));
    });
}

/// It forgets what it has refused, and links nothing at all.
#[test]
fn linker_refuses_what_is_no_input_and_goes_on() {
    in_context(|api| {
        let mut jit = Jit::new(&[]);
        let (code, linker) = jit.linker(api);
        ok(code);
        assert_eq!(
            add(api, linker, CU_JIT_INPUT_PTX, &text("hello")),
            INVALID_IMAGE
        );
        assert_eq!(
            jit.error(),
            "error   : Binary format for key='0', ident='' is not recognized"
        );
        assert_eq!(add(api, linker, CU_JIT_INPUT_PTX, b""), INVALID_VALUE);
        ok(complete(api, linker).0);
        ok(cu!(api.cuLinkDestroy(linker)));
    });
}

#[test]
fn linked_for_another_device_it_does_not_load() {
    in_context(|api| {
        let ComputeCapability { major, minor } =
            api.driver.device(0).unwrap().compute_capability().unwrap();
        if major == 8 {
            return;
        }
        let mut jit = Jit::new(&[(CU_JIT_TARGET, 80)]);
        let (code, linker) = jit.linker(api);
        ok(code);
        let own = HELPER
            .as_str()
            .replace("sm_75", &format!("sm_{major}{minor}"));
        assert_eq!(add(api, linker, CU_JIT_INPUT_PTX, &text(&own)), INVALID_PTX);
        let (code, cubin) = complete(api, linker);
        ok(code);
        let code = Jit::new(&[]).load(api, cubin.as_ptr());
        assert_eq!(code, CUresult::NO_BINARY_FOR_GPU);
        ok(cu!(api.cuLinkDestroy(linker)));
    });
}

/// The real one has machine code, and knows it by its architecture.
#[test]
fn simulated_driver_has_no_machine_code() {
    if real() {
        return;
    }
    in_context(|api| {
        let mut elf = [0_u8; 64];
        elf[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        let code = Jit::new(&[]).load(api, elf.as_ptr());
        assert_eq!(code, CUresult::NO_BINARY_FOR_GPU);
        let mut jit = Jit::new(&[]);
        let linker = jit.linker(api).1;
        let code = add(api, linker, CU_JIT_INPUT_CUBIN, &elf);
        assert_eq!(code, CUresult::NO_BINARY_FOR_GPU);
        assert_eq!(add(api, linker, 9, b"x"), INVALID_VALUE);
        ok(cu!(api.cuLinkDestroy(linker)));
        assert_eq!(cu!(api.cuLinkDestroy(linker)), INVALID_HANDLE);
    });
}
