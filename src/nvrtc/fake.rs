//! A compiler whose functions are not NVRTC's, for the tests: it reads what it is told, counts its
//! programs, and fails when asked to.

#![allow(unsafe_code)] // plays NVRTC

use super::Compiler;
use super::library::{Functions, NvrtcResult, RawProgram};
use crate::error::Result;
use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{ptr, slice};

const FUNCTIONS: Functions = Functions {
    get_error_string: error_string,
    version,
    get_num_supported_archs: num_archs,
    get_supported_archs: archs,
    create_program: create,
    destroy_program: destroy,
    add_name_expression,
    compile_program: compile,
    get_program_log_size: log_size,
    get_program_log: log,
    get_ptx_size: ptx_size,
    get_ptx: ptx,
    get_cubin_size: cubin_size,
    get_cubin: cubin,
    get_lowered_name: lowered_name,
};

pub(super) const PTX: &[u8] = b".version 8.0\n.target sm_90\n\0";
const KNOWN: [c_int; 4] = [75, 80, 90, 103];
const INVALID_INPUT: NvrtcResult = NvrtcResult(3);
const COMPILATION: NvrtcResult = NvrtcResult(6);

/// A program of the fake. It keeps the pointers that it was given and reads them when it compiles.
struct FakeProgram {
    source: *const c_char,
    name: *const c_char,
    headers: Vec<(*const c_char, *const c_char)>,
    expressions: Vec<*const c_char>,
    lowered: Vec<(CString, CString)>,
    log: Vec<u8>,
    ptx: Vec<u8>,
    cubin: Vec<u8>,
}

/// What all functions share. The tests take turns.
pub(super) struct Seen {
    pub(super) live: usize,
    pub(super) calls: Vec<&'static str>,
    /// Which call fails, counted from 0.
    failing: Option<usize>,
    /// What the last compilation read: source, name, headers, options.
    pub(super) told: Vec<String>,
}

static SEEN: Mutex<Seen> = Mutex::new(Seen {
    live: 0,
    calls: Vec::new(),
    failing: None,
    told: Vec::new(),
});

pub(super) fn seen() -> MutexGuard<'static, Seen> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A turn with a compiler of these functions.
pub(super) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    fail_call(None);
    turn
}

pub(super) fn fail_call(failing: Option<usize>) {
    let mut seen = seen();
    (seen.failing, seen.calls) = (failing, Vec::new());
}

pub(super) fn load() -> Result<Compiler> {
    // SAFETY: the functions do what nvrtc.h says of those of their names, as far as this crate
    // looks.
    unsafe { Compiler::from_functions(FUNCTIONS) }
}

/// Counts a call and says how it ends.
fn called(name: &'static str) -> NvrtcResult {
    let mut seen = seen();
    seen.calls.push(name);
    match seen.failing == Some(seen.calls.len() - 1) {
        true => INVALID_INPUT,
        false => NvrtcResult::SUCCESS,
    }
}

fn read(text: *const c_char) -> String {
    // SAFETY: only asked about texts that the crate passed and whose owners are to be alive.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
}

/// # Safety
/// `count` pointers are there.
unsafe fn list(texts: *const *const c_char, count: c_int) -> Vec<*const c_char> {
    let count = usize::try_from(count).unwrap();
    // SAFETY: the caller promises: `count` pointers are there.
    unsafe { slice::from_raw_parts(texts, count) }.to_vec()
}

/// # Safety
/// A live program, which nobody else uses.
unsafe fn program<'a>(program: RawProgram) -> &'a mut FakeProgram {
    // SAFETY: the caller promises: a live program, which nobody else uses.
    unsafe { &mut *program.cast() }
}

/// Writes to an out-pointer.
///
/// # Safety
/// It is valid.
unsafe fn set<T>(out: *mut T, value: T) -> NvrtcResult {
    // SAFETY: the caller promises: it is valid.
    unsafe { out.write(value) };
    NvrtcResult::SUCCESS
}

/// # Safety
/// There is room for as many bytes.
unsafe fn write(out: *mut c_char, bytes: &[u8]) -> NvrtcResult {
    // SAFETY: the caller promises: there is room for as many bytes.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), out.cast(), bytes.len()) };
    NvrtcResult::SUCCESS
}

extern "C" fn error_string(result: NvrtcResult) -> *const c_char {
    match result {
        INVALID_INPUT => c"NVRTC_ERROR_INVALID_INPUT",
        COMPILATION => c"NVRTC_ERROR_COMPILATION",
        _ => c"NVRTC_ERROR unknown",
    }
    .as_ptr()
}

unsafe extern "C" fn version(major: *mut c_int, minor: *mut c_int) -> NvrtcResult {
    let result = called("nvrtcVersion");
    if result == NvrtcResult::SUCCESS {
        // SAFETY: the crate's pointer.
        unsafe { set(major, 13) };
        // SAFETY: the crate's pointer.
        unsafe { set(minor, 5) };
    }
    result
}

unsafe extern "C" fn num_archs(count: *mut c_int) -> NvrtcResult {
    match called("nvrtcGetNumSupportedArchs") {
        // SAFETY: the crate's pointer.
        NvrtcResult::SUCCESS => unsafe { set(count, KNOWN.len() as c_int) },
        failed => failed,
    }
}

unsafe extern "C" fn archs(out: *mut c_int) -> NvrtcResult {
    let result = called("nvrtcGetSupportedArchs");
    if result == NvrtcResult::SUCCESS {
        // SAFETY: the crate has room for as many as it was told.
        unsafe { ptr::copy_nonoverlapping(KNOWN.as_ptr(), out, KNOWN.len()) };
    }
    result
}

