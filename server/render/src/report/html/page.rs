//! The page around the sections: head, summary, contents, and at its end the document and the script.

use std::fmt::Write;

use ::findings::Verdict;
use report::{Direction, Report};

use super::links::{Links, counted, escape, prose};
use super::{coverage, findings, graph, sections};
use crate::report::view::ReportView;
use crate::trace::svg;

/// What the page may load and run: what is in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// The drawing of a run that is longer, in bytes, is folded.
const PICTURE: usize = 400_000;

/// Everything up to the first report.
pub fn head(out: &mut String, all: &[Links<'_>]) {
    let mut paths: Vec<&str> = all.iter().map(|links| links.sheet.path).collect();
    paths.dedup();
    let path = paths.join(", ");
    let name = match all {
        [only] => format!("@{} in {path}", only.report().kernel),
        _ => path.clone(),
    };
    let name = escape(&name);
    let (style, patterns) = (svg::style_in(".run-picture"), svg::patterns());
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"fencepost {}\">\n\
         <title>Barrier report of {name}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n",
        env!("CARGO_PKG_VERSION"),
        include_str!("style.css"),
        style,
    );
    let stops = [("k1-coverage", "coverage table"), ("k1-graph", "dependency graph"), ("source", "text")];
    for (at, title) in stops.into_iter().filter(|_| !all.is_empty()) {
        let _ = writeln!(out, "<a class=\"skip\" href=\"#{at}\">Skip to the {title}</a>");
    }
    let _ = write!(
        out,
        "<svg class=\"patterns run-picture\" width=\"0\" height=\"0\" aria-hidden=\"true\">{patterns}</svg>\n\
         <header class=\"top\"><h1>Barrier report</h1><p class=\"file\">{}</p>\
         <button id=\"theme\" type=\"button\" hidden>Theme: as the system</button></header>\n<main>\n",
        escape(&path)
    );
    if all.len() > 1 {
        out.push_str("<nav aria-label=\"Kernels\"><ul class=\"contents\">");
        for links in all {
            let (id, kernel, section) = (links.id("report"), escape(&links.report().kernel), section(links.sheet));
            let verdict = links.report().verdict.name();
            let _ = write!(out, "<li><a href=\"#{id}\">@{kernel}{section}</a> {verdict}</li>");
        }
        out.push_str("</ul></nav>\n");
    }
}

fn section(sheet: &ReportView<'_>) -> String {
    sheet.section.as_ref().map_or_else(String::new, |section| {
        let pass = if section.pass.is_empty() { String::new() } else { format!(" {}", escape(&section.pass)) };
        format!(", section {} of {}{pass}", section.number, section.count)
    })
}

/// The report of one kernel; `picture` is the drawing of its run.
pub fn report(out: &mut String, links: &Links<'_>, picture: &str) {
    let report = links.report();
    let (id, kernel) = (links.id("report"), links.name(&format!("@{}", report.kernel), report.range));
    let _ = writeln!(
        out,
        "<article class=\"report\" id=\"{id}\">\n<h2 class=\"kernel\">{kernel}{}</h2>",
        section(links.sheet)
    );
    summary(out, links);
    let parts: [(&str, &str, String); 9] = [
        ("coverage", "Coverage: what overwrites what", coverage::draw(links)),
        ("findings", "Findings", findings::findings(links)),
        ("partitions", "1. Partitions", sections::partitions(links)),
        ("graph", "2. Barrier dependency graph", graph::draw(links) + &sections::edges(links)),
        ("phases", "3. Index and phase", sections::phases(links)),
        ("data", "4. Shared data", sections::data(links)),
        ("aliases", "5. Values that name a barrier", sections::aliases(links)),
        ("remarks", "Remarks", findings::remarks(links)),
        ("unmodelled", "Not followed", findings::unmodelled(links)),
    ];
    let _ = write!(out, "<nav aria-label=\"Sections of @{}\"><ul class=\"contents\">", escape(&report.kernel));
    let run = if picture.is_empty() { None } else { Some(("run", "Run")) };
    for (anchor, title) in parts.iter().map(|part| (part.0, part.1)).chain(run) {
        let _ = write!(out, "<li><a href=\"#{}\">{title}</a></li>", links.id(anchor));
    }
    out.push_str("<li><a href=\"#source\">Text</a></li></ul></nav>\n");
    for (anchor, title, body) in parts {
        let id = links.id(anchor);
        let _ = write!(
            out,
            "<section id=\"{id}\" aria-labelledby=\"{id}-h\" tabindex=\"-1\"><h3 id=\"{id}-h\">{title}</h3>\n{body}</section>\n"
        );
    }
    if !picture.is_empty() {
        let id = links.id("run");
        let which = match links.sheet.finding {
            Some(at) => format!("The run of <a href=\"#{}\">finding {}</a>", links.id(format_args!("f{at}")), at + 1),
            None => "A run in which nothing is wrong".to_owned(),
        };
        let open = if picture.len() > PICTURE { "" } else { " open" };
        let _ = write!(
            out,
            "<section id=\"{id}\" aria-labelledby=\"{id}-h\" tabindex=\"-1\"><h3 id=\"{id}-h\">Run</h3>\n<details{open}><summary>{which}; time goes down</summary>\n\
             <div class=\"scroll run-picture\" tabindex=\"0\" role=\"region\" aria-label=\"The run\">{picture}</div></details></section>\n"
        );
    }
    out.push_str("</article>\n");
}

