//! From a place in an elaborated instance to the place in Python.

use super::ElaboratedInstance;
use base::TextRange;
use findings::Note;
use gluon::{FileId, Frame};
use python::syntax::Module;

/// A place of an elaborated instance in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PythonLocation {
    /// The whole call; of one in another file, the call in this file that leads there. In the text.
    pub range: TextRange,
    /// Whether that is text which is no longer there, and the range that of what is broken.
    pub stale: bool,
    /// `file:line`, where the call itself stands in another file.
    pub source: Option<String>,
    /// Calls around it, the innermost first.
    pub calls: Vec<Note>,
    /// Iterations of unrolled loops that it is in, the outermost first: `s = 2`.
    pub iterations: Vec<String>,
}

impl PythonLocation {
    /// ` (s = 2)`, for the end of a sentence; empty where nothing is unrolled.
    pub fn within(&self) -> String {
        if self.iterations.is_empty() { String::new() } else { format!(" ({})", self.iterations.join(", ")) }
    }
}

impl ElaboratedInstance {
    /// Where a range of the elaborated instance comes from.
    pub fn place(&self, range: TextRange) -> PythonLocation {
        let origin = if range == self.kernel_range() { None } else { self.origins().at(range.start) };
        let Some(origin) = origin else {
            let (range, stale) = self.module.place(self.name);
            return PythonLocation { range, stale, ..PythonLocation::default() };
        };
        let frames: Vec<&Frame> = self.origins().frames(origin).collect();
        let own = FileId(0);
        let in_file = origin.file == own;
        // How many frames lie between the op and the place.
        let skipped =
            if in_file { Some(0) } else { frames.iter().position(|frame| frame.file == own).map(|at| at + 1) };
        let found = match skipped {
            Some(0) => origin.range,
            Some(at) => frames.get(at - 1).map_or(self.name, |frame| frame.range),
            None => self.name,
        };
        let (range, stale) = self.module.place(found);
        let around = frames.iter().skip(skipped.unwrap_or(0)).filter(|frame| frame.file == own && !frame.iteration);
        let calls = around.map(|frame| Note {
            range: self.module.place(frame.range).0,
            text: format!("in this call of `{}`", frame.what),
            source: None,
            primary: false,
        });
        let iterations = frames.iter().rev().filter(|frame| frame.iteration).map(|frame| frame.what.clone());
        PythonLocation {
            range,
            stale,
            source: (!in_file).then(|| self.spot(origin.file, origin.range)),
            calls: calls.collect(),
            iterations: iterations.collect(),
        }
    }

    /// The whole lines of a range in the source of a file of this elaboration, without comments; none where that is not
    /// known.
    pub(super) fn code_lines(&self, file: FileId, range: TextRange) -> Vec<&str> {
        let Some(module) = self.module_of(file) else { return Vec::new() };
        let source = module.source();
        let start = source.get(..range.start as usize).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let end = source.get(range.end as usize..).and_then(|rest| rest.find('\n'));
        let lines = source.get(start..end.map_or(source.len(), |at| range.end as usize + at)).unwrap_or("");
        let mut at = start;
        let code = lines.split_inclusive('\n').map(|line| {
            let mut hashes = line.match_indices('#').map(|(hash, _)| hash);
            let comment = hashes.find(|hash| module.is_comment((at + hash) as u32));
            at += line.len();
            line.get(..comment.unwrap_or(line.len())).unwrap_or(line)
        });
        code.collect()
    }

    /// `file:line` of a place in a file of this elaboration.
    pub fn spot(&self, file: FileId, range: TextRange) -> String {
        let path = self.files().get(file.0 as usize).map_or("?", String::as_str);
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        match self.module_of(file) {
            Some(module) => format!("{name}:{}", line(module, range)),
            None => name.to_owned(),
        }
    }
}

/// The line of a range of a file's source, from 1.
pub(super) fn line(module: &Module, range: TextRange) -> usize {
    let (range, _) = module.place(range);
    let before = module.text().get(..range.start as usize).unwrap_or("");
    before.bytes().filter(|byte| *byte == b'\n').count() + 1
}
