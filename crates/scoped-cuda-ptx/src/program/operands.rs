//! The operands of an instruction as registers.

use super::Fill;
use super::Value;
use super::lower::{Lower, Lowered, Trouble};
use super::names::Name;
use super::op::{Access, Address, Bank, Op, Place};
use super::special::{CLOCKS, Special};
use crate::exec::lanes::{Args, Plain, Slot, run};
use crate::text::ast::{Instruction, Operand};
use crate::text::types::{Space, Type};

impl Lower<'_> {
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
        self.constants.insert((bank, slot));
        slot
    }

    /// The type of an operand that is a register.
    pub(super) fn type_of(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Name(name) => self.names.register(name).map(|(kind, _)| kind),
            _ => None,
        }
    }

    /// The bank of an operand that is a register.
    pub(super) fn bank_of(&self, operand: &Operand) -> Option<Bank> {
        self.type_of(operand).and_then(Bank::of)
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
        let widen = run!(|a: u32| -> u64 { u64::from(a) });
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
        let not = run!(|a: bool| -> bool { !a });
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
pub(super) fn fits(i: &Instruction, found: Type, asked: Type) -> bool {
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
