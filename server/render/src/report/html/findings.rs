//! Findings, remarks, and what the machine could not follow.

use std::fmt::Write;

use findings::Finding;

use super::links::{Links, code, escape, prose};

/// The findings.
pub fn findings(links: &Links<'_>) -> String {
    let report = links.report();
    let mut out = String::new();
    if report.findings.is_empty() {
        out.push_str("<p>None.</p>\n");
    }
    for (at, finding) in report.findings.iter().enumerate() {
        article(&mut out, links, at, finding);
    }
    out
}

fn article(out: &mut String, links: &Links<'_>, at: usize, finding: &Finding) {
    let id = links.id(format_args!("f{at}"));
    let severity = finding.severity.name();
    let _ = writeln!(
        out,
        "<article class=\"finding {severity}\" id=\"{id}\" data-k=\"{id}\" data-hot=\"{id}\"><h3>{}. {severity}: {}</h3>\
         <p>{} (line {})</p>",
        at + 1,
        escape(finding.kind.name()),
        prose(&finding.message),
        links.at(finding.range),
    );
    let value = |(name, value): &(String, i64)| format!("<code>{} = {value}</code>", escape(name));
    if !finding.inputs.is_empty() {
        let inputs: Vec<String> = finding.inputs.iter().map(value).collect();
        let _ = writeln!(out, "<p>With {}.</p>", inputs.join(", "));
    }
    out.push_str("<ol class=\"sites\">");
    for site in &finding.sites {
        let source = site.source.as_ref().map_or_else(String::new, |source| format!(", {}", code(source)));
        let _ = write!(out, "<li>line {}{source}: {}</li>", links.at(site.range), prose(&site.text));
    }
    out.push_str("</ol>\n");
    if !finding.run.is_empty() {
        out.push_str("<details><summary>The run that leads there</summary><ol class=\"run\">");
        for step in &finding.run {
            let (who, what) = (escape(&step.partition), prose(&step.text));
            let _ = write!(out, "<li><b>{who}</b>, line {}: {what}</li>", links.at(step.range));
        }
        out.push_str("</ol></details>\n");
    }
    if let Some(fix) = &finding.fix {
        let _ = write!(out, "<details><summary>Fix: {}</summary>", escape(&fix.title));
        for edit in &fix.edits {
            let line = links.sheet.places.line(edit.range.start);
            let place = links.to_line(line, &format!("line {line}"));
            let verb = if edit.range.is_empty() { "insert" } else { "replace" };
            let text = escape(edit.text.trim_matches('\n'));
            let _ = write!(out, "<p>{place}: {verb}</p><pre class=\"edit\">{text}</pre>");
        }
        out.push_str("</details>\n");
    }
    out.push_str("</article>\n");
}

/// Remarks that are no findings.
pub fn remarks(links: &Links<'_>) -> String {
    let report = links.report();
    let mut out = String::new();
    if report.remarks.is_empty() {
        out.push_str("<p>None.</p>\n");
        return out;
    }
    out.push_str("<ul class=\"remarks\">\n");
    for (at, remark) in report.remarks.iter().enumerate() {
        let id = links.id(format_args!("r{at}"));
        let others = links.all_at(remark.sites.iter().copied());
        let others = if others.is_empty() { String::new() } else { format!(" (see also line {others})") };
        let line = links.at(remark.range);
        let line = if line.is_empty() { line } else { format!("line {line}: ") };
        let (kind, text) = (remark.kind.name(), prose(&remark.text));
        let _ = writeln!(out, "<li id=\"{id}\" data-hot=\"{id}\"><b>{kind}</b>, {line}{text}{others}</li>");
    }
    out.push_str("</ul>\n");
    out
}

/// What could not be followed.
pub fn unmodelled(links: &Links<'_>) -> String {
    let report = links.report();
    let mut out = String::new();
    if report.unmodelled.is_empty() {
        out.push_str("<p>Everything was followed.</p>\n");
        return out;
    }
    out.push_str("<ul>\n");
    for (range, text) in &report.unmodelled {
        let line = links.at(*range);
        let line = if line.is_empty() { line } else { format!("line {line}: ") };
        let _ = writeln!(out, "<li>{line}{}</li>", prose(text));
    }
    out.push_str("</ul>\n");
    out
}
