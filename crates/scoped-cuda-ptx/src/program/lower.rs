//! From the statements of a function to steps.

use super::names::{Name, Names};
use super::op::{Bank, Guard, Op, Place, Step};
use super::{Fill, Module, Value};
use crate::exec::lanes::Slot;
use crate::text::ast::{Instruction, Operand, Statement, Variable};
use crate::text::position::{ParseError, Position};
use crate::text::types::{Space, Type};
use std::collections::{HashMap, HashSet};

/// Why an instruction has no steps.
pub(super) enum Trouble {
    Wrong(ParseError),
    NotSimulated,
}

pub(super) type Lowered<T> = Result<T, Trouble>;

/// What a jump goes to, before the order of the blocks is known.
pub(super) struct Jump {
    pub(super) step: usize,
    pub(super) entry: usize,
    pub(super) target: usize,
}

/// A function in the making.
pub(super) struct Lower<'a> {
    pub(super) module: &'a Module,
    pub(super) names: Names,
    pub(super) steps: Vec<Step>,
    pub(super) fills: Vec<Fill>,
    pub(super) known: HashMap<(Bank, Value), Slot>,
    /// Registers that hold the same from the start to the end.
    pub(super) constants: HashSet<(Bank, Slot)>,
    /// How many instructions may write each register.
    writes: HashMap<String, u32>,
    /// How many registers there are in each bank.
    pub(super) words: Slot,
    pub(super) longs: Slot,
    pub(super) predicates: Slot,
    /// The bytes of the frame's parameters and of its local variables.
    pub(super) param_bytes: u32,
    pub(super) local_bytes: u32,
    pub(super) local_align: u32,
    pub(super) calls: Vec<usize>,
    pub(super) calls_indirectly: bool,
    pub(super) shared: Vec<usize>,
    /// A branch's step, its entry in a table, its scope, its label.
    pending: Vec<(usize, usize, usize, String, Position)>,
    labels: HashMap<(usize, String), usize>,
    pub(super) jumps: Vec<Jump>,
    pub(super) tables: HashMap<String, Vec<String>>,
    pub(super) is_entry: bool,
    /// Parameters lie close together: those of a kernel.
    pub(super) is_packed: bool,
    /// The bytes of the formal parameters, which come first.
    pub(super) formal_bytes: u32,
    guard: Guard,
    line: u32,
    source: (u32, u32),
}

impl<'a> Lower<'a> {
    pub(super) fn new(module: &'a Module, is_entry: bool) -> Self {
        Self {
            module,
            names: Names::new(),
            steps: Vec::new(),
            fills: Vec::new(),
            known: HashMap::new(),
            constants: HashSet::new(),
            writes: HashMap::new(),
            words: 0,
            longs: 0,
            // The first is the carry flag.
            predicates: 1,
            param_bytes: 0,
            local_bytes: 0,
            local_align: 1,
            calls: Vec::new(),
            calls_indirectly: false,
            shared: Vec::new(),
            pending: Vec::new(),
            labels: HashMap::new(),
            jumps: Vec::new(),
            tables: HashMap::new(),
            is_entry,
            is_packed: is_entry,
            formal_bytes: 0,
            guard: Guard::Always,
            line: 0,
            source: (0, 0),
        }
    }

    /// Lowers a body. The result says which instruction is not simulated, if one is not.
    pub(super) fn body(&mut self, body: &[Statement]) -> Result<Option<(String, u32)>, ParseError> {
        let mut missing = None;
        self.label_scopes(body)?;
        self.count_writes(body);
        for statement in body {
            match statement {
                Statement::Open => self.names.open(),
                Statement::Close => self.names.close(),
                Statement::Label(name, _) => {
                    self.labels
                        .insert((self.names.scope(), name.clone()), self.steps.len());
                }
                Statement::Declare(variable) => self.declare(variable)?,
                Statement::Source { file, line } => self.source = (*file, *line),
                Statement::Prototype(name) => {
                    self.names.declare(name, Name::Prototype);
                }
                Statement::Targets { name, labels } => {
                    self.tables.insert(name.clone(), labels.clone());
                }
                Statement::Instruction(i) => match self.instruction(i) {
                    Ok(()) => {}
                    Err(Trouble::Wrong(error)) => return Err(error),
                    Err(Trouble::NotSimulated) => {
                        missing = missing.or_else(|| Some((i.name(), i.at.line)));
                    }
                },
            }
        }
        self.guard = Guard::Always;
        self.emit(Op::Return);
        self.resolve()?;
        Ok(missing)
    }

