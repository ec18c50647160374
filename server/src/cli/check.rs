//! `fencepost check`: files are checked side by side and printed in the order they were named.

mod baseline;
mod changes;
mod file;
mod fix;
mod scope;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use base::Semantics;
use engine::SharedCache;
use findings::TextProblem;
use render::check::{CheckedFile, FileAnalysis, FileOutput, Printer, Tally, concise, github, human, json, sarif};

use super::answer::Answer;
use super::args::{Check, Format};
use super::process::{Exit, STACK_BYTES, painter};
use super::settings::KnownParameters;
use super::sources::{Collected, Origin, Search, Source, collect};
use baseline::{Baseline, BaselineUse, Entry};
use changes::Changes;
use file::Checked;
pub(crate) use file::{CheckOptions, LoadedFile, check};
use fix::FixMode;
use workspace::absolute;

/// Checks everything that the arguments name; of global memory alone where that is asked.
pub(crate) fn run(args: &Check, global: bool) -> io::Result<Exit> {
    // What a program reads has its own way to write what a terminal would obey.
    let plain = matches!(args.format, Format::Json | Format::Sarif);
    let stdout: Box<dyn Write> =
        if plain { Box::new(io::stdout().lock()) } else { Box::new(render::printable::stdout()) };
    let mut out = io::BufWriter::new(stdout);
    let around = Surroundings { global, ..Surroundings::default() };
    let answer = print(args, around, &mut [(printer(args, args.format), &mut out)])?;
    out.flush()?;
    answer.print_remarks()?;
    Ok(answer.exit)
}

/// What a check is given beside its arguments.
#[derive(Default)]
pub(crate) struct Surroundings {
    /// Whether only what is said of global memory counts.
    pub(crate) global: bool,
    /// What to check, in place of what the arguments name.
    pub(crate) given: Option<Source>,
    /// What earlier checks have found out.
    pub(crate) cache: Arc<SharedCache>,
    /// Set where nobody wants the answer any more.
    pub(crate) stop: Arc<AtomicBool>,
}

/// A format and where what it prints goes.
pub(crate) type Output<'a> = (Box<dyn Printer>, &'a mut dyn Write);

/// The printer of a format.
pub(crate) fn printer(args: &Check, format: Format) -> Box<dyn Printer> {
    match format {
        Format::Human => {
            let human = human::Human::new(painter(args.color), args.verbose);
            Box::new(if args.quiet { human.quietly() } else { human })
        }
        Format::Concise => Box::new(concise::Concise { quiet: args.quiet }),
        Format::Json => Box::new(json::Json),
        Format::Sarif => Box::new(sarif::Sarif { baseline: args.baseline.is_some() }),
        Format::Github => Box::new(github::Github),
    }
}

