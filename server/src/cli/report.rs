//! `fencepost report`: the barrier report of kernels, of files and of sections of dumps.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use base::{Cancel, Limits, TextRange};
use engine::Engine;
use engine::instances::Elaboration;
use findings::Severity;

use super::answer::Answer;
use super::args::{Report as Args, ReportFormat};
use super::check::LoadedFile;
use super::open;
use super::process::{Exit, STACK_BYTES, painter, terminal_width};
use super::say;
use super::settings;
use super::sources::{Source, read};
use crate::barrier_report::sections::{Selection, sections, select, select_pair};
use crate::barrier_report::{Content, ReportInput, report_views};
use render::SourceText;
use render::report::blocks::DocBlock;
use render::report::diff::Diff;
use render::report::json::{DiffDocument, ReportDocument, ReportJson};
use render::report::{ReportView, SectionEntry, html, md, section_list, text};
use render::style::Painter;

/// Prints the reports of files.
pub(crate) fn run(args: &Args) -> io::Result<Exit> {
    let sources: Vec<Source> = args.paths.iter().map(|path| Source::named(path)).collect();
    let format = args.format.unwrap_or(if args.open { ReportFormat::Html } else { ReportFormat::Text });
    // Parsing and lowering recurse.
    let answer = thread::scope(|scope| {
        let made = || answer(args, &sources, &[format], &Cancel::never());
        let work = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, made)?;
        work.join().map_err(|_| io::Error::other("the report failed"))
    })?;
    match args.open {
        true => open::show(answer, &format!("report.{}", extension(format)), args.output.as_deref()),
        false => answer.print(args.output.as_deref()),
    }
}

/// How the name of a file in this format ends.
fn extension(format: ReportFormat) -> &'static str {
    match format {
        ReportFormat::Text => "txt",
        ReportFormat::Md => "md",
        ReportFormat::Json => "json",
        ReportFormat::Html => "html",
    }
}

/// The reports of sources, in these formats.
pub(crate) fn answer(args: &Args, sources: &[Source], formats: &[ReportFormat], cancel: &Cancel<'_>) -> Answer {
    let mut exit = Exit::Clean;
    let (mut texts, mut problems) = (Vec::new(), Vec::new());
    for source in sources {
        match read(source) {
            Ok(text) => texts.push((source, text)),
            Err(trouble) => {
                let place = trouble.position.map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column));
                problems.push(format!("{}{place}: {}", source.path(), trouble.message));
                exit = Exit::Trouble;
            }
        }
    }
    let mut read: Vec<LoadedFile> =
        texts.iter().map(|(source, text)| LoadedFile::new(source, text, &args.python)).collect();
    let elaborations: Vec<Option<Elaboration>> = read.iter_mut().map(|file| elaborate(file, cancel)).collect();
    let paths: Vec<String> = texts.iter().map(|(source, _)| source.path()).collect();
    let places: Vec<SourceText<'_>> = texts.iter().map(|(_, text)| SourceText::new(text)).collect();
    let mut files: Vec<ReportInput<'_>> = Vec::new();
    for (at, (path, places)) in paths.iter().zip(&places).enumerate() {
        let content = match (elaborations.get(at), read.get(at).and_then(|read| read.text.ir())) {
            (_, Some(document)) => Content::Ir(document),
            (Some(Some(elaboration)), None) => Content::Python(elaboration),
            _ => continue,
        };
        files.push(ReportInput { path, content, places });
    }
    problems.extend(settings::problems(&args.python, elaborations.iter().flatten()));
    let mut job = Job { args, formats, cancel, engine: fresh(args), problems };
    let documents = if args.diff {
        if exit == Exit::Trouble { Vec::new() } else { job.compare(&files, &mut exit) }
    } else {
        job.report(&files, &mut exit)
    };
    let exit = if job.problems.is_empty() { exit } else { Exit::Trouble };
    Answer { documents, problems: job.problems, notes: Vec::new(), exit }
}

/// The kernels of a file, where it is Python.
fn elaborate(file: &mut LoadedFile, cancel: &Cancel<'_>) -> Option<Elaboration> {
    let python = file.text.python()?;
    file.elaborator.elaborate(python, &file.workspace, cancel).ok()
}

fn fresh(args: &Args) -> Engine {
    Engine::new(limits(args)).assume(args.channels.into()).with_proofs()
}

fn limits(args: &Args) -> Limits {
    Limits { semantics: args.semantics.into(), ..Limits::default() }
}

struct Job<'a> {
    args: &'a Args,
    formats: &'a [ReportFormat],
    cancel: &'a Cancel<'a>,
    engine: Engine,
    problems: Vec<String>,
}

