//! Calls: of functions of the text, and of CUDA's own.

use super::access::each;
use super::frame::{Frame, Row};
use super::grid::Grid;
use super::lanes::{Registers, WARP};
use super::print;
use super::warp::Fault;
use super::worker::Store;
use crate::check::Class;
use crate::memory::Region;
use crate::program::op::{Argument, Bank, Call, Callee, Place, System};
use crate::program::{Function, LOCAL_WINDOW, SHARED_WINDOW, WINDOW};

/// Whom lanes call.
pub(crate) enum Target {
    System(System),
    /// The number of the function, and the lanes that call it.
    Function(usize, u32),
}

/// The function that the first lane calls, and the lanes that call the same.
pub(crate) fn target(
    grid: &Grid<'_>,
    frame: &Frame,
    call: &Call,
    mask: u32,
) -> Result<Target, Box<Fault>> {
    match call.callee {
        Callee::System(system) => Ok(Target::System(system)),
        Callee::Function(index) => Ok(Target::Function(index, mask)),
        Callee::Register(slot) => {
            let row = frame.registers.long(slot);
            let lane = mask.trailing_zeros() & 31;
            let number = row[lane as usize];
            let same = each(mask).filter(|lane| row[*lane] == number);
            let lanes = same.fold(0, |lanes, lane| lanes | 1 << lane);
            let index = usize::try_from(number.wrapping_sub(1)).unwrap_or(usize::MAX);
            match grid
                .function(index)
                .filter(|function| !function.steps.is_empty())
            {
                Some(_) => Ok(Target::Function(index, lanes)),
                None => Err(Fault::new(Class::BadTarget, lane)),
            }
        }
    }
}

/// Gives a called function its arguments.
pub(crate) fn hand_over(
    caller: &Frame,
    callee: &mut Frame,
    call: &Call,
    function: &Function,
    mask: u32,
) {
    for (from, to) in call.arguments.iter().zip(&function.formals) {
        copy(
            &caller.registers,
            &caller.params,
            from,
            &mut callee.registers,
            &mut callee.params,
            to,
            mask,
        );
    }
}

/// Gives a caller the results.
pub(crate) fn hand_back(
    grid: &Grid<'_>,
    frames: &mut [Frame],
    caller: usize,
    callee: usize,
    step: u32,
    mask: u32,
) {
    let Some(from) = frames.get_mut(callee).map(std::mem::take) else {
        return;
    };
    if let (Some(function), Some(to)) = (grid.function(from.function), frames.get_mut(caller)) {
        let of_caller = grid.function(to.function);
        let step = of_caller.and_then(|function| function.steps.get(step as usize));
        if let Some(crate::program::op::Op::Call(call)) = step.map(|step| &step.op) {
            for (result, place) in function.returns.iter().zip(&call.results) {
                copy(
                    &from.registers,
                    &from.params,
                    result,
                    &mut to.registers,
                    &mut to.params,
                    place,
                    mask,
                );
            }
        }
    }
    if let Some(place) = frames.get_mut(callee) {
        *place = from;
    }
}

/// Copies an argument or a result, whichever way both sides hold it.
fn copy(
    from_registers: &Registers,
    from_params: &[Row],
    from: &Argument,
    to_registers: &mut Registers,
    to_params: &mut [Row],
    to: &Argument,
    mask: u32,
) {
    let words: Vec<Row> = match from {
        Argument::Sink => return,
        Argument::Param(start, bytes) => {
            let first = (*start / 4) as usize;
            let count = bytes.div_ceil(4) as usize;
            (first..first + count)
                .map(|word| from_params.get(word).copied().unwrap_or([0; WARP]))
                .collect()
        }
        Argument::Register(Place {
            bank: Bank::Long,
            slot,
        }) => {
            let row = from_registers.long(*slot);
            vec![
                row.map(|value| value as u32),
                row.map(|value| (value >> 32) as u32),
            ]
        }
        Argument::Register(Place {
            bank: Bank::Word,
            slot,
        }) => vec![*from_registers.word(*slot)],
        Argument::Register(Place {
            bank: Bank::Predicate,
            slot,
        }) => {
            let bits = from_registers.predicate(*slot);
            let mut row = [0; WARP];
            for lane in each(bits) {
                row[lane] = 1;
            }
            vec![row]
        }
    };
    let word = |n: usize| words.get(n).copied().unwrap_or([0; WARP]);
    match to {
        Argument::Sink => {}
        Argument::Param(start, _) => {
            let places = to_params.iter_mut().skip((*start / 4) as usize);
            for (to, from) in places.zip(&words) {
                for lane in each(mask) {
                    to[lane] = from[lane];
                }
            }
        }
        Argument::Register(Place {
            bank: Bank::Long,
            slot,
        }) => {
            let (low, high) = (word(0), word(1));
            let mut row = [0; WARP];
            for (lane, value) in row.iter_mut().enumerate() {
                *value = u64::from(low[lane]) | u64::from(high[lane]) << 32;
            }
            to_registers.set_longs(*slot, &row, mask);
        }
        Argument::Register(Place {
            bank: Bank::Word,
            slot,
        }) => {
            to_registers.set_words(*slot, &word(0), mask);
        }
        Argument::Register(Place {
            bank: Bank::Predicate,
            slot,
        }) => {
            let row = word(0);
            let bits = each(!0)
                .filter(|lane| row[*lane] != 0)
                .fold(0, |bits, lane| bits | 1 << lane);
            to_registers.set_predicate(*slot, bits, mask);
        }
    }
}

