//! Memory that every thread has for itself: local variables, and parameters of functions.

use super::frame::Row;
use super::lanes::WARP;
use crate::program::{LOCAL_WINDOW, PARAM_WINDOW, WINDOW};
use crate::text::types::Space;

/// The private memory of a warp within a call.
pub(crate) struct Private<'w> {
    pub(crate) params: &'w mut [Row],
    pub(crate) locals: &'w mut Vec<Row>,
    pub(crate) stack_bytes: u32,
    /// The kernel's parameters, which lie at the start of its parameter space.
    pub(crate) formals: &'w [u8],
}

/// A part of private memory that some lanes address: its space, where its window begins, the lanes.
pub(crate) struct Part {
    pub(crate) space: Space,
    pub(crate) window: u64,
    pub(crate) lanes: u32,
}

/// The lanes of a mask that address the same private memory as the first one, if it does.
#[inline(always)]
pub(crate) fn part(space: Space, addresses: &[u64; WARP], mask: u32) -> Option<Part> {
    let whole = |space| {
        Some(Part {
            space,
            window: 0,
            lanes: mask,
        })
    };
    match space {
        Space::Local | Space::Param => return whole(space),
        Space::Generic => {}
        _ => return None,
    }
    let first = addresses[(mask.trailing_zeros() & 31) as usize];
    let (space, window) = match first & WINDOW {
        LOCAL_WINDOW => (Space::Local, LOCAL_WINDOW),
        PARAM_WINDOW => (Space::Param, PARAM_WINDOW),
        _ => return None,
    };
    let is_same = |lane: &usize| addresses[*lane] & WINDOW == window;
    let same = (0..WARP)
        .filter(is_same)
        .fold(0u32, |lanes, lane| lanes | 1 << lane);
    Some(Part {
        space,
        window,
        lanes: mask & same,
    })
}

impl Private<'_> {
    fn row(&mut self, space: Space, offset: u64) -> Option<&mut Row> {
        let word = usize::try_from(offset / 4).ok()?;
        if space != Space::Local {
            return self.params.get_mut(word);
        }
        if offset >= u64::from(self.stack_bytes) {
            return None;
        }
        if self.locals.len() <= word {
            self.locals.resize(word + 1, [0; WARP]);
        }
        self.locals.get_mut(word)
    }

    /// Reads 1, 2, 4 or 8 bytes of a lane.
    pub(crate) fn get(
        &mut self,
        space: Space,
        offset: u64,
        bytes: u32,
        lane: usize,
    ) -> Option<u64> {
        if space == Space::Param && offset < self.formals.len() as u64 {
            return parameter(self.formals, offset, bytes);
        }
        let low = self.row(space, offset)?[lane];
        Some(match bytes {
            8 => u64::from(low) | u64::from(self.row(space, offset + 4)?[lane]) << 32,
            4 => u64::from(low),
            2 => u64::from((low >> (8 * (offset & 2))) as u16),
            _ => u64::from((low >> (8 * (offset & 3))) as u8),
        })
    }

    /// Writes 1, 2, 4 or 8 bytes of a lane.
    pub(crate) fn put(
        &mut self,
        space: Space,
        offset: u64,
        bytes: u32,
        lane: usize,
        value: u64,
    ) -> Option<()> {
        if space == Space::Param && offset < self.formals.len() as u64 {
            return None;
        }
        let (mask, shift) = match bytes {
            1 => (0xFF << (8 * (offset & 3)), 8 * (offset & 3)),
            2 => (0xFFFF << (8 * (offset & 2)), 8 * (offset & 2)),
            _ => (!0u32, 0),
        };
        let row = self.row(space, offset)?;
        row[lane] = row[lane] & !mask | ((value as u32) << shift) & mask;
        if bytes == 8 {
            self.row(space, offset + 4)?[lane] = (value >> 32) as u32;
        }
        Some(())
    }
}

/// Bytes of a kernel's parameters.
pub(crate) fn parameter(parameters: &[u8], offset: u64, bytes: u32) -> Option<u64> {
    let start = usize::try_from(offset).ok()?;
    let bytes = parameters.get(start..start.checked_add(bytes as usize)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | u64::from(*byte)),
    )
}
