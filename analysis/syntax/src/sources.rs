//! Where other files of a workspace come from. The analysis itself reads nothing.

use std::fmt;
use std::sync::Arc;

use super::Module;

/// Gives the files that a file imports.
///
/// Paths are whatever the caller uses, with `/` between the parts; the analysis only hands them back.
pub trait Sources: fmt::Debug + Sync {
    /// The file that `import name` in the file at `from` means: `name` has dots as written, with leading
    /// ones where the import is relative. `None` where there is no such file.
    fn import(&self, from: &str, name: &str) -> Option<Arc<Module>>;

    /// The file at a path that the program puts together itself; relative paths count from `from`'s folder.
    fn file(&self, from: &str, path: &str) -> Option<Arc<Module>>;

    /// Other files of the workspace that mention a name, in a fixed order: launch sites of a kernel.
    fn mentions(&self, name: &str) -> Vec<Arc<Module>>;
}

/// No other files.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSources;

impl Sources for NoSources {
    fn import(&self, _: &str, _: &str) -> Option<Arc<Module>> {
        None
    }

    fn file(&self, _: &str, _: &str) -> Option<Arc<Module>> {
        None
    }

    fn mentions(&self, _: &str) -> Vec<Arc<Module>> {
        Vec::new()
    }
}
