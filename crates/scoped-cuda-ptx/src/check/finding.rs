//! Findings, in full.

use std::fmt;

/// What kind of mistake it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// An access outside every allocation.
    OutOfBounds,
    /// An access to memory that was freed.
    UseAfterFree,
    /// An address that is not a multiple of the access's size.
    Misaligned,
    /// A read of memory that nobody has written.
    Uninitialised,
    /// A write to constant memory, or to memory that the launch only lends to be read.
    ReadOnly,
    /// Two accesses without order, of which one writes. The other one is told.
    Race {
        /// The thread of the earlier access.
        other: Thread,
        /// Whether the earlier access was a write.
        was_write: bool,
        /// Whether the memory is shared memory.
        is_shared: bool,
    },
    /// Not all threads come to a barrier that waits for them.
    BarrierDivergence,
    /// Lanes wait for others of their warp that do not come.
    WarpDivergence,
    /// A shuffle reads a lane that does not take part.
    InactiveLane,
    /// Calls are nested more deeply than the stack allows.
    StackOverflow,
    /// The launch has made more steps than its bound.
    NoProgress,
    /// The kernel stopped itself: `trap`, or an assertion, whose text is told.
    Trap(String),
    /// A jump or a call to nowhere.
    BadTarget,
    /// The launch's shape or parameters do not fit the kernel.
    BadLaunch(String),
}

/// What the access was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A read of so many bytes.
    Read(u32),
    /// A write of so many bytes.
    Write(u32),
    /// An atomic of so many bytes.
    Atomic(u32),
}

/// A thread of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// The block: x, y, z.
    pub block: [u32; 3],
    /// The thread in its block: x, y, z.
    pub thread: [u32; 3],
}

/// The allocation that is nearest to an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// What it is and who allocated it.
    pub label: String,
    /// Its first address.
    pub base: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether it was freed.
    pub is_freed: bool,
}

/// A mistake of a kernel. It ends the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of mistake it is.
    pub class: Class,
    /// The kernel.
    pub kernel: String,
    /// The function, when it is not the kernel itself.
    pub function: Option<String>,
    /// The source's file and line, when the text names them.
    pub source: Option<(String, u32)>,
    /// The line of the text, from one.
    pub line: u32,
    /// The thread.
    pub thread: Thread,
    /// What it did, if it is an access.
    pub access: Option<Access>,
    /// The address, as the thread sees it.
    pub address: Option<u64>,
    /// The allocation that is nearest to the address.
    pub nearest: Option<Nearest>,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(bytes) => write!(f, "read of {bytes} bytes"),
            Self::Write(bytes) => write!(f, "write of {bytes} bytes"),
            Self::Atomic(bytes) => write!(f, "atomic of {bytes} bytes"),
        }
    }
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.thread;
        write!(f, "thread ({x}, {y}, {z}) of block ")?;
        let [x, y, z] = self.block;
        write!(f, "({x}, {y}, {z})")
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfBounds => "access out of bounds",
            Self::UseAfterFree => "access to freed memory",
            Self::Misaligned => "misaligned address",
            Self::Uninitialised => "read of memory that was never written",
            Self::ReadOnly => "write to memory that is only to be read",
            Self::Race {
                other,
                was_write,
                is_shared,
            } => {
                let space = if *is_shared { "shared" } else { "global" };
                let what = if *was_write { "write" } else { "read" };
                return write!(f, "data race in {space} memory with a {what} by {other}");
            }
            Self::BarrierDivergence => "not all threads come to the barrier",
            Self::WarpDivergence => "lanes wait for others of their warp that do not come",
            Self::InactiveLane => "the lane that is read does not take part",
            Self::StackOverflow => "the calls need more stack than a thread has",
            Self::NoProgress => "the launch has made more steps than its bound",
            Self::Trap(text) if text.is_empty() => "the kernel stopped itself",
            Self::Trap(text) => return write!(f, "the kernel stopped itself: {text}"),
            Self::BadTarget => "jump or call to nowhere",
            Self::BadLaunch(text) => return f.write_str(text),
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.class)?;
        if let Some(access) = self.access {
            write!(f, ", {access}")?;
        }
        if let Some(address) = self.address {
            write!(f, " at {address:#x}")?;
        }
        write!(f, "\n  kernel {}", self.kernel)?;
        if let Some(function) = &self.function {
            write!(f, ", in {function}")?;
        }
        match &self.source {
            Some((file, line)) => write!(f, ", {file}:{line}, PTX line {}", self.line)?,
            None => write!(f, ", PTX line {}", self.line)?,
        }
        write!(f, "\n  {}", self.thread)?;
        let (Some(nearest), Some(address)) = (&self.nearest, self.address) else {
            return Ok(());
        };
        let freed = if nearest.is_freed {
            ", which was freed"
        } else {
            ""
        };
        write!(
            f,
            "\n  {}: {} bytes at {:#x}{freed}",
            nearest.label, nearest.bytes, nearest.base
        )?;
        let end = nearest.base.saturating_add(nearest.bytes);
        match address {
            address if address < nearest.base => {
                write!(
                    f,
                    "; the address is {} bytes before it",
                    nearest.base - address
                )
            }
            address if address >= end => {
                write!(f, "; the address is {} bytes after its end", address - end)
            }
            address => write!(f, "; the address is at byte {}", address - nearest.base),
        }
    }
}

impl std::error::Error for Finding {}
