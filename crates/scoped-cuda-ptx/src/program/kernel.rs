//! Kernels, as a host sees them.

use super::{Function, Module};
pub use crate::text::ast::Pointer;

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where it stands among the parameters, in bytes.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
    /// Its alignment in bytes.
    pub align: u32,
    /// Its type; a structure is an array of `.b8`.
    pub kind: crate::Type,
    /// Whether it is an array.
    pub is_array: bool,
    /// What `.ptr` says of it.
    pub pointer: Option<Pointer>,
}

/// A kernel of a module.
#[derive(Clone, Copy)]
pub struct Kernel<'m> {
    pub(crate) module: &'m Module,
    pub(crate) index: usize,
}

impl<'m> Kernel<'m> {
    pub(crate) fn function(&self) -> Option<&'m Function> {
        self.module.functions.get(self.index)
    }

    /// Its name.
    pub fn name(&self) -> &'m str {
        self.function().map_or("", |function| &function.name)
    }

    /// The line of the text where it begins, from one.
    pub fn line(&self) -> u32 {
        self.function().map_or(0, |function| function.line)
    }

    /// Its parameters.
    pub fn parameters(&self) -> &'m [Parameter] {
        self.function().map_or(&[], |function| &function.parameters)
    }

    /// The size of all its parameters in bytes.
    pub fn parameter_bytes(&self) -> u32 {
        self.function().map_or(0, |function| function.formal_bytes)
    }

    /// The numbers of a directive such as `maxntid`, if the kernel has it.
    pub fn attribute(&self, name: &str) -> Option<&'m [u32]> {
        let attributes = self
            .function()
            .map_or(&[][..], |function| &function.attributes);
        let found = attributes.iter().find(|(found, _)| found == name);
        found.map(|(_, numbers)| numbers.as_slice())
    }

    /// The bytes of its local variables, per thread.
    pub fn local_bytes(&self) -> u32 {
        self.function().map_or(0, |function| function.local_bytes)
    }

    /// The static shared memory that it and what it calls use, in bytes.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_layout().1
    }

    /// Where each shared variable begins, if the kernel can reach it, and the size of all static
    /// ones.
    pub(crate) fn shared_layout(&self) -> (Vec<Option<u32>>, u32) {
        let mut places = vec![None; self.module.shared.len()];
        let mut used: Vec<usize> = Vec::new();
        for index in self.module.reachable(self.index) {
            used.extend(
                self.module
                    .functions
                    .get(index)
                    .map_or(&[][..], |function| &function.shared),
            );
        }
        used.sort_unstable();
        used.dedup();
        let mut end = 0u32;
        let mut align_dynamic = 16;
        for is_dynamic in [false, true] {
            for index in &used {
                let Some(variable) = self.module.shared.get(*index) else {
                    continue;
                };
                if variable.is_dynamic != is_dynamic {
                    continue;
                }
                if is_dynamic {
                    align_dynamic = align_dynamic.max(variable.align);
                    continue;
                }
                let start = end
                    .checked_next_multiple_of(variable.align)
                    .unwrap_or(u32::MAX);
                end = start.saturating_add(variable.bytes);
                if let Some(place) = places.get_mut(*index) {
                    *place = Some(start);
                }
            }
        }
        let dynamic = end
            .checked_next_multiple_of(align_dynamic)
            .unwrap_or(u32::MAX);
        for index in used {
            let is_dynamic = self
                .module
                .shared
                .get(index)
                .is_some_and(|variable| variable.is_dynamic);
            if let Some(place) = places.get_mut(index).filter(|_| is_dynamic) {
                *place = Some(dynamic);
            }
        }
        (places, end)
    }
}
