//! Options of the JIT, and its answers in their values.

#![allow(unsafe_code)] // reads and writes through C pointers

use crate::image::{Loaded, Refused};
use crate::jit::Options;
use crate::machine::{Outcome, State};
use scoped_cuda_sys::*;
use std::ffi::{c_uint, c_void};
use std::ptr;

/// What a caller said, and where it wants to be answered.
#[derive(Default)]
pub(crate) struct Jit {
    pub(crate) options: Options,
    info: Log,
    error: Log,
    /// The value that the number of threads comes back in.
    threads: Option<(*mut *mut c_void, c_uint)>,
    /// The value that the time comes back in.
    time: Option<*mut *mut c_void>,
}

// SAFETY: the pointers are used during calls only, by whichever thread makes the call that the
// caller's promise is about.
unsafe impl Send for Jit {}

/// A buffer for text.
struct Log {
    buffer: *mut u8,
    room: usize,
    /// The value with the size.
    size: *mut *mut c_void,
}

// By hand: a compiler of Rust 1.85 derives none for pointers.
impl Default for Log {
    fn default() -> Self {
        Self {
            buffer: std::ptr::null_mut(),
            room: Default::default(),
            size: std::ptr::null_mut(),
        }
    }
}

impl Jit {
    /// # Errors
    /// `INVALID_VALUE` for what the driver does not take, whatever the image.
    ///
    /// # Safety
    /// `options` and `values` have `count` elements each; a log buffer has as many bytes as its
    /// size option says.
    pub(super) unsafe fn read(
        state: &mut State,
        count: c_uint,
        options: *const CUjit_option,
        values: *mut *mut c_void,
    ) -> Outcome<Self> {
        if count > 0 && (options.is_null() || values.is_null()) {
            return Err(CUresult::INVALID_VALUE);
        }
        let mut jit = Self::default();
        for index in 0..count as usize {
            // SAFETY: `index` is below `count`.
            let option = unsafe { options.add(index) };
            // SAFETY: one of `count` options.
            let option = unsafe { option.read() };
            // SAFETY: `index` is below `count`.
            let at = unsafe { values.add(index) };
            // SAFETY: one of `count` values.
            let value = unsafe { at.read() };
            // A number is passed in the pointer itself.
            let number = value.addr() as c_uint;
            match option {
                CU_JIT_INFO_LOG_BUFFER => jit.info.buffer = value.cast(),
                CU_JIT_ERROR_LOG_BUFFER => jit.error.buffer = value.cast(),
                CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES => jit.info.sized(number, at),
                CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => jit.error.sized(number, at),
                CU_JIT_WALL_TIME => jit.time = Some(at),
                _ => jit.options.set(state, option, number)?,
            }
            if option == CU_JIT_THREADS_PER_BLOCK {
                jit.threads = Some((at, number));
            }
        }
        Ok(jit)
    }

    /// Answers a load.
    ///
    /// # Safety
    /// What [`read`](Self::read) was told about is still there.
    pub(super) unsafe fn answer(&self, loaded: &Result<Loaded, Refused>) {
        match loaded {
            Ok(loaded) => {
                // SAFETY: the caller promises: what [`read`](Self::read) was told about is still
                // there.
                unsafe { self.tell(&loaded.info) };
                // SAFETY: the caller promises: what [`read`](Self::read) was told about is still
                // there.
                unsafe { self.error.write("", true) };
            }
            // Beside an information log, the sizes stay what they were.
            // SAFETY: the caller promises: what [`read`](Self::read) was told about is still there.
            Err(refused) => unsafe { self.error.write(&refused.log, self.info.size.is_null()) },
        }
    }

    /// Writes the information log and the values.
    ///
    /// # Safety
    /// As for [`answer`](Self::answer).
    pub(super) unsafe fn tell(&self, info: &str) {
        // SAFETY: the caller promises what `answer` asks for.
        unsafe { self.info.write(info, true) };
        if let Some((at, threads)) = self.threads {
            let threads = threads.min(1024).next_multiple_of(32);
            // SAFETY: the caller promises what `answer` asks for.
            unsafe { at.write(ptr::without_provenance_mut(threads as usize)) };
        }
        if let Some(at) = self.time {
            let milliseconds = 1.0_f32.to_bits();
            // SAFETY: the caller promises what `answer` asks for.
            unsafe { at.write(ptr::without_provenance_mut(milliseconds as usize)) };
        }
    }

    /// Writes the error log of a linker.
    ///
    /// # Safety
    /// As for [`answer`](Self::answer).
    pub(super) unsafe fn complain(&self, log: &str) {
        // SAFETY: the caller promises what `answer` asks for.
        unsafe { self.error.write(log, false) };
    }
}

impl Log {
    fn sized(&mut self, room: c_uint, at: *mut *mut c_void) {
        (self.room, self.size) = (room as usize, at);
    }

    /// Writes what fits, with a NUL, and (if wanted) how many bytes that is: without the NUL, or
    /// the size of the buffer if that is less.
    ///
    /// # Safety
    /// Buffer and size are still there.
    unsafe fn write(&self, text: &str, tells_size: bool) {
        if self.size.is_null() || self.buffer.is_null() {
            return;
        }
        if tells_size {
            let reported = text.len().min(self.room);
            // SAFETY: one of the caller's values.
            unsafe { self.size.write(ptr::without_provenance_mut(reported)) };
        }
        if self.room == 0 || text.is_empty() {
            return;
        }
        let used = text.len().min(self.room - 1);
        // SAFETY: the buffer has `room` bytes, of which these are all but one at most.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr(), self.buffer, used) };
        // SAFETY: `used` is less than `room`.
        let end = unsafe { self.buffer.add(used) };
        // SAFETY: as above, this is one of the buffer's bytes.
        unsafe { end.write(0) };
    }
}
