//! What can be folded: sections of a dump, regions, runs of aliases.

use super::EAGER_SECTIONS;
use base::TextRange;
use ttgir::queries::spot::{lift, walk};
use ttgir::{Document, Section};

/// Ranges that can be folded, in the order of the text, outer before inner.
pub fn folds(document: &Document) -> Vec<TextRange> {
    let sections = document.sections();
    let mut folds = Vec::new();
    for section in sections {
        if sections.len() > 1 {
            folds.push(section.range());
        }
        if sections.len() <= EAGER_SECTIONS || section.is_read() {
            folds.extend(aliases(section));
            let tree = section.tree();
            walk(tree, tree.top(), &mut |op| {
                folds.extend(tree.regions(op).iter().map(|region| lift(section, tree.region_range(*region))));
            });
        }
    }
    folds.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    folds
}

/// Runs of two or more lines that define `#` or `!` aliases.
fn aliases(section: &Section) -> Vec<TextRange> {
    let mut folds = Vec::new();
    let (mut start, mut lines, mut offset) = (0, 0, 0);
    for line in section.text().split_inclusive('\n') {
        if line.starts_with(['#', '!']) {
            if lines == 0 {
                start = offset;
            }
            lines += 1;
        } else {
            if lines > 1 {
                folds.push(lift(section, TextRange::new(start, offset.saturating_sub(1))));
            }
            lines = 0;
        }
        offset += line.len() as u32;
    }
    if lines > 1 {
        folds.push(lift(section, TextRange::new(start, offset.saturating_sub(1))));
    }
    folds
}