/// Checks, and prints each file to all outputs as it becomes ready; gives what else there is to say.
pub(crate) fn print(args: &Check, around: Surroundings, outputs: &mut [Output<'_>]) -> io::Result<Answer> {
    let (baseline, changes) = match prepare(args, around.global) {
        Ok(prepared) => prepared,
        Err(problem) => return Ok(Answer::trouble(problem)),
    };
    let Collected { mut sources, mut notes } = match around.given {
        Some(given) => Collected { sources: vec![given], notes: Vec::new() },
        None => {
            let search = Search { everything: args.no_ignore, exclude: &args.exclude };
            collect(&args.paths, args.stdin_name.as_deref(), search)
        }
    };
    if args.force_exclude {
        sources.retain(|source| !source.is_excluded(&args.exclude));
    }
    if let Some(shard) = args.shard {
        sources.retain(|source| shard.has(&source.path()));
    }
    let jobs = match args.jobs {
        Some(jobs) => jobs.get(),
        None => thread::available_parallelism().map_or(1, |cores| cores.get()),
    };
    for (printer, out) in outputs.iter_mut().filter(|_| !args.diff) {
        out.write_all(printer.begin().as_bytes())?;
    }
    let options = CheckOptions {
        explain: args.explain_proof,
        cache: around.cache,
        global: around.global,
        suppress: !args.no_suppress,
        changes: changes.map(Arc::new),
        stop: around.stop,
        ..CheckOptions::new(args.semantics.map(Semantics::from), args.python.clone())
    };
    let checks =
        Checks { sources: &sources, jobs, options: &options, baseline: baseline.as_ref(), fix: fix_mode(args) };
    let mut done = checks.print_all(outputs)?;
    if let Some(baseline) = &baseline {
        let looked_at: Vec<String> = sources.iter().map(Source::path).collect();
        let (kept, gone) = baseline.others(&looked_at);
        done.entries.extend(kept);
        // Of files that are not there nobody speaks who has a part of all files.
        if args.shard.is_none() {
            done.tally.stale.extend(gone.iter().map(Entry::stale));
        }
        done.tally.stale.sort_by(|a, b| a.path.cmp(&b.path));
    }
    for (at, (printer, out)) in outputs.iter_mut().enumerate().filter(|_| !args.diff) {
        let notes = done.notes.get(at).map_or(&[][..], Vec::as_slice);
        out.write_all(printer.end(&done.tally, notes).as_bytes())?;
    }
    let mut problems = done.known.problems(&args.python);
    problems.extend(done.unfixed);
    notes.extend(done.fixed);
    if args.diff {
        notes.push(human::summary(&done.tally));
    }
    let mut exit = if problems.is_empty() { exit(&done.tally, args) } else { Exit::Trouble };
    if let (Some(file), true) = (&args.baseline, args.update_baseline) {
        match write_baseline(file, done.entries) {
            Ok(said) => notes.push(said),
            Err(said) => {
                problems.push(said);
                exit = Exit::Trouble;
            }
        }
    }
    Ok(Answer { documents: Vec::new(), problems, notes, exit })
}

/// What is known and what has changed; `Err` says in a sentence what is wrong with the arguments.
fn prepare(args: &Check, global: bool) -> Result<(Option<Baseline>, Option<Changes>), String> {
    if global && fix_mode(args).is_some() {
        return Err("--fix and --diff are of `check`".to_owned());
    }
    if args.fix && !args.diff && args.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err("--fix writes to files, and standard input is none: --diff prints what it would do".to_owned());
    }
    if args.stdin_name.is_some() && !args.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err("--stdin-name names standard input: say `-` for that".to_owned());
    }
    let baseline = match &args.baseline {
        Some(file) if args.update_baseline && !file.exists() => Some(Baseline::empty(file)),
        Some(file) if !file.exists() => {
            return Err(format!("there is no baseline {} yet: --update-baseline writes it", file.display()));
        }
        Some(file) => Some(Baseline::read(file)?),
        None => None,
    };
    let changes = match &args.changed_since {
        Some(revision) => Some(Changes::since(revision, &args.paths)?),
        None => None,
    };
    Ok((baseline, changes))
}

/// Writes what is known from now on, and says so; `Err` where that is not possible.
fn write_baseline(file: &Path, entries: Vec<Entry>) -> Result<String, String> {
    let count = entries.iter().map(|entry| entry.count).sum::<usize>();
    let findings = if count == 1 { "finding" } else { "findings" };
    match std::fs::write(file, baseline::document(entries)) {
        Ok(()) => Ok(format!("{}: {count} {findings} written", file.display())),
        Err(error) => Err(format!("{}: cannot be written: {}", file.display(), super::sources::plain(&error))),
    }
}

/// What the process says.
fn exit(tally: &Tally, args: &Check) -> Exit {
    if tally.unreadable + tally.syntax_errors > 0 || (tally.undecided > 0 && !args.allow_undecided) {
        Exit::Trouble
    } else if tally.errors + tally.warnings > 0 && !args.exit_zero && !args.update_baseline {
        Exit::Findings
    } else {
        Exit::Clean
    }
}

