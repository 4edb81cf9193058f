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
mod layout;
mod lower;
mod memory;
mod names;
pub(crate) mod op;
mod order;
pub(crate) mod special;
mod sync;
mod table;
mod warp;

use crate::exec::exact::Mode;
use crate::exec::lanes::Slot;
pub use crate::text::ast::Pointer;
use crate::text::ast::{self, Instruction, Linkage, Source, Statement};
use crate::text::position::{ParseError, Position};
use crate::text::types::Space;
use lower::Lower;
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
    attributes: Vec<(String, Vec<u32>)>,
    calls: Vec<usize>,
    calls_indirectly: bool,
    shared: Vec<usize>,
    has_body: bool,
    missing: Option<(String, u32)>,
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

/// A kernel of a module.
#[derive(Clone, Copy)]
pub struct Kernel<'m> {
    pub(crate) module: &'m Module,
    pub(crate) index: usize,
}

impl Module {
    /// Reads a text.
    ///
    /// # Errors
    /// [`ParseError`] says where the text is not PTX.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Self::lower(crate::text::parse(text)?)
    }

    /// Reads texts that belong together: what one declares as extern, another may define.
    ///
    /// # Errors
    /// [`ParseError`] says where a text is not PTX, and the number says which text it is.
    pub fn link(texts: &[&str]) -> Result<Self, (usize, ParseError)> {
        let mut all = Source::default();
        for (number, text) in texts.iter().enumerate() {
            let source = crate::text::parse(text).map_err(|error| (number, error))?;
            all.absorb(source);
        }
        let last = texts.len().saturating_sub(1);
        Self::lower(all).map_err(|error| (last, error))
    }

    fn lower(source: Source) -> Result<Self, ParseError> {
        let mut module = Self {
            version: source.version,
            target: source.target.clone(),
            files: source.files.iter().cloned().collect(),
            ..Self::default()
        };
        module.declare(&source)?;
        let mut functions = Vec::new();
        for function in &source.functions {
            functions.push(module.lowered(function)?);
        }
        module.adopt(functions);
        Ok(module)
    }

    /// The version of PTX that the text names.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The target that the text names, such as `sm_90`.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The kernels, in the order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = Kernel<'_>> {
        let entries = self
            .functions
            .iter()
            .enumerate()
            .filter(|(_, function)| function.is_entry);
        entries.map(|(index, _)| Kernel {
            module: self,
            index,
        })
    }

    /// The kernel of a name.
    pub fn kernel(&self, name: &str) -> Option<Kernel<'_>> {
        self.kernels().find(|kernel| kernel.name() == name)
    }

    /// The variables in global and constant memory. A launch takes their addresses in this order.
    pub fn variables(&self) -> &[ModuleVariable] {
        &self.variables
    }

    /// What stands for the address of a function in a variable.
    pub fn function_address(&self, name: &str) -> Option<u64> {
        self.function_index(name).map(|index| index as u64 + 1)
    }

    /// Whether every instruction that the kernel can reach is simulated.
    ///
    /// # Errors
    /// [`NotSimulated`] names the first one that is not. It also names the kernel when there is none.
    pub fn check_supported(&self, kernel: &str) -> Result<(), NotSimulated> {
        let Some(kernel) = self.kernel(kernel) else {
            return Err(NotSimulated {
                instruction: kernel.to_owned(),
                line: 0,
            });
        };
        for index in self.reachable(kernel.index) {
            let Some(function) = self.functions.get(index) else {
                continue;
            };
            if let Some((instruction, line)) = &function.missing {
                return Err(NotSimulated {
                    instruction: instruction.clone(),
                    line: *line,
                });
            }
            if !function.has_body && control::system(&function.name).is_none() {
                return Err(NotSimulated {
                    instruction: function.name.clone(),
                    line: function.line,
                });
            }
        }
        Ok(())
    }

    /// The functions that a function can call, itself among them.
    fn reachable(&self, from: usize) -> Vec<usize> {
        let mut reached = vec![false; self.functions.len()];
        let mut open = vec![from];
        let mut found = Vec::new();
        while let Some(index) = open.pop() {
            let Some(function) = self.functions.get(index) else {
                continue;
            };
            match reached.get_mut(index) {
                Some(is_reached) if !*is_reached => *is_reached = true,
                _ => continue,
            }
            found.push(index);
            open.extend(&function.calls);
            if function.calls_indirectly {
                let with_body = |index: &usize| {
                    let function = self.functions.get(*index);
                    function.is_some_and(|function| !function.is_entry && function.has_body)
                };
                open.extend((0..self.functions.len()).filter(with_body));
            }
        }
        found.sort_unstable();
        found
    }

    fn declare(&mut self, source: &Source) -> Result<(), ParseError> {
        for variable in &source.variables {
            self.variable(variable, false)?;
        }
        for function in &source.functions {
            let is_new = !self.function_names.contains_key(&function.name);
            if is_new {
                let index = self.function_names.len();
                self.function_names.insert(function.name.clone(), index);
            }
            for statement in function.body.iter().flatten() {
                match statement {
                    Statement::Declare(variable) if is_of_module(variable.space) => {
                        self.variable(variable, true)?;
                    }
                    _ => {}
                }
            }
        }
        for (name, of) in &source.aliases {
            if let Some(index) = self.function_names.get(of).copied() {
                self.function_names.insert(name.clone(), index);
            }
        }
        Ok(())
    }

    fn variable(&mut self, variable: &ast::Variable, is_inner: bool) -> Result<(), ParseError> {
        let at = variable.at;
        let Some((bytes, align)) = layout::size(variable) else {
            return Err(ParseError::new(at, "the variable is too large"));
        };
        let is_open = variable.extents.contains(&0) && variable.initial.is_none();
        if is_open && variable.linkage != Linkage::Extern {
            return Err(ParseError::new(at, "the size of the variable is missing"));
        }
        let name = match variable.space {
            Space::Global | Space::Const => {
                let mut new = ModuleVariable {
                    name: variable.name.clone(),
                    is_constant: variable.space == Space::Const,
                    is_extern: variable.linkage == Linkage::Extern,
                    is_visible: variable.linkage != Linkage::Internal,
                    bytes: bytes.into(),
                    align,
                    initial: Vec::new(),
                    relocations: Vec::new(),
                };
                layout::initialise(variable, &mut new)?;
                self.add_variable(new, is_inner)
            }
            Space::Shared if variable.initial.is_some() => {
                return Err(ParseError::new(at, "shared memory has no first value"));
            }
            Space::Shared => {
                self.shared.push(SharedVariable {
                    bytes,
                    align,
                    is_dynamic: bytes == 0,
                });
                let index = self.shared.len() - 1;
                if !is_inner {
                    self.shared_names.insert(variable.name.clone(), index);
                }
                Name::Shared(index)
            }
            Space::Tex | Space::Reg | Space::Param | Space::Local | Space::Generic => {
                self.unsupported.insert(variable.name.clone(), at);
                return Ok(());
            }
        };
        if is_inner {
            self.inner.insert((at.line, at.column), name);
        }
        Ok(())
    }

    /// Adds a variable. A definition takes the place of a declaration.
    fn add_variable(&mut self, new: ModuleVariable, is_inner: bool) -> Name {
        let known = self
            .variable_names
            .get(&new.name)
            .copied()
            .filter(|_| !is_inner);
        if let Some(index) = known {
            if let Some(old) = self.variables.get_mut(index).filter(|old| old.is_extern) {
                *old = new;
            }
            return Name::Variable(index);
        }
        let index = self.variables.len();
        if !is_inner {
            self.variable_names.insert(new.name.clone(), index);
        }
        self.variables.push(new);
        Name::Variable(index)
    }

    fn variable_index(&self, name: &str) -> Option<usize> {
        self.variable_names.get(name).copied()
    }

    fn shared_index(&self, name: &str) -> Option<usize> {
        self.shared_names.get(name).copied()
    }

    fn function_index(&self, name: &str) -> Option<usize> {
        self.function_names.get(name).copied()
    }

    fn is_unsupported(&self, name: &str) -> bool {
        self.unsupported.contains_key(name)
    }

    fn local_variable(&self, at: Position) -> Option<Name> {
        self.inner.get(&(at.line, at.column)).copied()
    }

    fn lowered(&self, function: &ast::Function) -> Result<Function, ParseError> {
        let mut lower = Lower::new(self, function.is_entry);
        let (mut formals, mut returns, mut parameters) = (Vec::new(), Vec::new(), Vec::new());
        for parameter in &function.parameters {
            if function.is_entry && parameter.extents.contains(&0) {
                return Err(ParseError::new(
                    parameter.at,
                    "the size of the parameter is missing",
                ));
            }
            let formal = formal(&mut lower, parameter)?;
            if let op::Argument::Param(offset, bytes) = formal {
                parameters.push(Parameter {
                    name: parameter.name.clone(),
                    offset,
                    bytes,
                    align: layout::size(parameter).map_or(1, |(_, align)| align),
                    kind: parameter.kind,
                    is_array: !parameter.extents.is_empty(),
                    pointer: parameter.pointer,
                });
            }
            formals.push(formal);
        }
        let formal_bytes = lower.param_bytes;
        lower.formal_bytes = formal_bytes;
        for result in &function.returns {
            returns.push(formal(&mut lower, result)?);
        }
        let missing = match &function.body {
            Some(body) => lower.body(body)?,
            None => None,
        };
        Ok(Function {
            name: function.name.clone(),
            is_entry: function.is_entry,
            line: function.at.line,
            steps: order::ordered(std::mem::take(&mut lower.steps), &lower.jumps),
            fills: lower.fills,
            words: lower.words,
            longs: lower.longs,
            predicates: lower.predicates,
            param_bytes: lower.param_bytes,
            local_bytes: lower.local_bytes.next_multiple_of(16),
            formals,
            returns,
            parameters,
            formal_bytes,
            attributes: function.attributes.clone(),
            calls: lower.calls,
            calls_indirectly: lower.calls_indirectly,
            shared: lower.shared,
            has_body: function.body.is_some(),
            missing,
        })
    }

    /// Puts every function at its number. One with a body wins over its declarations.
    fn adopt(&mut self, functions: Vec<Function>) {
        let mut places: Vec<Option<Function>> = Vec::new();
        places.resize_with(functions.len(), || None);
        for function in functions {
            let index = self
                .function_names
                .get(&function.name)
                .copied()
                .unwrap_or(0);
            if let Some(place) = places.get_mut(index) {
                if place.as_ref().is_none_or(|known| !known.has_body) {
                    *place = Some(function);
                }
            }
        }
        self.functions = places.into_iter().flatten().collect();
    }
}

fn is_of_module(space: Space) -> bool {
    matches!(
        space,
        Space::Global | Space::Const | Space::Shared | Space::Tex
    )
}

/// Declares a parameter and says where it is.
fn formal(lower: &mut Lower<'_>, variable: &ast::Variable) -> Result<op::Argument, ParseError> {
    lower.declare(variable)?;
    if let Some(Name::Param(start, bytes)) = lower.names.find(&variable.name) {
        return Ok(op::Argument::Param(start, bytes));
    }
    match lower.register(&variable.name) {
        Some((place, _)) => Ok(op::Argument::Register(place)),
        None => Ok(op::Argument::Sink),
    }
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

    /// Where each shared variable begins, if the kernel can reach it, and the size of all static ones.
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
                let start = end.next_multiple_of(variable.align);
                end = start.saturating_add(variable.bytes);
                if let Some(place) = places.get_mut(*index) {
                    *place = Some(start);
                }
            }
        }
        let dynamic = end.next_multiple_of(align_dynamic);
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
