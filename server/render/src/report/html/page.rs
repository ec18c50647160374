//! The page around the sections: head, summary and contents.

use ::findings::{Severity, Verdict};
use maud::{Markup, PreEscaped, html};
use report::{Direction, Report};

use super::findings::inputs;
use super::links::Links;
use super::text::{counted, prose};
use super::{coverage, findings, graph, memory, picture, sections};
use crate::lanes;
use crate::report::view::{BARE, ReportView};
use crate::trace::{Piece, narrow, rounds, svg};

/// What the page may load and run: what is in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// The sections of which there is nothing to say without barriers and shared memory.
const ABOUT_BARRIERS: [&str; 5] = ["coverage", "graph", "phases", "data", "aliases"];

/// Paths of the files.
fn paths(all: &[Links<'_>]) -> String {
    let mut paths: Vec<&str> = all.iter().map(|links| links.view.path).collect();
    paths.dedup();
    paths.join(", ")
}

/// The head.
pub(super) fn head(all: &[Links<'_>]) -> Markup {
    let path = paths(all);
    let name = match all {
        [only] => format!("@{} in {path}", only.report().kernel),
        _ => path,
    };
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(POLICY);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content={ "fencepost " (env!("CARGO_PKG_VERSION")) };
            title { "Barrier report of " (name) }
            style { "\n" (PreEscaped(style())) }
        }
    }
}

/// The style of the page.
pub(super) fn style() -> String {
    format!("{}{}{}{}", include_str!("style.css"), rounds::STYLE, narrow::style(), svg::style_in(".run-picture"))
}

