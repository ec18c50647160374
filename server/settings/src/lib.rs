//! The settings of Fencepost: `fencepost.toml`, what editors say, and one table that both are read by.
//!
//! A row of the [`table`] says what a setting is called, what it takes and what it does. Reader, JSON schema, hovers,
//! completions and documentation come from it, so that they cannot differ. What is wrong with a setting is said at
//! its place, and the others hold.

mod apply;
mod complete;
mod editor;
mod hover;
mod model;
mod nearest;
mod pattern;
mod read;
mod schema;
pub mod table;
mod tree;

pub use complete::{SettingCompletion, completions};
pub use editor::read_editor;
pub use hover::{SettingHover, hover};
pub use model::{Level, Settings};
pub use nearest::nearest;
pub use pattern::matches;
pub use read::{SettingError, read};
pub use schema::{editor_properties, schema};

/// The name of the file that settings stand in.
pub const FILE: &str = "fencepost.toml";
