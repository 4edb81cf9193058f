//! What the driver's compiler is told.

use crate::compute_capability::ComputeCapability;
use crate::error::{Error, Result};
use crate::ffi::*;
use crate::internal::calls::JitArguments;
use crate::internal::context_state::LaunchLimits;
use std::ffi::c_uint;
use std::num::NonZeroU32;

/// The most registers that a thread of any device has.
const REGISTERS_MAX: u32 = 255;

/// How the driver compiles PTX. The default is what [`Context::load_ptx`](crate::Context::load_ptx)
/// does.
///
/// The options are about compilation: machine code, in a fatbin say, is loaded as it is.
///
/// Not every combination is possible ([`Error::BadJitOptions`]): [`debug_info`](Self::debug_info)
/// goes with no optimisation, and [`threads_per_block`](Self::threads_per_block) is for the device
/// at hand and not for another [`target`](Self::target).
///
/// ```
/// # use scoped_cuda::{Driver, Error, JitOptions, sim::Simulation, kernel::OptimizationLevel};
/// # const PTX: scoped_cuda::Ptx<'_> = scoped_cuda::ptx!(".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }");
/// # Driver::simulated(Simulation::default())?.with_device(0, |ctx| {
/// let debugged = JitOptions::default().debug_info(true).verbose(true);
/// let module = ctx.load_ptx_with(PTX, &debugged)?;
/// assert!(module.log().contains("nothing"), "{}", module.log());
///
/// let both = debugged.optimization(OptimizationLevel::O3);
/// assert!(matches!(ctx.load_ptx_with(PTX, &both), Err(Error::BadJitOptions { .. })));
/// # Ok(()) })?;
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[non_exhaustive]
pub struct JitOptions {
    /// How much to optimise; the driver's default is [`O4`](OptimizationLevel::O4).
    pub optimization: Option<OptimizationLevel>,
    /// The most registers that a thread may use; what does not fit goes to slower memory. More than
    /// 255 mean 255, and the compiler has a minimum of its own.
    pub max_registers: Option<NonZeroU32>,
    /// A number of threads that a block of each kernel must be able to have, at most as many as the
    /// device allows. The compiler uses fewer registers for it, if need be.
    pub threads_per_block: Option<NonZeroU32>,
    /// The compute capability to compile for, major and minor; by default the device's. Code for
    /// another one does not load here ([`Error::NoCodeForDevice`]): it is for a
    /// [`Linker`](crate::Linker) whose output is kept.
    pub target: Option<ComputeCapability>,
    /// Line numbers of the source, for profilers.
    pub line_info: bool,
    /// Debug information, for debuggers. The code is not optimised then.
    pub debug_info: bool,
    /// How loads from global memory are cached.
    pub cache: CacheMode,
    /// Registers, memory and barriers of each kernel in the log
    /// ([`Module::log`](crate::Module::log)), if the driver compiles it: what it has in its cache
    /// on disk it does not, unless the environment says `CUDA_CACHE_DISABLE=1`.
    pub verbose: bool,
}

impl JitOptions {
    /// Sets [`optimization`](Self#structfield.optimization).
    #[must_use]
    pub fn optimization(mut self, optimization: impl Into<Option<OptimizationLevel>>) -> Self {
        self.optimization = optimization.into();
        self
    }

    /// Sets [`max_registers`](Self#structfield.max_registers).
    #[must_use]
    pub fn max_registers(mut self, max_registers: impl Into<Option<NonZeroU32>>) -> Self {
        self.max_registers = max_registers.into();
        self
    }

    /// Sets [`threads_per_block`](Self#structfield.threads_per_block).
    #[must_use]
    pub fn threads_per_block(mut self, threads_per_block: impl Into<Option<NonZeroU32>>) -> Self {
        self.threads_per_block = threads_per_block.into();
        self
    }

    /// Sets [`target`](Self#structfield.target).
    #[must_use]
    pub fn target(mut self, target: impl Into<Option<ComputeCapability>>) -> Self {
        self.target = target.into();
        self
    }

    /// Sets [`line_info`](Self#structfield.line_info).
    #[must_use]
    pub const fn line_info(mut self, line_info: bool) -> Self {
        self.line_info = line_info;
        self
    }

    /// Sets [`debug_info`](Self#structfield.debug_info).
    #[must_use]
    pub const fn debug_info(mut self, debug_info: bool) -> Self {
        self.debug_info = debug_info;
        self
    }

    /// Sets [`cache`](Self#structfield.cache).
    #[must_use]
    pub const fn cache(mut self, cache: CacheMode) -> Self {
        self.cache = cache;
        self
    }

    /// Sets [`verbose`](Self#structfield.verbose).
    #[must_use]
    pub const fn verbose(mut self, verbose: bool) -> Self {
        self.verbose = verbose;
        self
    }
}

/// How much the compiler optimises.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // levels
pub enum OptimizationLevel {
    /// Nothing.
    O0 = 0,
    O1 = 1,
    O2 = 2,
    O3 = 3,
    /// All it can: the driver's default.
    O4 = 4,
}

