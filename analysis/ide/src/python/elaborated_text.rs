//! A kernel in Python as the ops that it is analysed as, each with its line of Python.
//!
//! That is what the elaborator made of one instance, before any pass of Triton: tensors have no layout, and nothing is
//! warp-specialised that the Python does not. It is no compiler's output.

use base::TextRange;
use engine::instances::ElaboratedInstance;
use gluon::FileId;

/// The ops of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElaboratedText {
    /// The text, indented; it ends with a line break.
    pub text: String,
    /// For each line of the text where it comes from, where it holds an op of the kernel's body.
    pub lines: Vec<Option<OpPlace>>,
    /// What was not followed or would be refused, each at a place of the file that was asked about.
    pub remarks: Vec<(TextRange, String)>,
}

/// Where an op comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpPlace {
    /// The innermost call in the file that was asked about.
    pub range: TextRange,
    /// Whether that is of an earlier text.
    pub stale: bool,
    /// `helpers.py:12`, where the op itself stands in another file.
    pub source: Option<String>,
}

/// The ops of an instance as a text.
pub fn elaborated_text(of: &ElaboratedInstance) -> ElaboratedText {
    let mut out = ElaboratedText::default();
    let kernel = of.place(TextRange::empty(0)).range;
    for (file, range, why) in of.unmodelled() {
        // What a helper of another file does is said at the kernel.
        let range = if *file == FileId(0) { of.module().place(*range).0 } else { kernel };
        out.remarks.push((range, format!("not followed: {why}")));
    }
    for problem in of.problems() {
        let range = if problem.file == FileId(0) { of.module().place(problem.range).0 } else { kernel };
        out.remarks.push((range, format!("{}: {}", problem.code, problem.message)));
    }
    let (mut at, mut depth) = (0u32, 0usize);
    for line in of.document().text().split_inclusive('\n') {
        let place = of.place(TextRange::empty(at));
        at += line.len() as u32;
        let text = line.trim();
        depth = depth.saturating_sub(usize::from(text.starts_with('}')));
        if !text.is_empty() {
            out.text.extend(std::iter::repeat_n(' ', 2 * depth));
        }
        out.text.push_str(text);
        out.text.push('\n');
        depth += usize::from(text.ends_with('{') && !text.starts_with('#'));
        let is_op = !text.is_empty() && !text.starts_with(['#', '}', '/']) && !place.range.is_empty();
        let place = OpPlace { range: place.range, stale: place.stale, source: place.source };
        out.lines.push(is_op.then_some(place));
    }
    out
}
