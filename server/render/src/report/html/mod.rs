//! The report as one HTML page, for a browser without a network.
//!
//! Everything is in the page, and a policy in its head keeps it so. Without a script all of it can be
//! read, folded and followed; the script adds highlights, arrow keys and the choice of a theme. The
//! JSON document is in it too, as it is printed by `--format json`.

mod blocks;
mod bundle;
mod coverage;
mod findings;
mod fragment;
mod graph;
mod layout;
mod links;
mod memory;
mod page;
mod picture;
mod sections;
mod source;
#[cfg(test)]
mod tests;
mod text;

pub use fragment::{HtmlFragment, reports, run};

use maud::{DOCTYPE, PreEscaped, html};

use super::blocks::DocBlock;
use super::view::ReportView;
use crate::trace::picture;
use links::Links;

/// The page of reports, and of what else there is to say; `json` is their JSON document.
pub fn page(views: &[ReportView<'_>], blocks: &[DocBlock], json: &str) -> String {
    let all: Vec<Links<'_>> = views.iter().enumerate().map(|(at, view)| Links::new(view, at, views)).collect();
    let body = html! {
        (page::top(&all))
        main {
            (page::contents(&all))
            @for links in &all {
                (page::report(links, &picture(links.view, &links.id("picture"), &links.anchor()), true))
            }
            (blocks::draw(blocks))
            (source::draw(&all))
        }
    };
    // What stands in names and texts is made visible; the document keeps it as it is.
    let (head, body) = (text::visible(&page::head(&all).0), text::visible(&body.0));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (PreEscaped(head))
            body {
                (PreEscaped(body))
                script type="application/json" id="report" { (PreEscaped(page::embedded(json))) }
                script { (PreEscaped(include_str!("script.js"))) }
            }
        }
    };
    page.into_string()
}