unsafe extern "C" fn create(
    out: *mut RawProgram,
    source: *const c_char,
    name: *const c_char,
    count: c_int,
    headers: *const *const c_char,
    include_names: *const *const c_char,
) -> NvrtcResult {
    let result = called("nvrtcCreateProgram");
    if result != NvrtcResult::SUCCESS {
        return result;
    }
    // SAFETY: the crate's array.
    let names = unsafe { list(include_names, count) };
    // SAFETY: the crate's array.
    let texts = unsafe { list(headers, count) };
    let made = Box::new(FakeProgram {
        source,
        name,
        headers: names.into_iter().zip(texts).collect(),
        expressions: Vec::new(),
        lowered: Vec::new(),
        log: vec![0],
        ptx: vec![0],
        cubin: Vec::new(),
    });
    seen().live += 1;
    // SAFETY: the crate's pointer.
    unsafe { set(out, Box::into_raw(made).cast()) }
}

/// Destroys even when it is to fail.
unsafe extern "C" fn destroy(program: *mut RawProgram) -> NvrtcResult {
    // SAFETY: the crate's pointer, to a live program.
    let raw = unsafe { program.read() };
    // SAFETY: made by `create`; afterwards the crate cannot reach it any more.
    drop(unsafe { Box::from_raw(raw.cast::<FakeProgram>()) });
    // SAFETY: the crate's pointer.
    unsafe { set(program, ptr::null_mut()) };
    seen().live -= 1;
    called("nvrtcDestroyProgram")
}

unsafe extern "C" fn add_name_expression(
    raw: RawProgram,
    expression: *const c_char,
) -> NvrtcResult {
    // SAFETY: a live program.
    unsafe { program(raw) }.expressions.push(expression);
    called("nvrtcAddNameExpression")
}

unsafe extern "C" fn compile(
    raw: RawProgram,
    count: c_int,
    options: *const *const c_char,
) -> NvrtcResult {
    // SAFETY: a live program.
    let program = unsafe { program(raw) };
    // SAFETY: the crate's array.
    let options = unsafe { list(options, count) };
    let source = read(program.source);
    let mut told = vec![source.clone(), read(program.name)];
    for &(name, text) in &program.headers {
        told.extend([read(name), read(text)]);
    }
    told.extend(options.into_iter().map(read));
    seen().told = told;
    let result = called("nvrtcCompileProgram");
    if source.contains("broken") || result != NvrtcResult::SUCCESS {
        program.log = b"broken.cu(1): error: \xFF\n\0".to_vec();
        return match result {
            NvrtcResult::SUCCESS => COMPILATION,
            failed => failed,
        };
    }
    if source.contains("warning") {
        program.log = b"warning\n\0".to_vec();
    }
    program.ptx = match source.as_str() {
        "latin-1" => b"// \xE9\0".to_vec(),
        "nul" => b"a\0b\0".to_vec(),
        "nothing" => Vec::new(),
        _ => PTX.to_vec(),
    };
    program.cubin = b"\x7FELF\0\0".to_vec();
    let lowered = |&expression: &*const c_char| {
        let expression = CString::new(read(expression)).unwrap();
        let name = [b"_Z", expression.as_bytes()].concat();
        (expression, CString::new(name).unwrap())
    };
    program.lowered = program.expressions.iter().map(lowered).collect();
    NvrtcResult::SUCCESS
}

/// The function that says the size, or the one that writes.
macro_rules! sizes_and_writers {
    ($($size:ident $size_name:literal, $writer:ident $writer_name:literal;)*) => {$(
        unsafe extern "C" fn $size(raw: RawProgram, out: *mut usize) -> NvrtcResult {
            // SAFETY: a live program.
            let bytes = unsafe { &program(raw).$writer };
            match called($size_name) {
                // SAFETY: the crate's pointer.
                NvrtcResult::SUCCESS => unsafe { set(out, bytes.len()) },
                failed => failed,
            }
        }

        unsafe extern "C" fn $writer(raw: RawProgram, out: *mut c_char) -> NvrtcResult {
            // SAFETY: a live program.
            let bytes = unsafe { &program(raw).$writer };
            match called($writer_name) {
                // SAFETY: the crate has room for as many as it was told.
                NvrtcResult::SUCCESS => unsafe { write(out, bytes) },
                failed => failed,
            }
        }
    )*};
}

sizes_and_writers! {
    log_size "nvrtcGetProgramLogSize", log "nvrtcGetProgramLog";
    ptx_size "nvrtcGetPTXSize", ptx "nvrtcGetPTX";
    cubin_size "nvrtcGetCUBINSize", cubin "nvrtcGetCUBIN";
}

unsafe extern "C" fn lowered_name(
    raw: RawProgram,
    expression: *const c_char,
    out: *mut *const c_char,
) -> NvrtcResult {
    // SAFETY: a live program.
    let lowered = unsafe { &program(raw).lowered };
    let expression = read(expression);
    let (_, name) = lowered
        .iter()
        .find(|(known, _)| known.to_str() == Ok(&expression))
        .expect("only what was added is asked about");
    match called("nvrtcGetLoweredName") {
        // SAFETY: the crate's pointer.
        NvrtcResult::SUCCESS => unsafe { set(out, name.as_ptr()) },
        failed => failed,
    }
}
