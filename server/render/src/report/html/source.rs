//! The text with its lines, to which everything in the page leads.

use std::collections::{BTreeMap, BTreeSet};

use base::TextRange;
use maud::{Markup, html};
use report::CoverageOrder;

use super::links::Links;

/// Lines that are laid out together.
const CHUNK: usize = 500;

/// The elements, by their ids, that are highlighted together with each line.
fn highlights(all: &[&Links<'_>]) -> BTreeMap<u32, Vec<String>> {
    let mut lines: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for links in all {
        let report = links.report();
        let mut mark = |id: String, ranges: &mut dyn Iterator<Item = TextRange>| {
            for line in links.view.lines(ranges) {
                lines.entry(line).or_default().push(id.clone());
            }
        };
        for (at, edge) in report.edges.iter().enumerate() {
            mark(links.id(format_args!("e{at}")), &mut edge.arrivals.iter().chain(&edge.waits).copied());
        }
        for (at, barrier) in report.barriers.iter().enumerate() {
            let own = std::iter::once(barrier.range);
            mark(links.id(format_args!("b{at}")), &mut own.chain(barrier.uses.iter().map(|used| used.range)));
        }
        for (at, block) in report.coverage.iter().enumerate() {
            for (row, it) in block.rows.iter().enumerate() {
                let writer = std::iter::once(block.writer.range);
                mark(links.id(format_args!("c{at}-{row}")), &mut writer.chain(it.uses.iter().map(|used| used.range)));
            }
        }
        for (at, buffer) in report.buffers.iter().enumerate() {
            for (member, it) in buffer.members.iter().enumerate() {
                let uses = it.writers.iter().chain(&it.readers).map(|used| used.range);
                mark(links.id(format_args!("d{at}-{member}")), &mut std::iter::once(it.range).chain(uses));
            }
        }
        for (at, row) in report.partitions.iter().enumerate() {
            mark(links.id(format_args!("p{at}")), &mut std::iter::once(row.range));
        }
        for (at, finding) in report.findings.iter().enumerate() {
            mark(links.id(format_args!("f{at}")), &mut finding.sites.iter().map(|site| site.range));
        }
        for (at, remark) in report.remarks.iter().enumerate() {
            let own = std::iter::once(remark.range);
            mark(links.id(format_args!("r{at}")), &mut own.chain(remark.sites.iter().copied()));
        }
    }
    lines
}

/// The texts of all files, a line an element. Of a dump only the sections that are reported.
pub(super) fn draw(all: &[Links<'_>]) -> Markup {
    let files = all.iter().map(|links| links.file + 1).max().unwrap_or(0);
    html! {
        @if files > 0 {
            section id="source" aria-labelledby="source-h" tabindex="-1" {
                h2 id="source-h" { "Text" }
                @for file in 0..files { (file_text(all, file, files > 1)) }
            }
        }
    }
}

/// The text of one file, under its name where there are several.
fn file_text(all: &[Links<'_>], file: usize, named: bool) -> Markup {
    let own: Vec<&Links<'_>> = all.iter().filter(|links| links.file == file).collect();
    let Some(first) = own.first() else { return Markup::default() };
    let (keys, bad, anchor, places) = (highlights(&own), bad_lines(&own), first.anchor(), first.view.places);
    let mut parts: Vec<TextRange> = own.iter().map(|links| links.view.text).collect();
    parts.sort_unstable();
    parts.dedup();
    let last = parts.iter().map(|part| places.line(part.end)).max().unwrap_or(0);
    let line = |number: u32, text: &str| {
        let ids = keys.get(&number);
        let class = match (bad.contains(&number), ids) {
            (true, _) => "l bad",
            (false, Some(_)) => "l used",
            (false, None) => "l",
        };
        let id = format!("{anchor}{number}");
        html! {
            span class=(class) id=(id) data-k=[ids.map(|ids| ids.join(" "))] {
                a href={ "#" (id) } tabindex="-1" { (number) } (text.trim_end_matches('\r')) "\n"
            }
        }
    };
    html! {
        @if named { h3 { (first.view.path) } }
        div class="source" style={ "--digits:" (last.to_string().len()) "ch" } {
            @for part in parts {
                @let lines: Vec<(u32, &str)> = (places.line(part.start)..).zip(part.of(places.text()).split('\n')).collect();
                @for chunk in lines.chunks(CHUNK) {
                    pre class="chunk" style={ "--lines:" (chunk.len()) } {
                        @for (number, text) in chunk { (line(*number, text)) }
                    }
                }
            }
        }
    }
}

/// Lines of findings, and of what is overwritten too early.
fn bad_lines(all: &[&Links<'_>]) -> BTreeSet<u32> {
    let mut lines = BTreeSet::new();
    for links in all {
        let report = links.report();
        lines.extend(links.view.lines(report.findings.iter().flat_map(|it| it.sites.iter().map(|site| site.range))));
        for block in &report.coverage {
            for row in &block.rows {
                if let CoverageOrder::Missing { .. } = row.order {
                    lines.extend(links.view.line(block.writer.range));
                    lines.extend(links.view.lines(row.uses.iter().map(|used| used.range)));
                }
            }
        }
    }
    lines
}
