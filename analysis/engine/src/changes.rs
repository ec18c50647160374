//! Which kernels of a text a change of it concerns.

use base::TextRange;
use findings::KernelReport;
use gluon::FileId;
use ruff_text_size::Ranged;
use ttgir::queries::spot;
use ttgir::{Document, IrLevel};

use crate::instances::{Elaboration, KernelInstances};

/// Of these kernels of a TTGIR text, the numbers of those that changed lines concern: lines of their function, or of
/// what stands outside of kernels in their section.
pub fn kernels_of_ir(document: &Document, kernels: &[KernelReport], changed: &[TextRange]) -> Vec<usize> {
    let mut concerned = Vec::new();
    for section in document.sections().iter().filter(|section| section.level() != IrLevel::Llvm) {
        let (whole, tree, offset) = (section.range(), section.tree(), section.offset());
        let here: Vec<TextRange> = changed.iter().copied().filter(|line| meets(whole, *line)).collect();
        if here.is_empty() {
            continue;
        }
        let own: Vec<(usize, TextRange)> = kernels
            .iter()
            .enumerate()
            .filter(|(_, kernel)| whole.contains(kernel.range))
            .map(|(at, kernel)| {
                let op = tree.op_at(kernel.range.start - offset).and_then(|op| spot::function(tree, op));
                let range = op.map_or(TextRange::empty(0), |op| tree.op_range(op));
                (at, TextRange::new(range.start + offset, range.end + offset))
            })
            .collect();
        for line in here.into_iter().filter(|line| matters(line.of(document.text()), "//")) {
            let inside: Vec<usize> = own.iter().filter(|(_, range)| meets(*range, line)).map(|(at, _)| *at).collect();
            concerned.extend(if inside.is_empty() { own.iter().map(|(at, _)| *at).collect() } else { inside });
        }
    }
    concerned.sort_unstable();
    concerned.dedup();
    concerned
}

impl Elaboration {
    /// The numbers of the kernels that changed lines of the file concern, or a change of other files: kernels that run
    /// what changed, or are launched by it. A line outside of functions and classes concerns all.
    pub fn kernels_touched_by(&self, changed: &[TextRange], is_changed: &dyn Fn(&str) -> bool) -> Vec<usize> {
        let text = self.module.text();
        let lines: Vec<TextRange> = changed.iter().copied().filter(|line| matters(line.of(text), "#")).collect();
        let concerned = self.kernels.iter().enumerate().filter(|(_, kernel)| {
            lines.iter().any(|line| self.concerns(kernel, *line)) || kernel.other_files().any(is_changed)
        });
        concerned.map(|(at, _)| at).collect()
    }

    fn concerns(&self, kernel: &KernelInstances, line: TextRange) -> bool {
        let around = self.module.body().iter().map(|statement| {
            let range = statement.range();
            (statement, TextRange::new(range.start().to_u32(), range.end().to_u32()))
        });
        let Some((statement, range)) = around.into_iter().find(|(_, range)| meets(*range, line)) else { return true };
        if !(statement.is_function_def_stmt() || statement.is_class_def_stmt()) {
            return true;
        }
        let launches = kernel.sites.iter().any(|site| match site.range {
            Some(at) => range.contains(at),
            None => false,
        });
        // Code that no kernel runs may be that of the host, which says what kernels are launched with.
        let of_kernels = |other: &KernelInstances| range.contains(other.entry.range) || other.runs(line);
        let of_host = !kernel.sites.is_empty() && !self.kernels.iter().any(of_kernels);
        range.contains(kernel.entry.range) || launches || of_host || kernel.runs(line)
    }
}

impl KernelInstances {
    fn runs(&self, line: TextRange) -> bool {
        let touched = self.instances.iter().flat_map(|elaborated| elaborated.touched().iter());
        touched.into_iter().any(|(file, range)| *file == FileId(0) && meets(*range, line))
    }

    /// Whether a file had a part in it.
    pub fn has_part(&self, file: &str) -> bool {
        self.instances.iter().any(|elaborated| elaborated.files().iter().any(|it| it == file))
    }

    /// The other files that had a part in it.
    fn other_files(&self) -> impl Iterator<Item = &str> {
        self.instances.iter().flat_map(|elaborated| elaborated.files().iter().skip(1)).map(String::as_str)
    }
}

/// Whether a line is more than white space and comments; what is written for us counts.
fn matters(line: &str, sign: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && (!line.starts_with(sign) || line.contains("fencepost"))
}

fn meets(range: TextRange, line: TextRange) -> bool {
    range.start < line.end.max(line.start + 1) && line.start < range.end
}
