//! Options of the JIT, as far as they matter here.

use super::machine::{Outcome, State};
use scoped_cuda_sys::*;
use std::ffi::c_uint;

/// Compute capabilities that a driver has heard of, but has no compiler for any more.
const FORGOTTEN_TARGETS: [c_uint; 4] = [30, 32, 35, 37];
const TARGETS: [c_uint; 19] = [
    50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120, 121,
];
/// The highest number of an option.
const OPTION_MAX: CUjit_option = 34;

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Options {
    /// As it was passed: it may be negative.
    pub(super) optimization: Option<i32>,
    /// The compute capability to compile for, when it is not the device's.
    pub(super) target: Option<c_uint>,
    pub(super) is_debug: bool,
    pub(super) is_verbose: bool,
}

impl Options {
    /// Takes note of an option.
    ///
    /// # Errors
    /// What the driver answers before it looks at the image.
    pub(super) fn set(
        &mut self,
        state: &mut State,
        option: CUjit_option,
        value: c_uint,
    ) -> Outcome {
        match option {
            CU_JIT_MAX_REGISTERS if value == 0 => return Err(CUresult::INVALID_VALUE),
            CU_JIT_THREADS_PER_BLOCK if value == 0 => {
                state.violation("the JIT was told to compile for blocks of 0 threads: it divides by that, and the process dies");
                return Err(CUresult::INVALID_VALUE);
            }
            CU_JIT_OPTIMIZATION_LEVEL => self.optimization = Some(value as i32),
            CU_JIT_TARGET if FORGOTTEN_TARGETS.contains(&value) => {
                return Err(CUresult::INVALID_IMAGE);
            }
            CU_JIT_TARGET if !TARGETS.contains(&value) => return Err(CUresult::INVALID_VALUE),
            CU_JIT_TARGET => self.target = Some(value),
            CU_JIT_GENERATE_DEBUG_INFO => self.is_debug = value != 0,
            CU_JIT_LOG_VERBOSE => self.is_verbose = value != 0,
            CU_JIT_CACHE_MODE if value > CU_JIT_CACHE_OPTION_CA => {
                return Err(CUresult::INVALID_VALUE);
            }
            0..=OPTION_MAX => {}
            _ => return Err(CUresult::INVALID_VALUE),
        }
        Ok(())
    }

    /// Whether the compiler takes the options.
    pub(super) fn is_possible(&self) -> bool {
        match self.optimization {
            Some(level) => (0..=6).contains(&level) && (level == 0 || !self.is_debug),
            None => true,
        }
    }
}
