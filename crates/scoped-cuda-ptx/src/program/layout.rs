//! Sizes of variables, and their first bytes.

use super::{ModuleVariable, Relocation};
use crate::text::ast::{Initial, Variable};
use crate::text::position::ParseError;
use crate::text::types::Type;

/// The most bytes of a function's parameters, of its local variables, and of a variable.
pub(crate) const PARAM_BYTES_MAX: u32 = 1 << 20;
pub(crate) const LOCAL_BYTES_MAX: u32 = 1 << 24;
const VARIABLE_BYTES_MAX: u64 = 1 << 31;
/// An initialiser may fill a variable up to this size.
const INITIAL_BYTES_MAX: u64 = 1 << 28;

/// The size and the alignment of a variable in bytes.
pub(super) fn size(variable: &Variable) -> Option<(u32, u32)> {
    let element = variable.kind.bytes().checked_mul(variable.vector.into())?;
    let mut bytes = u64::from(element);
    for extent in &variable.extents {
        bytes = bytes
            .checked_mul(*extent)
            .filter(|bytes| *bytes <= VARIABLE_BYTES_MAX)?;
    }
    let align = variable.align.unwrap_or(element).max(1);
    Some((u32::try_from(bytes).ok()?, align.next_power_of_two()))
}

/// Writes the first bytes of a variable.
pub(super) fn initialise(variable: &Variable, to: &mut ModuleVariable) -> Result<(), ParseError> {
    let Some(initial) = &variable.initial else {
        return Ok(());
    };
    let wrong = |message: &str| Err(ParseError::new(variable.at, message));
    let element = u64::from(variable.kind.bytes());
    if to.bytes == 0 && variable.extents.first() == Some(&0) {
        // `x[] = {..}` is as long as its values.
        if let Initial::List(values) = initial {
            let rest: u64 = variable.extents.iter().skip(1).product();
            let scalars = match rest {
                1 => values.len() as u64 * u64::from(variable.vector),
                _ => values.len() as u64 * rest,
            };
            to.bytes = element.saturating_mul(scalars).min(INITIAL_BYTES_MAX);
        }
    }
    if to.bytes > INITIAL_BYTES_MAX {
        return wrong("the variable is too large for an initialiser");
    }
    to.initial = vec![0; to.bytes as usize];
    let mut extents: Vec<u64> = variable.extents.clone();
    if let Some(first) = extents.first_mut().filter(|first| **first == 0) {
        *first = u64::MAX;
    }
    if variable.vector > 1 {
        extents.push(variable.vector.into());
    }
    fill(variable, to, initial, &extents, 0)
}

/// Fills one level of an array; missing values are zero.
fn fill(
    variable: &Variable,
    to: &mut ModuleVariable,
    initial: &Initial,
    extents: &[u64],
    start: u64,
) -> Result<(), ParseError> {
    let wrong = |message: &str| Err(ParseError::new(variable.at, message));
    match (initial, extents.split_first()) {
        (Initial::List(values), Some((extent, inner))) => {
            if values.len() as u64 > *extent {
                return wrong("there are more values than elements");
            }
            let element = u64::from(variable.kind.bytes());
            let stride = inner.iter().product::<u64>().saturating_mul(element);
            for (n, value) in values.iter().enumerate() {
                let place = start.saturating_add(stride.saturating_mul(n as u64));
                fill(variable, to, value, inner, place)?;
            }
            Ok(())
        }
        (Initial::List(_), None) => wrong("there are more braces than extents"),
        (value, None) => scalar(variable, to, value, start),
        (_, Some(_)) => wrong("the values of an array stand in braces"),
    }
}

fn scalar(
    variable: &Variable,
    to: &mut ModuleVariable,
    value: &Initial,
    start: u64,
) -> Result<(), ParseError> {
    let wrong = |message: &str| Err(ParseError::new(variable.at, message));
    let bytes = variable.kind.bytes() as usize;
    let bits = match value {
        Initial::Integer(_) if matches!(variable.kind, Type::F32 | Type::F64) => {
            return wrong("a float is expected, not an integer");
        }
        Initial::Integer(value) => *value,
        Initial::Float(bits) => match variable.kind {
            Type::F32 | Type::B32 => u64::from(crate::text::expression_single(*bits)),
            Type::F64 | Type::B64 => *bits,
            _ => return wrong("an integer is expected, not a float"),
        },
        Initial::Address {
            symbol,
            offset,
            generic,
            mask,
        } => {
            if bytes != 8 && mask.is_none() {
                return wrong("an address does not fit");
            }
            to.relocations.push(Relocation {
                at: start,
                bytes: bytes as u32,
                symbol: symbol.clone(),
                offset: *offset,
                generic: *generic,
                mask: *mask,
            });
            return Ok(());
        }
        Initial::List(_) => return Ok(()),
    };
    let start = start as usize;
    let place = start
        .checked_add(bytes)
        .and_then(|end| to.initial.get_mut(start..end));
    match place {
        Some(place) => {
            for (to, from) in place.iter_mut().zip(bits.to_le_bytes()) {
                *to = from;
            }
            Ok(())
        }
        None => wrong("there are more values than elements"),
    }
}
