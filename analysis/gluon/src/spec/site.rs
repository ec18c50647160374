//! Launches as the host code makes them, whole: with the grid, and with the shapes of tensors.

use super::{Entry, Handed};
use base::TextRange;
use python::host::{self, Launch};
use python::interp::Interp;
use python::origin::FileId;

/// How many launches of a kernel are kept.
pub(super) const MOST: usize = 16;

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Where its call stands, in the kernel's own file.
    pub range: Option<TextRange>,
    /// Where the function starts that makes it, in that file.
    pub def: u32,
    /// Programs along x, y and z, where that is known.
    pub grid: Option<[u32; 3]>,
    /// What it hands over, by parameter.
    pub arguments: Vec<(String, Handed)>,
    /// Parameters of which it is not known what they are given.
    pub unknown: Vec<String>,
}

/// What a launch says, made by the function at `def` of `file`.
pub(super) fn of<'a>(interp: &Interp<'a>, entry: &Entry, launch: &Launch<'a>, file: FileId, def: u32) -> Site {
    let own = launch.file == FileId(0) && file == FileId(0);
    let mut site =
        Site { range: own.then_some(launch.at), def, grid: launch.grid, arguments: Vec::new(), unknown: Vec::new() };
    for param in &entry.params {
        let Some((_, value)) = launch.arguments.iter().find(|(name, _)| **name == *param.name) else { continue };
        match host::handed(interp, value) {
            Some(handed) => site.arguments.push((param.name.clone(), handed)),
            None => site.unknown.push(param.name.clone()),
        }
    }
    site
}

impl Site {
    /// The same after its function has moved.
    pub(super) fn moved(&mut self, now: u32) {
        let by = i64::from(now) - i64::from(self.def);
        let shift = |at: u32| u32::try_from(i64::from(at) + by).unwrap_or(at);
        if let Some(range) = &mut self.range {
            *range = TextRange::new(shift(range.start), shift(range.end));
        }
        self.def = now;
    }
}
