//! Findings, remarks, and what the machine could not follow.

use base::TextRange;
use findings::Finding;
use maud::{Markup, html};

use super::links::Links;
use super::text::{code, joined, prose};

/// The findings.
pub(super) fn findings(links: &Links<'_>) -> Markup {
    let findings = &links.report().findings;
    html! {
        @if findings.is_empty() { p { "None." } }
        @for (at, finding) in findings.iter().enumerate() { (article(links, at, finding)) }
    }
}

fn article(links: &Links<'_>, at: usize, finding: &Finding) -> Markup {
    let id = links.id(format_args!("f{at}"));
    let severity = finding.severity.name();
    html! {
        article class={ "finding " (severity) } id=(id) data-k=(id) data-hot=(id) {
            h3 { (at + 1) ". " (severity) ": " (finding.kind.name()) }
            p { (prose(&finding.message)) " (line " (links.at(finding.range)) ")" }
            @if !finding.inputs.is_empty() { p { "With " (inputs(&finding.inputs)) "." } }
            ol class="sites" {
                @for site in &finding.sites {
                    li {
                        "line " (links.at(site.range))
                        @if let Some(source) = &site.source { ", " (code(source)) }
                        ": " (prose(&site.text))
                    }
                }
            }
            @if !finding.run.is_empty() {
                details {
                    summary { "The run that leads there" }
                    ol class="run" {
                        @for step in &finding.run {
                            li { b { (step.partition) } ", line " (links.at(step.range)) ": " (prose(&step.text)) }
                        }
                    }
                }
            }
            @if let Some(fix) = &finding.fix {
                details {
                    summary { "Fix: " (fix.title) }
                    @for edit in &fix.edits {
                        @let line = links.view.places.line(edit.range.start);
                        p {
                            (links.to_line(line, html! { "line " (line) }))
                            (if edit.range.is_empty() { ": insert" } else { ": replace" })
                        }
                        pre class="edit" { (edit.text.trim_matches('\n')) }
                    }
                }
            }
        }
    }
}

/// Names and values of inputs.
pub(super) fn inputs(inputs: &[(String, i64)]) -> Markup {
    joined(inputs.iter().map(|(name, value)| html! { code { (name) " = " (value) } }), ", ")
}

/// Remarks that are no findings.
pub(super) fn remarks(links: &Links<'_>) -> Markup {
    let remarks = &links.report().remarks;
    if remarks.is_empty() {
        return html! { p { "None." } };
    }
    html! {
        ul class="remarks" {
            @for (at, remark) in remarks.iter().enumerate() {
                @let id = links.id(format_args!("r{at}"));
                @let others = links.all_at(remark.sites.iter().copied());
                li id=(id) data-hot=(id) {
                    b { (remark.kind.name()) } ", " (line(links, remark.range)) (prose(&remark.text))
                    @if !others.0.is_empty() { " (see also line " (others) ")" }
                }
            }
        }
    }
}

/// What could not be followed.
pub(super) fn unmodelled(links: &Links<'_>) -> Markup {
    let unmodelled = &links.report().unmodelled;
    if unmodelled.is_empty() {
        return html! { p { "Everything was followed." } };
    }
    html! { ul { @for (range, text) in unmodelled { li { (line(links, *range)) (prose(text)) } } } }
}

/// `line 12: `; nothing for what has no place.
fn line(links: &Links<'_>, range: TextRange) -> Markup {
    let line = links.at(range);
    html! { @if !line.0.is_empty() { "line " (line) ": " } }
}
