//! Shuffles, votes and what else the lanes of a warp find out together.

use super::access::each;
use super::lanes::{Registers, WARP};
use super::warp::Fault;
use crate::check::Class;
use crate::program::op::{Bank, Direction, Place, Question, Shuffle, Vote};

/// The lanes that an instruction names. All lanes that execute it must be among them.
pub(crate) fn members(registers: &Registers, slot: u32, mask: u32) -> Result<u32, Box<Fault>> {
    let row = registers.word(slot);
    for lane in each(mask) {
        if row[lane] >> lane & 1 == 0 {
            return Err(Fault::new(Class::WarpDivergence, lane as u32));
        }
    }
    Ok(row[(mask.trailing_zeros() & 31) as usize])
}

/// Each lane reads a register of another one.
pub(crate) fn shuffle(
    registers: &mut Registers,
    shuffle: &Shuffle,
    mask: u32,
    _alive: u32,
) -> Result<(), Box<Fault>> {
    let (from, by, clamp) = (
        *registers.word(shuffle.from),
        *registers.word(shuffle.lane),
        *registers.word(shuffle.clamp),
    );
    let (mut to, mut valid) = ([0; WARP], 0u32);
    for lane in each(mask) {
        let own = lane as i64;
        let (by, clamp, segment) = (
            i64::from(by[lane] & 31),
            clamp[lane] & 31,
            clamp[lane] >> 8 & 31,
        );
        let last = i64::from((lane as u32 & segment) | (clamp & !segment));
        let first = i64::from(lane as u32 & segment);
        let (source, is_valid) = match shuffle.direction {
            Direction::Up => (own - by, own - by >= last),
            Direction::Down => (own + by, own + by <= last),
            Direction::Butterfly => (own ^ by, own ^ by <= last),
            Direction::Index => {
                let source = first | (by & !i64::from(segment));
                (source, source <= last)
            }
        };
        let source = if is_valid { source } else { own };
        let source = (source & 31) as usize;
        if mask >> source & 1 == 0 {
            return Err(Fault::new(Class::InactiveLane, lane as u32));
        }
        to[lane] = from[source];
        valid |= u32::from(is_valid) << lane;
    }
    registers.set_words(shuffle.to, &to, mask);
    if let Some(slot) = shuffle.valid {
        registers.set_predicate(slot, valid, mask);
    }
    Ok(())
}

/// The lanes answer a question together.
pub(crate) fn vote(registers: &mut Registers, vote: &Vote, mask: u32) {
    let holds = match vote.value.bank {
        Bank::Predicate => {
            let bits = registers.predicate(vote.value.slot);
            (if vote.is_negated { !bits } else { bits }) & mask
        }
        _ => 0,
    };
    let values = match vote.value.bank {
        Bank::Long => *registers.long(vote.value.slot),
        _ => registers.word(vote.value.slot).map(u64::from),
    };
    let all = |is_true: bool| if is_true { !0 } else { 0 };
    let first = values[(mask.trailing_zeros() & 31) as usize];
    let is_same = each(mask).all(|lane| values[lane] == first);
    let answer = match vote.question {
        Question::All => all(holds == mask),
        Question::Any => all(holds != 0),
        Question::Uniform => all(holds == 0 || holds == mask),
        Question::Ballot => holds,
        Question::MatchAll => {
            if is_same {
                mask
            } else {
                0
            }
        }
        Question::MatchAny => return match_any(registers, vote, &values, mask),
        Question::Elect => mask.trailing_zeros(),
        _ => reduced(vote, &values, mask),
    };
    match vote.to {
        Some(Place {
            bank: Bank::Predicate,
            slot,
        }) => registers.set_predicate(slot, answer, mask),
        Some(Place { slot, .. }) => registers.set_words(slot, &[answer; WARP], mask),
        None => {}
    }
    if let Some(slot) = vote.valid {
        let bits = match vote.question {
            Question::Elect => 1 << mask.trailing_zeros().min(31),
            _ => all(is_same),
        };
        registers.set_predicate(slot, bits, mask);
    }
}

fn match_any(registers: &mut Registers, vote: &Vote, values: &[u64; WARP], mask: u32) {
    let mut row = [0; WARP];
    for lane in each(mask) {
        row[lane] = each(mask)
            .filter(|other| values[*other] == values[lane])
            .fold(0, |lanes, other| lanes | 1 << other);
    }
    if let Some(place) = vote.to {
        registers.set_words(place.slot, &row, mask);
    }
}

fn reduced(vote: &Vote, values: &[u64; WARP], mask: u32) -> u32 {
    let words = each(mask).map(|lane| values[lane] as u32);
    let signed = each(mask).map(|lane| values[lane] as i32);
    match (vote.question, vote.signed) {
        (Question::Add, _) => words.fold(0, u32::wrapping_add),
        (Question::And, _) => words.fold(!0, |all, word| all & word),
        (Question::Or, _) => words.fold(0, |all, word| all | word),
        (Question::Xor, _) => words.fold(0, |all, word| all ^ word),
        (Question::Min, true) => signed.min().unwrap_or(0) as u32,
        (Question::Max, true) => signed.max().unwrap_or(0) as u32,
        (Question::Min, false) => words.min().unwrap_or(0),
        _ => words.max().unwrap_or(0),
    }
}
