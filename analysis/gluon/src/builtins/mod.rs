//! What Gluon brings along: rows of the library for its memory, synchronisation, layouts and targets. TLX brings along
//! the same for plain Triton.
//!
//! To add a builtin, add a [`Row`](python::library::Row) to the [`Part`] of the file it belongs to; what it does is a
//! function of that file.

mod amd;
mod async_copy;
pub mod catalog;
mod constants;
mod core;
mod layouts;
mod mbarrier;
mod memory;
mod mma;
mod modules;
mod partitions;
#[cfg(test)]
mod tests;
mod tlx;
mod tma;
mod warp_specialize;

use std::borrow::Cow;
use std::sync::OnceLock;

pub use layouts::default_swizzle;
use python::library::{Form, Library, Modules, Part, PythonModule};
use python::target::Version;

/// Gluon's parts of the table, one a file; AMD has its own.
const PARTS: &[&Part] = &[
    &constants::PART,
    &layouts::PART,
    &mbarrier::PART,
    &memory::PART,
    &tma::PART,
    &async_copy::PART,
    &mma::PART,
    &core::PART,
    &warp_specialize::PART,
];

/// Where a full name is looked for.
const MODULES: &[&Modules] = &[&modules::TRITON, &builtins::MODULES];

/// Modules that are written in Python, by us too: those that Triton writes in its own languages, and those of PyTorch that
/// kernels call, where the workspace has no PyTorch.
static PYTHON_MODULES: [PythonModule; 5] = [
    PythonModule {
        name: "gl.nvidia.blackwell.float2",
        since: 5,
        text: include_str!("float2.py"),
        parsed: OnceLock::new(),
    },
    PythonModule {
        name: "tl.extra.tlx.warp_spec",
        since: 0,
        text: include_str!("tlx/warp_spec.py"),
        parsed: OnceLock::new(),
    },
    PythonModule {
        name: "tl.extra.subtile_ops",
        since: 0,
        text: include_str!("tlx/subtile_ops.py"),
        parsed: OnceLock::new(),
    },
    PythonModule {
        name: "torch._inductor.runtime.triton_helpers",
        since: 0,
        text: include_str!("triton_helpers.py"),
        parsed: OnceLock::new(),
    },
    PythonModule {
        name: "torch.utils._triton",
        since: 0,
        text: include_str!("torch_triton.py"),
        parsed: OnceLock::new(),
    },
];

/// All that a Gluon kernel finds by full name: Python's own, the arithmetic of registers, Gluon's.
pub fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let own = PARTS.iter().chain(&amd::PARTS).chain(&tlx::PARTS).copied();
        Library::new(own.chain(builtins::parts()), MODULES, &PYTHON_MODULES)
    })
}

/// A full name as the table spells it: `gl` for `triton.experimental.gluon.language`.
pub fn canonical(path: &str) -> Cow<'_, str> {
    library().canonical(path)
}

/// The parameters of a function or a class of Gluon by its full name, those of earlier releases included; empty for
/// what is neither, `None` where the release has no such name.
pub fn parameters(path: &str, version: Version) -> Option<Vec<&'static str>> {
    library().parameters(path, version)
}

/// The full name of the function that a name stands for in a release of Triton.
pub fn builtin(path: &str, version: Version) -> Option<&'static str> {
    library().builtin(path, version)
}

/// The forms that a function or class has and had by its full name, the one of this release first.
pub fn forms(path: &str, version: Version) -> Vec<Form> {
    library().forms(path, version)
}

/// The same of the methods of a name, of whatever class.
pub fn methods(name: &str, version: Version) -> Vec<Form> {
    library().methods(name, version)
}
