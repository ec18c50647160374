//! `fencepost check`: files are checked side by side and printed in the order they were named.

mod baseline;
mod changes;
mod file;
mod scope;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use base::Semantics;
use render::check::{FileOutput, Printer, Tally, github, human, json, sarif};

use super::args::{Check, Format};
use super::process::{Exit, STACK_BYTES, painter};
use super::settings::KnownParameters;
use super::sources::{Source, collect};
use baseline::{Baseline, BaselineUse, Entry};
use changes::Changes;
pub(crate) use file::{CheckOptions, LoadedFile, check};

/// Checks everything that the arguments name; of global memory alone where that is asked.
pub(crate) fn run(args: &Check, global: bool) -> io::Result<Exit> {
    let (baseline, changes) = match prepare(args) {
        Ok(prepared) => prepared,
        Err(problem) => {
            writeln!(io::stderr(), "fencepost: {problem}")?;
            return Ok(Exit::Trouble);
        }
    };
    let mut sources = collect(&args.paths, args.stdin_name.as_deref());
    if let Some(shard) = args.shard {
        sources.retain(|source| shard.has(&source.path()));
    }
    let printer: Box<dyn Printer> = match args.format {
        Format::Human => {
            let human = human::Human::new(painter(args.color), args.verbose);
            Box::new(if args.quiet { human.quietly() } else { human })
        }
        Format::Json => Box::new(json::Json),
        Format::Sarif => Box::new(sarif::Sarif { baseline: baseline.is_some() }),
        Format::Github => Box::new(github::Github),
    };
    let jobs = match args.jobs {
        Some(jobs) => jobs.get(),
        None => thread::available_parallelism().map_or(1, |cores| cores.get()),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    out.write_all(printer.begin().as_bytes())?;
    let options = CheckOptions {
        explain: args.explain_proof,
        global,
        suppress: !args.no_suppress,
        changes: changes.map(Arc::new),
        ..CheckOptions::new(args.semantics.map(Semantics::from), args.python.clone())
    };
    let checks = Checks { sources: &sources, jobs, options: &options, baseline: baseline.as_ref() };
    let mut done = checks.print_all(printer.as_ref(), &mut out)?;
    let complete = args.shard.is_none();
    if let Some(baseline) = &baseline {
        let looked_at: Vec<String> = sources.iter().map(Source::path).collect();
        let (kept, gone) = baseline.others(&looked_at);
        done.entries.extend(kept);
        // Of files that are not there, one shard of all speaks.
        if complete {
            done.tally.stale.extend(gone.iter().map(Entry::stale));
        }
        done.tally.stale.sort_by(|a, b| a.path.cmp(&b.path));
    }
    out.write_all(printer.end(&done.tally, &done.notes).as_bytes())?;
    out.flush()?;
    let problems = done.known.problems(&args.python);
    for problem in &problems {
        writeln!(io::stderr(), "fencepost: {problem}")?;
    }
    let exit = if problems.is_empty() { exit(&done.tally, args) } else { Exit::Trouble };
    match &args.baseline {
        Some(file) if args.update_baseline => Ok(write_baseline(file, done.entries)?.unwrap_or(exit)),
        _ => Ok(exit),
    }
}

/// What is known and what has changed; `Err` says in a sentence what is wrong with the arguments.
fn prepare(args: &Check) -> Result<(Option<Baseline>, Option<Changes>), String> {
    if args.stdin_name.is_some() && !args.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err("--stdin-name names standard input: say `-` for that".to_owned());
    }
    let baseline = match &args.baseline {
        Some(file) if args.update_baseline && !file.exists() => Some(Baseline::empty(file)),
        Some(file) => Some(Baseline::read(file)?),
        None => None,
    };
    let changes = match &args.changed_since {
        Some(revision) => Some(Changes::since(revision, &args.paths)?),
        None => None,
    };
    Ok((baseline, changes))
}

/// Writes what is known from now on; trouble where that is not possible.
fn write_baseline(file: &Path, entries: Vec<Entry>) -> io::Result<Option<Exit>> {
    let count = entries.iter().map(|entry| entry.count).sum::<usize>();
    let findings = if count == 1 { "finding" } else { "findings" };
    match std::fs::write(file, baseline::document(entries)) {
        Ok(()) => writeln!(io::stderr(), "fencepost: {}: {count} {findings} written", file.display())?,
        Err(error) => {
            let why = super::sources::plain(&error);
            writeln!(io::stderr(), "fencepost: {}: cannot be written: {why}", file.display())?;
            return Ok(Some(Exit::Trouble));
        }
    }
    Ok(None)
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

/// Sources to check, and how.
struct Checks<'a> {
    sources: &'a [Source],
    /// So many at a time.
    jobs: usize,
    options: &'a CheckOptions,
    baseline: Option<&'a Baseline>,
}

/// What checks leave beside what is printed.
#[derive(Default)]
struct Done {
    tally: Tally,
    notes: Vec<String>,
    known: KnownParameters,
    /// What a baseline has to hold of these files.
    entries: Vec<Entry>,
}

/// What one check leaves.
struct FileDone {
    tally: Tally,
    output: FileOutput,
    known: KnownParameters,
    entries: Vec<Entry>,
}

impl Checks<'_> {
    fn check(&self, source: &Source, printer: &dyn Printer) -> FileDone {
        let (mut file, elaboration) = check(source, self.options);
        let BaselineUse { stale, entries } =
            self.baseline.map(|baseline| baseline.apply(&mut file)).unwrap_or_default();
        let mut known = KnownParameters::default();
        if let Some(elaboration) = &elaboration {
            known.add(elaboration);
        }
        let stale = stale.iter().map(Entry::stale).collect();
        FileDone { tally: Tally { stale, ..Tally::of(&file) }, output: printer.file(&file), known, entries }
    }

    /// Checks the sources and writes their pieces in order as they become ready.
    fn print_all(&self, printer: &dyn Printer, out: &mut dyn Write) -> io::Result<Done> {
        let next = AtomicUsize::new(0);
        let (send, receive) = mpsc::channel::<(usize, FileDone)>();
        thread::scope(|scope| {
            for _ in 0..self.jobs.min(self.sources.len()) {
                let (send, next) = (send.clone(), &next);
                thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(source) = self.sources.get(at) else { break };
                        if send.send((at, self.check(source, printer))).is_err() {
                            break;
                        }
                    }
                })?;
            }
            drop(send);
            let mut progress = Progress::new(self.sources.len());
            let (mut waiting, mut done) = (BTreeMap::new(), Done::default());
            let (mut written, mut first) = (0, true);
            for (at, file) in receive {
                progress.done();
                waiting.insert(at, file);
                while let Some(file) = waiting.remove(&written) {
                    written += 1;
                    done.known.merge(file.known);
                    done.tally.add(&file.tally);
                    done.entries.extend(file.entries);
                    if !file.output.notifications.is_empty() {
                        done.notes.push(file.output.notifications);
                    }
                    if !file.output.body.is_empty() {
                        progress.clear();
                        if !first {
                            out.write_all(printer.separator().as_bytes())?;
                        }
                        first = false;
                        out.write_all(file.output.body.as_bytes())?;
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
