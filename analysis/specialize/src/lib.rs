//! A specialisation: what a kernel is launched with, as far as it shapes the kernel, and where it comes from.
//!
//! [`entries`] finds the kernels of a file, [`instances`] what each is analysed with. Values come, the
//! surest first, from `# fencepost:` lines above the kernel, the recipe of a compiled kernel, launches that
//! the host code around it makes, defaults, the configuration, and small chosen values.

mod asked;
mod cache;
mod chosen;
mod config;
#[cfg(test)]
mod copies;
mod directive;
mod discover;
mod domain;
mod entries;
mod fill;
mod flow;
mod follow;
mod formulas;
mod generated;
mod given;
mod imports;
mod instance;
mod instances;
mod kept_parts;
mod launch_site;
mod limits;
mod memo;
mod neighbours;
mod outline;
mod partly;
mod roots;
mod runs;
mod search;
mod shift;
mod spec_builder;
mod survey;
mod trouble;
mod unread;
mod usage;
mod ways;
mod words;

pub use cache::recipe;
pub use config::{Config, VersionSource, same_release};
pub use directive::{Directive, OPEN, directives, given, version};
pub use entries::{Entry, Param, entries};
pub use imports::{Imports, imported};
pub use instance::{FileKernels, Instance, Instances, Recipe, SpecNote, SpecNoteKind};
pub use instances::{FirstInstance, kernels, kernels_telling};
pub use launch_site::LaunchSite;
pub use limits::LIMITS;
pub use memo::Memo;
pub use neighbours::neighbours;
pub use partly::is_any_integer;
pub use search::speaks_of_ctas;
pub use usage::ParamUse;
pub use words::{shown, written};

use python::specialization::{Argument, Given, Handed, Host, Spec, ValueSource};
use python::target::{Target, Version};
