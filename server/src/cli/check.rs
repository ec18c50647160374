//! `fencepost check`: files are checked side by side and printed in the order they were named.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use base::{Cancel, Cancelled, Limits, Semantics};
use engine::instances::{Config, Elaboration, Elaborator, Version, VersionSource};
use engine::{Analysis, Engine, SharedCache, Source as Text, is_python};
use findings::{Finding, KernelReport, Kind, Proof, Severity, Verdict};
use render::check::{
    CheckedFile, FileAnalysis, FileOutput, Printer, ReadError, Tally, TritonRelease, github, human, json, sarif,
};

use super::args::{Check, Format, Python};
use super::process::{Exit, STACK_BYTES, painter};
use super::settings::KnownParameters;
use super::sources::{Origin, Source, collect, read};
use crate::workspace::{Configuration, Workspace, absolute};

/// Findings in one Python file for which a fix is looked for.
const FIXES: usize = 8;

/// Checks everything that the arguments name; of global memory alone where that is asked.
pub(crate) fn run(args: &Check, global: bool) -> io::Result<Exit> {
    let sources = collect(&args.paths);
    let printer: Box<dyn Printer> = match args.format {
        Format::Human => Box::new(human::Human::new(painter(args.color), args.verbose)),
        Format::Json => Box::new(json::Json),
        Format::Sarif => Box::new(sarif::Sarif),
        Format::Github => Box::new(github::Github),
    };
    let jobs = match args.jobs {
        Some(jobs) => jobs.get(),
        None => thread::available_parallelism().map_or(1, |cores| cores.get()),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    out.write_all(printer.begin().as_bytes())?;
    let python = args.python.clone();
    let cache = Arc::default();
    let options = CheckOptions {
        explain: args.explain_proof,
        semantics: args.semantics.map(Semantics::from),
        python,
        cache,
        global,
        suppress: !args.no_suppress,
    };
    let (tally, notes, known) = print_all(&sources, printer.as_ref(), (jobs, &options), &mut out)?;
    out.write_all(printer.end(&tally, &notes).as_bytes())?;
    out.flush()?;
    let problems = known.problems(&args.python);
    for problem in &problems {
        writeln!(io::stderr(), "fencepost: {problem}")?;
    }
    Ok(if problems.is_empty() { exit(&tally, args.allow_undecided) } else { Exit::Trouble })
}

/// What the process says.
fn exit(tally: &Tally, allow_undecided: bool) -> Exit {
    if tally.unreadable + tally.syntax_errors > 0 || (tally.undecided > 0 && !allow_undecided) {
        Exit::Trouble
    } else if tally.errors + tally.warnings > 0 {
        Exit::Findings
    } else {
        Exit::Clean
    }
}

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
}

