//! HTML text, and how the elements of a report are named and linked in its page.
//!
//! Ids are stable: kernel `k1`, and in it partition `k1-p0`, barrier `k1-b0`, edge `k1-e0`, bundle of
//! edges `k1-g0`, buffer `k1-d0` and its members `k1-d0-1`, coverage `k1-c0` and its rows `k1-c0-1`,
//! finding `k1-f0`; `L12` is line 12, `F2-L12` that of a second file.
//! Numbers, extents and lines that the JSON document holds too carry their path in it: `data-json`,
//! `data-extent`, `data-lines`.

use std::fmt::{Display, Write};

use base::TextRange;
use report::Report;

use crate::report::view::{ReportView, extent};

/// Text as HTML has it. Names come from a stranger's file: what a browser would take for markup is
/// escaped, and what cannot be seen but changes what is seen (controls, marks of direction) is named.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(c),
            c if c.is_control() || unseen(c) => {
                let _ = write!(out, "⟨U+{:04X}⟩", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

fn unseen(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// How wide a text is, in characters of a font of one width.
pub fn width(text: &str) -> usize {
    text.chars().map(wide).sum()
}

fn wide(c: char) -> usize {
    match c {
        '\u{0300}'..='\u{036f}' => 0,
        c if (c as u32) < 0x1100 => 1,
        '←'..='⋿' | '✓' | '✗' | '…' | '·' => 1,
        _ => 2,
    }
}

/// A text of at most `most` characters' width.
pub fn short(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut used = 1;
    let kept = text.chars().take_while(|&c| {
        used += wide(c);
        used <= most
    });
    kept.chain(['…']).collect()
}

/// `1 edge`, `2 edges`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A kernel's report in the page.
pub struct Links<'a> {
    /// The report and its text.
    pub sheet: &'a ReportView<'a>,
    /// Its number in the page, from 0.
    pub number: usize,
    /// The number of its file in the page, from 0.
    pub file: usize,
}

impl<'a> Links<'a> {
    /// The links of a sheet by its number; sheets of one file share its text.
    pub fn new(sheet: &'a ReportView<'a>, number: usize, all: &[ReportView<'_>]) -> Links<'a> {
        let same = |a: &ReportView<'_>, b: &ReportView<'_>| std::ptr::eq(a.places.text(), b.places.text());
        let first = |of: &ReportView<'_>| all.iter().position(|other| same(other, of)).unwrap_or(0);
        let own = first(sheet);
        let file = (0..own).filter(|&at| all.get(at).is_some_and(|it| first(it) == at)).count();
        Links { sheet, number, file }
    }

    /// What the ids of lines begin with.
    pub fn anchor(&self) -> String {
        if self.file == 0 { "L".to_owned() } else { format!("F{}-L", self.file + 1) }
    }

    /// A link to a line with this (escaped) text.
    pub fn to_line(&self, line: u32, text: &str) -> String {
        format!(r##"<a class="at" href="#{}{line}" title="line {line}">{text}</a>"##, self.anchor())
    }

    /// Says of which of the report's ranges a cell holds the lines.
    pub fn lines_of(&self, path: &str) -> String {
        format!(r#" data-lines="/reports/{}/{path}""#, self.number)
    }

    /// The report.
    pub fn report(&self) -> &'a Report {
        &self.sheet.report
    }

    /// An id: `k1-e3`.
    pub fn id(&self, what: impl Display) -> String {
        format!("k{}-{what}", self.number + 1)
    }

    /// A number that the JSON document holds under this path of the report.
    pub fn number(&self, path: &str, value: impl Display) -> String {
        format!(r#"<data data-json="/reports/{}/{path}" value="{value}">{value}</data>"#, self.number)
    }

    /// A link to a line: its number.
    pub fn at(&self, range: TextRange) -> String {
        self.sheet.line(range).map_or_else(String::new, |line| self.to_line(line, &line.to_string()))
    }

    /// Links to lines, each once.
    pub fn all_at(&self, ranges: impl IntoIterator<Item = TextRange>) -> String {
        let links = self.sheet.lines(ranges).into_iter().map(|line| self.to_line(line, &line.to_string()));
        links.collect::<Vec<_>>().join(", ")
    }

    /// A name that links to its line.
    pub fn name(&self, name: &str, range: TextRange) -> String {
        let name = code(name);
        match self.sheet.line(range) {
            Some(line) => format!(r##"<a href="#{}{line}" title="line {line}">{name}</a>"##, self.anchor()),
            None => name,
        }
    }

    /// A partition by its label.
    pub fn partition(&self, at: usize) -> String {
        format!(r##"<a href="#{}">{}</a>"##, self.id(format_args!("p{at}")), escape(self.sheet.partition(at)))
    }

    /// A barrier by its name; nothing for one that is not there.
    pub fn barrier(&self, at: usize) -> String {
        let Some(barrier) = self.report().barriers.get(at) else { return String::new() };
        format!(r##"<a href="#{}">{}</a>"##, self.id(format_args!("b{at}")), code(&barrier.name))
    }

    /// A logical buffer by its name, where the physical one is said.
    pub fn member_alone(&self, (buffer, member): (usize, usize)) -> String {
        let id = self.id(format_args!("d{buffer}-{member}"));
        let name = self.report().buffers.get(buffer).and_then(|buffer| buffer.members.get(member));
        format!(r##"<a href="#{id}">{}</a>"##, code(name.map_or("?", |member| member.name.as_str())))
    }

    /// A logical buffer by its name.
    pub fn member(&self, (buffer, member): (usize, usize)) -> String {
        let id = self.id(format_args!("d{buffer}-{member}"));
        format!(r##"<a href="#{id}">{}</a>"##, code(&self.sheet.member((buffer, member))))
    }

    /// An edge: by which barrier, from whom to whom.
    pub fn edge(&self, at: usize) -> String {
        let Some(edge) = self.report().edges.get(at) else { return String::new() };
        let barrier = edge.barrier.and_then(|at| self.report().barriers.get(at));
        let by = barrier.map_or_else(|| escape(edge.mechanism.name()), |barrier| code(&barrier.name));
        let (from, to) = (escape(self.sheet.partition(edge.from)), escape(self.sheet.partition(edge.to)));
        let id = self.id(format_args!("e{at}"));
        format!(r##"<a href="#{id}">{by}</a> <span class="quiet">{from} → {to}, {}</span>"##, edge.direction.name())
    }

    /// Where in a buffer: `cols 0-63`; the JSON document has it under this path of the report.
    pub fn extent(&self, buffer: usize, extent_of: (u64, u64), path: &str) -> String {
        let Some(buffer) = self.report().buffers.get(buffer) else { return String::new() };
        format!(r#"<span data-extent="/reports/{}/{path}">{}</span>"#, self.number, escape(&extent(buffer, extent_of)))
    }
}

/// A sentence: what stands between backquotes is a name or an expression.
pub fn prose(text: &str) -> String {
    let mut parts = text.split('`');
    let mut out = escape(parts.next().unwrap_or_default());
    while let Some(quoted) = parts.next() {
        match parts.next() {
            Some(after) => {
                out.push_str(&code(quoted));
                out.push_str(&escape(after));
            }
            None => {
                let _ = write!(out, "`{}", escape(quoted));
            }
        }
    }
    out
}

/// A name or an expression.
pub fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

/// Names or expressions, each on a line of its own.
pub fn codes<'t>(texts: impl IntoIterator<Item = &'t String>) -> String {
    let mut texts: Vec<&String> = texts.into_iter().collect();
    texts.dedup();
    texts.into_iter().map(|text| code(text)).collect::<Vec<_>>().join("<br>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        let hostile = "</script><img src=x onerror='alert(1)'>\"&\u{202e}\u{0}";
        let escaped = escape(hostile);
        assert!(!escaped.contains(['<', '>', '"', '\'', '\u{202e}', '\u{0}']), "{escaped}");
        assert!(escaped.ends_with("&quot;&amp;⟨U+202E⟩⟨U+0000⟩"), "{escaped}");
    }

    #[test]
    fn quoted_names_are_code() {
        assert_eq!(prose("`%a<` reads `%b`, then `"), "<code>%a&lt;</code> reads <code>%b</code>, then `");
    }

    #[test]
    fn texts_are_cut_by_width() {
        assert_eq!(short("%accumulator", 5), "%acc…");
        assert_eq!(short("%acc", 4), "%acc");
        assert_eq!(short("寄存器", 4), "寄…");
        assert_eq!(width("e\u{301}"), 1);
    }
}
