//! What kernels of Python are compiled from, and to what.

use std::sync::Arc;

use engine::instances::{Elaboration, Sources};

/// What a kernel is compiled to.
pub(crate) struct CompiledIr {
    /// The text of the module.
    pub(crate) ir: Arc<str>,
    /// Whether asserts of the kernel's own were left out.
    pub(crate) asserts_are_off: bool,
    /// Whether it has several CTAs, and does not say which of them holds what of a tensor in registers.
    pub(crate) shares_are_unknown: bool,
}

impl CompiledIr {
    /// What whoever runs it should know.
    pub(crate) fn notes(&self) -> Vec<String> {
        let asserts = "`device_assert` is off, as in a launch by Triton: set TRITON_DEBUG=1, or decorate the kernel with \
                       `@triton.jit(debug=True)`";
        let shares = "without a Triton it is not known which CTA of a cluster holds what of a tensor in registers: one \
                      thread counts as accessing global memory for all of them, and races between them are not seen";
        let said = [(self.asserts_are_off, asserts), (self.shares_are_unknown, shares)];
        said.into_iter().filter(|(holds, _)| *holds).map(|(_, note)| note.to_owned()).collect()
    }
}

/// The kernels of a Python file, and the files beside it.
#[derive(Clone, Copy)]
pub struct PythonKernels<'a> {
    /// The file's kernels, as they are analysed; `None` where it is no Python.
    pub elaboration: Option<&'a Elaboration>,
    /// Where it imports from.
    pub sources: &'a dyn Sources,
}
