//! Result codes that this crate or the simulated driver tells apart, and what they prove.

use crate::types::CUresult;

macro_rules! results {
    ($($name:ident = $value:literal;)*) => {
        #[allow(missing_docs)] // the names are the driver's own; their text is `DriverError::text`
        impl CUresult {
            $(pub const $name: Self = Self($value);)*
        }

        /// Names and values, for the comparison with `cuda.h` and for the simulated driver.
        pub const RESULTS: &[(&str, CUresult)] = &[$((concat!("CUDA_ERROR_", stringify!($name)), CUresult($value)),)*];
    };
}

impl CUresult {
    /// No error.
    pub const SUCCESS: Self = Self(0);

    /// Whether the fault has ended the process's use of CUDA: from then on every call on every
    /// device returns the same code, and only a new process heals it (measured: a kernel's store to
    /// a bad address).
    #[must_use]
    pub const fn is_sticky(self) -> bool {
        matches!(
            self,
            Self::ECC_UNCORRECTABLE
                | Self::NVLINK_UNCORRECTABLE
                | Self::CONTAINED
                | Self::ILLEGAL_ADDRESS
                | Self::LAUNCH_TIMEOUT
                | Self::ASSERT
                | Self::HARDWARE_STACK_ERROR
                | Self::ILLEGAL_INSTRUCTION
                | Self::MISALIGNED_ADDRESS
                | Self::INVALID_ADDRESS_SPACE
                | Self::INVALID_PC
                | Self::LAUNCH_FAILED
                | Self::TENSOR_MEMORY_LEAK
        )
    }

    /// Whether a wait that returned this code did not wait, because of a stream capture: it says
    /// nothing of the work, and the same question has an answer once the capture has ended
    /// (measured: `cuStreamSynchronize` of an unrelated stream returned at once, its copy running).
    #[must_use]
    pub const fn refuses_to_wait(self) -> bool {
        Self::STREAM_CAPTURE_UNSUPPORTED.0 <= self.0
            && self.0 <= Self::STREAM_CAPTURE_WRONG_THREAD.0
    }

    /// Whether a wait that returned this code proves that no work of the stream is running any
    /// more.
    ///
    /// - [`SUCCESS`](Self::SUCCESS): the work is done.
    /// - A [sticky](Self::is_sticky) fault: the driver has stopped the work of the device that had
    ///   it before it reports one. That of other devices goes on, and their streams return the
    ///   fault all the same (measured), so more has to be known when there are several.
    /// - [`CONTEXT_IS_DESTROYED`](Self::CONTEXT_IS_DESTROYED): destroying a context ends its work
    ///   first.
    ///
    /// Everything else (out of memory, an unknown code, ...) proves nothing.
    #[must_use]
    pub const fn proves_stopped(self) -> bool {
        self.0 == Self::SUCCESS.0 || self.is_sticky() || self.0 == Self::CONTEXT_IS_DESTROYED.0
    }
}

results! {
    INVALID_VALUE = 1;
    OUT_OF_MEMORY = 2;
    NOT_INITIALIZED = 3;
    DEINITIALIZED = 4;
    NO_DEVICE = 100;
    INVALID_DEVICE = 101;
    INVALID_IMAGE = 200;
    INVALID_CONTEXT = 201;
    NO_BINARY_FOR_GPU = 209;
    ECC_UNCORRECTABLE = 214;
    PEER_ACCESS_UNSUPPORTED = 217;
    INVALID_PTX = 218;
    NVLINK_UNCORRECTABLE = 220;
    UNSUPPORTED_PTX_VERSION = 222;
    CONTAINED = 226;
    INVALID_SOURCE = 300;
    INVALID_HANDLE = 400;
    NOT_FOUND = 500;
    NOT_READY = 600;
    ILLEGAL_ADDRESS = 700;
    LAUNCH_OUT_OF_RESOURCES = 701;
    LAUNCH_TIMEOUT = 702;
    PEER_ACCESS_ALREADY_ENABLED = 704;
    PEER_ACCESS_NOT_ENABLED = 705;
    CONTEXT_IS_DESTROYED = 709;
    ASSERT = 710;
    HOST_MEMORY_ALREADY_REGISTERED = 712;
    HOST_MEMORY_NOT_REGISTERED = 713;
    HARDWARE_STACK_ERROR = 714;
    ILLEGAL_INSTRUCTION = 715;
    MISALIGNED_ADDRESS = 716;
    INVALID_ADDRESS_SPACE = 717;
    INVALID_PC = 718;
    LAUNCH_FAILED = 719;
    COOPERATIVE_LAUNCH_TOO_LARGE = 720;
    TENSOR_MEMORY_LEAK = 721;
    NOT_PERMITTED = 800;
    NOT_SUPPORTED = 801;
    STREAM_CAPTURE_UNSUPPORTED = 900;
    STREAM_CAPTURE_INVALIDATED = 901;
    STREAM_CAPTURE_MERGE = 902;
    STREAM_CAPTURE_UNMATCHED = 903;
    STREAM_CAPTURE_UNJOINED = 904;
    STREAM_CAPTURE_ISOLATION = 905;
    STREAM_CAPTURE_IMPLICIT = 906;
    CAPTURED_EVENT = 907;
    STREAM_CAPTURE_WRONG_THREAD = 908;
    INVALID_CLUSTER_SIZE = 912;
    UNKNOWN = 999;
}
