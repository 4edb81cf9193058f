//! A module in the form that is executed.

mod bits;
mod carry;
mod compare;
mod control;
pub(crate) mod convert;
mod float;
mod grammar;
mod half;
mod integer;
mod kernel;
mod layout;
mod lower;
mod memory;
mod module;
mod names;
pub(crate) mod op;
mod operands;
mod order;
pub(crate) mod special;
mod sync;
mod table;
mod warp;

use crate::exec::exact::Mode;
use crate::exec::lanes::Slot;
use crate::text::ast::Instruction;
use crate::text::position::Position;
pub use kernel::{Kernel, Parameter, Pointer};
use names::Name;
use op::{Bank, Step};
use special::Special;
use std::collections::HashMap;
use std::fmt;

/// Where generic addresses of shared, local and parameter memory begin. No allocation lies there.
pub(crate) const SHARED_WINDOW: u64 = 0x8000_0000_0000_0000;
pub(crate) const LOCAL_WINDOW: u64 = 0x9000_0000_0000_0000;
pub(crate) const PARAM_WINDOW: u64 = 0xA000_0000_0000_0000;
/// The bits of an address that tell the window.
pub(crate) const WINDOW: u64 = 0xF000_0000_0000_0000;
/// Addresses of a block's own shared memory end here; beyond are those of the cluster's blocks.
pub(crate) const SHARED_BYTES: u64 = 1 << 24;

/// How an instruction rounds.
pub(crate) fn mode(i: &Instruction) -> Mode {
    let found = i.modifiers.iter().find_map(|word| {
        Some(match word.as_str() {
            "rn" | "rni" => Mode::Nearest,
            "rna" => Mode::NearestAway,
            "rz" | "rzi" => Mode::Zero,
            "rm" | "rmi" => Mode::Down,
            "rp" | "rpi" => Mode::Up,
            _ => return None,
        })
    });
    found.unwrap_or(Mode::Nearest)
}

/// What a register holds from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    Bits(u64),
    /// The address of a module's variable, and an offset.
    Variable(usize, i64),
    /// The address of a shared variable, and an offset.
    Shared(usize, i64),
    Local(i64),
    Param(i64),
    /// A kernel's parameter: where it is, its size in bytes, whether it has a sign.
    Given(u32, u8, bool),
    /// The number of a function, from one.
    Function(usize),
    Special(Special),
}

/// A register with what it holds from the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub(crate) bank: Bank,
    pub(crate) slot: Slot,
    pub(crate) value: Value,
}

/// A text that was read and lowered.
#[derive(Default)]
pub struct Module {
    version: (u32, u32),
    target: String,
    pub(crate) files: HashMap<u32, String>,
    variables: Vec<ModuleVariable>,
    pub(crate) shared: Vec<SharedVariable>,
    pub(crate) functions: Vec<Function>,
    variable_names: HashMap<String, usize>,
    shared_names: HashMap<String, usize>,
    function_names: HashMap<String, usize>,
    unsupported: HashMap<String, Position>,
    /// Variables that stand in functions, by their place in the text.
    inner: HashMap<(u32, u32), Name>,
}

/// A variable of a module in global or constant memory.
#[derive(Clone, Debug)]
pub struct ModuleVariable {
    /// Its name.
    pub name: String,
    /// Whether it is in constant memory.
    pub is_constant: bool,
    /// Whether another module defines it.
    pub is_extern: bool,
    /// Whether the host can find it by its name.
    pub is_visible: bool,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its alignment in bytes.
    pub align: u32,
    /// Its first bytes. It is empty when the text gives none: the variable is zero then.
    pub initial: Vec<u8>,
    /// Addresses that belong into the first bytes.
    pub relocations: Vec<Relocation>,
}

/// An address in a variable's first bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where it stands, in bytes from the start of the variable.
    pub at: u64,
    /// Its size in bytes.
    pub bytes: u32,
    /// What it is the address of.
    pub symbol: String,
    /// What is added to it.
    pub offset: i64,
    /// Whether it is generic.
    pub generic: bool,
    /// The byte of the address that is kept, as a mask, if only one is.
    pub mask: Option<u64>,
}

/// A variable in shared memory.
#[derive(Clone, Debug)]
pub(crate) struct SharedVariable {
    pub(crate) bytes: u32,
    pub(crate) align: u32,
    /// It begins where the static variables end, and is as large as the launch says.
    pub(crate) is_dynamic: bool,
}

/// A kernel or a function.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) is_entry: bool,
    pub(crate) line: u32,
    pub(crate) steps: Vec<Step>,
    pub(crate) fills: Vec<Fill>,
    pub(crate) words: u32,
    pub(crate) longs: u32,
    pub(crate) predicates: u32,
    pub(crate) param_bytes: u32,
    pub(crate) local_bytes: u32,
    /// The parts of the parameter space, or the registers, that take what a call hands over.
    pub(crate) formals: Vec<op::Argument>,
    pub(crate) returns: Vec<op::Argument>,
    pub(crate) parameters: Vec<Parameter>,
    /// The bytes of the parameters.
    pub(crate) formal_bytes: u32,
    pub(super) attributes: Vec<(String, Vec<u32>)>,
    pub(super) calls: Vec<usize>,
    pub(super) calls_indirectly: bool,
    pub(super) shared: Vec<usize>,
    pub(super) has_body: bool,
    pub(super) missing: Option<(String, u32)>,
}

/// An instruction of a kernel is not simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSimulated {
    /// The instruction with its modifiers, or the function that has no body.
    pub instruction: String,
    /// The line of the text, from one.
    pub line: u32,
}

impl fmt::Display for NotSimulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` in line {} is not simulated",
            self.instruction, self.line
        )
    }
}

impl std::error::Error for NotSimulated {}