/// Checks `sources`, so many at a time, and writes their pieces in order as they become ready.
fn print_all(
    sources: &[Source],
    printer: &dyn Printer,
    (jobs, options): (usize, &CheckOptions),
    out: &mut dyn Write,
) -> io::Result<(Tally, Vec<String>, KnownParameters)> {
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel::<(usize, Tally, FileOutput, KnownParameters)>();
    thread::scope(|scope| {
        for _ in 0..jobs.min(sources.len()) {
            let (send, next) = (send.clone(), &next);
            thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(source) = sources.get(at) else { break };
                    let (file, elaboration) = check(source, options);
                    let mut known = KnownParameters::default();
                    if let Some(elaboration) = &elaboration {
                        known.add(elaboration);
                    }
                    if send.send((at, Tally::of(&file), printer.file(&file), known)).is_err() {
                        break;
                    }
                }
            })?;
        }
        drop(send);
        let mut progress = Progress::new(sources.len());
        let (mut waiting, mut known) = (BTreeMap::new(), KnownParameters::default());
        let (mut tally, mut notes, mut written, mut first) = (Tally::default(), Vec::new(), 0, true);
        for (at, counts, piece, parameters) in receive {
            progress.done();
            known.merge(parameters);
            waiting.insert(at, (counts, piece));
            while let Some((counts, piece)) = waiting.remove(&written) {
                written += 1;
                tally.add(&counts);
                if !piece.notifications.is_empty() {
                    notes.push(piece.notifications);
                }
                if !piece.body.is_empty() {
                    progress.clear();
                    if !first {
                        out.write_all(printer.separator().as_bytes())?;
                    }
                    first = false;
                    out.write_all(piece.body.as_bytes())?;
                }
            }
        }
        progress.clear();
        Ok((tally, notes, known))
    })
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
            Origin::File(path) | Origin::NamedStdin(path) => absolute(path),
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
        let workspace = Workspace::around(&path);
        let configuration = workspace.configuration(&path);
        let config = python.over(configuration.config.clone());
        let triton = Some(release(&config, &workspace, &path));
        LoadedFile {
            text: Text::new(&name, text),
            workspace,
            elaborator: Elaborator::new(config),
            configuration,
            triton,
        }
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
fn fix(engine: &mut Engine, analysis: &mut Analysis, workspace: &Workspace) -> Result<(), Cancelled> {
    let Some(elaboration) = analysis.gluon.clone() else { return Ok(()) };
    let mut left = FIXES;
    for at in 0..analysis.kernels.len() {
        let Some(report) = analysis.kernels.get(at).cloned() else { continue };
        for (number, finding) in report.findings.iter().enumerate() {
            if left == 0 || finding.severity > Severity::Warning {
                continue;
            }
            left -= 1;
            let found = engine.fix_python(&elaboration, at, finding, workspace, &Cancel::never())?;
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
        Some(global) => global.verdict.clone(),
        None if matches!(report.verdict, Verdict::Undecided(_)) => return,
        None => Verdict::Proved("it writes no global memory".to_owned()),
    };
}

/// Python from standard input has no name that tells it.
fn looks_like_python(text: &str) -> bool {
    text.lines().any(|line| ["import ", "from ", "def ", "@"].iter().any(|word| line.starts_with(word)))
}

/// Reads and analyses one source. A panic of ours is trouble with that file only.
///
/// Beside what is printed of the file come its kernels as they were elaborated, where it is Python.
pub(crate) fn check(source: &Source, options: &CheckOptions) -> (CheckedFile, Option<Arc<Elaboration>>) {
    let (path, named) = (source.path(), source.named);
    let (text, result) = match read(source) {
        Ok(text) => {
            let result = catch_unwind(AssertUnwindSafe(|| analyse(source, &text, options)));
            let panicked = || Err(ReadError::new("the analysis failed; this is a bug in fencepost, please report it"));
            (text, result.unwrap_or_else(|_| panicked()))
        }
        Err(error) => (String::new(), Err(error)),
    };
    let (result, proofs, elaboration) = match result {
        Ok((analysis, proofs)) => {
            let (Analysis { kernels, syntax, problems, skipped, gluon }, triton) = analysis;
            let triton = triton.filter(|_| !kernels.is_empty());
            (Ok(FileAnalysis { kernels, syntax, problems, skipped, triton, ..FileAnalysis::default() }), proofs, gluon)
        }
        Err(error) => (Err(error), Vec::new(), None),
    };
    (CheckedFile { path, named, text, result, proofs }, elaboration)
}

type Analysed = ((Analysis, Option<TritonRelease>), Vec<Proof>);

fn analyse(source: &Source, text: &str, options: &CheckOptions) -> Result<Analysed, ReadError> {
    let LoadedFile { text, workspace, mut elaborator, configuration, triton } =
        LoadedFile::new(source, text, &options.python);
    let limits = configuration.settings.limits();
    let limits = Limits { semantics: options.semantics.unwrap_or(limits.semantics), ..limits };
    let mut engine = Engine::with_cache(limits, options.cache.clone());
    let analyse = || {
        let mut analysis = engine.analyse_source(&text, &mut elaborator, &workspace, &Cancel::never())?;
        if !options.suppress {
            analysis.kernels.iter_mut().for_each(KernelReport::show_suppressed);
        }
        configuration.settings.apply(&mut analysis);
        fix(&mut engine, &mut analysis, &workspace)?;
        analysis.problems.extend(configuration.problems);
        if options.global {
            analysis.kernels.iter_mut().for_each(of_global_memory);
        }
        let proofs =
            if options.explain { engine.explain_source(&text, &analysis, &Cancel::never())? } else { Vec::new() };
        Ok(((analysis, triton), proofs))
    };
    analyse().map_err(|Cancelled| ReadError::new("the analysis was cancelled"))
}

/// How far it is, on stderr where that is a terminal and the work takes a while.
struct Progress {
    total: usize,
    done: usize,
    start: Instant,
    shown: bool,
    terminal: bool,
}

impl Progress {
    fn new(total: usize) -> Progress {
        let terminal = total > 1 && io::stderr().is_terminal();
        Progress { total, done: 0, start: Instant::now(), shown: false, terminal }
    }

    fn done(&mut self) {
        self.done += 1;
        if self.terminal && self.start.elapsed() > Duration::from_millis(300) {
            let _ = write!(io::stderr(), "\r\x1b[Kchecked {} of {} files", self.done, self.total);
            self.shown = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
