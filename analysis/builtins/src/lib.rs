//! What a kernel's Python calls that no language brings along: Python's own functions, methods and modules on
//! host values, and Triton's arithmetic of scalars and register tensors ([`tensor`]).
//!
//! Deviations: iterators are lists that are made at once; `dict` keys are compared, not hashed.
//!
//! Missed: whatever has no row here is [`Value::Lib`] or an unknown, with its name as the reason.

mod containers;
pub mod docs;
mod functions;
mod kinds;
mod libraries;
mod limits;
mod math;
mod numbers;
mod objects;
pub mod operand;
mod paths;
mod ranges;
mod strings;
mod targets;
pub mod tensor;
mod text;
mod torch_types;
pub mod values;
mod versions;

use python::library::{Modules, Part};

pub use kinds::{extends, is_instance, type_name};
pub use limits::LIMITS;
pub use text::display;
pub use values::{arg, count, items, list, order, same};

/// Python's share of the table.
const PARTS: [&Part; 14] = [
    &containers::PART,
    &functions::PART,
    &libraries::PART,
    &math::PART,
    &numbers::PART,
    &objects::PART,
    &paths::PART,
    &ranges::PART,
    &strings::PART,
    &targets::PART,
    &targets::OTHERS,
    &torch_types::PART,
    &text::PART,
    &versions::PART,
];

/// The parts of the table that all languages share: the evaluator's own, Python's, and the arithmetic of scalars
/// and register tensors.
pub fn parts() -> impl Iterator<Item = &'static Part> {
    std::iter::once(&python::eval::PART).chain(PARTS).chain(tensor::PARTS)
}

/// Modules that are not Triton's.
pub static MODULES: Modules = Modules {
    spellings: &[("torch._inductor.triton_helpers", "torch._inductor.runtime.triton_helpers")],
    modules: &[
        ("math", 0, &[]),
        ("functools", 0, &[]),
        ("itertools", 0, &[]),
        ("operator", 0, &[]),
        ("dataclasses", 0, &[]),
        ("enum", 0, &[]),
        ("typing", 0, &[]),
        ("copy", 0, &[]),
        ("os", 0, &[]),
        ("os.path", 0, &[]),
        ("sys", 0, &[]),
        ("importlib", 0, &[]),
        ("importlib.util", 0, &[]),
        ("importlib.metadata", 0, &[]),
        ("packaging", 0, &[]),
        ("packaging.version", 0, &[]),
        ("torch", 0, &[]),
        ("pytest", 0, &[]),
    ],
    hidden: &[],
    only: &[],
    classes: &[],
};
