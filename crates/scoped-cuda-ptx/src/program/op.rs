//! The lowered form: what a warp does in one step.

use super::convert::Convert;
use crate::exec::lanes::{Args, Run, Slot};
use crate::text::types::{Space, Type};

/// A step of a function, for all lanes whose guard holds.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) op: Op,
    pub(crate) guard: Guard,
    /// The line of the text.
    pub(crate) line: u32,
    /// The file and the line of the source, when the text names them.
    pub(crate) source: (u32, u32),
}

/// The predicate that a step depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    Always,
    If(Slot),
    Unless(Slot),
}

/// Which of the register banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Bank {
    Word,
    Long,
    Predicate,
}

impl Bank {
    /// The bank of registers of a type. There is none for 128 bits.
    pub(crate) fn of(kind: Type) -> Option<Self> {
        match (kind, kind.bytes()) {
            (Type::Pred, _) => Some(Self::Predicate),
            (_, 8) => Some(Self::Long),
            (_, 1 | 2 | 4) => Some(Self::Word),
            _ => None,
        }
    }
}

/// A register with its bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) bank: Bank,
    pub(crate) slot: Slot,
}

#[derive(Clone)]
pub(crate) enum Op {
    /// An instruction without side effects.
    Plain(Run, Args),
    Convert(Box<Convert>, Args),
    Branch(u32),
    /// A jump through a table of targets.
    Table(Slot, Box<[u32]>),
    Return,
    Exit,
    Trap,
    Call(Box<Call>),
    Load(Box<Access>),
    Store(Box<Access>),
    Atomic(Box<Atomic>),
    /// A copy that is complete at once: `cp.async`.
    Copy(Box<Copy>),
    Barrier(Box<Barrier>),
    /// Waits for the lanes of a mask.
    SyncWarp(Slot),
    Shuffle(Box<Shuffle>),
    Vote(Box<Vote>),
    /// The lanes that have reached this step.
    Active(Slot),
    /// Reads a clock.
    Clock(Place),
    Fence(Scope),
    /// A pause, in which other warps go on.
    Sleep,
    /// Whether an address is in constant memory, or in global memory: the predicate, the address.
    IsConstant(Slot, Slot, bool),
    /// The rank of the block that a shared address names.
    Rank(Place, Place),
    Cluster(ClusterBarrier),
    Mbarrier(Box<Mbarrier>),
}

/// How far an effect is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    Block,
    Cluster,
    Device,
    System,
}

/// An address: a register and an offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Option<Place>,
    pub(crate) offset: i64,
}

/// A load or a store.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// The size of an element in bytes.
    pub(crate) bytes: u32,
    pub(crate) signed: bool,
    /// The registers of the elements; a load may leave one out.
    pub(crate) places: Vec<Option<Place>>,
    /// Volatile, relaxed, acquire or release: it takes part in synchronisation.
    pub(crate) is_strong: bool,
    pub(crate) releases: bool,
}

/// What an atomic does with the old value and its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    And,
    Or,
    Xor,
    Exchange,
    Compare,
    Add,
    Increment,
    Decrement,
    Min,
    Max,
}

/// An atomic or a reduction.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub(crate) space: Space,
    pub(crate) address: Address,
    pub(crate) change: Change,
    pub(crate) kind: Type,
    /// Where the old value goes.
    pub(crate) old: Option<Place>,
    pub(crate) value: Place,
    pub(crate) second: Option<Place>,
    pub(crate) flushes: bool,
    pub(crate) releases: bool,
}

/// A copy from global to shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub(crate) to: Address,
    pub(crate) from: Address,
    pub(crate) bytes: u32,
    /// How many bytes are read; the others become zero.
    pub(crate) given: Option<Place>,
    /// No byte is read if it holds.
    pub(crate) ignored: Option<Slot>,
}

/// What is left to a barrier's caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Popc,
    And,
    Or,
}

/// A barrier of the block.
#[derive(Clone, Debug)]
pub(crate) struct Barrier {
    pub(crate) number: Place,
    pub(crate) threads: Option<Place>,
    pub(crate) waits: bool,
    pub(crate) is_aligned: bool,
    /// The result, the predicate and whether it is negated.
    pub(crate) reduction: Option<(Reduction, Place, Slot, bool)>,
}

/// Which lane a shuffle reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Debug)]
pub(crate) struct Shuffle {
    pub(crate) direction: Direction,
    pub(crate) to: Slot,
    /// Whether the lane that was read is one.
    pub(crate) valid: Option<Slot>,
    pub(crate) from: Slot,
    pub(crate) lane: Slot,
    pub(crate) clamp: Slot,
    /// The lanes that take part; the old form asks those that are there.
    pub(crate) members: Option<Slot>,
}

/// What a warp finds out together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    All,
    Any,
    Uniform,
    Ballot,
    MatchAny,
    MatchAll,
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Elect,
}

#[derive(Clone, Debug)]
pub(crate) struct Vote {
    pub(crate) question: Question,
    pub(crate) signed: bool,
    pub(crate) to: Option<Place>,
    pub(crate) valid: Option<Slot>,
    pub(crate) value: Place,
    pub(crate) is_negated: bool,
    pub(crate) members: Option<Slot>,
}

/// A barrier of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClusterBarrier {
    Arrive,
    Wait,
}

/// What is done with a barrier in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Init,
    Invalidate,
    Arrive,
    /// Arrives, and the barrier expects one arrival fewer from then on.
    ArriveDrop,
    /// Whether the phase of a state is over.
    TestState,
    /// Whether the phase of a parity is over.
    TestParity,
    /// How many arrivals a state left open.
    Pending,
    /// `cp.async.mbarrier.arrive`: the copies are complete already.
    CopyArrive {
        increments: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Mbarrier {
    pub(crate) phase: Phase,
    pub(crate) to: Option<Place>,
    pub(crate) space: Space,
    pub(crate) address: Address,
    pub(crate) value: Option<Place>,
}

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) results: Vec<Argument>,
}

#[derive(Clone, Debug)]
pub(crate) enum Callee {
    Function(usize),
    /// A function of CUDA's own, such as `vprintf`.
    System(System),
    /// The number of a function, in a register.
    Register(Slot),
}

/// Functions that the driver offers to kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    Printf,
    AssertFail,
    Malloc,
    Free,
}

/// Something handed to a function or back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument {
    /// A register.
    Register(Place),
    /// A piece of the caller's parameter space: its start and its size in bytes.
    Param(u32, u32),
    Sink,
}
