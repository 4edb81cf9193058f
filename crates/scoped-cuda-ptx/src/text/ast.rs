//! What a text says, in the order in which it says it.

use super::position::Position;
use super::types::{Space, Type};

/// A whole text.
#[derive(Debug, Default)]
pub(crate) struct Source {
    pub(crate) version: (u32, u32),
    pub(crate) target: String,
    /// The names of the source files, by their number.
    pub(crate) files: Vec<(u32, String)>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) functions: Vec<Function>,
    pub(crate) aliases: Vec<(String, String)>,
}

/// Who may see a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Linkage {
    #[default]
    Internal,
    Extern,
    Visible,
    Weak,
    Common,
}

/// A declaration of a variable, a parameter or registers.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) linkage: Linkage,
    pub(crate) space: Space,
    pub(crate) align: Option<u32>,
    pub(crate) kind: Type,
    /// How many components: 1, 2, 4 or 8.
    pub(crate) vector: u8,
    pub(crate) name: String,
    /// The extents of an array; the first may be open, which is zero here.
    pub(crate) extents: Vec<u64>,
    /// `%r<10>` declares ten.
    pub(crate) count: Option<u32>,
    pub(crate) pointer: Option<Pointer>,
    pub(crate) initial: Option<Initial>,
    pub(crate) at: Position,
}

/// What `.ptr` says of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// Where it points.
    pub space: Space,
    /// The alignment of what it points to, in bytes.
    pub align: u32,
}

/// The first value of a variable.
#[derive(Clone, Debug)]
pub(crate) enum Initial {
    Integer(u64),
    /// The bits of a double.
    Float(u64),
    Address {
        symbol: String,
        offset: i64,
        generic: bool,
        /// Which byte of the address, when only one is wanted.
        mask: Option<u64>,
    },
    List(Vec<Initial>),
}

/// A function or a kernel.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) is_entry: bool,
    pub(crate) name: String,
    pub(crate) returns: Vec<Variable>,
    pub(crate) parameters: Vec<Variable>,
    /// `.maxntid 128, 1, 1` and others, with their numbers.
    pub(crate) attributes: Vec<(String, Vec<u32>)>,
    pub(crate) body: Option<Vec<Statement>>,
    pub(crate) at: Position,
}

/// A step of a body. Blocks are flat: they open and close.
#[derive(Debug)]
pub(crate) enum Statement {
    Open,
    Close,
    Label(String, Position),
    Declare(Variable),
    Instruction(Instruction),
    Source { file: u32, line: u32 },
    Prototype(String),
    Targets { name: String, labels: Vec<String> },
}

/// An instruction as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    /// The predicate's name, and whether it is negated.
    pub(crate) guard: Option<(String, bool)>,
    pub(crate) opcode: String,
    /// The words after dots, in order.
    pub(crate) modifiers: Vec<String>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) at: Position,
}

/// What an instruction works on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    /// A register, a variable, a label or a function.
    Name(String),
    /// `!%p`
    Not(String),
    /// `-%r`, of old texts
    Minus(String),
    Integer(u64),
    /// The bits of a double.
    Float(u64),
    Vector(Vec<Operand>),
    Address {
        base: Option<String>,
        offset: i64,
        more: Vec<Operand>,
    },
    /// `name+4`: the address of a variable, with an offset.
    Sum(String, i64),
    Group(Vec<Operand>),
    /// `%p|%q`
    Pair(String, String),
    /// `_`
    Sink,
}

impl Source {
    /// Adds what another text says.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.version = self.version.max(other.version);
        if self.target.is_empty() {
            self.target = other.target;
        }
        self.files.extend(other.files);
        self.variables.extend(other.variables);
        self.functions.extend(other.functions);
        self.aliases.extend(other.aliases);
    }
}

impl Instruction {
    pub(crate) fn has(&self, word: &str) -> bool {
        self.modifiers.iter().any(|modifier| modifier == word)
    }

    /// The types among the modifiers, in order.
    pub(crate) fn types(&self) -> impl Iterator<Item = Type> + '_ {
        self.modifiers.iter().filter_map(|word| Type::of(word))
    }

    /// The opcode with its modifiers.
    pub(crate) fn name(&self) -> String {
        let mut name = self.opcode.clone();
        for modifier in &self.modifiers {
            name.push('.');
            name.push_str(modifier);
        }
        name
    }
}
