//! The lines that marks touch, cut to what a screen shows.
//!
//! TTGIR lines are long: types and locations follow what a mark is about. Each line is shown from
//! a little before its first mark, without its trailing location, and no longer than it must be.
//! Lines without a mark only matter for the numbering: at most one of them is shown between two
//! others.

use annotate_snippets::{Annotation, AnnotationKind, Renderer, Snippet, Title};
use base::TextRange;

use crate::SourceText;
use crate::style::{Painter, Style};

/// Columns of a line that are shown where the marks allow.
const WIDTH: usize = 110;
/// Columns before the first mark of a line that is cut.
const BEFORE: usize = 30;

/// A marked range.
pub(super) struct Label {
    /// What is marked.
    pub range: TextRange,
    /// Whether it is what the message is about.
    pub primary: bool,
    /// What to write at it; may be empty.
    pub text: String,
}

/// A message, the place of its first primary mark, and the marked lines.
///
/// The place is put in by hand: the renderer would take the column from the line as it is cut.
pub(super) fn render(title: Title<'_>, path: &str, places: &SourceText<'_>, marks: &[Label], paint: Painter) -> String {
    let place = marks.iter().find(|mark| mark.primary).or(marks.first()).map_or(0, |mark| mark.range.start);
    let (line, column) = places.line_column(place);
    let last = marks.iter().map(|mark| places.line(mark.range.end)).max().unwrap_or(line);
    let group = title.element(snippet(places, marks));
    let renderer = if paint.is_on() { Renderer::styled() } else { Renderer::plain() };
    let drawn = renderer.render(&[group]);
    let (head, body) = drawn.split_once('\n').unwrap_or((&drawn, ""));
    let arrow = paint.text(Style::Frame, &format!("{:1$}-->", "", last.to_string().len()));
    format!("{head}\n{arrow} {path}:{line}:{column}\n{body}")
}

fn snippet<'a>(places: &SourceText<'_>, marks: &[Label]) -> Snippet<'a, Annotation<'a>> {
    let cover = marks.iter().map(|mark| mark.range).reduce(TextRange::cover).unwrap_or_default();
    let (lines, before) = places.lines_around(cover);
    let mut source = String::new();
    let mut spans = vec![(0, 0); marks.len()];
    let mut start = lines.start as usize;
    for line in lines.of(places.text()).split_inclusive('\n') {
        let range = TextRange::new(start as u32, (start + line.len()) as u32);
        let window = Window::of(line, range, marks);
        let base = source.len();
        source.push_str(window.prefix());
        source.push_str(&line[window.from..window.to]);
        source.push_str(window.suffix);
        let place = |offset: u32| {
            let column = (offset as usize - start).clamp(window.from, window.to);
            base + window.prefix().len() + column - window.from
        };
        for (mark, span) in marks.iter().zip(&mut spans) {
            if holds(range, mark.range.start) {
                *span = (place(mark.range.start), place(mark.range.start));
            }
            if holds(range, mark.range.end) {
                span.1 = place(mark.range.end);
            }
        }
        source.push('\n');
        start += line.len();
    }
    // A mark at the very end of the text stands behind the last line.
    let end = source.len();
    let annotations = marks.iter().zip(spans).map(|(mark, (from, to))| {
        let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let annotation = kind.span(from.min(end)..to.clamp(from, end));
        if mark.text.is_empty() { annotation } else { annotation.label(mark.text.clone()) }
    });
    let annotations: Vec<Annotation<'a>> = annotations.collect();
    Snippet::source(source).line_start(before as usize + 1).annotations(annotations)
}

/// Whether an offset is on a line; the end of the last line belongs to it too.
fn holds(line: TextRange, offset: u32) -> bool {
    line.start <= offset && offset < line.end || offset == line.end
}

/// The part of a line that is shown.
struct Window {
    from: usize,
    to: usize,
    suffix: &'static str,
}

impl Window {
    fn of(line: &str, range: TextRange, marks: &[Label]) -> Window {
        let content = line.trim_end_matches(['\n', '\r']);
        let ends = marks.iter().flat_map(|mark| [mark.range.start, mark.range.end]);
        let columns = || ends.clone().filter(|end| holds(range, *end)).map(|end| (end - range.start) as usize);
        let first = columns().min();
        let last = columns().max().unwrap_or(0).min(content.len());
        let from = match first {
            Some(first) if last > WIDTH => boundary(content, first.saturating_sub(BEFORE)),
            _ => 0,
        };
        let location = content.get(last..).and_then(|rest| rest.find(" loc(")).map_or(content.len(), |at| last + at);
        let to = location.min((from + WIDTH).max(last));
        Window { from, to: boundary(content, to), suffix: if to < location { " …" } else { "" } }
    }

    fn prefix(&self) -> &'static str {
        if self.from > 0 { "… " } else { "" }
    }
}

/// The last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use annotate_snippets::Level;

    fn draw(text: &str, marks: &[(&str, bool, &str)]) -> String {
        let marks: Vec<Label> = marks
            .iter()
            .map(|(word, primary, text_at)| {
                let start = text.find(word).unwrap_or(0) as u32;
                let range = TextRange::new(start, start + word.len() as u32);
                Label { range, primary: *primary, text: (*text_at).to_owned() }
            })
            .collect();
        let places = SourceText::new(text);
        let title = Level::ERROR.primary_title("wrong");
        render(title, "k.ttgir", &places, &marks, Painter::plain())
    }

    #[test]
    fn locations_and_long_tails_are_left_out() {
        let text = format!("  foo %a : i32 loc(#loc1)\n\n\n  {} %b : {}\n", "x".repeat(200), "y".repeat(200));
        let expected = "\
error: wrong
 --> k.ttgir:4:204
  |
1 |   foo %a : i32
  |       -- (1) here
...
4 | … xxxxxxxxxxxxxxxxxxxxxxxxxxxxx %b : yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy …
  |                                 ^^";
        assert_eq!(draw(&text, &[("%a", false, "(1) here"), ("%b", true, "")]), expected);
    }

    #[test]
    fn odd_texts_are_drawn() {
        assert_eq!(draw("", &[("", true, "")]), "error: wrong\n --> k.ttgir:1:1\n  |\n1 |\n  | ^");
        let expected = "\
error: wrong
 --> k.ttgir:1:4
  |
1 |     𝒳 %nope
  |       ^^^^^ said";
        assert_eq!(draw("\t𝒳 %nope loc(x)\r\n", &[("%nope", true, "said")]), expected);
    }
}
