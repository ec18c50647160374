//! The report as one HTML page, for a browser without a network.
//!
//! Everything is in the page, and a policy in its head keeps it so. Without a script all of it can be
//! read, folded and followed; the script adds highlights, arrow keys and the choice of a theme. The
//! JSON document is in it too, as it is printed by `--format json`.

mod bundle;
mod coverage;
mod findings;
mod graph;
mod layout;
mod links;
mod page;
mod sections;
#[cfg(test)]
mod tests;

use super::sheet::Sheet;
use links::Links;

/// The page of the reports of one file; `json` is their JSON document.
pub fn page(sheets: &[Sheet<'_>], json: &str) -> String {
    let all: Vec<Links<'_>> = sheets.iter().enumerate().map(|(number, sheet)| Links { sheet, number }).collect();
    let mut out = String::new();
    page::head(&mut out, sheets.first().map_or("", |sheet| sheet.path), sheets);
    for links in &all {
        page::report(&mut out, links, &crate::cli::trace::picture(links.sheet, &links.id("picture")));
    }
    if let Some(first) = sheets.first() {
        page::source(&mut out, first.places, &all);
    }
    page::tail(&mut out, json);
    out
}
