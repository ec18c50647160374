//! All runs of a file in one page for a browser: pictures one below the other, nothing loaded, no script.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{TraceDrawing, narrow, rounds, svg};

/// What the page may do: show itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// What the page looks like around its pictures.
const STYLE: &str = "\
:root{color-scheme:light dark}
body{margin:0 auto;padding:1rem 1.5rem;max-width:1320px;font:15px/1.5 system-ui,sans-serif;background:Canvas;color:CanvasText}
h1{font-size:1.25rem}
h1,li{overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:2rem 0 .3rem}
.scroll{overflow-x:auto}
.scroll:focus-visible,a:focus-visible{outline:3px solid light-dark(#0969da,#58a6ff);outline-offset:2px}
svg{display:block;max-width:none}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.6rem;list-style:none;padding:0;margin:.4rem 0;font-size:.85rem}
.legend svg{display:inline-block;vertical-align:middle}
";

/// The page of a file's runs.
pub fn page(path: &str, drawings: &[TraceDrawing<'_>]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "fencepost " (env!("CARGO_PKG_VERSION")) };
                title { "Runs of " (path) }
                style { (PreEscaped(STYLE)) (PreEscaped(rounds::STYLE)) (PreEscaped(narrow::style())) (PreEscaped(svg::style_in(".run-picture"))) }
            }
            body {
                svg class="patterns run-picture" width="0" height="0" aria-hidden="true" { (PreEscaped(svg::patterns())) }
                h1 { "Runs of " (path) }
                @if drawings.len() > 1 {
                    ul { @for (at, drawing) in drawings.iter().enumerate() {
                        li { a href={ "#run" (at + 1) } { (drawing.heading.title) } ": " (drawing.heading.message) }
                    } }
                }
                @for (at, drawing) in drawings.iter().enumerate() { (run(at + 1, drawing)) }
            }
        }
    };
    page.into_string()
}

fn run(number: usize, drawing: &TraceDrawing<'_>) -> Markup {
    let id = format!("run{number}");
    let page = svg::PageIds { id: &id, anchor: None };
    html! {
        section id=(id) aria-label=(drawing.heading.title) {
            @if let Some(table) = drawing.timeline.as_ref().and_then(|it| rounds::overview(it, drawing.places, None)) { (table) }
            @let fit = narrow::fit(svg::width(drawing));
            div class="fitted" {
                // Reached by the tab key, so that the arrow keys scroll it.
                div class={ "scroll run-picture " (fit) } tabindex="0" role="group" aria-label={ "Picture: " (drawing.heading.title) } {
                    (PreEscaped(svg::draw(drawing, Some(page))))
                }
                div class=(fit) { (svg::legend(drawing, page)) }
                @if let Some(timeline) = &drawing.timeline {
                    (narrow::draw(drawing, timeline, &format!("Rows: {}", drawing.heading.title), None))
                }
            }
        }
    }
}