/// In which caches loads from global memory are kept, when the code does not say so itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum CacheMode {
    /// As the compiler thinks best.
    #[default]
    Default,
    /// In the second level, which all blocks share, and not in the first (`-dlcm=cg`).
    SecondLevel,
    /// In both levels (`-dlcm=ca`).
    BothLevels,
}

impl JitOptions {
    /// The options as the driver takes them, if they are possible on a device with these limits.
    pub(super) fn arguments(&self, limits: &LaunchLimits) -> Result<JitArguments> {
        self.check(limits)
            .map_err(|reason| Error::BadJitOptions { reason })?;
        Ok(JitArguments::new(&self.given()))
    }

    fn check(&self, limits: &LaunchLimits) -> Result<(), String> {
        match self.optimization {
            Some(level) if self.debug_info && level != OptimizationLevel::O0 => {
                return Err(format!("debug information with optimisation ({level:?})"));
            }
            _ => {}
        }
        if let Some(threads) = self.threads_per_block {
            if self.target.is_some() {
                return Err("a number of threads in a block and another target".to_owned());
            }
            // The compiler rounds it up without looking, and divides by the result (measured with
            // 0: the process dies).
            let limit = limits.threads_per_block;
            if threads.get() > limit {
                return Err(format!(
                    "{threads} threads in a block: the device has {limit}"
                ));
            }
        }
        match self.target {
            Some(target) if !(1..=99).contains(&target.major) || target.minor > 9 => {
                Err(format!("there is no compute capability {target}"))
            }
            _ => Ok(()),
        }
    }

    /// What differs from the driver's defaults.
    fn given(&self) -> Vec<(CUjit_option, c_uint)> {
        let flag = |is_set: bool| is_set.then_some(1);
        let cache = match self.cache {
            CacheMode::Default => None,
            CacheMode::SecondLevel => Some(CU_JIT_CACHE_OPTION_CG),
            CacheMode::BothLevels => Some(CU_JIT_CACHE_OPTION_CA),
        };
        let registers = |most: NonZeroU32| most.get().min(REGISTERS_MAX);
        let all = [
            (
                CU_JIT_OPTIMIZATION_LEVEL,
                self.optimization.map(|level| level as c_uint),
            ),
            (CU_JIT_MAX_REGISTERS, self.max_registers.map(registers)),
            (
                CU_JIT_THREADS_PER_BLOCK,
                self.threads_per_block.map(NonZeroU32::get),
            ),
            (
                CU_JIT_TARGET,
                self.target.map(|target| 10 * target.major + target.minor),
            ),
            (CU_JIT_GENERATE_LINE_INFO, flag(self.line_info)),
            (CU_JIT_GENERATE_DEBUG_INFO, flag(self.debug_info)),
            (CU_JIT_CACHE_MODE, cache),
            (CU_JIT_LOG_VERBOSE, flag(self.verbose)),
        ];
        let chosen = all.into_iter();
        chosen
            .filter_map(|(option, value)| value.map(|value| (option, value)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: LaunchLimits = LaunchLimits {
        grid: [1; 3],
        block: [1024; 3],
        threads_per_block: 1024,
    };

    #[test]
    fn default_says_nothing_to_the_driver() {
        assert_eq!(JitOptions::default().given(), []);
    }

    #[test]
    fn each_option_has_its_number() {
        let options = JitOptions {
            optimization: Some(OptimizationLevel::O2),
            max_registers: NonZeroU32::new(1 << 20),
            threads_per_block: NonZeroU32::new(256),
            target: Some(ComputeCapability::new(12, 1)),
            line_info: true,
            debug_info: true,
            cache: CacheMode::SecondLevel,
            verbose: true,
        };
        assert_eq!(
            options.given(),
            [
                (7, 2),
                (0, 255),
                (1, 256),
                (9, 121),
                (13, 1),
                (11, 1),
                (14, 1),
                (12, 1)
            ]
        );
    }

    #[test]
    fn impossible_options_are_refused_with_the_reason() {
        let refused = |options: JitOptions| match options.check(&LIMITS) {
            Err(reason) => reason,
            Ok(()) => panic!("{options:?}"),
        };
        let none = JitOptions::default();
        let debug_info = none.debug_info(true);
        let optimization = Some(OptimizationLevel::O1);
        assert_eq!(
            refused(debug_info.optimization(optimization)),
            "debug information with optimisation (O1)"
        );
        for threads in [1025, u32::MAX] {
            let threads_per_block = NonZeroU32::new(threads);
            assert_eq!(
                refused(none.threads_per_block(threads_per_block)),
                format!("{threads} threads in a block: the device has 1024")
            );
        }
        let (threads_per_block, target) = (NonZeroU32::new(64), Some(ComputeCapability::new(9, 0)));
        assert_eq!(
            refused(none.threads_per_block(threads_per_block).target(target)),
            "a number of threads in a block and another target"
        );
        for (major, minor) in [(0, 5), (9, 10), (100, 0), (u32::MAX, u32::MAX)] {
            let target = Some(ComputeCapability::new(major, minor));
            assert_eq!(
                refused(none.target(target)),
                format!("there is no compute capability {major}.{minor}")
            );
        }
        let optimization = Some(OptimizationLevel::O0);
        assert_eq!(debug_info.optimization(optimization).check(&LIMITS), Ok(()));
    }
}