    /// Tells which scopes have which labels, so that branches forward find theirs.
    fn label_scopes(&mut self, body: &[Statement]) -> Result<(), ParseError> {
        let mut scopes = Names::new();
        for statement in body {
            match statement {
                Statement::Open => scopes.open(),
                Statement::Close => scopes.close(),
                Statement::Label(name, at) => {
                    let place = (scopes.scope(), name.clone());
                    if self.labels.insert(place, usize::MAX).is_some() {
                        let message = format!("the label `{name}` stands here again");
                        return Err(ParseError::new(*at, message));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Counts for every register the instructions whose first operand it is, or is in.
    fn count_writes(&mut self, body: &[Statement]) {
        let mut count = |name: &String| *self.writes.entry(name.clone()).or_default() += 1;
        for statement in body {
            let Statement::Instruction(i) = statement else {
                continue;
            };
            match i.operands.first() {
                Some(Operand::Name(name)) => count(name),
                Some(Operand::Pair(first, second)) => {
                    count(first);
                    count(second);
                }
                Some(Operand::Vector(operands) | Operand::Group(operands)) => {
                    for operand in operands {
                        if let Operand::Name(name) = operand {
                            count(name);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Lets a register that is written once, with what never changes, stand for that. Whether it
    /// does.
    pub(super) fn is_alias(&mut self, to: &Operand, from: Place) -> bool {
        let Operand::Name(name) = to else {
            return false;
        };
        let is_fresh = matches!(self.names.register(name), Some((kind, None))
            if Bank::of(kind) == Some(from.bank));
        let is_constant = self.constants.contains(&(from.bank, from.slot));
        let is_once = self.writes.get(name) == Some(&1) && self.guard == Guard::Always;
        let is_alias = is_fresh && is_constant && is_once;
        if is_alias {
            self.names.give(name, from);
        }
        is_alias
    }

    fn resolve(&mut self) -> Result<(), ParseError> {
        for (step, entry, scope, label, at) in std::mem::take(&mut self.pending) {
            let mut place = Some(scope);
            let target = loop {
                let Some(scope) = place else { break None };
                if let Some(target) = self.labels.get(&(scope, label.clone())) {
                    break Some(*target);
                }
                place = self.names.parent(scope);
            };
            match target {
                Some(target) => self.jumps.push(Jump {
                    step,
                    entry,
                    target,
                }),
                None => return Err(ParseError::new(at, format!("there is no label `{label}`"))),
            }
        }
        Ok(())
    }

    /// Notes that the next step jumps to a label.
    pub(super) fn jump(&mut self, entry: usize, label: &str, at: Position) {
        let place = (
            self.steps.len(),
            entry,
            self.names.scope(),
            label.to_owned(),
            at,
        );
        self.pending.push(place);
    }

    pub(super) fn emit(&mut self, op: Op) {
        self.steps.push(Step {
            op,
            guard: self.guard,
            line: self.line,
            source: self.source,
        });
    }

    fn instruction(&mut self, i: &Instruction) -> Lowered<()> {
        self.line = i.at.line;
        self.guard = match &i.guard {
            None => Guard::Always,
            Some((name, is_negated)) => {
                let operand = Operand::Name(name.clone());
                let slot = self.value(i, &operand, Type::Pred)?.slot;
                match is_negated {
                    false => Guard::If(slot),
                    true => Guard::Unless(slot),
                }
            }
        };
        super::table::lower(self, i)
    }

    pub(super) fn declare(&mut self, variable: &Variable) -> Result<(), ParseError> {
        let wrong = |message: &str| Err(ParseError::new(variable.at, message));
        if self
            .names
            .is_taken(&variable.name, variable.count.is_some())
        {
            return wrong(&format!("`{}` is declared already", variable.name));
        }
        let name = match variable.space {
            Space::Reg if variable.vector > 1 => {
                for component in ["x", "y", "z", "w"].iter().take(variable.vector.into()) {
                    let name = format!("{}.{component}", variable.name);
                    self.names.declare(&name, Name::Register(variable.kind));
                }
                Name::Vector(variable.kind, variable.vector)
            }
            Space::Reg => match variable.count {
                Some(count) => {
                    self.names
                        .declare_many(&variable.name, variable.kind, count);
                    return Ok(());
                }
                None => Name::Register(variable.kind),
            },
            Space::Param => {
                let Some((bytes, align)) = super::layout::size(variable) else {
                    return wrong("the parameter is too large");
                };
                // Calls copy whole words. A kernel's parameters lie as the host lays them out.
                let least = if self.is_packed { 1 } else { 4 };
                let start = self.param_bytes.next_multiple_of(align.max(least));
                self.param_bytes = start.saturating_add(bytes);
                if self.param_bytes > super::layout::PARAM_BYTES_MAX {
                    return wrong("the parameters are too large");
                }
                Name::Param(start, bytes)
            }
            Space::Local => {
                let Some((bytes, align)) = super::layout::size(variable) else {
                    return wrong("the variable is too large");
                };
                let start = self.local_bytes.next_multiple_of(align);
                self.local_bytes = start.saturating_add(bytes);
                self.local_align = self.local_align.max(align);
                if self.local_bytes > super::layout::LOCAL_BYTES_MAX {
                    return wrong("the local variables are too large");
                }
                Name::Local(start)
            }
            // The module knows those of other spaces.
            _ => match self.module.local_variable(variable.at) {
                Some(name) => name,
                None => return wrong("the variable cannot stand here"),
            },
        };
        self.names.declare(&variable.name, name);
        Ok(())
    }

    pub(super) fn wrong<T>(&self, i: &Instruction, message: impl Into<String>) -> Lowered<T> {
        Err(Trouble::Wrong(ParseError::new(i.at, message)))
    }
}
