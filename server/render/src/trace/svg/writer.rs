//! Writes SVG: the only place that knows its syntax and escapes texts.

use std::fmt::{Arguments, Display, Write};

/// Classes of one or two letters keep long runs small.
const STYLE: &str = "\
text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328}
.h{font:bold 14px system-ui,sans-serif}.b{font-weight:bold}.i{font-style:italic}
.d{fill:#59636e}.q{font-weight:bold}.o{font-size:10px}.e{text-anchor:end}.m{text-anchor:middle}.w{fill:#fff;font-weight:bold}
.bg{fill:#fff}.r{stroke:#d1d9e0}.cta{stroke:#818b98;stroke-width:2}.s{fill:none}.t{fill:#818b98;fill-opacity:.1}
.x{fill:#d1242f;fill-opacity:.12}.hit{fill:#fff;fill-opacity:0}.faint{opacity:.74}
.fold{fill:url(#dots);stroke:#d1d9e0}.c{fill:#f6f8fa;stroke:#818b98}
.wait{fill:#ddf4ff;stroke:#0969da}.arrive{fill:#dafbe1;stroke:#1a7f37}.mem{fill:#fbefff;stroke:#8250df}
.stuck{fill:#ffebe9;stroke:#d1242f;stroke-width:2}
.p0{fill:#54aeff}.p1{fill:url(#p1)}.p1f{fill:#fdac54}.p1l{stroke:#953800}.part{stroke:#1f2328;stroke-dasharray:3 2;stroke-width:1.5}
.over{stroke:#d1242f;stroke-width:2.5}.k{stroke:#6e7781;fill:none}.kw{stroke:#0969da;fill:none;stroke-dasharray:5 2}line.k{stroke-dasharray:1 3}.ka{stroke:#1a7f37;fill:none}
.tick{fill:#fff;stroke:#1f2328;stroke-width:1.4}.full{fill:#1f2328;stroke:#fff}.bad{fill:none;stroke:#d1242f;stroke-width:2.4}
.write{fill:#8250df}.read{fill:#fff;stroke:#8250df;stroke-width:1.6}.known{stroke:#8250df;stroke-width:1.4;fill:none}.end{fill:#8250df}
circle.end{stroke:#fff;stroke-width:1.2}circle.bad{fill:#fff}.u{paint-order:stroke;stroke:#fff;stroke-width:4;stroke-linejoin:round}
.open{stroke-dasharray:3 3}.g{fill:none;stroke:#9a6700;stroke-width:1.6}.site{fill:#d1242f}
.miss{fill:none;stroke:#d1242f;stroke-width:2.2;stroke-dasharray:7 5}.mt{fill:#b3121d;font-weight:bold}
@media (prefers-color-scheme:dark){
text{fill:#f0f6fc}.d{fill:#9198a1}.w{fill:#0d1117}.bg{fill:#0d1117}.r{stroke:#3d444d}.fold{stroke:#3d444d}
.c{fill:#212830;stroke:#9198a1}.wait{fill:#0c2d6b;stroke:#4493f8}.arrive{fill:#04260f;stroke:#3fb950}.mem{fill:#271052;stroke:#ab7df8}
.stuck{fill:#3c0614;stroke:#f85149}.p0{fill:#1158c7}.p1f{fill:#9b4215}.p1l{stroke:#ffb77c}.part{stroke:#f0f6fc}.over{stroke:#f85149}
.k{stroke:#7d8590}.kw{stroke:#4493f8}.ka{stroke:#3fb950}.tick{fill:#0d1117;stroke:#f0f6fc}.full{fill:#f0f6fc;stroke:#0d1117}
.bad{stroke:#f85149}.write,.end{fill:#ab7df8}.read{fill:#0d1117;stroke:#ab7df8}.known{stroke:#ab7df8}.g{stroke:#d29922}
circle.end,.u{stroke:#0d1117}circle.bad{fill:#0d1117}.x{fill:#f85149;fill-opacity:.18}.site{fill:#f85149}.miss{stroke:#f85149}.mt{fill:#ff8a80}}";

/// What the style's patterns are.
const PATTERNS: &str = "<defs>\
<pattern id=\"p1\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
<rect class=\"p1f\" width=\"6\" height=\"6\"/><line class=\"p1l\" y2=\"6\" stroke-width=\"2\"/></pattern>\
<pattern id=\"dots\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
<circle cx=\"1\" cy=\"1\" r=\".8\" fill=\"#818b98\" fill-opacity=\".5\"/></pattern></defs>";

/// Where in a page a picture is.
#[derive(Clone, Copy, Debug)]
pub struct PageIds<'a> {
    /// What its ids begin with.
    pub id: &'a str,
    /// What the ids of lines begin with, where the page has the lines.
    pub anchor: Option<&'a str>,
}

/// An element, with all in it, and from where to where it reaches downwards.
struct Element {
    top: usize,
    bottom: usize,
    text: String,
}

/// An SVG in the making: elements that know where they are, so that a picture can be had in slices.
#[derive(Default)]
pub(super) struct SvgWriter<'a> {
    elements: Vec<Element>,
    /// Groups that are open; what is written goes into the last element.
    depth: usize,
    page: Option<PageIds<'a>>,
    linked: bool,
}

impl<'a> SvgWriter<'a> {
    /// A picture; `page` where it is a part of one.
    pub(super) fn new(page: Option<PageIds<'a>>) -> SvgWriter<'a> {
        SvgWriter { page, ..SvgWriter::default() }
    }

    /// Writes something that reaches so far.
    fn write(&mut self, top: usize, bottom: usize, text: Arguments<'_>) {
        if self.depth == 0 {
            self.elements.push(Element { top, bottom, text: String::new() });
        }
        if let Some(element) = self.elements.last_mut() {
            (element.top, element.bottom) = (element.top.min(top), element.bottom.max(bottom));
            let _ = element.text.write_fmt(text);
        }
    }

    /// Opens an element that others are in.
    fn enter(&mut self, text: Arguments<'_>) {
        self.write(usize::MAX, 0, text);
        self.depth += 1;
    }

    fn leave(&mut self, text: &str) {
        self.depth = self.depth.saturating_sub(1);
        if let Some(element) = self.elements.last_mut() {
            element.text.push_str(text);
        }
    }

    /// Opens a step: in a page that has the lines it is a link to its own, and the first one a stop of the tab key.
    pub(super) fn step(&mut self, class: &str, line: u32, number: u32) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        if let Some(anchor) = self.anchor() {
            let stop = if self.linked { " tabindex=\"-1\"" } else { "" };
            self.linked = true;
            self.enter(format_args!("<a{class} href=\"#{anchor}{line}\" data-step=\"{number}\"{stop}>\n"));
        } else {
            self.enter(format_args!("<g{class}>\n"));
        }
    }

    /// Closes a step.
    pub(super) fn end_step(&mut self) {
        self.leave(if self.anchor().is_some() { "</a>\n" } else { "</g>\n" });
    }

    fn anchor(&self) -> Option<&'a str> {
        self.page.and_then(|page| page.anchor)
    }

    /// A text.
    pub(super) fn text(&mut self, class: &str, x: usize, y: usize, text: impl Display) {
        let text = escape(&text.to_string());
        let line = format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>\n");
        self.write(y.saturating_sub(10), y, line);
    }

    /// A line of a sentence in which names stand between backquotes, `quoted` whether it begins in a name; they are drawn bold
    /// in their place. Whether it ends in one.
    pub(super) fn prose(&mut self, class: &str, (x, y): (usize, usize), line: &str, quoted: bool) -> bool {
        let mut text = String::new();
        let mut name = quoted;
        for (at, part) in line.split('`').enumerate() {
            name ^= at > 0;
            let part = escape(part);
            match name && !part.is_empty() {
                true => text.push_str(&format!("<tspan class=\"q\">{part}</tspan>")),
                false => text.push_str(&part),
            }
        }
        let line = format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>\n");
        self.write(y.saturating_sub(10), y, line);
        name
    }

    /// A text that goes upwards to the right from a point.
    pub(super) fn slanted_text(&mut self, class: &str, x: usize, y: usize, text: &str) {
        let at = format_args!("translate({x} {y}) rotate(-55)").to_string();
        let text = escape(text);
        self.write(0, y, format_args!("<text class=\"{class}\" transform=\"{at}\">{text}</text>\n"));
    }

    /// A rectangle over the whole picture.
    pub(super) fn background(&mut self, width: usize, height: usize) {
        self.write(0, height, format_args!("<rect class=\"bg\" width=\"{width}\" height=\"{height}\"/>\n"));
    }

    /// A rectangle by its upper left corner and its size.
    pub(super) fn rect(&mut self, class: &str, (x, y): (usize, usize), (width, height): (usize, usize)) {
        let size = format_args!("width=\"{width}\" height=\"{height}\"").to_string();
        self.write(y, y + height, format_args!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" {size}/>\n"));
    }

    /// The same with round corners.
    pub(super) fn rounded_rect(&mut self, class: &str, (x, y): (usize, usize), (width, height): (usize, usize)) {
        let size = format_args!("width=\"{width}\" height=\"{height}\" rx=\"4\"").to_string();
        self.write(y, y + height, format_args!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" {size}/>\n"));
    }

    /// A circle by its middle and its radius.
    pub(super) fn circle(&mut self, class: &str, x: usize, y: usize, radius: impl Display) {
        let circle = format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>\n").to_string();
        self.write(y.saturating_sub(6), y + 6, format_args!("{circle}"));
    }

    /// A straight line between two points.
    pub(super) fn line(&mut self, class: &str, (x1, y1): (usize, usize), (x2, y2): (usize, usize)) {
        let places = format_args!("x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"").to_string();
        self.write(y1.min(y2), y1.max(y2) + 1, format_args!("<line class=\"{class}\" {places}/>\n"));
    }

    /// A dotted level line at `y`.
    pub(super) fn dotted_line(&mut self, class: &str, x1: usize, x2: usize, y: usize) {
        let places = format_args!("stroke-dasharray=\"1 3\" x1=\"{x1}\" y1=\"{y}\" x2=\"{x2}\" y2=\"{y}\"").to_string();
        self.write(y, y + 1, format_args!("<line class=\"{class}\" {places}/>\n"));
    }

    /// A path of numbers and commands that reaches from one height to another.
    pub(super) fn path(&mut self, class: &str, (top, bottom): (usize, usize), d: Arguments<'_>) {
        self.write(top, bottom, format_args!("<path class=\"{class}\" d=\"{d}\"/>\n"));
    }

    /// What the element says when pointed at that was opened last.
    pub(super) fn title(&mut self, title: &str) {
        self.write(usize::MAX, 0, format_args!("<title>{}</title>\n", escape(title)));
    }

    /// Opens a group that says something when pointed at.
    pub(super) fn group(&mut self, title: &str) {
        self.enter(format_args!("<g>"));
        self.title(title);
    }

    /// Closes a group.
    pub(super) fn end_group(&mut self) {
        self.leave("</g>\n");
    }

    /// The document, or its part of a page: all of it.
    pub(super) fn document(self, (width, height): (usize, usize), title: &str, description: &str) -> String {
        let mut out = self.opened((0, width, height), title, description);
        if self.page.is_none() {
            let _ = writeln!(out, "<style>\n{STYLE}\n</style>\n{PATTERNS}");
        }
        out.extend(self.elements.iter().map(|element| element.text.as_str()));
        out.push_str("</svg>\n");
        out
    }

    /// The first of several slices, down to a height: it says what all are.
    pub(super) fn first_slice(&self, (width, height): (usize, usize), title: &str, description: &str) -> String {
        let mut out = self.opened((0, width, height), title, description);
        self.part(&mut out, 0, height);
        out
    }

    /// A slice from one height to another.
    pub(super) fn slice(&self, width: usize, (top, bottom): (usize, usize)) -> String {
        let height = bottom.saturating_sub(top);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 {top} {width} {height}\" role=\"group\">\n"
        );
        self.part(&mut out, top, bottom);
        out
    }

    /// All of it as a sign in a line of text, which says what it means.
    pub(super) fn icon(&self, (width, height): (usize, usize)) -> String {
        let mut out = format!("<svg width=\"{width}\" height=\"{height}\" aria-hidden=\"true\">\n");
        self.part(&mut out, 0, height);
        out
    }

    fn part(&self, out: &mut String, top: usize, bottom: usize) {
        let inside = |element: &&Element| element.top < bottom && top < element.bottom;
        out.extend(self.elements.iter().filter(inside).map(|element| element.text.as_str()));
        out.push_str("</svg>\n");
    }

    /// The head of the document; in a page, style and patterns are the page's.
    fn opened(&self, (top, width, height): (usize, usize, usize), title: &str, description: &str) -> String {
        let (title, description) = (escape(title), escape(description));
        let prefix = self.page.map_or_else(String::new, |page| format!("{}-", page.id));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 {top} {width} {height}\" role=\"{}\" aria-labelledby=\"{prefix}title {prefix}description\">\n\
             <title id=\"{prefix}title\">{title}</title>\n<desc id=\"{prefix}description\">{description}</desc>\n",
            // What is an image has no links in it.
            if self.anchor().is_some() { "group" } else { "img" }
        )
    }
}

/// The style of pictures in a page, for what is inside `scope`; the page's `data-theme` may be set.
pub fn style_in(scope: &str) -> String {
    let style = STYLE.replace("url(#", "url(#run-");
    let (light, dark) = style.split_once("@media (prefers-color-scheme:dark){").unwrap_or((&style, ""));
    let dark = dark.strip_suffix('}').unwrap_or(dark);
    format!(
        "{}@media (prefers-color-scheme:dark){{{}}}\n{}@media print{{{}}}\n",
        scoped(light, scope),
        scoped(dark, &format!(":root:not([data-theme=light]) {scope}")),
        scoped(dark, &format!(":root[data-theme=dark] {scope}")),
        // Paper is white, whatever the screen is.
        scoped(light, &format!(":root:root:root {scope}")),
    )
}

/// The patterns that this style names.
pub fn patterns() -> String {
    PATTERNS.replace("id=\"", "id=\"run-")
}

/// Rules with each of their selectors inside a scope.
fn scoped(rules: &str, scope: &str) -> String {
    let mut out = String::new();
    for rule in rules.split('}') {
        let Some((selectors, body)) = rule.split_once('{') else { continue };
        let selectors: Vec<String> = selectors.split(',').map(|it| format!("{scope} {}", it.trim())).collect();
        let _ = writeln!(out, "{}{{{body}}}", selectors.join(","));
    }
    out
}

/// Text as XML has it; what XML 1.0 has no way to say is left out.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}
