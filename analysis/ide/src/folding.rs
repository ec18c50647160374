//! What can be folded: sections of a dump, regions, runs of aliases and of comments.

use super::EAGER_SECTIONS;
use base::TextRange;
use ttgir::queries::spot::{lift, walk};
use ttgir::{Document, Section};

/// A range that can be folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// From the first character that stays to the last one that goes, or to the bracket that closes it.
    pub range: TextRange,
    /// What it holds.
    pub kind: FoldKind,
    /// Whether its last character closes it, so that its line stays.
    pub closed: bool,
}

/// What a fold holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldKind {
    /// A block, or what stands in brackets.
    Block,
    /// Comments.
    Comment,
    /// Imports.
    Imports,
}

/// Ranges that can be folded, in the order of the text, outer before inner.
pub fn folds(document: &Document) -> Vec<Fold> {
    let sections = document.sections();
    let mut folds = Vec::new();
    let mut block = |range: TextRange| {
        let closed = range.of(document.text()).ends_with('}');
        folds.push(Fold { range, kind: FoldKind::Block, closed });
    };
    let mut comments = Vec::new();
    for section in sections {
        if sections.len() > 1 {
            block(section.range());
        }
        if sections.len() <= EAGER_SECTIONS || section.is_read() {
            runs(section, |line| line.starts_with(['#', '!'])).into_iter().for_each(&mut block);
            comments.extend(runs(section, |line| line.trim_start().starts_with("//")));
            let tree = section.tree();
            walk(tree, tree.top(), &mut |op| {
                tree.regions(op).iter().for_each(|region| block(lift(section, tree.region_range(*region))));
            });
        }
    }
    folds.extend(comments.into_iter().map(|range| Fold { range, kind: FoldKind::Comment, closed: false }));
    folds.sort_by_key(|fold| (fold.range.start, std::cmp::Reverse(fold.range.end)));
    folds
}

/// Runs of two or more lines of a kind.
fn runs(section: &Section, takes: impl Fn(&str) -> bool) -> Vec<TextRange> {
    let mut folds = Vec::new();
    let (mut start, mut lines, mut offset) = (0, 0, 0);
    let mut push = |start: u32, lines: u32, end: u32| {
        if lines > 1 {
            folds.push(lift(section, TextRange::new(start, end.saturating_sub(1))));
        }
    };
    for line in section.text().split_inclusive('\n') {
        if takes(line) {
            if lines == 0 {
                start = offset;
            }
            lines += 1;
        } else {
            push(start, lines, offset);
            lines = 0;
        }
        offset += line.len() as u32;
    }
    push(start, lines, offset);
    folds
}
