//! From the statements of a function to steps.

use super::names::{Name, Names};
use super::op::{Access, Address, Bank, Guard, Op, Place, Step};
use super::special::{CLOCKS, Special};
use super::{Fill, Module, Value};
use crate::exec::lanes::{Args, Plain, Slot};
use crate::text::ast::{Instruction, Operand, Statement, Variable};
use crate::text::position::{ParseError, Position};
use crate::text::types::{Space, Type};
use std::collections::HashMap;

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
    known: HashMap<(Bank, Value), Slot>,
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
                let start = self.param_bytes.next_multiple_of(align);
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

    pub(super) fn operand<'i>(&self, i: &'i Instruction, n: usize) -> Lowered<&'i Operand> {
        match i.operands.get(n) {
            Some(operand) => Ok(operand),
            None => self.wrong(i, format!("`{}` needs more operands", i.name())),
        }
    }

    /// A new register.
    pub(super) fn fresh(&mut self, bank: Bank) -> Slot {
        let count = match bank {
            Bank::Word => &mut self.words,
            Bank::Long => &mut self.longs,
            Bank::Predicate => &mut self.predicates,
        };
        *count += 1;
        *count - 1
    }

    /// A register that holds a value from the start.
    pub(super) fn constant(&mut self, bank: Bank, value: Value) -> Slot {
        if let Some(slot) = self.known.get(&(bank, value)) {
            return *slot;
        }
        let slot = self.fresh(bank);
        self.fills.push(Fill { bank, slot, value });
        self.known.insert((bank, value), slot);
        slot
    }

    /// A register by its name, with its type.
    pub(super) fn register(&mut self, name: &str) -> Option<(Place, Type)> {
        if name == "_" {
            return None;
        }
        let (kind, place) = self.names.register(name)?;
        if let Some(place) = place {
            return Some((place, kind));
        }
        let bank = Bank::of(kind)?;
        let place = Place {
            bank,
            slot: self.fresh(bank),
        };
        self.names.give(name, place);
        Some((place, kind))
    }

    /// The register that holds an operand of a type. Constants and addresses get registers too.
    pub(super) fn value(&mut self, i: &Instruction, from: &Operand, kind: Type) -> Lowered<Place> {
        let Some(bank) = Bank::of(kind) else {
            return Err(Trouble::NotSimulated);
        };
        let mask = match kind.bytes() {
            8 => !0,
            bytes => (1u64 << (8 * bytes)) - 1,
        };
        let value = match from {
            Operand::Name(name) => {
                if let Some((place, found)) = self.register(name) {
                    return match place.bank == bank && fits(i, found, kind) {
                        true => Ok(place),
                        false => self.wrong(i, mismatch(name, found, kind)),
                    };
                }
                match self.named(i, name, 0)? {
                    Value::Special(_) if matches!(kind, Type::F32 | Type::F64 | Type::Pred) => {
                        return self.wrong(i, format!("`{name}` is an integer"));
                    }
                    value => value,
                }
            }
            Operand::Sum(name, offset) => match self.named(i, name, *offset)? {
                Value::Special(_) => return self.wrong(i, format!("`{name}` has no address")),
                value => value,
            },
            Operand::Integer(value) if bank == Bank::Predicate => {
                Value::Bits(u64::from(*value != 0))
            }
            Operand::Integer(_) if matches!(kind, Type::F32 | Type::F64) => {
                return self.wrong(i, "a float is expected, not an integer");
            }
            Operand::Integer(value) => Value::Bits(value & mask),
            Operand::Float(bits) => match kind {
                Type::F32 | Type::B32 => {
                    Value::Bits(u64::from(crate::text::expression_single(*bits)))
                }
                Type::F64 | Type::B64 => Value::Bits(*bits),
                _ => return self.wrong(i, "an integer is expected, not a float"),
            },
            Operand::Minus(name) => {
                return self.wrong(i, format!("`-{name}` is not an operand"));
            }
            _ => {
                return self.wrong(
                    i,
                    format!("an operand of `{}` is of a wrong form", i.name()),
                );
            }
        };
        let is_address = !matches!(value, Value::Bits(_) | Value::Special(_));
        let takes_address = matches!(i.opcode.as_str(), "mov" | "cvta") && bank != Bank::Predicate;
        if is_address && !takes_address {
            return self.wrong(
                i,
                format!("an operand of `{}` must be a register", i.name()),
            );
        }
        Ok(Place {
            bank,
            slot: self.constant(bank, value),
        })
    }

    /// What a name that is no register stands for.
    pub(super) fn named(&mut self, i: &Instruction, name: &str, offset: i64) -> Lowered<Value> {
        if let Some(found) = self.names.find(name) {
            return match found {
                Name::Param(start, _) => Ok(Value::Param(i64::from(start).wrapping_add(offset))),
                Name::Local(start) => Ok(Value::Local(i64::from(start).wrapping_add(offset))),
                Name::Variable(index) => Ok(Value::Variable(index, offset)),
                Name::Shared(index) => {
                    self.shared.push(index);
                    Ok(Value::Shared(index, offset))
                }
                Name::Register(_) | Name::Vector(..) => Err(Trouble::NotSimulated),
                Name::Prototype => self.wrong(i, format!("`{name}` is a prototype")),
            };
        }
        if let Some(index) = self.module.variable_index(name) {
            return Ok(Value::Variable(index, offset));
        }
        if let Some(index) = self.module.shared_index(name) {
            self.shared.push(index);
            return Ok(Value::Shared(index, offset));
        }
        if let Some(index) = self.module.function_index(name) {
            return Ok(Value::Function(index));
        }
        if let Some(special) = Special::of(name) {
            return Ok(Value::Special(special));
        }
        let base = name.split('.').next().unwrap_or(name);
        let is_known = CLOCKS.contains(&name) || base.starts_with("%pm");
        match is_known || self.module.is_unsupported(name) {
            true => Err(Trouble::NotSimulated),
            false => self.wrong(i, format!("`{name}` is not declared")),
        }
    }

    /// The operand as a register of a type that is read.
    pub(super) fn source(&mut self, i: &Instruction, n: usize, kind: Type) -> Lowered<Slot> {
        let operand = self.operand(i, n)?;
        Ok(self.value(i, operand, kind)?.slot)
    }

    /// The operand as a register of a type that is written. A sink is a register of its own.
    pub(super) fn target(&mut self, i: &Instruction, n: usize, kind: Type) -> Lowered<Slot> {
        let operand = self.operand(i, n)?;
        self.written(i, operand, kind)
    }

    pub(super) fn written(&mut self, i: &Instruction, to: &Operand, kind: Type) -> Lowered<Slot> {
        let Some(bank) = Bank::of(kind) else {
            return Err(Trouble::NotSimulated);
        };
        match to {
            Operand::Sink => Ok(self.fresh(bank)),
            Operand::Name(name) => match self.register(name) {
                Some((place, found)) if place.bank == bank && fits(i, found, kind) => {
                    Ok(place.slot)
                }
                Some((_, found)) => self.wrong(i, mismatch(name, found, kind)),
                None if self.is_wide(name) => Err(Trouble::NotSimulated),
                None => self.wrong(i, format!("`{name}` is not a register")),
            },
            _ => self.wrong(
                i,
                format!("the destination of `{}` is not a register", i.name()),
            ),
        }
    }

    fn is_wide(&self, name: &str) -> bool {
        self.names
            .register(name)
            .is_some_and(|(kind, _)| Bank::of(kind).is_none())
    }

    /// A register of any width that is at least as wide as a type, for loads, stores, conversions.
    pub(super) fn wide(&mut self, i: &Instruction, from: &Operand, kind: Type) -> Lowered<Place> {
        if let Operand::Name(name) = from {
            if let Some((place, found)) = self.register(name) {
                let is_wide = found.bytes() >= kind.bytes() && place.bank != Bank::Predicate;
                let is_wide = is_wide && are_alike(found, kind);
                return match is_wide {
                    true => Ok(place),
                    false => self.wrong(i, mismatch(name, found, kind)),
                };
            }
            if self.is_wide(name) {
                return Err(Trouble::NotSimulated);
            }
        }
        self.value(i, from, kind)
    }

    /// A register of any width that is written.
    pub(super) fn wide_written(
        &mut self,
        i: &Instruction,
        to: &Operand,
        kind: Type,
    ) -> Lowered<Place> {
        match to {
            Operand::Name(name) if self.names.register(name).is_some() => self.wide(i, to, kind),
            Operand::Sink => {
                let bank = Bank::of(kind).ok_or(Trouble::NotSimulated)?;
                let slot = self.fresh(bank);
                Ok(Place { bank, slot })
            }
            _ => self.wrong(
                i,
                format!("the destination of `{}` is not a register", i.name()),
            ),
        }
    }

    pub(super) fn wide_target(&mut self, i: &Instruction, n: usize, kind: Type) -> Lowered<Place> {
        let operand = self.operand(i, n)?;
        self.wide_written(i, operand, kind)
    }

    /// A register of 64 bits with the value of one of 32.
    pub(super) fn widened(&mut self, a: Slot) -> Slot {
        let d = self.fresh(Bank::Long);
        let widen = crate::exec::lanes::run!(|a: u32| -> u64 { u64::from(a) });
        self.emit(Op::Plain(
            widen.run,
            Args {
                d,
                a,
                ..Args::default()
            },
        ));
        d
    }

    /// A predicate that is read. A negated one is computed first.
    pub(super) fn predicate(&mut self, i: &Instruction, from: &Operand) -> Lowered<Slot> {
        let Operand::Not(name) = from else {
            return Ok(self.value(i, from, Type::Pred)?.slot);
        };
        let a = self
            .value(i, &Operand::Name(name.clone()), Type::Pred)?
            .slot;
        let d = self.fresh(Bank::Predicate);
        let not = crate::exec::lanes::run!(|a: bool| -> bool { !a });
        self.emit(Op::Plain(
            not.run,
            Args {
                d,
                a,
                ..Args::default()
            },
        ));
        Ok(d)
    }

    /// Emits an instruction without side effects, whose operands stand in the usual order.
    pub(super) fn plain(&mut self, i: &Instruction, plain: Plain) -> Lowered<()> {
        let mut slots = [0; 6];
        if i.operands.len() != plain.types.len() {
            let message = format!("`{}` takes {} operands", i.name(), plain.types.len());
            return self.wrong(i, message);
        }
        for (n, (slot, kind)) in slots.iter_mut().zip(plain.types).enumerate() {
            *slot = match (n, kind) {
                (0, _) => self.target(i, n, *kind)?,
                (_, Type::Pred) => {
                    let operand = self.operand(i, n)?;
                    self.predicate(i, operand)?
                }
                _ => self.source(i, n, *kind)?,
            };
        }
        let [d, a, b, c, e, _] = slots;
        self.emit(Op::Plain(
            plain.run,
            Args {
                d,
                q: 0,
                a,
                b,
                c,
                e,
            },
        ));
        Ok(())
    }

    /// An address operand.
    pub(super) fn address(&mut self, i: &Instruction, n: usize, space: Space) -> Lowered<Address> {
        let (base, offset) = match self.operand(i, n)? {
            Operand::Address { base, offset, more } if more.is_empty() => (base, *offset),
            _ => return self.wrong(i, "an address is expected"),
        };
        let Some(name) = base else {
            return match space {
                Space::Local => Ok(Address { base: None, offset }),
                _ => self.wrong(i, "the address names no register and no variable"),
            };
        };
        if let Some((place, kind)) = self.register(name) {
            let is_short = !matches!(space, Space::Global | Space::Generic);
            let is_wide = kind.bytes() == 8 || is_short && kind.bytes() == 4;
            return match is_wide && place.bank != Bank::Predicate && are_alike(kind, Type::U64) {
                true => Ok(Address {
                    base: Some(place),
                    offset,
                }),
                false => self.wrong(i, format!("`{name}` is too narrow for an address")),
            };
        }
        let value = self.named(i, name, offset)?;
        let is_there = match value {
            Value::Param(_) => space == Space::Param,
            Value::Local(_) => space == Space::Local,
            Value::Shared(..) => space == Space::Shared,
            Value::Variable(..) => matches!(space, Space::Global | Space::Const | Space::Generic),
            _ => false,
        };
        if !is_there {
            return self.wrong(i, format!("`{name}` is in another state space"));
        }
        let slot = self.constant(Bank::Long, value);
        let base = Some(Place {
            bank: Bank::Long,
            slot,
        });
        Ok(Address { base, offset: 0 })
    }

    /// Emits a load or a store of a function's parameters.
    pub(super) fn emit_access(&mut self, access: Access, is_load: bool) {
        let access = Box::new(access);
        self.emit(if is_load {
            Op::Load(access)
        } else {
            Op::Store(access)
        });
    }
}

/// Whether a register of a type can stand where an instruction asks for another.
fn fits(i: &Instruction, found: Type, asked: Type) -> bool {
    // An instruction on bits takes registers of any type of the size.
    let takes_bits = i.types().any(is_bits);
    found.bytes() == asked.bytes()
        && (found == Type::Pred) == (asked == Type::Pred)
        && (takes_bits || are_alike(found, asked))
}

fn is_bits(kind: Type) -> bool {
    matches!(
        kind,
        Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128
    )
}

/// Whether both are integers or both floats, or one is only bits.
fn are_alike(a: Type, b: Type) -> bool {
    let is_integer = |kind: Type| {
        use Type::{S8, S16, S32, S64, U8, U16, U32, U64};
        matches!(kind, S8 | S16 | S32 | S64 | U8 | U16 | U32 | U64)
    };
    is_bits(a) || is_bits(b) || is_integer(a) == is_integer(b)
}

fn mismatch(name: &str, found: Type, asked: Type) -> String {
    let (found, asked) = (found.name(), asked.name());
    format!("`{name}` is of type .{found}, which does not fit .{asked}")
}
