//! What of a file's analysis is left out, because nothing that concerns it has changed.

use std::path::Path;

use base::TextRange;
use engine::instances::Elaboration;
use engine::{Analysis, Source};
use findings::Proof;

use super::changes::Changes;
use workspace::{Dependencies, absolute};

/// Takes out of the analysis of the file at `path` the kernels that no change concerns, and gives their names. What is
/// wrong with the file itself stays where it has changed, or a kernel of it is concerned.
pub(super) fn leave_out(
    changes: &Changes,
    path: &Path,
    text: &Source,
    read: &Dependencies,
    (analysis, proofs): (&mut Analysis, &mut Vec<Proof>),
) -> Vec<String> {
    let lines = changes.lines(path, text.text());
    let concerned: Vec<usize> = if changes.settings_of(path) {
        (0..analysis.kernels.len()).collect()
    } else {
        match (text, &analysis.gluon) {
            (Source::Ir(document), _) => engine::changes::kernels_of_ir(document, &analysis.kernels, &lines),
            (Source::Python(_), Some(elaboration)) => of_python(changes, path, (elaboration, read), &lines),
            _ => Vec::new(),
        }
    };
    let mut at = 0;
    let mut is_concerned = || {
        at += 1;
        concerned.binary_search(&(at - 1)).is_ok()
    };
    let mut left_out = Vec::new();
    let proved = proofs.len() == analysis.kernels.len();
    let mut kept = Vec::new();
    let all = std::mem::take(&mut analysis.kernels);
    let mut accounts = std::mem::take(proofs).into_iter();
    for kernel in all {
        let account = if proved { accounts.next() } else { None };
        if is_concerned() {
            kept.push(kernel);
            proofs.extend(account);
        } else {
            left_out.push(kernel.name);
        }
    }
    if kept.is_empty() && !changes.has(path) {
        analysis.syntax.clear();
        analysis.problems.clear();
        analysis.skipped.clear();
    }
    analysis.kernels = kept;
    left_out
}

/// The numbers of the kernels of a Python file that changes of it and of others concern.
fn of_python(
    changes: &Changes,
    path: &Path,
    (elaboration, read): (&Elaboration, &Dependencies),
    lines: &[TextRange],
) -> Vec<usize> {
    let own = absolute(path);
    let others: Vec<&Path> = changes.python().filter(|file| *file != own).collect();
    let has_part = |file: &Path| elaboration.kernels.iter().any(|kernel| kernel.has_part(&file.to_string_lossy()));
    let is_changed = |file: &str| changes.has(Path::new(file));
    let mut concerned = elaboration.kernels_touched_by(lines, &is_changed);
    for file in others {
        let kernels = elaboration.kernels.iter().enumerate();
        let named: Vec<usize> =
            kernels.filter(|(_, kernel)| changes.mentions(file, &kernel.entry.name)).map(|(at, _)| at).collect();
        // Read, and nobody knows what for: host code, or a module that went.
        let unknown = named.is_empty() && read.reads(file) && !has_part(file);
        concerned.extend(if unknown { (0..elaboration.kernels.len()).collect() } else { named });
    }
    concerned.sort_unstable();
    concerned.dedup();
    concerned
}
