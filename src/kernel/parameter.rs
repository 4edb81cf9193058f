//! The parameters that kernels declare, and their comparison with a parameter list.

#![allow(unsafe_code)] // asks the driver about functions

use super::declared::Declared;
use super::module::Module;
use super::params::ParamLayout;
use crate::error::{Error, Result};
use crate::ffi::CUfunction;
use crate::internal::api::Api;
use crate::internal::calls;

/// A parameter as the kernel declares it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Parameter {
    /// Where it begins in the kernel's parameter list, in bytes.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
}

impl Module<'_> {
    /// What the kernel of this name declares, parameter by parameter (`cuFuncGetParamInfo`).
    ///
    /// # Errors
    /// [`Error::NoKernel`], [`Error::SymbolMissing`] with drivers before CUDA 12.4,
    /// [`Error::ContextLost`], or what the driver returns.
    #[doc(alias = "cuFuncGetParamInfo")]
    pub fn parameters(&self, name: &str) -> Result<Vec<Parameter>> {
        let function = self.function(name)?;
        // SAFETY: the function lives as long as its module.
        unsafe { declared_parameters(self.image.context.api(), function) }
    }
}

/// What a kernel declares, in order.
///
/// # Safety
/// `function` is live.
pub(super) unsafe fn declared_parameters(
    driver: Api,
    function: CUfunction,
) -> Result<Vec<Parameter>> {
    // SAFETY: the caller promises: `function` is live.
    let count = unsafe { calls::func_get_param_count(driver, function) }?;
    let mut parameters = Vec::new();
    // Older drivers tell the number by refusing the index after the last.
    while count.is_none_or(|count| parameters.len() < count) {
        // SAFETY: the caller promises: `function` is live.
        let info = unsafe { calls::func_get_param_info(driver, function, parameters.len()) }?;
        let Some((offset, size)) = info else { break };
        parameters.push(Parameter { offset, size });
    }
    Ok(parameters)
}

/// Compares the layout of Rust types with the parameters that the kernel declares.
pub(super) fn check_parameters(
    layout: &[&[ParamLayout]],
    declared: &[Parameter],
    kernel: &str,
) -> Result<()> {
    let kernel = || kernel.to_owned();
    let count = layout.iter().map(|part| part.len()).sum();
    let mut end: usize = 0;
    let layout = layout.iter().copied().flatten();
    for (index, (layout, parameter)) in layout.zip(declared).enumerate() {
        let (size, align) = (layout.size(), layout.align());
        if size != parameter.size {
            return Err(Error::ArgSize {
                kernel: kernel(),
                index,
                want: size,
                got: parameter.size,
            });
        }
        let want = end.next_multiple_of(align);
        if want != parameter.offset {
            return Err(Error::ArgOffset {
                kernel: kernel(),
                index,
                want,
                got: parameter.offset,
            });
        }
        end = want.saturating_add(size);
    }
    let (want, got) = (count, declared.len());
    if want == got {
        Ok(())
    } else {
        Err(Error::ArgCount {
            kernel: kernel(),
            want,
            got,
        })
    }
}

/// Compares the kinds and alignments of Rust types with those that the PTX of the module declares,
/// when it was loaded from text.
pub(super) fn check_kinds(
    layout: &[&[ParamLayout]],
    declared: &[Declared],
    kernel: &str,
) -> Result<()> {
    let layout = layout.iter().copied().flatten();
    for (index, (layout, declared)) in layout.zip(declared).enumerate() {
        let (kind, align) = (layout.kind(), layout.align());
        let (kernel, got) = (|| kernel.to_owned(), || declared.text.clone());
        if !declared.kind.admits(kind) {
            return Err(Error::ArgKind {
                kernel: kernel(),
                index,
                want: kind.to_string(),
                got: got(),
            });
        }
        // 0 if the text does not tell.
        if ![0, align].contains(&declared.align) {
            return Err(Error::ArgAlign {
                kernel: kernel(),
                index,
                want: align,
                got: got(),
            });
        }
    }
    Ok(())
}
