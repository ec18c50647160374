//! `check --fix`: the fixes of a file's findings as one change that is judged as a whole, written to the file.
//!
//! A file keeps its encoding, its line ends and its permissions. One that is no longer what was checked is left alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::Ordering;

use base::{Cancel, Cancelled};
use engine::fix_all::{Judge, ManyFixed, Wanted, fix_all, wanted};
use engine::instances::Elaborator;
use engine::{Analysis, Engine, Source as Text, is_python};
use findings::{Edit, Finding, Severity};
use render::check::CheckedFile;
use similar::TextDiff;

use super::super::sources::{Origin, Source, plain};
use super::file::{CheckOptions, LoadedFile};
use crate::limits::fixes::COMMAND as PYTHON_FIXES;
use workspace::{Encoding, threads};

/// What is done with the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FixMode {
    /// They are written to the files.
    Write,
    /// They are printed.
    Diff,
}

/// The text of a checked file with all fixes that pass together; `None` where there is nothing to fix.
pub(super) fn fixed(source: &Source, file: &CheckedFile, options: &CheckOptions) -> Result<Option<String>, String> {
    if !file.findings().any(is_meant) {
        return Ok(None);
    }
    let change = catch_unwind(AssertUnwindSafe(|| change(source, &file.text, options)));
    let change = match change {
        Ok(Ok(change)) => change,
        Ok(Err(Cancelled)) => return Err("the search for fixes was cancelled".to_owned()),
        Err(_) => return Err("the search for fixes failed; this is a bug in fencepost, please report it".to_owned()),
    };
    let Some(ManyFixed { edits, .. }) = change else { return Ok(None) };
    let text = fixes::apply(&file.text, &with_line_ends(&file.text, edits));
    text.map(Some).ok_or_else(|| "the fixes do not fit the text; this is a bug in fencepost".to_owned())
}

/// Whether a finding is to be mended.
fn is_meant(finding: &Finding) -> bool {
    finding.severity <= Severity::Warning
}

fn change(source: &Source, text: &str, options: &CheckOptions) -> Result<Option<ManyFixed>, Cancelled> {
    let stop = || options.stop.load(Ordering::Relaxed);
    let cancel = Cancel::when(&stop);
    let file = LoadedFile::new(source, text, &options.python);
    let mut judge = FileJudge { file, options, cancel: &cancel, left: PYTHON_FIXES };
    let before = judge.analyse(text)?;
    fix_all(text, &before, &mut judge)
}

/// Judges texts as the file is checked.
struct FileJudge<'a> {
    file: LoadedFile,
    options: &'a CheckOptions,
    cancel: &'a Cancel<'a>,
    /// Findings in Python for which a fix may still be looked for.
    left: usize,
}

impl FileJudge<'_> {
    fn engine(&self) -> Engine {
        Engine::with_cache(self.file.limits(self.options), self.options.cache.clone()).with_workers(threads())
    }
}

impl Judge for FileJudge<'_> {
    fn analyse(&mut self, text: &str) -> Result<Analysis, Cancelled> {
        let name = self.file.text.python().map_or_else(String::new, |file| file.module().path().to_owned());
        self.file.text = Text::new(&name, text);
        let config = self.options.python.over(self.file.configuration.config.clone());
        self.file.elaborator = Elaborator::new(config).with_workers(threads());
        let mut engine = self.engine();
        self.file.analyse(self.options, &mut engine, self.cancel)
    }

    fn wanted(&mut self, _: &str, analysis: &Analysis) -> Result<Vec<Wanted>, Cancelled> {
        let mut engine = self.engine();
        let (workspace, cancel, left) = (&self.file.workspace, self.cancel, &mut self.left);
        wanted(analysis, is_meant, &mut |kernel, finding| match &analysis.gluon {
            None => Ok(finding.fix.clone()),
            Some(_) if *left == 0 => Ok(None),
            Some(elaboration) => {
                *left -= 1;
                engine.fix_python(elaboration, kernel, finding, workspace, cancel)
            }
        })
    }
}

