//! One compilation: `nvrtcProgram`, from creation to destruction.

#![allow(unsafe_code)] // calls NVRTC

use super::library::{Functions, Get, NvrtcResult, RawProgram, SizeOf};
use crate::error::{Error, NvrtcError, Result};
use std::ffi::{CStr, CString, c_char, c_int};
use std::marker::PhantomData;
use std::ptr;

/// A program, and the texts that it was given: nvrtc.h does not say which of them are copied, so
/// all outlive it.
///
/// It stays on the thread that made it and is never shared, so no two calls about it meet.
pub(super) struct Program<'texts> {
    functions: &'static Functions,
    raw: RawProgram,
    texts: PhantomData<&'texts CStr>,
}

static_assertions::assert_not_impl_any!(Program<'static>: Send, Sync);

impl<'texts> Program<'texts> {
    /// `header_names` and `header_texts` have a header at each index.
    pub(super) fn create(
        functions: &'static Functions,
        source: &'texts CStr,
        name: &'texts CStr,
        header_names: &'texts [CString],
        header_texts: &'texts [CString],
    ) -> Result<Self> {
        let (names, texts) = (pointers(header_names), pointers(header_texts));
        let count = count_of(&names[..names.len().min(texts.len())])?;
        let mut raw = ptr::null_mut();
        // SAFETY: the out-pointer is valid for the call, the texts are NUL-terminated and live as
        // long as the program, and both arrays have at least `count` of them.
        let result = unsafe {
            (functions.create_program)(
                &raw mut raw,
                source.as_ptr(),
                name.as_ptr(),
                count,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        functions.check("nvrtcCreateProgram", result)?;
        Ok(Self {
            functions,
            raw,
            texts: PhantomData,
        })
    }

    /// Before the program is compiled.
    pub(super) fn add_name_expression(&mut self, expression: &'texts CStr) -> Result<()> {
        // SAFETY: the program is live; the text is NUL-terminated and lives as long as it.
        let result = unsafe { (self.functions.add_name_expression)(self.raw, expression.as_ptr()) };
        self.functions.check("nvrtcAddNameExpression", result)
    }

    /// Compiles the program. With an error comes the log.
    pub(super) fn compile(&mut self, options: &'texts [CString]) -> Result<()> {
        let options = pointers(options);
        let count = count_of(&options)?;
        // SAFETY: the program is live; `count` options are NUL-terminated and live as long as it.
        let result = unsafe { (self.functions.compile_program)(self.raw, count, options.as_ptr()) };
        if result == NvrtcResult::SUCCESS {
            return Ok(());
        }
        Err(Error::Nvrtc(NvrtcError::Compile {
            reason: self.functions.name_of(result),
            log: self.log().unwrap_or_default(),
        }))
    }

    /// What the compiler wrote, warnings for example.
    pub(super) fn log(&self) -> Result<String> {
        let log = self.fetch(
            (
                "nvrtcGetProgramLogSize",
                self.functions.get_program_log_size,
            ),
            ("nvrtcGetProgramLog", self.functions.get_program_log),
        )?;
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
        Ok(String::from_utf8_lossy(&log[..end]).trim_end().to_owned())
    }

    /// Of a compiled program.
    pub(super) fn ptx(&self) -> Result<String> {
        let mut ptx = self.fetch(
            ("nvrtcGetPTXSize", self.functions.get_ptx_size),
            ("nvrtcGetPTX", self.functions.get_ptx),
        )?;
        // The size counts the NUL at the end.
        if ptx.last() == Some(&0) {
            ptx.pop();
        }
        String::from_utf8(ptx).map_err(|_| not_text("the PTX is not UTF-8"))
    }

    /// Of a compiled program; empty when the architecture is a virtual one.
    pub(super) fn cubin(&self) -> Result<Vec<u8>> {
        self.fetch(
            ("nvrtcGetCUBINSize", self.functions.get_cubin_size),
            ("nvrtcGetCUBIN", self.functions.get_cubin),
        )
    }

    /// Of a compiled program that was given the expression.
    pub(super) fn lowered_name(&self, expression: &CStr) -> Result<String> {
        let mut name = ptr::null();
        // SAFETY: the program is live, the text NUL-terminated, and the out-pointer valid for the
        // call.
        let result = unsafe {
            (self.functions.get_lowered_name)(self.raw, expression.as_ptr(), &raw mut name)
        };
        self.functions.check("nvrtcGetLoweredName", result)?;
        // SAFETY: on success it points to a C string, which lives as long as the program.
        let name = unsafe { CStr::from_ptr(name) };
        let name = name
            .to_str()
            .map_err(|_| not_text("a lowered name is not UTF-8"))?;
        Ok(name.to_owned())
    }

    /// What one function says the size of and another one writes.
    fn fetch(&self, size_of: (&'static str, SizeOf), get: (&'static str, Get)) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: the program is live, and the out-pointer valid for the call.
        let result = unsafe { (size_of.1)(self.raw, &raw mut size) };
        self.functions.check(size_of.0, result)?;
        let mut bytes = vec![0; size];
        if size > 0 {
            // SAFETY: the program is live and has not been compiled since it said the size, which
            // is what it writes.
            let result = unsafe { (get.1)(self.raw, bytes.as_mut_ptr().cast()) };
            self.functions.check(get.0, result)?;
        }
        Ok(bytes)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: created in `create` and destroyed once. The answer tells nothing that anybody
        // could act on.
        let _ = unsafe { (self.functions.destroy_program)(&raw mut self.raw) };
    }
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

/// How many there are, as C counts.
fn count_of(texts: &[*const c_char]) -> Result<c_int> {
    c_int::try_from(texts.len()).map_err(|_| Error::SizeOverflow {
        len: texts.len(),
        element_bytes: size_of::<*const c_char>(),
    })
}

fn not_text(reason: &str) -> Error {
    Error::Nvrtc(NvrtcError::Compile {
        reason: reason.to_owned(),
        log: String::new(),
    })
}
