//! Documents to reports, with the memory between edits.

mod analysis;
mod cache;
pub mod changes;
mod deleted;
pub mod fix_all;
pub mod instances;
mod judged_section;
mod limits;
mod near_directives;
mod partitions;
mod progress;
mod recipes;
mod source;
pub mod suppress;

pub use analysis::{Analysis, Engine, lowered};
pub use cache::SharedCache;
pub use limits::LIMITS;
pub use progress::{Depth, KernelNumber, Listener, Progress};
pub use source::{Source, is_python};
