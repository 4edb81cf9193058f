//! What is loaded of a header: the image, its kernels and its variables.

#![allow(unsafe_code)] // hands images to the driver, for callers that promise what they are

use super::at_run_time::read;
use super::variable::{Variable, VariableMut, VariableType};
use crate::context::Context;
use crate::error::Result;
use crate::kernel::binary::{check_cubin, check_fatbin};
use crate::kernel::load_image::{bad_image, load_binary};
use crate::kernel::ptx::Ptx;
use crate::kernel::variables::Variables;
use crate::kernel::{Global, JitOptions, Kernel, Module, Params, Precondition};
use crate::memory::sealed::Sealed;
use crate::memory::{Element, Slice, SliceMut};
use std::fmt;
use std::slice;

/// The kernels of a struct that [`kernels!`](crate::kernels) has made: a struct too, with a field
/// for each. Open: it says nothing but which.
pub trait Header {
    /// The kernels.
    type Kernels;
}

/// What a struct that [`kernels!`](crate::kernels) has made holds: the image, its kernels `K`, and
/// the handles of the variables that are declared beside them.
///
/// A launch of one of the kernels borrows it, shared, until the scope has waited;
/// [`variables_mut`](Self::variables_mut) as mutable. So nobody writes a variable that a launch may
/// read.
pub struct Loaded<'ctx, K> {
    module: Module<'ctx>,
    kernels: K,
    /// In the order of their declarations. The bytes: what they mean is the header's.
    variables: Box<[(&'static str, Global<'ctx, u8>)]>,
}

static_assertions::assert_not_impl_any!(Loaded<'static, ()>: Clone);

/// Stands for the variables that are declared beside a kernel: whoever launches it borrows them,
/// because the kernel lies in what is [`Loaded`] with them.
#[derive(Default, Debug)]
pub struct Beside;

impl Sealed for Beside {}

impl<'ctx> Variables<'ctx> for Beside {
    type Views<'a> = ();

    fn views(&mut self) {}
}

impl<'ctx, K> Loaded<'ctx, K> {
    /// Looks the variables up.
    ///
    /// # Errors
    /// As [`Module::global`].
    pub fn new(module: Module<'ctx>, kernels: K, variables: &[VariableType]) -> Result<Self> {
        let handle = |variable: &VariableType| Ok((variable.name(), variable.look_up(&module)?));
        let variables = variables.iter().map(handle).collect::<Result<_>>()?;
        Ok(Self {
            module,
            kernels,
            variables,
        })
    }

    /// The module.
    #[must_use]
    pub fn module(&self) -> &Module<'ctx> {
        &self.module
    }

    /// The kernels.
    #[must_use]
    #[inline]
    pub fn kernels(&self) -> &K {
        &self.kernels
    }

    /// The variable of this name in the header, to read; of no bytes if it is none of type `V`.
    #[must_use]
    pub fn variable<V: Element>(&self, name: &str) -> Variable<'_, 'ctx, V> {
        let named = |(declared, _): &&(&str, _)| *declared == name;
        let found = self.variables.iter().find(named);
        let bytes = found.map(|(_, global)| global.as_slice());
        Variable::new(bytes.unwrap_or_else(|| Slice::new(self.module.context(), 0, 0)))
    }

    /// All variables, to write, in the order of their declarations.
    pub fn variables_mut(&mut self) -> VariablesMut<'_, 'ctx> {
        VariablesMut {
            context: self.module.context(),
            rest: self.variables.iter_mut(),
        }
    }
}

impl<K> fmt::Debug for Loaded<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables: Vec<_> = self.variables.iter().map(|(name, _)| name).collect();
        f.debug_struct("Loaded")
            .field("module", &self.module)
            .field("variables", &variables)
            .finish_non_exhaustive()
    }
}

/// Hands out the variables of a header, each once.
pub struct VariablesMut<'a, 'ctx> {
    context: Context<'ctx>,
    rest: slice::IterMut<'a, (&'static str, Global<'ctx, u8>)>,
}

impl<'a, 'ctx> VariablesMut<'a, 'ctx> {
    /// The next variable; of no bytes if there is none, or it is none of type `V`.
    #[must_use]
    pub fn take_next<V: Element>(&mut self) -> VariableMut<'a, 'ctx, V> {
        let next = self.rest.next().map(|(_, global)| global.as_mut_slice());
        VariableMut::new(next.unwrap_or_else(|| SliceMut::new(self.context, 0, 0)))
    }
}

/// Loads a cubin ([`Context::load_cubin`]) for which the PTX says what its kernels take. It is not
/// compiled: the options are for PTX alone.
///
/// # Errors
/// As [`Context::load_cubin`].
///
/// # Safety
/// As [`Context::load_cubin`], and `ptx` was compiled to `image`.
pub unsafe fn cubin<'ctx>(
    context: Context<'ctx>,
    image: &[u8],
    ptx: Ptx<'_>,
    _options: &JitOptions,
) -> Result<Module<'ctx>> {
    check_cubin(image).map_err(bad_image)?;
    let (declared, options) = (read(ptx.as_str()), JitOptions::default());
    // SAFETY: a whole cubin, by its own headers; that they are right is the caller's promise.
    unsafe { load_binary(context, image, &options, declared) }
}

/// Loads a fatbin ([`Context::load_fatbin`]) for which the PTX says what its kernels take.
///
/// # Errors
/// As [`Context::load_fatbin`].
///
/// # Safety
/// As [`Context::load_fatbin`], and `ptx` was compiled to what is in `image`.
pub unsafe fn fatbin<'ctx>(
    context: Context<'ctx>,
    image: &[u8],
    ptx: Ptx<'_>,
    options: &JitOptions,
) -> Result<Module<'ctx>> {
    check_fatbin(image).map_err(bad_image)?;
    let declared = read(ptx.as_str());
    // SAFETY: a whole fatbin, by its own header; that it is right is the caller's promise.
    unsafe { load_binary(context, image, options, declared) }
}

/// Preconditions of a kernel, as they are: their functions are of its parameters.
pub fn preconditions<P: Params, const N: usize>(
    _kernel: &Kernel<'_, P>,
    preconditions: [Precondition<P>; N],
) -> [Precondition<P>; N] {
    preconditions
}
