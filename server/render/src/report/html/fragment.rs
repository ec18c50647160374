//! Parts of a page for clients that have a window, a policy and a theme of their own.
//!
//! A fragment has no inline style and no inline script, so that a policy may forbid them: style and script come
//! beside it. Places are links to lines, `#L12`, which the client follows into its own editor.

use maud::html;

use super::blocks;
use super::links::Links;
use super::page;
use super::picture;
use super::text;
use crate::report::blocks::DocBlock;
use crate::report::view::ReportView;
use crate::trace::{self, TraceDrawing, pieces, rounds};

/// A part of a page.
#[derive(Clone, Debug, serde::Serialize)]
pub struct HtmlFragment {
    /// What stands in the body.
    pub html: String,
    /// Its style: a theme is chosen by `data-theme` of the root, colours are variables there.
    pub style: String,
    /// What adds highlights and arrow keys, once the body is there.
    pub script: &'static str,
}

impl HtmlFragment {
    fn new(html: &str) -> HtmlFragment {
        let (html, own) = without_style(html);
        let style = format!("{}\n{own}", page::style());
        HtmlFragment { html: text::visible(&html), style, script: include_str!("script.js") }
    }
}

/// A body without its style elements, and what was in them: texts of files are escaped, so these are all elements.
fn without_style(html: &str) -> (String, String) {
    let (mut rest, mut body, mut style) = (html, String::with_capacity(html.len()), String::new());
    while let Some((before, after)) = rest.split_once("<style>") {
        let (own, behind) = after.split_once("</style>").unwrap_or((after, ""));
        body.push_str(before);
        style.push_str(own);
        rest = behind;
    }
    body.push_str(rest);
    (body, style)
}

/// Reports without the text that they are of, and what else there is to say.
pub fn reports(views: &[ReportView<'_>], blocks: &[DocBlock]) -> HtmlFragment {
    let all: Vec<Links<'_>> = views.iter().enumerate().map(|(at, view)| Links::new(view, at, views)).collect();
    let body = html! {
        (picture::patterns())
        main {
            (page::contents(&all))
            @for links in &all {
                (page::report(links, &trace::picture(links.view, &links.id("picture"), &links.anchor()), false))
            }
            (blocks::draw(blocks))
        }
    };
    HtmlFragment::new(&body.0)
}

/// The picture of a run; `None` where there is no run to draw.
pub fn run(drawing: &TraceDrawing<'_>) -> Option<HtmlFragment> {
    let timeline = drawing.timeline.as_ref()?;
    let pieces = pieces(drawing, timeline, "run", "L");
    let overview = rounds::overview(timeline, drawing.places, Some("L"));
    let body = html! {
        (picture::patterns())
        @if let Some(table) = overview { (table) }
        (picture::draw(&pieces, "The run"))
    };
    Some(HtmlFragment::new(&body.0))
}
