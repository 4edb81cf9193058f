//! The variables of a header, as they are read and written.

use crate::error::{Error, Result};
use crate::kernel::{Global, Module};
use crate::memory::{Element, Slice, SliceMut};
use std::fmt;

/// A variable as a header declares it.
#[derive(Clone, Copy, Debug)]
pub struct VariableType {
    name: &'static str,
    symbol: &'static str,
    size: usize,
    align: usize,
}

impl VariableType {
    /// A variable that holds a `V`, by its name in the header and its symbol in the PTX.
    #[must_use]
    pub const fn of<V: Element>(name: &'static str, symbol: &'static str) -> Self {
        Self {
            name,
            symbol,
            size: size_of::<V>(),
            align: align_of::<V>(),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// The one handle of its bytes.
    pub(super) fn look_up<'ctx>(&self, module: &Module<'ctx>) -> Result<Global<'ctx, u8>> {
        let global = module.global::<u8>(self.symbol, self.size)?;
        if global.as_raw() % self.align as u64 != 0 {
            return Err(Error::Misaligned {
                address: global.as_raw() as usize,
                align: self.align,
            });
        }
        Ok(global)
    }
}

/// A `__device__` or `__constant__` variable of a header, to read.
///
/// Outside of scopes it is at rest, as a [`Buffer`](crate::Buffer) is.
pub struct Variable<'a, 'ctx, V> {
    value: Slice<'a, 'ctx, V>,
}

/// A `__device__` or `__constant__` variable of a header, to read and to write.
pub struct VariableMut<'a, 'ctx, V> {
    value: SliceMut<'a, 'ctx, V>,
}

impl<'a, 'ctx, V: Element> Variable<'a, 'ctx, V> {
    pub(super) fn new(bytes: Slice<'a, 'ctx, u8>) -> Self {
        let context = bytes.context();
        let value = bytes.cast().ok().filter(|value| value.len() == 1);
        Self {
            value: value.unwrap_or_else(|| Slice::new(context, 0, 0)),
        }
    }

    /// Its value (`cuMemcpyDtoHAsync`).
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// # Aborts
    /// [As described](crate::safety#where-the-process-ends), because host memory is lent to the
    /// device.
    pub fn get(&self) -> Result<V> {
        let mut value = [V::zeroed()];
        self.value.read(&mut value)?;
        Ok(value[0])
    }

    /// It as memory of one element: for copies in the order of a stream, and as an argument.
    /// [`cast`](Slice::cast) makes elements of an array.
    #[must_use]
    pub fn as_slice(&self) -> Slice<'a, 'ctx, V> {
        self.value
    }
}

impl<'a, 'ctx, V: Element> VariableMut<'a, 'ctx, V> {
    pub(super) fn new(bytes: SliceMut<'a, 'ctx, u8>) -> Self {
        let context = bytes.context();
        let value = bytes.cast().ok().filter(|value| value.len() == 1);
        Self {
            value: value.unwrap_or_else(|| SliceMut::new(context, 0, 0)),
        }
    }

    /// Its value (`cuMemcpyDtoHAsync`).
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// # Aborts
    /// As [`Variable::get`].
    pub fn get(&self) -> Result<V> {
        let mut value = [V::zeroed()];
        self.value.as_slice().read(&mut value)?;
        Ok(value[0])
    }

    /// Overwrites its value (`cuMemcpyHtoDAsync`).
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// # Aborts
    /// As [`Variable::get`].
    pub fn set(&mut self, value: V) -> Result<()> {
        self.value.write(&[value])
    }

    /// It as memory of one element that may be written.
    #[must_use]
    pub fn into_slice_mut(self) -> SliceMut<'a, 'ctx, V> {
        self.value
    }
}

impl<V> Clone for Variable<'_, '_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Variable<'_, '_, V> {}

impl<V> fmt::Debug for Variable<'_, '_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Variable").field(&self.value).finish()
    }
}

impl<V> fmt::Debug for VariableMut<'_, '_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VariableMut").field(&self.value).finish()
    }
}
