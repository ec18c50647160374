//! `fencepost trace`: a run as swim lanes, for people (text, SVG) and tools (JSON).

mod choice;
mod python;

use std::io;

use base::{IrNames, Limits};
use engine::lowered;
use findings::{Finding, Severity, TextProblem, Verdict};
use kernel::Lowered;
use lower::LoweringOptions;
use report::timeline::{Timeline, of_finding, of_kernel};
use ttgir::Document;

use choice::{named, numbered};

use super::answer::Answer;
use super::args::{Trace, TraceFormat};
use super::check::{CheckOptions, check};
use super::open;
use super::process::{Exit, painter, terminal_width};
use super::settings;
use super::sources::Source;
use render::SourceText;
use render::check::CheckedFile;
use render::style::Painter;
use render::trace::{TraceDrawing, TraceHeading, html, json, svg, text};

/// Draws the runs of a file.
pub(crate) fn run(args: &Trace) -> io::Result<Exit> {
    let options = CheckOptions::new(Some(args.semantics.into()), args.python.clone());
    let format = args.format.unwrap_or(if args.open { TraceFormat::Html } else { TraceFormat::Text });
    let answer = answer(args, &Source::named(&args.path), &options, &[format]);
    match args.open {
        true => open::show(answer, &format!("trace.{}", extension(format)), args.output.as_deref()),
        false => answer.print(args.output.as_deref()),
    }
}

/// How the name of a file in this format ends.
fn extension(format: TraceFormat) -> &'static str {
    match format {
        TraceFormat::Text => "txt",
        TraceFormat::Json => "json",
        TraceFormat::Svg => "svg",
        TraceFormat::Html => "html",
    }
}

/// The runs of a source, in these formats.
pub(crate) fn answer(args: &Trace, source: &Source, options: &CheckOptions, formats: &[TraceFormat]) -> Answer {
    let (file, elaboration) = check(source, options);
    let analysis = match &file.result {
        Ok(analysis) => analysis,
        Err(trouble) => return Answer::trouble(format!("{}: {}", file.path, trouble.message)),
    };
    if let Some(problem) = settings::problems(&args.python, elaboration.as_deref()).first() {
        return Answer::trouble(problem);
    }
    // Python kernels are drawn from their instances.
    let kernels = if elaboration.is_some() {
        Vec::new()
    } else {
        lowered(&Document::new(file.text.as_str()), LoweringOptions::default())
    };
    let places = SourceText::new(&file.text);
    let chosen = match &elaboration {
        Some(elaboration) => python::choose(args, &file, elaboration, &places),
        None => choose(args, &file, &kernels, &places),
    };
    let drawings = match chosen {
        Ok(drawings) => drawings,
        Err(problem) => return Answer::trouble(format!("{}: {problem}", file.path)),
    };
    if analysis.kernels.is_empty() && analysis.syntax.is_empty() && analysis.problems.is_empty() {
        return Answer::trouble(format!("{}: there is no kernel", file.path));
    }
    let blamed = |finding: &Finding| finding.severity <= Severity::Warning;
    let found = drawings.iter().any(|drawing| drawing.heading.finding.is_some_and(blamed));
    let (mut documents, mut notes) = (Vec::new(), Vec::new());
    for format in formats {
        documents.push(match format {
            TraceFormat::Json => json::document(&file.path, &drawings),
            TraceFormat::Svg => match drawings.split_first() {
                Some((first, rest)) => {
                    if !rest.is_empty() {
                        let count = drawings.len();
                        notes.push(format!(
                            "1 run of {count} is drawn; --finding and --kernel choose, and --format html has all"
                        ));
                    }
                    svg::draw(first, None)
                }
                None => return Answer::trouble(format!("{}: there is no run to draw", file.path)),
            },
            TraceFormat::Html if drawings.is_empty() => {
                return Answer::trouble(format!("{}: there is no run to draw", file.path));
            }
            TraceFormat::Html => html::page(&file.path, &drawings),
            TraceFormat::Text => {
                let paint = if args.output.is_some() { Painter::plain() } else { painter(args.color) };
                let width = args.width.unwrap_or_else(terminal_width);
                let mut out: String = drawings.iter().map(|drawing| text::draw(drawing, width, paint)).collect();
                out.push_str(&text::remarks(&file.path, &analysis.kernels, &analysis.syntax, &places));
                out
            }
        });
    }
    let unread = analysis.problems.iter().any(|problem| problem.code == TextProblem::SYNTAX);
    let exit = if unread || !analysis.syntax.is_empty() {
        Exit::Trouble
    } else if found {
        Exit::Findings
    } else {
        Exit::Clean
    };
    Answer { documents, problems: Vec::new(), notes, exit }
}

/// What the arguments ask for: findings that have a run, or else the runs of kernels.
fn choose<'a>(
    args: &Trace,
    file: &'a CheckedFile,
    kernels: &'a [(u32, Lowered)],
    places: &'a SourceText<'a>,
) -> Result<Vec<TraceDrawing<'a>>, String> {
    let reports = named(args, file)?;
    let all = || reports.iter().filter_map(|&(at, report)| Some((report, kernels.get(at)?)));
    let findings: Vec<(&Finding, &(u32, Lowered))> =
        all().flat_map(|(report, kernel)| report.drawn().map(move |finding| (finding, kernel))).collect();
    let count = findings.len();
    numbered(args, count)?;
    let wanted = |at: usize| args.finding.is_none_or(|number| number.get() == at + 1);
    let drawing = |timeline: Option<Timeline>, offset: u32, heading| {
        let timeline = timeline.map(|mut timeline| {
            timeline.shift(offset);
            timeline
        });
        TraceDrawing::new(timeline, heading, places, !args.all_steps)
    };
    let mut drawings = Vec::new();
    for (at, (finding, (offset, lowered))) in findings.into_iter().enumerate().filter(|(at, _)| wanted(*at)) {
        drawings.push(drawing(
            of_finding(lowered, finding, &IrNames),
            *offset,
            TraceHeading::of_finding(&file.path, finding, at + 1, count, places),
        ));
    }
    if count == 0 {
        // A dump has a kernel once a pass: the last one is the one that runs.
        let mut drawn: Vec<&str> = Vec::new();
        for (report, (offset, lowered)) in all().collect::<Vec<_>>().into_iter().rev() {
            let doubtful = matches!(report.verdict, Verdict::Undecided(_)) && !analysed(file);
            if drawn.contains(&report.name.as_str()) || doubtful {
                continue;
            }
            drawn.push(&report.name);
            let timeline =
                of_kernel(lowered, &Limits { semantics: args.semantics.into(), ..Limits::default() }, &IrNames);
            drawings.push(drawing(Some(timeline), *offset, TraceHeading::of_kernel(&file.path, report, places)));
        }
        drawings.reverse();
    }
    Ok(drawings)
}

/// Whether the text is that of the kernels.
fn analysed(file: &CheckedFile) -> bool {
    file.result.as_ref().is_ok_and(|analysis| analysis.syntax.is_empty())
}
