//! Options and logs of the driver's compiler and linker.

#![allow(unsafe_code)] // reads what the driver has written

use crate::ffi::*;
use std::ffi::{c_char, c_uint, c_void};
use std::ptr::{self, NonNull};

/// Bytes that the driver may write to the information log: room for some hundred kernels when it is
/// verbose.
const INFO_BYTES: usize = 64 << 10;
/// Bytes that it may write to the error log.
const ERROR_BYTES: usize = 16 << 10;

/// Options as the driver takes them, and where it writes its logs.
///
/// All of it is on the heap and stays there when this value moves, because a linker writes to it
/// until it is destroyed.
pub(crate) struct JitArguments {
    options: Array<CUjit_option>,
    values: Array<*mut c_void>,
    info: Array<c_char>,
    error: Array<c_char>,
}

// SAFETY: the pointers lead to memory that this value owns, and the driver touches that only during
// calls that are given this value.
unsafe impl Send for JitArguments {}
// SAFETY: as for Send; through a shared reference nothing is written.
unsafe impl Sync for JitArguments {}

impl JitArguments {
    /// Both logs, and these options. Values of 32 bits are passed in the pointer itself (cuda.h,
    /// `CUjit_option`).
    pub(crate) fn new(given: &[(CUjit_option, c_uint)]) -> Self {
        // One byte more than the driver is told: whatever it does, a NUL ends the text.
        let (info, error) = (
            Array::new(vec![0; INFO_BYTES + 1]),
            Array::new(vec![0; ERROR_BYTES + 1]),
        );
        let number = |number: usize| ptr::without_provenance_mut(number);
        let mut pairs = vec![
            (CU_JIT_INFO_LOG_BUFFER, info.first().cast::<c_void>()),
            (CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, number(INFO_BYTES)),
            (CU_JIT_ERROR_LOG_BUFFER, error.first().cast()),
            (CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, number(ERROR_BYTES)),
        ];
        pairs.extend(
            given
                .iter()
                .map(|&(option, value)| (option, number(value as usize))),
        );
        let (options, values) = pairs.into_iter().unzip();
        Self {
            options: Array::new(options),
            values: Array::new(values),
            info,
            error,
        }
    }

    pub(super) fn count(&self) -> c_uint {
        self.options.len() as c_uint
    }

    pub(super) fn options(&self) -> *mut CUjit_option {
        self.options.first()
    }

    pub(super) fn values(&self) -> *mut *mut c_void {
        self.values.first()
    }

    /// What the compiler and the linker had to say.
    pub(crate) fn info(&self) -> String {
        log(&self.info, INFO_BYTES)
    }

    /// What they found wrong.
    pub(crate) fn error(&self) -> String {
        log(&self.error, ERROR_BYTES)
    }
}

/// The text before the first NUL. The driver cuts what is longer than the buffer, and leaves its
/// last byte NUL (measured).
fn log(buffer: &Array<c_char>, room: usize) -> String {
    let mut text = super::text(&buffer.copy());
    let is_cut = text.len() + 1 >= room;
    text.truncate(text.trim_end().len());
    if is_cut {
        text.push_str("\n(the log was longer and is cut here)");
    }
    text
}

/// Elements on the heap that somebody else writes through a pointer: there is never a reference to
/// them.
struct Array<T>(NonNull<[T]>);

impl<T: Copy> Array<T> {
    fn new(elements: Vec<T>) -> Self {
        Self(NonNull::from(Box::leak(elements.into_boxed_slice())))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn first(&self) -> *mut T {
        self.0.as_ptr().cast()
    }

    fn copy(&self) -> Vec<T> {
        let copy_one = |index| {
            // SAFETY: `index` is below the length.
            let element = unsafe { self.first().add(index) };
            // SAFETY: initialised in `new`; nobody writes it now, because the driver does so only
            // during calls.
            unsafe { element.read() }
        };
        (0..self.len()).map(copy_one).collect()
    }
}

impl<T> Drop for Array<T> {
    fn drop(&mut self) {
        // SAFETY: leaked in `new` and owned since. Whoever drops it knows that the driver will not
        // write to it any more.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, room: usize) -> Array<c_char> {
        let mut bytes: Vec<c_char> = text.bytes().map(|byte| byte as c_char).collect();
        bytes.resize(room + 1, 0);
        Array::new(bytes)
    }

    #[test]
    fn log_ends_at_the_nul_and_says_when_it_was_cut() {
        assert_eq!(
            log(&written("two lines\nof text\n", 32), 32),
            "two lines\nof text"
        );
        assert_eq!(log(&written("", 32), 32), "");
        assert_eq!(
            log(&written("1234567", 8), 8),
            "1234567\n(the log was longer and is cut here)"
        );
        // A driver that leaves no NUL.
        assert!(log(&written("12345678", 8), 8).starts_with("12345678\n"));
    }

    #[test]
    fn values_are_in_the_pointers() {
        let arguments = JitArguments::new(&[(CU_JIT_MAX_REGISTERS, 32)]);
        assert_eq!(arguments.count(), 5);
        assert_eq!(arguments.options.copy()[4], CU_JIT_MAX_REGISTERS);
        assert_eq!(arguments.values.copy()[4].addr(), 32);
        assert_eq!((arguments.info(), arguments.error()), Default::default());
    }
}
