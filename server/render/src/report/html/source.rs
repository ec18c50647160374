//! The text with its lines, to which everything in the page leads.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use base::TextRange;
use report::CoverageOrder;

use super::links::{Links, escape};

/// Lines that are laid out together.
const CHUNK: usize = 500;

/// Which lines light up with which elements.
fn lit(all: &[&Links<'_>]) -> BTreeMap<u32, Vec<String>> {
    let mut lines: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for links in all {
        let report = links.report();
        let mut mark = |id: String, ranges: &mut dyn Iterator<Item = TextRange>| {
            for line in links.sheet.lines(ranges) {
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
pub fn draw(out: &mut String, all: &[Links<'_>]) {
    if all.is_empty() {
        return;
    }
    out.push_str("<section id=\"source\" aria-labelledby=\"source-h\" tabindex=\"-1\"><h2 id=\"source-h\">Text</h2>\n");
    let files = all.iter().map(|links| links.file + 1).max().unwrap_or(0);
    for file in 0..files {
        let own: Vec<&Links<'_>> = all.iter().filter(|links| links.file == file).collect();
        if let Some(first) = own.first() {
            if files > 1 {
                let _ = writeln!(out, "<h3>{}</h3>", escape(first.sheet.path));
            }
            one(out, &own, first);
        }
    }
    out.push_str("</section>\n");
}

/// The text of one file.
fn one(out: &mut String, own: &[&Links<'_>], first: &Links<'_>) {
    let (lit, bad, anchor, places) = (lit(own), bad_lines(own), first.anchor(), first.sheet.places);
    let mut parts: Vec<TextRange> = own.iter().map(|links| links.sheet.text).collect();
    parts.sort_unstable();
    parts.dedup();
    let last = parts.iter().map(|part| places.line(part.end)).max().unwrap_or(0);
    let _ = writeln!(out, "<div class=\"source\" style=\"--digits:{}ch\">", last.to_string().len());
    for part in parts {
        let lines: Vec<&str> = part.of(places.text()).split('\n').collect();
        let before = places.line(part.start);
        for (chunk, some) in lines.chunks(CHUNK).enumerate() {
            let _ = write!(out, "<pre class=\"chunk\" style=\"--lines:{}\">", some.len());
            for (at, text) in some.iter().enumerate() {
                let number = before + (chunk * CHUNK + at) as u32;
                let ids = lit.get(&number);
                let keys = ids.map_or_else(String::new, |ids| format!(" data-k=\"{}\"", ids.join(" ")));
                let class = match (bad.contains(&number), ids) {
                    (true, _) => "l bad",
                    (false, Some(_)) => "l used",
                    (false, None) => "l",
                };
                let text = escape(text.trim_end_matches('\r'));
                let id = format!("{anchor}{number}");
                let _ = write!(
                    out,
                    "<span class=\"{class}\" id=\"{id}\"{keys}><a href=\"#{id}\" tabindex=\"-1\">{number}</a>{text}\n</span>"
                );
            }
            out.push_str("</pre>\n");
        }
    }
    out.push_str("</div>\n");
}

/// Lines of findings, and of what is overwritten too early.
fn bad_lines(all: &[&Links<'_>]) -> BTreeSet<u32> {
    let mut lines = BTreeSet::new();
    for links in all {
        let report = links.report();
        lines.extend(links.sheet.lines(report.findings.iter().flat_map(|it| it.sites.iter().map(|site| site.range))));
        for block in &report.coverage {
            for row in &block.rows {
                if let CoverageOrder::Missing { .. } = row.order {
                    lines.extend(links.sheet.line(block.writer.range));
                    lines.extend(links.sheet.lines(row.uses.iter().map(|used| used.range)));
                }
            }
        }
    }
    lines
}
