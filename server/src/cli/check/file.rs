//! One file that `check` looks at: its text with what is around it, its analysis, and what of it is asked for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Cancel, Cancelled, Limits, Semantics};
use engine::instances::{Config, Elaboration, Elaborator, Version, VersionSource};
use engine::{Analysis, Engine, SharedCache, Source as Text, is_python};
use findings::{Finding, KernelReport, Kind, Proof, Severity, Verdict};
use render::check::{CheckedFile, FileAnalysis, ReadError, TritonRelease};

use super::super::args::Python;
use super::super::sources::{Origin, Source, looks_like_python, read};
use super::changes::Changes;
use super::scope;
use crate::limits::fixes::CHECK as FIXES;
use workspace::{Configuration, Workspace, absolute, threads};

/// How a file is checked.
#[derive(Clone)]
pub(crate) struct CheckOptions {
    /// Whether the verdicts are accounted for.
    pub(crate) explain: bool,
    /// By whose rules; `None` where the settings of a file say.
    pub(crate) semantics: Option<Semantics>,
    /// With what kernels in Python are analysed.
    pub(crate) python: Python,
    /// What all files share.
    pub(crate) cache: Arc<SharedCache>,
    /// Whether only what is said of global memory counts.
    pub(crate) global: bool,
    /// Whether comments suppress findings.
    pub(crate) suppress: bool,
    /// What has changed, where the rest is left out.
    pub(crate) changes: Option<Arc<Changes>>,
    /// Set where nobody wants the answer any more.
    pub(crate) stop: Arc<AtomicBool>,
}

impl CheckOptions {
    /// Whatever is in a file, by these rules and settings.
    pub(crate) fn new(semantics: Option<Semantics>, python: Python) -> CheckOptions {
        CheckOptions {
            explain: false,
            semantics,
            python,
            cache: Arc::default(),
            global: false,
            suppress: true,
            changes: None,
            stop: Arc::default(),
        }
    }
}

/// A text with what its analysis asks for.
pub(crate) struct LoadedFile {
    /// The text.
    pub(crate) text: Text,
    /// The files around it.
    pub(crate) workspace: Workspace,
    /// Elaborates it, where it is Python.
    pub(crate) elaborator: Elaborator,
    /// Its settings.
    pub(crate) configuration: Configuration,
    /// The release of Triton that it is analysed for, where it is Python.
    pub(crate) triton: Option<TritonRelease>,
}

impl LoadedFile {
    /// The text of a source.
    pub(crate) fn new(source: &Source, text: &str, python: &Python) -> LoadedFile {
        let path = match &source.origin {
            Origin::File(path) | Origin::NamedStdin(path) | Origin::Given(path, _) => absolute(path),
            Origin::Stdin if looks_like_python(text) => absolute("stdin.py".as_ref()),
            Origin::Stdin | Origin::Nowhere(..) => PathBuf::new(),
        };
        let name = path.to_string_lossy();
        if !is_python(&name) {
            let (workspace, elaborator) = (Workspace::of(None), Elaborator::default());
            let named = !path.as_os_str().is_empty();
            let configuration = if named { workspace.settings_of(&path) } else { Configuration::default() };
            return LoadedFile { text: Text::new("", text), workspace, elaborator, configuration, triton: None };
        }
        let text = Text::new(&name, text);
        let workspace = match (&source.origin, &text) {
            // What is on disk under its name is another text.
            (Origin::NamedStdin(_) | Origin::Given(..), Text::Python(file)) => Workspace::around_open(&path, file),
            _ => Workspace::around(&path),
        };
        let configuration = workspace.configuration(&path);
        let config = python.over(configuration.config.clone());
        let triton = Some(release(&config, &workspace, &path));
        LoadedFile {
            text,
            workspace,
            elaborator: Elaborator::new(config).with_workers(threads()),
            configuration,
            triton,
        }
    }

    /// The limits of its analysis.
    pub(super) fn limits(&self, options: &CheckOptions) -> Limits {
        let limits = self.configuration.settings.limits();
        Limits { semantics: options.semantics.unwrap_or(limits.semantics), ..limits }
    }

    /// The analysis of its text, as its settings have it.
    pub(super) fn analyse(
        &mut self,
        options: &CheckOptions,
        engine: &mut Engine,
        cancel: &Cancel<'_>,
    ) -> Result<Analysis, Cancelled> {
        let mut analysis = engine.analyse_source(&self.text, &mut self.elaborator, &self.workspace, cancel)?;
        if !options.suppress {
            analysis.kernels.iter_mut().for_each(KernelReport::show_suppressed);
        }
        self.configuration.settings.apply(&mut analysis);
        Ok(analysis)
    }
}

