//! What names stand for within a function. Blocks have names of their own.

use super::op::Place;
use crate::text::types::Type;
use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Register(Type),
    Vector(Type, u8),
    /// Its start and its size within the parameters, in bytes.
    Param(u32, u32),
    Local(u32),
    Variable(usize),
    Shared(usize),
    Prototype,
}

struct Scope {
    parent: Option<usize>,
    names: HashMap<String, Name>,
    /// `%r<10>`: by the prefix, a type and a count.
    many: HashMap<String, (Type, u32)>,
    places: HashMap<String, Place>,
}

/// The scopes of a function, innermost last.
pub(crate) struct Names {
    scopes: Vec<Scope>,
    current: usize,
}

impl Names {
    pub(crate) fn new() -> Self {
        let mut names = Self {
            scopes: Vec::new(),
            current: 0,
        };
        names.add(None);
        names
    }

    fn add(&mut self, parent: Option<usize>) {
        self.scopes.push(Scope {
            parent,
            names: HashMap::new(),
            many: HashMap::new(),
            places: HashMap::new(),
        });
        self.current = self.scopes.len() - 1;
    }

    pub(crate) fn open(&mut self) {
        self.add(Some(self.current));
    }

    pub(crate) fn close(&mut self) {
        self.current = self.parent(self.current).unwrap_or(0);
    }

    /// The number of the scope that is open.
    pub(crate) fn scope(&self) -> usize {
        self.current
    }

    pub(crate) fn parent(&self, scope: usize) -> Option<usize> {
        self.scopes.get(scope)?.parent
    }

    /// Whether the innermost scope has the name already: as one, or as one of many.
    pub(crate) fn is_taken(&self, name: &str, is_prefix: bool) -> bool {
        let Some(scope) = self.scopes.get(self.current) else {
            return false;
        };
        if is_prefix {
            return scope.many.contains_key(name);
        }
        scope.names.contains_key(name)
            || self
                .owner(name)
                .is_some_and(|(owner, _)| owner == self.current)
    }

    pub(crate) fn declare(&mut self, name: &str, what: Name) {
        if let Some(scope) = self.scopes.get_mut(self.current) {
            scope.names.insert(name.to_owned(), what);
        }
    }

    pub(crate) fn declare_many(&mut self, prefix: &str, kind: Type, count: u32) {
        if let Some(scope) = self.scopes.get_mut(self.current) {
            scope.many.insert(prefix.to_owned(), (kind, count));
        }
    }

    /// The scopes from the innermost outwards.
    fn outwards(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(self.current), |scope| self.parent(*scope))
    }

    pub(crate) fn find(&self, name: &str) -> Option<Name> {
        self.outwards()
            .find_map(|scope| self.scopes.get(scope)?.names.get(name).copied())
    }

    /// The scope and the type of a register.
    fn owner(&self, name: &str) -> Option<(usize, Type)> {
        self.outwards().find_map(|of| {
            let scope = self.scopes.get(of)?;
            match scope.names.get(name) {
                Some(Name::Register(kind)) => return Some((of, *kind)),
                Some(_) => return None,
                None => {}
            }
            // The prefix may itself end with digits.
            let digits = name
                .bytes()
                .rev()
                .take_while(u8::is_ascii_digit)
                .count()
                .min(10);
            (name.len() - digits..name.len()).find_map(|cut| {
                let (prefix, digits) = name.split_at_checked(cut)?;
                let (kind, count) = scope.many.get(prefix)?;
                let is_plain = digits == "0" || !digits.starts_with('0');
                let number: u32 = digits.parse().ok().filter(|_| is_plain)?;
                (number < *count).then_some((of, *kind))
            })
        })
    }

    /// The type of a register, and its place if it has one already.
    pub(crate) fn register(&self, name: &str) -> Option<(Type, Option<Place>)> {
        let (scope, kind) = self.owner(name)?;
        let place = self.scopes.get(scope)?.places.get(name);
        Some((kind, place.copied()))
    }

    /// Gives a register its place.
    pub(crate) fn give(&mut self, name: &str, place: Place) {
        let owner = self.owner(name);
        if let Some(scope) = owner.and_then(|(scope, _)| self.scopes.get_mut(scope)) {
            scope.places.insert(name.to_owned(), place);
        }
    }
}