fn summary(out: &mut String, links: &Links<'_>) {
    let report = links.report();
    let verdict = report.verdict.name();
    let why = match &report.verdict {
        Verdict::Proved(how) | Verdict::Clean(how) => prose(how),
        Verdict::Found => String::new(),
        Verdict::Undecided(why) => prose(&why.join("; ")),
    };
    let sign = match report.verdict {
        Verdict::Proved(_) | Verdict::Clean(_) => "✓",
        Verdict::Found => "✗",
        Verdict::Undecided(_) => "?",
    };
    let _ = writeln!(out, "<p class=\"verdict {verdict}\"><b>{sign} {verdict}</b> {why}</p>\n<dl class=\"summary\">");
    let missing = links.sheet.missing();
    let rows: usize = report.coverage.iter().map(|block| block.rows.len()).sum();
    let way = |direction| report.edges.iter().filter(|edge| edge.direction == direction).count();
    let (forward, backward) = (way(Direction::Forward), way(Direction::Backward));
    let other = report.edges.len() - forward - backward;
    let mark = if missing > 0 { " class=\"bad\"" } else { "" };
    for (name, value) in [
        ("Stage", report.stage.name().to_owned()),
        ("Coverage", format!("{}, <b{mark} data-count=\"missing\">{missing}</b> MISSING", counted(rows, "row"))),
        ("Findings", format!("<b data-count=\"findings\">{}</b>", report.findings.len())),
        ("Partitions", format!("<b data-count=\"partitions\">{}</b>", report.partitions.len())),
        ("Barriers", format!("<b data-count=\"barriers\">{}</b>", report.barriers.len())),
        (
            "Edges",
            format!(
                "<b data-count=\"edges\">{}</b>: {forward} forward, {backward} backward, {other} neither",
                report.edges.len()
            ),
        ),
        ("Buffers", format!("<b data-count=\"buffers\">{}</b>", report.buffers.len())),
        ("Remarks", format!("<b data-count=\"remarks\">{}</b>", report.remarks.len())),
        ("Not followed", format!("<b data-count=\"unmodelled\">{}</b>", report.unmodelled.len())),
    ] {
        let _ = write!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    out.push_str("</dl>\n");
    runs(out, report);
}

/// With which inputs the runs were made.
fn runs(out: &mut String, report: &Report) {
    let runs: Vec<String> = report
        .runs
        .iter()
        .map(|inputs| {
            let inputs = inputs.iter().map(|(name, value)| format!("<code>{} = {value}</code>", escape(name)));
            inputs.collect::<Vec<_>>().join(", ")
        })
        .collect();
    let described: Vec<&String> = runs.iter().filter(|run| !run.is_empty()).collect();
    if described.is_empty() {
        let _ = writeln!(out, "<p class=\"quiet\">Edges and coverage come from {}.</p>", counted(runs.len(), "run"));
        return;
    }
    let _ = write!(
        out,
        "<details class=\"quiet\"><summary>Edges and coverage come from {}</summary><ol>",
        counted(runs.len(), "run")
    );
    for run in runs {
        let run = if run.is_empty() { "no inputs".to_owned() } else { run };
        let _ = write!(out, "<li>{run}</li>");
    }
    out.push_str("</ol></details>\n");
}

/// The document, and the script.
pub fn tail(out: &mut String, json: &str) {
    // `<` in JSON stands in strings only, where it may be escaped; so nothing ends the element early.
    let json = json.trim_end().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    let _ = write!(
        out,
        "</main>\n<script type=\"application/json\" id=\"report\">{json}</script>\n<script>\n{}</script>\n</body>\n</html>\n",
        include_str!("script.js")
    );
}