/// What is done with fixes, where they are asked for.
fn fix_mode(args: &Check) -> Option<FixMode> {
    match (args.diff, args.fix) {
        (true, _) => Some(FixMode::Diff),
        (false, true) => Some(FixMode::Write),
        (false, false) => None,
    }
}

/// Sources to check, and how.
struct Checks<'a> {
    sources: &'a [Source],
    /// So many at a time.
    jobs: usize,
    options: &'a CheckOptions,
    baseline: Option<&'a Baseline>,
    fix: Option<FixMode>,
}

/// What checks leave beside what is printed.
#[derive(Default)]
struct Done {
    tally: Tally,
    /// What stands apart from the findings, by output.
    notes: Vec<Vec<String>>,
    known: KnownParameters,
    /// What a baseline has to hold of these files.
    entries: Vec<Entry>,
    /// What was fixed, a sentence a file.
    fixed: Vec<String>,
    /// Why a file could not be fixed.
    unfixed: Vec<String>,
}

/// What is said of a file that was mended, the change, and the file as it is then.
type Mended = (String, String, Checked);

/// What one check leaves.
struct FileDone {
    shown: Shown,
    /// The file of its settings, where something is wrong with that, and what is shown of it.
    settings: Option<(String, Shown)>,
    known: KnownParameters,
    entries: Vec<Entry>,
    /// What was fixed, or why nothing was.
    fixes: Option<Result<String, String>>,
}

/// What is shown of a file.
struct Shown {
    tally: Tally,
    /// By output.
    printed: Vec<FileOutput>,
}

/// Takes out of a file what is wrong with its settings: that is of a file of its own, and of others too.
fn take_settings(file: &mut CheckedFile) -> Option<CheckedFile> {
    let Ok(analysis) = &mut file.result else { return None };
    let is_of_settings = |problem: &TextProblem| problem.code == workspace::SETTINGS && problem.source.is_some();
    let (settings, rest) = std::mem::take(&mut analysis.problems).into_iter().partition(is_of_settings);
    analysis.problems = rest;
    let mut settings: Vec<TextProblem> = settings;
    let first = settings.first()?.source.clone()?;
    let path = match first.rsplit_once(':') {
        Some((path, line)) if line.bytes().all(|digit| digit.is_ascii_digit()) => path,
        _ => first.as_str(),
    };
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut placed = workspace::settings_problems(&text);
    // What a baseline has is not there any more.
    placed.retain(|problem| settings.iter().any(|said| said.message.ends_with(&problem.message)));
    if placed.is_empty() {
        settings.iter_mut().for_each(|problem| problem.source = None);
        placed = settings;
    }
    let folder = std::env::current_dir().unwrap_or_default();
    let path = Path::new(path).strip_prefix(&folder).unwrap_or(Path::new(path)).display().to_string();
    let result = Ok(FileAnalysis { problems: placed, ..FileAnalysis::default() });
    Some(CheckedFile { path, named: true, text, result, proofs: Vec::new() })
}