impl Job<'_> {
    fn report(&mut self, files: &[ReportInput<'_>], exit: &mut Exit) -> Vec<String> {
        let mut made: Vec<ReportView<'_>> = Vec::new();
        let mut lists: Vec<(&str, Vec<SectionEntry>)> = Vec::new();
        for file in files {
            let listed = self.listed(file);
            match select(self.args.section.as_deref(), &listed) {
                Ok(Selection::Sections(these)) => {
                    for listed in these.into_iter().filter_map(|at| listed.get(at)) {
                        made.extend(self.views(file, listed));
                    }
                }
                Ok(Selection::Ambiguous) => lists.push((file.path, listed)),
                Err(problem) => self.problems.push(format!("{}: {problem}", file.path)),
            }
        }
        *exit = made.iter().map(judge).fold(*exit, Exit::max);
        self.formats.iter().map(|format| self.print(*format, &made, &lists)).collect()
    }

    fn print(&self, format: ReportFormat, made: &[ReportView<'_>], lists: &[(&str, Vec<SectionEntry>)]) -> String {
        match format {
            ReportFormat::Text => {
                let reports = made.iter().map(|view| text::draw(view, self.width(), self.paint()));
                let lists = lists
                    .iter()
                    .map(|(path, listed)| text::print(&section_list(path, listed), self.width(), self.paint()));
                reports.chain(lists).collect()
            }
            ReportFormat::Md => made
                .iter()
                .map(md::draw)
                .chain(lists.iter().map(|(path, listed)| md::print(&section_list(path, listed))))
                .collect(),
            ReportFormat::Json => document(made, lists),
            ReportFormat::Html => {
                let listed: Vec<DocBlock> =
                    lists.iter().flat_map(|(path, listed)| section_list(path, listed)).collect();
                html::page(made, &listed, &document(made, lists))
            }
        }
    }

    fn compare(&mut self, files: &[ReportInput<'_>], exit: &mut Exit) -> Vec<String> {
        let mut pairs = Vec::new();
        match self.sides(files) {
            Ok(sides) => {
                for ((old_file, old), (new_file, new)) in sides {
                    let was = self.views(old_file, &old);
                    let is = self.views(new_file, &new);
                    pairs.extend(self.pair(was, is));
                }
            }
            Err(problem) => self.problems.push(problem),
        }
        *exit = pairs.iter().map(|(_, is)| judge(is)).fold(*exit, Exit::max);
        self.formats.iter().map(|format| self.print_diffs(*format, &pairs)).collect()
    }

    fn print_diffs(&self, format: ReportFormat, pairs: &[(ReportView<'_>, ReportView<'_>)]) -> String {
        let diffs = pairs.iter().map(|(was, is)| Diff::new(was, is));
        match format {
            ReportFormat::Text => diffs.map(|diff| text::print(&diff.blocks(), self.width(), self.paint())).collect(),
            ReportFormat::Md => diffs.map(|diff| md::print(&diff.blocks())).collect(),
            ReportFormat::Json => {
                let diffs: Vec<Diff<'_, '_>> = diffs.collect();
                format!("{}\n", DiffDocument::new(diffs.iter().map(Diff::json).collect()).value())
            }
            ReportFormat::Html => {
                let diffs: Vec<Diff<'_, '_>> = diffs.collect();
                let blocks: Vec<DocBlock> = diffs.iter().flat_map(Diff::blocks).collect();
                let document = DiffDocument::new(diffs.iter().map(Diff::json).collect());
                html::page(&[], &blocks, &document.value().to_string())
            }
        }
    }

    /// The sections to compare, two by two.
    #[allow(clippy::type_complexity, reason = "a pair of pairs, used once")]
    fn sides<'f, 'd>(
        &mut self,
        files: &'f [ReportInput<'d>],
    ) -> Result<Vec<((&'f ReportInput<'d>, SectionEntry), (&'f ReportInput<'d>, SectionEntry))>, String> {
        let wanted = self.args.section.as_deref();
        match files {
            [file] => {
                let listed = self.listed(file);
                if wanted == Some("all") {
                    let pairs =
                        listed.windows(2).filter_map(|pair| Some((pair.first()?.clone(), pair.get(1)?.clone())));
                    return Ok(pairs.map(|(old, new)| ((file, old), (file, new))).collect());
                }
                let wanted = wanted.ok_or("--diff of one file takes two of its sections: --section X..Y")?;
                let (old, new) = select_pair(wanted, &listed)?;
                let side = |at: usize| listed.get(at).cloned().ok_or("there is no such section");
                Ok(vec![((file, side(old)?), (file, side(new)?))])
            }
            [old, new] => {
                let (first, second) = match wanted.and_then(|wanted| wanted.split_once("..")) {
                    Some((first, second)) => (Some(first), Some(second)),
                    None => (wanted, wanted),
                };
                let mut side = |file: &ReportInput<'_>, wanted: Option<&str>| {
                    let listed = self.listed(file);
                    match select(wanted, &listed).map_err(|problem| format!("{}: {problem}", file.path))? {
                        Selection::Sections(these) => match these.as_slice() {
                            [one] => listed.get(*one).cloned().ok_or_else(|| "there is no such section".to_owned()),
                            [] => Err(format!("{} has no kernel", file.path)),
                            many => Err(format!("{}: {} sections are meant; --section chooses", file.path, many.len())),
                        },
                        Selection::Ambiguous => {
                            Err(format!("{}: has {} sections; --section chooses", file.path, listed.len()))
                        }
                    }
                };
                let (was, is) = (side(old, first)?, side(new, second)?);
                Ok(vec![((old, was), (new, is))])
            }
            _ => Err("--diff takes two files, or one with --section X..Y".to_owned()),
        }
    }

    /// Reports of the same kernel: of the same name, or the only ones.
    fn pair<'s>(&mut self, was: Vec<ReportView<'s>>, is: Vec<ReportView<'s>>) -> Vec<(ReportView<'s>, ReportView<'s>)> {
        let only = was.len() == 1 && is.len() == 1;
        let (mut was, mut pairs) = (was, Vec::new());
        for new in is {
            match was.iter().position(|old| only || old.report.kernel == new.report.kernel) {
                Some(at) => pairs.push((was.remove(at), new)),
                None => self.problems.push(format!("{}: @{} is new", new.path, new.report.kernel)),
            }
        }
        self.problems.extend(was.iter().map(|old| format!("{}: @{} is gone", old.path, old.report.kernel)));
        pairs
    }

    /// The sections with kernels that were asked for.
    fn listed(&mut self, file: &ReportInput<'_>) -> Vec<SectionEntry> {
        let kernel = self.args.kernel.as_deref();
        let listed = sections(file.content, file.places, kernel);
        if listed.is_empty() {
            let there = sections(file.content, file.places, None);
            let there = there.iter().flat_map(|section| &section.kernels).map(String::as_str);
            let what = kernel.map(|name| say::no_kernel(name, there));
            self.problems.push(format!("{}: {}", file.path, what.as_deref().unwrap_or("there is no kernel")));
        }
        listed
    }

    /// The reports of a section; a panic of ours is trouble with that section only.
    fn views<'f>(&mut self, file: &ReportInput<'f>, listed: &SectionEntry) -> Vec<ReportView<'f>> {
        let mut errors: Vec<(TextRange, String)> = Vec::new();
        match file.content {
            Content::Ir(document) => {
                let Some(section) = document.sections().get(listed.index) else { return Vec::new() };
                let shifted = |at: TextRange| TextRange::empty(at.start + section.offset());
                let found = section.tree().errors().iter();
                errors.extend(found.map(|error| (shifted(error.range), error.message.clone())));
            }
            Content::Python(elaboration) => {
                errors.extend(elaboration.module.broken().iter().flat_map(|broken| broken.errors.first()).cloned());
            }
        }
        for (range, message) in errors {
            let (line, column) = file.places.line_column(range.start);
            let problem = format!("{}:{line}:{column}: syntax error: {message}", file.path);
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
        let (kernel, engine, cancel) = (self.args.kernel.as_deref(), &mut self.engine, self.cancel);
        // Only a page has pictures.
        let limits = limits(self.args);
        let drawn = self.formats.contains(&ReportFormat::Html).then_some(&limits);
        let made = catch_unwind(AssertUnwindSafe(|| report_views(file, listed.index, kernel, engine, drawn, cancel)));
        match made {
            Ok(Ok(views)) => return views,
            Ok(Err(_)) => self.problems.push(format!("{}: the report was cancelled", file.path)),
            Err(_) => {
                self.engine = fresh(self.args);
                let line = listed.line;
                self.problems.push(format!(
                    "{}:{line}: the report failed; this is a bug in fencepost, please report it",
                    file.path
                ));
            }
        }
        Vec::new()
    }

    fn paint(&self) -> Painter {
        if self.args.output.is_some() { Painter::plain() } else { painter(self.args.color) }
    }

    fn width(&self) -> usize {
        self.args.width.unwrap_or_else(terminal_width)
    }
}

/// The JSON document.
fn document(made: &[ReportView<'_>], lists: &[(&str, Vec<SectionEntry>)]) -> String {
    let reports = made.iter().map(|view| ReportJson::new(view, &|offset| view.places.utf16(offset))).collect();
    let lists = lists.iter().flat_map(|(path, listed)| listed.iter().map(|it| (*path, it)));
    format!("{}\n", ReportDocument::new("utf-16", None, reports, lists).value())
}

/// What a report makes of the exit code.
fn judge(view: &ReportView<'_>) -> Exit {
    let blames = |severity: Severity| severity <= Severity::Warning;
    let found = view.report.findings.iter().any(|finding| blames(finding.severity));
    if view.missing() > 0 || found { Exit::Findings } else { Exit::Clean }
}