/// Edits whose new lines end as those of the text do.
fn with_line_ends(text: &str, mut edits: Vec<Edit>) -> Vec<Edit> {
    if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) {
        for edit in &mut edits {
            edit.text = edit.text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
    }
    edits
}

/// The change as a unified diff.
pub(super) fn diff(path: &str, old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new).unified_diff().header(path, path).to_string()
}

/// Writes the new text of a source that had another one when it was checked.
pub(super) fn write(source: &Source, old: &str, new: &str) -> Result<(), String> {
    let Origin::File(path) = &source.origin else {
        return Err("there is no file to write fixes to; --diff prints them".to_owned());
    };
    let cannot = |error: std::io::Error| format!("the fixes cannot be written: {}", plain(&error));
    // A link stays one.
    let path = fs::canonicalize(path).map_err(cannot)?;
    let now = fs::read(&path).map_err(cannot)?;
    let encoding = if is_python(&path.to_string_lossy()) { Encoding::of_python(&now).ok() } else { None };
    let encoding = encoding.unwrap_or(Encoding::Utf8);
    if encoding.encode(old).is_none_or(|old| old != now) {
        return Err("the file has changed since it was read; nothing was written".to_owned());
    }
    let new =
        encoding.encode(new).ok_or("a fix has a character that the file's encoding lacks; nothing was written")?;
    replace(&path, &new).map_err(cannot)
}

/// Puts a file in the place of another, whole or not at all.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let permissions = fs::metadata(path)?.permissions();
    if permissions.readonly() {
        return Err(std::io::Error::other("the file is read-only"));
    }
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(permissions)?;
    file.persist(path)?;
    Ok(())
}

/// What a change has taken away, in words: `2 findings fixed: deadlock, pending-access`; `would` for one that is not
/// made.
pub(super) fn words(before: &CheckedFile, after: &CheckedFile, mode: FixMode) -> String {
    let counts = |file: &CheckedFile| {
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        file.findings()
            .filter(|finding| is_meant(finding))
            .for_each(|it| *counts.entry(it.kind.name()).or_default() += 1);
        counts
    };
    let left = counts(after);
    let mut gone: Vec<(&str, usize)> = Vec::new();
    for (kind, count) in counts(before) {
        let fewer = count.saturating_sub(left.get(kind).copied().unwrap_or(0));
        if fewer > 0 {
            gone.push((kind, fewer));
        }
    }
    let total: usize = gone.iter().map(|(_, count)| count).sum();
    let kinds: Vec<String> = gone
        .iter()
        .map(|(kind, count)| if *count == 1 { (*kind).to_owned() } else { format!("{count} {kind}") })
        .collect();
    let findings = if total == 1 { "finding" } else { "findings" };
    let done = if mode == FixMode::Write { "fixed" } else { "would be fixed" };
    format!("{}: {total} {findings} {done}: {}", before.path, kinds.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::TextRange;

    #[test]
    fn new_lines_end_as_the_others_do() {
        let edit = |text: &str| vec![Edit { range: TextRange::empty(0), text: text.to_owned() }];
        assert_eq!(with_line_ends("a\r\nb\r\n", edit("x\ny\r\n")), edit("x\r\ny\r\n"));
        assert_eq!(with_line_ends("a\nb\r\n", edit("x\n")), edit("x\n"));
    }

    #[test]
    fn a_file_that_has_changed_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("k.py");
        let source = Source::named(&path);
        fs::write(&path, b"# coding: latin-1\n# caf\xe9\n").expect("it can be written");
        let old = "# coding: latin-1\n# café\n";
        assert_eq!(write(&source, old, "# coding: latin-1\n# né\n"), Ok(()));
        assert_eq!(fs::read(&path).expect("it is there"), b"# coding: latin-1\n# n\xe9\n");
        let refused = write(&source, old, "x\n").expect_err("it is another text now");
        assert!(refused.contains("has changed"), "{refused}");
        assert!(write(&source, "# coding: latin-1\n# né\n", "# →\n").is_err());
        assert_eq!(fs::read(&path).expect("it is there"), b"# coding: latin-1\n# n\xe9\n");
    }
}