/// For which release of Triton a file is analysed, and who says so.
fn release(config: &Config, workspace: &Workspace, path: &Path) -> TritonRelease {
    let Version(major, minor) = config.version;
    let (source, installed) = match config.version_from {
        VersionSource::Newest => ("the newest that is known".to_owned(), false),
        VersionSource::Installed => match workspace.installed(path) {
            Some(found) => (format!("installed in {}", found.place.display()), true),
            None => ("installed".to_owned(), true),
        },
        VersionSource::Configuration => ("fencepost.toml".to_owned(), false),
        VersionSource::Command => ("command line".to_owned(), false),
    };
    TritonRelease { version: format!("{major}.{minor}"), source, installed }
}

/// Looks for fixes of what was found in Python.
fn fix(
    engine: &mut Engine,
    analysis: &mut Analysis,
    workspace: &Workspace,
    cancel: &Cancel<'_>,
) -> Result<(), Cancelled> {
    let Some(elaboration) = analysis.gluon.clone() else { return Ok(()) };
    let mut left = FIXES;
    for at in 0..analysis.kernels.len() {
        let Some(report) = analysis.kernels.get(at).cloned() else { continue };
        for (number, finding) in report.findings.iter().enumerate() {
            if left == 0 || finding.severity > Severity::Warning {
                continue;
            }
            left -= 1;
            let found = engine.fix_python(&elaboration, at, finding, workspace, cancel)?;
            if let Some(finding) = analysis.kernels.get_mut(at).and_then(|it| it.findings.get_mut(number)) {
                finding.fix = found;
            }
        }
    }
    Ok(())
}

/// Leaves of a report what is said of global memory.
fn of_global_memory(report: &mut KernelReport) {
    let about = |finding: &Finding| matches!(finding.kind, Kind::GlobalRace | Kind::Unmodelled);
    report.findings.retain(about);
    report.suppressed.retain(|it| about(&it.finding));
    report.verdict = match &report.global {
        Some(global) => global.told(),
        None if matches!(report.verdict, Verdict::Undecided(_)) => return,
        None => Verdict::Proved("it writes no global memory".to_owned()),
    };
}

/// A checked file, and its kernels as they were elaborated, where it is Python.
pub(crate) type Checked = (CheckedFile, Option<Arc<Elaboration>>);

/// Reads and analyses one source. A panic of ours is trouble with that file only.
pub(crate) fn check(source: &Source, options: &CheckOptions) -> Checked {
    let (path, named) = (source.path(), source.named);
    let checked = |text: String, result, proofs| CheckedFile { path, named, text, result, proofs };
    if let (Origin::File(file), Some(changes)) = (&source.origin, &options.changes)
        && !changes.may_concern(file)
    {
        let unchanged = FileAnalysis { unchanged: true, ..FileAnalysis::default() };
        return (checked(String::new(), Ok(unchanged), Vec::new()), None);
    }
    let text = match read(source) {
        Ok(text) => text,
        Err(error) => return (checked(String::new(), Err(error), Vec::new()), None),
    };
    match catch_unwind(AssertUnwindSafe(|| analyse(source, &text, options))) {
        Ok(Ok((analysis, proofs, elaboration))) => (checked(text, Ok(analysis), proofs), elaboration),
        Ok(Err(Cancelled)) => (checked(text, Err(ReadError::new("the analysis was cancelled")), Vec::new()), None),
        Err(_) => {
            let error = ReadError::new("the analysis failed; this is a bug in fencepost, please report it");
            (checked(text, Err(error), Vec::new()), None)
        }
    }
}

type Analysed = (FileAnalysis, Vec<Proof>, Option<Arc<Elaboration>>);

fn analyse(source: &Source, text: &str, options: &CheckOptions) -> Result<Analysed, Cancelled> {
    let mut loaded = LoadedFile::new(source, text, &options.python);
    let mut engine = Engine::with_cache(loaded.limits(options), options.cache.clone()).with_workers(threads());
    let stop = || options.stop.load(Ordering::Relaxed);
    let cancel = Cancel::when(&stop);
    let mut analysis = loaded.analyse(options, &mut engine, &cancel)?;
    let LoadedFile { text, workspace, configuration, triton, .. } = loaded;
    fix(&mut engine, &mut analysis, &workspace, &cancel)?;
    analysis.problems.extend(configuration.problems);
    analysis.problems.extend(execution::recipe_check::problems(
        text.text(),
        &analysis.kernels,
        analysis.gluon.as_deref(),
    ));
    if options.global {
        analysis.kernels.iter_mut().for_each(of_global_memory);
    }
    let mut proofs = if options.explain { engine.explain_source(&text, &analysis, &cancel)? } else { Vec::new() };
    let left_out = match (&options.changes, source.file()) {
        (Some(changes), Some(path)) => {
            scope::leave_out(changes, path, &text, &workspace.dependencies(), (&mut analysis, &mut proofs))
        }
        _ => Vec::new(),
    };
    let Analysis { kernels, syntax, problems, skipped, gluon } = analysis;
    let triton = triton.filter(|_| !kernels.is_empty());
    let analysis = FileAnalysis { kernels, syntax, problems, skipped, triton, left_out, ..FileAnalysis::default() };
    Ok((analysis, proofs, gluon))
}