/// Memory as a function of CUDA's own reads it.
pub(crate) struct Reader<'r> {
    grid: &'r Grid<'r>,
    locals: &'r [Row],
    shared: Option<&'r Region>,
    lane: usize,
}

impl Reader<'_> {
    /// A byte at a generic address.
    pub(crate) fn byte(&self, address: u64) -> Option<u8> {
        let of = |region: &Region, offset: u64| {
            (offset < region.bytes()).then(|| region.get(offset, 1) as u8)
        };
        match address & WINDOW {
            LOCAL_WINDOW => {
                let offset = address - LOCAL_WINDOW;
                let row = self.locals.get(usize::try_from(offset / 4).ok()?)?;
                Some((row[self.lane] >> (8 * (offset & 3))) as u8)
            }
            SHARED_WINDOW => of(self.shared?, address & 0xFF_FFFF),
            _ => {
                let region = self.grid.memory.region(address)?;
                of(&region, address.checked_sub(region.base())?)
            }
        }
    }

    pub(crate) fn bytes<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        for (n, byte) in (0..).zip(&mut bytes) {
            *byte = self.byte(address.wrapping_add(n))?;
        }
        Some(bytes)
    }

    /// A text up to its NUL, at most 4096 bytes.
    pub(crate) fn text(&self, address: u64) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        for n in 0..4096 {
            match self.byte(address.wrapping_add(n))? {
                0 => break,
                byte => text.push(byte),
            }
        }
        Some(text)
    }
}

/// The value of an argument in a lane.
fn argument(frame: &Frame, call: &Call, n: usize, lane: usize) -> u64 {
    let param = |word: usize| frame.params.get(word).map_or(0, |row| u64::from(row[lane]));
    match call.arguments.get(n) {
        Some(Argument::Register(Place {
            bank: Bank::Long,
            slot,
        })) => frame.registers.long(*slot)[lane],
        Some(Argument::Register(place)) => frame.registers.word(place.slot)[lane].into(),
        Some(Argument::Param(start, bytes)) => {
            let word = (*start / 4) as usize;
            if *bytes > 4 {
                param(word) | param(word + 1) << 32
            } else {
                param(word)
            }
        }
        _ => 0,
    }
}

/// Carries out a function of CUDA's own.
#[allow(clippy::too_many_arguments)]
pub(crate) fn system(
    grid: &Grid<'_>,
    _: &mut Store,
    frame: &mut Frame,
    locals: &[Row],
    shared: Option<&Region>,
    call: &Call,
    system: System,
    mask: u32,
) -> Result<(), Box<Fault>> {
    let mut results = [0u64; WARP];
    for lane in each(mask) {
        let reader = Reader {
            grid,
            locals,
            shared,
            lane,
        };
        let value = |n| argument(frame, call, n, lane);
        match system {
            System::Printf => {
                let text = print::formatted(&reader, value(0), value(1));
                let Some(text) = text else {
                    return Err(Fault::new(Class::OutOfBounds, lane as u32));
                };
                (grid.options.print)(&String::from_utf8_lossy(&text));
                results[lane] = 1;
            }
            System::AssertFail => {
                let text = |n| {
                    let text = reader.text(value(n)).unwrap_or_default();
                    String::from_utf8_lossy(&text).into_owned()
                };
                let (message, file, line, function) = (text(0), text(1), value(2), text(3));
                let message = format!("{file}:{line}: {function}: assertion `{message}` failed");
                return Err(Fault::new(Class::Trap(message), lane as u32));
            }
            // The device's heap is empty: an allocation fails, as it may on a device.
            System::Malloc | System::Free => {}
        }
    }
    let to = call.results.first().copied().unwrap_or(Argument::Sink);
    let registers = Registers {
        longs: vec![results],
        ..Registers::default()
    };
    let from = Argument::Register(Place {
        bank: Bank::Long,
        slot: 0,
    });
    copy(
        &registers,
        &[],
        &from,
        &mut frame.registers,
        &mut frame.params,
        &to,
        mask,
    );
    Ok(())
}
