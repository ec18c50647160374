//! What is known of a file, for finding what its calls call and its names stand for.

use super::FileContext;
use super::functions::Definitions;
use super::things::Things;
use engine::instances::PythonFile;
use specialize::Imports;

/// What is known of a file.
pub(super) struct Scene<'m> {
    pub file: &'m PythonFile,
    pub setting: &'m FileContext<'m>,
    pub names: &'m Imports<'m>,
    pub definitions: &'m Definitions<'m>,
    pub things: &'m Things<'m>,
}
