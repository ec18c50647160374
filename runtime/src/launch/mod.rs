//! A launch recipe: which kernel, over which grid, with what arguments, and who says so.

pub mod directive;
mod fill;
pub mod npy;
pub mod recipe;
mod spec;
pub mod store;
mod value;

pub use fill::{default_fill, fill};
pub use spec::{ArgumentValue, ArraySpec, Fill, LaunchArgument, LaunchOrigin, LaunchSpec, PythonEntry};
