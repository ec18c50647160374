//! Text in a page: names, sentences, and what cannot be seen.
//!
//! [`maud`] escapes whatever is put into a template, so no text of a stranger's file becomes markup.

use std::fmt::Write;

use maud::{Markup, html};

/// The page with a name in place of each character that cannot be seen but changes what is seen: controls and
/// marks of direction.
pub(super) fn visible(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    for c in page.chars() {
        if (c.is_control() && !matches!(c, '\t' | '\n')) || invisible(c) {
            let _ = write!(out, "⟨U+{:04X}⟩", c as u32);
        } else {
            out.push(c);
        }
    }
    out
}

fn invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// How wide a text is, in characters of a font of one width.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(character_width).sum()
}

fn character_width(c: char) -> usize {
    match c {
        '\u{0300}'..='\u{036f}' => 0,
        c if (c as u32) < 0x1100 => 1,
        '←'..='⋿' | '✓' | '✗' | '…' | '·' => 1,
        _ => 2,
    }
}

/// `1 edge`, `2 edges`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A sentence: what stands between backquotes is a name or an expression.
pub(super) fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // The last backquote of an odd number of them opens nothing.
    let opened = if parts.len().is_multiple_of(2) { parts.len() - 1 } else { parts.len() };
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at == opened { "`" (part) } @else if at % 2 == 1 { (code(part)) } @else { (part) }
        }
    }
}

/// A name or an expression.
pub(super) fn code(text: &str) -> Markup {
    html! { code { (text) } }
}

/// Markup with a separator, which is text, between its parts.
pub(super) fn joined(parts: impl IntoIterator<Item = Markup>, separator: &str) -> Markup {
    html! { @for (at, part) in parts.into_iter().enumerate() { @if at > 0 { (separator) } (part) } }
}

/// Markup, each part on a line of its own.
pub(super) fn lines(parts: impl IntoIterator<Item = Markup>) -> Markup {
    html! { @for (at, part) in parts.into_iter().enumerate() { @if at > 0 { br; } (part) } }
}

/// Names or expressions, each on a line of its own.
pub(super) fn codes(texts: &[String]) -> Markup {
    let mut texts: Vec<&String> = texts.iter().collect();
    texts.dedup();
    lines(texts.into_iter().map(|text| code(text)))
}

/// A table that scrolls by itself where it is too wide.
pub(super) fn table(name: &str, head: &[&str], body: &Markup) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(name) {
            table { thead { tr { @for cell in head { th { (cell) } } } } (body) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        let hostile = "</script><img src=x onerror='alert(1)'>\"&\u{202e}\u{0}";
        let page = visible(&html! { b title=(hostile) { (hostile) } }.into_string());
        let escaped = "&lt;/script&gt;&lt;img src=x onerror='alert(1)'&gt;&quot;&amp;⟨U+202E⟩⟨U+0000⟩";
        assert_eq!(page, format!("<b title=\"{escaped}\">{escaped}</b>"));
    }

    #[test]
    fn quoted_names_are_code() {
        let said = prose("`%a<` reads `%b`, then `").into_string();
        assert_eq!(said, "<code>%a&lt;</code> reads <code>%b</code>, then `");
        assert_eq!(prose("no `more").into_string(), "no `more");
    }

    #[test]
    fn wide_characters_are_two_and_marks_none() {
        assert_eq!((width("寄存器"), width("e\u{301}"), width("%a…")), (6, 1, 3));
    }
}
