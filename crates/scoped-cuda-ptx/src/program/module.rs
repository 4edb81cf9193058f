//! Modules: reading, declarations, and what can be launched.

use super::lower::Lower;
use super::names::Name;
use super::op;
use super::{Function, Kernel, Module, ModuleVariable, NotSimulated, Parameter, SharedVariable};
use super::{control, layout, order};
use crate::text::ast::{self, Linkage, Source, Statement};
use crate::text::position::{ParseError, Position};
use crate::text::types::Space;

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
    /// [`NotSimulated`] names the first one that is not. It also names the kernel when there is
    /// none.
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
    pub(super) fn reachable(&self, from: usize) -> Vec<usize> {
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

    pub(super) fn variable_index(&self, name: &str) -> Option<usize> {
        self.variable_names.get(name).copied()
    }

    pub(super) fn shared_index(&self, name: &str) -> Option<usize> {
        self.shared_names.get(name).copied()
    }

    pub(super) fn function_index(&self, name: &str) -> Option<usize> {
        self.function_names.get(name).copied()
    }

    pub(super) fn is_unsupported(&self, name: &str) -> bool {
        self.unsupported.contains_key(name)
    }

    pub(super) fn local_variable(&self, at: Position) -> Option<Name> {
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
        lower.is_packed = false;
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
