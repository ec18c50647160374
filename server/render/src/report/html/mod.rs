//! The report as one HTML page, for a browser without a network.
//!
//! Everything is in the page, and a policy in its head keeps it so. Without a script all of it can be
//! read, folded and followed; the script adds highlights, arrow keys and the choice of a theme. The
//! JSON document is in it too, as it is printed by `--format json`.

mod blocks;
mod bundle;
mod coverage;
mod findings;
mod graph;
mod layout;
mod links;
mod page;
mod sections;
mod source;
#[cfg(test)]
mod tests;

use super::blocks::DocBlock;
use super::view::ReportView;
use crate::trace::picture;
use links::Links;

/// The page of reports, and of what else there is to say; `json` is their JSON document.
pub fn page(sheets: &[ReportView<'_>], blocks: &[DocBlock], json: &str) -> String {
    let all: Vec<Links<'_>> = sheets.iter().enumerate().map(|(at, sheet)| Links::new(sheet, at, sheets)).collect();
    let mut out = String::new();
    page::head(&mut out, &all);
    for links in &all {
        let picture = picture(links.sheet, &links.id("picture"), &links.anchor());
        page::report(&mut out, links, &picture);
    }
    out.push_str(&blocks::draw(blocks));
    source::draw(&mut out, &all);
    page::tail(&mut out, json);
    out
}