/// What stands above the reports: links past it, the patterns of pictures, the title.
pub(super) fn top(all: &[Links<'_>]) -> Markup {
    let bare = all.first().is_none_or(|links| links.view.is_bare());
    let stops = [("k1-coverage", "coverage table"), ("k1-graph", "dependency graph"), ("source", "text")];
    html! {
        @for (at, title) in stops.into_iter().filter(|(at, _)| !all.is_empty() && (!bare || *at == "source")) {
            a class="skip" href={ "#" (at) } { "Skip to the " (title) }
        }
        (picture::patterns())
        header class="top" {
            h1 { "Barrier report" }
            p class="file" { (paths(all)) }
            button id="theme" type="button" hidden { "Theme: as the system" }
        }
    }
}

/// The kernels of the page, where there are several.
pub(super) fn contents(all: &[Links<'_>]) -> Markup {
    html! {
        @if all.len() > 1 {
            nav aria-label="Kernels" {
                ul class="contents" {
                    @for links in all {
                        @let report = links.report();
                        li {
                            (links.to("report", html! { "@" (report.kernel) (section(links.view)) })) " "
                            (report.verdict.name())
                        }
                    }
                }
            }
        }
    }
}

fn section(view: &ReportView<'_>) -> Markup {
    html! {
        @if let Some(section) = &view.section {
            ", section " (section.number) " of " (section.count)
            @if !section.pass.is_empty() { " " (section.pass) }
        }
    }
}

/// The report of one kernel; `pieces` are the drawing of its run; `text` whether the page has the text.
pub(super) fn report(links: &Links<'_>, pieces: &[Piece], text: bool) -> Markup {
    let report = links.report();
    let mut parts: Vec<(&str, &str, Markup)> = vec![
        ("coverage", "Coverage: what overwrites what", coverage::draw(links)),
        ("findings", "Findings", findings::findings(links)),
        ("partitions", "1. Partitions", sections::partitions(links)),
        ("graph", "2. Barrier dependency graph", html! { (graph::draw(links)) (sections::edges(links)) }),
        ("phases", "3. Index and phase", sections::phases(links)),
        ("data", "4. Shared data", sections::data(links)),
        ("aliases", "5. Values that name a barrier", sections::aliases(links)),
        ("remarks", "Remarks", findings::remarks(links)),
        ("unmodelled", "Not followed", findings::unmodelled(links)),
    ];
    if links.view.is_bare() {
        parts.retain(|(anchor, ..)| !ABOUT_BARRIERS.contains(anchor));
    }
    if let Some(memory) = memory::draw(links) {
        parts.push(("memory", "Memory over the run", memory));
    }
    if !pieces.is_empty() {
        parts.push(("run", "Run", run(links, pieces)));
    }
    html! {
        article class="report" id=(links.id("report")) {
            h2 class="kernel" { (links.name(&format!("@{}", report.kernel), report.range)) (section(links.view)) }
            (summary(links))
            nav aria-label={ "Sections of @" (report.kernel) } {
                ul class="contents" {
                    @for (anchor, title, _) in &parts { li { (links.to(anchor, title)) } }
                    @if text { li { a href="#source" { "Text" } } }
                }
            }
            @for (anchor, title, body) in &parts {
                @let id = links.id(anchor);
                section id=(id) aria-labelledby={ (id) "-h" } tabindex="-1" { h3 id={ (id) "-h" } { (title) } (body) }
                @if *anchor == "partitions" && links.view.is_bare() { p { (BARE) } }
            }
        }
    }
}

/// The section of the run.
fn run(links: &Links<'_>, pieces: &[Piece]) -> Markup {
    let folds = pieces.iter().any(|piece| matches!(piece, Piece::Folded { .. }));
    let with = links.view.timeline.as_ref().map_or_else(String::new, |timeline| lanes::inputs(&timeline.inputs));
    html! {
        p {
            @if let Some(at) = links.view.finding {
                "The run of " (links.to(format_args!("f{at}"), html! { "finding " (at + 1) }))
            } @else {
                "A run in which nothing is wrong"
            }
            @if !with.is_empty() { ", " (with) }
            "; time goes down."
            @if folds { " Steps that do not bear on it are folded." }
        }
        @let view = links.view;
        @if let Some(table) = view.timeline.as_ref().and_then(|it| rounds::overview(it, view.places, Some(&links.anchor()))) {
            (table)
        }
        (picture::draw(pieces, "The run"))
    }
}

fn summary(links: &Links<'_>) -> Markup {
    let report = links.report();
    let verdict = report.verdict.name();
    let (sign, why) = match &report.verdict {
        Verdict::Proved(how) | Verdict::Clean(how) => ("✓", how.clone()),
        Verdict::Found => ("✗", String::new()),
        Verdict::Undecided(why) => ("?", why.join("; ")),
    };
    let missing = links.view.missing();
    let rows: usize = report.coverage.iter().map(|block| block.rows.len()).sum();
    let way = |direction| report.edges.iter().filter(|edge| edge.direction == direction).count();
    let (forward, backward) = (way(Direction::Forward), way(Direction::Backward));
    let other = report.edges.len() - forward - backward;
    let count = |what: &str, count: usize| html! { b data-count=(what) { (count) } };
    let coverage = html! {
        (counted(rows, "row")) ", " b class=[(missing > 0).then_some("bad")] data-count="missing" { (missing) } " MISSING"
    };
    let edges = html! {
        (count("edges", report.edges.len())) ": " (forward) " forward, " (backward) " backward, " (other) " neither"
    };
    let hints = report.findings.iter().filter(|finding| finding.severity >= Severity::Information).count();
    let found = html! {
        (count("findings", report.findings.len() - hints)) @if hints > 0 { ", " (counted(hints, "hint")) }
    };
    let fields = [
        ("Stage", html! { (report.stage.name()) @if report.ctas > 1 { ", a cluster of " (report.ctas) " CTAs" } }),
        ("Coverage", coverage),
        ("Findings", found),
        ("Partitions", count("partitions", report.partitions.len())),
        ("Barriers", count("barriers", report.barriers.len())),
        ("Edges", edges),
        ("Buffers", count("buffers", report.buffers.len())),
        ("Remarks", count("remarks", report.remarks.len())),
        ("Not followed", count("unmodelled", report.unmodelled.len())),
    ];
    html! {
        p class={ "verdict " (verdict) } { b { (sign) " " (verdict) } " " (prose(&why)) }
        @if !links.view.partial().is_empty() { p class="partial" { b { "Partial" } ": " (links.view.partial()) "." } }
        @if !report.coming.is_empty() {
            p { "Still to come, so its absence is no fault:" }
            ul class="coming" { @for coming in &report.coming { li { b { (coming.pass) } ": " (prose(&coming.adds)) } } }
        }
        dl class="summary" { @for (name, value) in fields { div { dt { (name) } dd { (value) } } } }
        (runs(report))
    }
}

/// With which inputs the runs were made.
fn runs(report: &Report) -> Markup {
    let made = counted(report.runs.len(), "run");
    if report.runs.iter().all(Vec::is_empty) {
        return html! { p class="quiet" { "Edges and coverage come from " (made) "." } };
    }
    html! {
        details class="quiet" {
            summary { "Edges and coverage come from " (made) }
            ol { @for run in &report.runs { li { @if run.is_empty() { "no inputs" } @else { (inputs(run)) } } } }
        }
    }
}

/// A JSON document as the text of a `script` element: `<` in JSON stands in strings only, where it may be
/// escaped; so nothing ends the element early.
pub(super) fn embedded(json: &str) -> String {
    json.trim_end().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}