impl Checks<'_> {
    fn check(&self, source: &Source, printers: &[&dyn Printer]) -> FileDone {
        let (mut file, mut elaboration) = check(source, self.options);
        let (mut fixes, mut diff) = (None, String::new());
        if let Some(mode) = self.fix {
            match self.fixed(source, &file, mode) {
                Ok(None) => {}
                Ok(Some((said, shown, (after, of)))) => {
                    (fixes, diff) = (Some(Ok(said)), shown);
                    // What would be left after changes that are not made counts for nothing.
                    if mode == FixMode::Write {
                        (file, elaboration) = (after, of);
                    }
                }
                Err(why) => fixes = Some(Err(format!("{}: {why}", file.path))),
            }
        }
        let BaselineUse { stale, entries } =
            self.baseline.map(|baseline| baseline.apply(&mut file)).unwrap_or_default();
        let mut known = KnownParameters::default();
        if let Some(elaboration) = &elaboration {
            known.add(elaboration);
        }
        let stale: Vec<_> = stale.iter().map(Entry::stale).collect();
        let show = |file: &CheckedFile| Shown {
            tally: Tally { stale: stale.clone(), ..Tally::of(file) },
            printed: match self.fix {
                Some(FixMode::Diff) => vec![FileOutput { body: diff.clone(), ..FileOutput::default() }],
                _ => printers.iter().map(|printer| printer.file(file)).collect(),
            },
        };
        let settings = take_settings(&mut file).map(|settings| {
            let printed = match self.fix {
                Some(FixMode::Diff) => Vec::new(),
                _ => printers.iter().map(|printer| printer.file(&settings)).collect(),
            };
            let tally = Tally { files: 0, ..Tally::of(&settings) };
            (settings.path, Shown { tally, printed })
        });
        FileDone { shown: show(&file), settings, known, entries, fixes }
    }

    /// Mends a file, or shows how: what is said of it, the change, and the file as it is then, checked once more.
    fn fixed(&self, source: &Source, file: &CheckedFile, mode: FixMode) -> Result<Option<Mended>, String> {
        let Some(text) = fix::fixed(source, file, self.options)? else { return Ok(None) };
        let (after, diff) = match mode {
            FixMode::Write => {
                fix::write(source, &file.text, &text)?;
                (check(source, self.options), String::new())
            }
            FixMode::Diff => {
                let path = source.file().map(absolute).unwrap_or_default();
                let given = Source { origin: Origin::Given(path, text.as_str().into()), named: source.named };
                (check(&given, self.options), fix::diff(&file.path, &file.text, &text))
            }
        };
        Ok(Some((fix::words(file, &after.0, mode), diff, after)))
    }

    /// Checks the sources and writes their pieces in order as they become ready.
    fn print_all(&self, outputs: &mut [Output<'_>]) -> io::Result<Done> {
        let (printers, mut outs): (Vec<&dyn Printer>, Vec<&mut dyn Write>) =
            outputs.iter_mut().map(|(printer, out)| (&**printer, &mut **out as &mut dyn Write)).unzip();
        let next = AtomicUsize::new(0);
        let (send, receive) = mpsc::channel::<(usize, FileDone)>();
        thread::scope(|scope| {
            for _ in 0..self.jobs.min(self.sources.len()) {
                let (send, next, printers) = (send.clone(), &next, &printers);
                thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(source) = self.sources.get(at) else { break };
                        if send.send((at, self.check(source, printers))).is_err() {
                            break;
                        }
                    }
                })?;
            }
            drop(send);
            let mut progress = Progress::new(self.sources.len());
            let (mut waiting, mut done) = (BTreeMap::new(), Done::default());
            let (mut written, mut first) = (0, vec![true; outs.len()]);
            done.notes = vec![Vec::new(); outs.len()];
            let mut said: BTreeSet<String> = BTreeSet::new();
            for (at, file) in receive {
                progress.done();
                waiting.insert(at, file);
                while let Some(file) = waiting.remove(&written) {
                    written += 1;
                    let settings = file.settings.filter(|(path, _)| said.insert(path.clone())).map(|(_, shown)| shown);
                    done.known.merge(file.known);
                    done.entries.extend(file.entries);
                    match file.fixes {
                        Some(Ok(said)) => done.fixed.push(said),
                        Some(Err(why)) => done.unfixed.push(why),
                        None => {}
                    }
                    for Shown { tally, printed } in settings.into_iter().chain([file.shown]) {
                        done.tally.add(&tally);
                        let outputs = printers.iter().zip(&mut outs).zip(first.iter_mut().zip(&mut done.notes));
                        for (piece, ((printer, out), (first, notes))) in printed.into_iter().zip(outputs) {
                            if !piece.notifications.is_empty() {
                                notes.push(piece.notifications);
                            }
                            if piece.body.is_empty() {
                                continue;
                            }
                            progress.clear();
                            if !std::mem::take(first) {
                                out.write_all(printer.separator().as_bytes())?;
                            }
                            out.write_all(piece.body.as_bytes())?;
                        }
                    }
                }
            }
            progress.clear();
            Ok(done)
        })
    }
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
