//! Top-level statements of a Python text that does not parse as a whole.
//!
//! The text is cut where a line of column 0 begins a statement. A line inside a string, a bracket or behind a `\` begins
//! none; but what does not parse may be a string or a bracket that nobody has closed, which takes in all that
//! follows. So a statement that does not parse by itself is cut inside its brackets too, and inside of a string where a
//! definition begins, since prose seldom looks like one: from there on the text is read anew.

use ruff_python_ast::PySourceType;
use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_python_parser::{ParseError, parse_unchecked_source};
use ruff_text_size::Ranged;

use crate::limits::broken::READS as MAX_READS;
use base::TextRange;

/// A statement with what the parser says of it by itself.
pub(super) struct Statement {
    /// Where it stands; the comments behind it are its own.
    pub(super) range: TextRange,
    /// What is wrong with it, at its place in the text.
    pub(super) errors: Vec<(TextRange, String)>,
}

/// What a line of column 0 stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// In nothing: it begins a statement.
    Nothing,
    /// In a bracket, or behind a `\`.
    Bracket,
    /// In a string.
    String,
}

/// A line of column 0 that looks like the beginning of a statement.
#[derive(Clone, Copy, Debug)]
struct Line {
    start: usize,
    within: Within,
    defines: bool,
}

/// The statements of a text whose tokens these are.
pub(super) fn statements(text: &str, tokens: &Tokens) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut from = cut(text, 0, tokens, true, &mut found);
    for read in 1.. {
        let Some(rest) = from.and_then(|from| text.get(from..)) else { break };
        let parsed = parse_unchecked_source(rest, PySourceType::Python);
        from = cut(text, text.len() - rest.len(), parsed.tokens(), read < MAX_READS, &mut found);
    }
    found
}

/// Cuts the text from `offset` on, whose tokens these are; gives the place inside of a bracket or a string from which
/// it has to be read anew.
fn cut(text: &str, offset: usize, tokens: &Tokens, may_read: bool, found: &mut Vec<Statement>) -> Option<usize> {
    let lines = opening_lines(text.get(offset..).unwrap_or_default(), offset, tokens);
    let mut start = offset;
    while start < text.len() {
        let next = |within: Within| {
            let mut later = lines.iter().filter(move |line| line.start > start);
            later.find(move |line| line.within == Within::Nothing || line.within == within)
        };
        let end_of = |line: Option<&Line>| line.map_or(text.len(), |line| line.start);
        let mut statement = alone(text, start, end_of(next(Within::Nothing)));
        let inner = next(Within::Bracket).filter(|line| line.within == Within::Bracket);
        let mut unclosed = false;
        if let (false, Some(line)) = (statement.errors.is_empty(), inner) {
            statement = alone(text, start, line.start);
            unclosed = !statement.errors.is_empty();
        }
        let end = statement.range.end as usize;
        let mut swallowed = lines.iter().filter(|line| line.start > start && line.start < end && line.defines);
        let swallowed = swallowed.find(|line| line.within == Within::String && may_read);
        match swallowed.filter(|_| !statement.errors.is_empty()) {
            Some(line) => {
                found.push(alone(text, start, line.start));
                return Some(line.start);
            }
            None => found.push(statement),
        }
        if unclosed && may_read {
            return Some(end);
        }
        start = end;
    }
    None
}

/// A part of the text, parsed by itself.
fn alone(text: &str, start: usize, end: usize) -> Statement {
    let range = TextRange::new(start as u32, end as u32);
    let parsed = parse_unchecked_source(range.of(text), PySourceType::Python);
    let mut errors: Vec<(TextRange, String)> = parsed.errors().iter().map(|error| said(error, range.start)).collect();
    if !errors.is_empty() {
        at_their_cause(&mut errors, range, text, parsed.tokens());
    }
    Statement { range, errors }
}

/// Errors of a statement where somebody has to type: at a bracket that is never closed in place of all that the parser
/// stumbles over behind it, and else not behind the last word of the statement.
fn at_their_cause(errors: &mut Vec<(TextRange, String)>, range: TextRange, text: &str, tokens: &Tokens) {
    if let Some((open, bracket)) = unclosed(tokens) {
        let open = TextRange::new(range.start + open, range.start + open + 1);
        errors.retain(|(error, _)| error.end <= open.start);
        errors.push((open, format!("`{bracket}` was never closed")));
        return;
    }
    let end = range.start + range.of(text).trim_end().len() as u32;
    for (error, _) in errors.iter_mut().filter(|(error, _)| error.start > end) {
        *error = TextRange::new(end, end);
    }
}

/// The innermost bracket that is open at the end of a text: its place and how it is written.
fn unclosed(tokens: &Tokens) -> Option<(u32, char)> {
    let mut open: Vec<(u32, char)> = Vec::new();
    for token in tokens {
        let bracket = match token.kind() {
            TokenKind::Lpar => '(',
            TokenKind::Lsqb => '[',
            TokenKind::Lbrace => '{',
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                open.pop();
                continue;
            }
            _ => continue,
        };
        open.push((token.start().to_u32(), bracket));
    }
    open.pop()
}

/// An error of a text that begins at `offset`.
pub(super) fn said(error: &ParseError, offset: u32) -> (TextRange, String) {
    let range = TextRange::new(offset + error.location.start().to_u32(), offset + error.location.end().to_u32());
    (range, error.error.to_string())
}

/// Lines of column 0 that look like beginnings of statements; decorators belong to what they decorate.
fn opening_lines(text: &str, offset: usize, tokens: &Tokens) -> Vec<Line> {
    let (strings, brackets) = spans(tokens);
    let mut lines = Vec::new();
    let (mut at, mut decorated, mut continued) = (0, None, false);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let behind_backslash = std::mem::replace(&mut continued, line.trim_end_matches(['\r', '\n']).ends_with('\\'));
        if !opens(line) {
            continue;
        }
        let within = match () {
            () if holds(&strings, start) => Within::String,
            () if behind_backslash || holds(&brackets, start) => Within::Bracket,
            () => Within::Nothing,
        };
        let decorates = line.starts_with('@');
        let of_decorator = std::mem::replace(&mut decorated, decorates.then_some(within)) == Some(within);
        if !of_decorator && start > 0 {
            lines.push(Line { start: offset + start, within, defines: decorates || defines(line).is_some() });
        }
    }
    lines
}

/// Whether a statement may begin with a line.
fn opens(line: &str) -> bool {
    let first = line.bytes().next().unwrap_or(b'\n');
    let continues = ["else:", "elif ", "except", "finally:", "else ", "finally "];
    (first.is_ascii_alphabetic() || first == b'_' || first == b'@' || first >= 0x80)
        && !continues.iter().any(|word| line.starts_with(word))
}

/// The name that a line gives to a function or a class.
pub(super) fn defines(line: &str) -> Option<&str> {
    let rest = ["def ", "class ", "async def "].iter().find_map(|word| line.strip_prefix(word))?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let (name, behind) = rest.split_at_checked(end)?;
    let is_definition = behind.trim_start().chars().next().is_none_or(|next| matches!(next, '(' | ':' | '['));
    (is_definition && !name.is_empty()).then_some(name)
}

/// Whether a place is inside of one of some spans, which are in order.
fn holds(spans: &[(usize, usize)], at: usize) -> bool {
    let later = spans.partition_point(|(start, _)| *start < at);
    later.checked_sub(1).and_then(|last| spans.get(last)).is_some_and(|(_, end)| at < *end)
}

/// Bytes from the first to behind the last.
type Span = (usize, usize);

/// Where strings are, and where brackets are open.
fn spans(tokens: &Tokens) -> (Vec<Span>, Vec<Span>) {
    let (mut strings, mut brackets) = (Vec::new(), Vec::new());
    let (mut formatted, mut open) = (Vec::new(), Vec::new());
    for token in tokens {
        let (start, end) = (token.range().start().to_usize(), token.range().end().to_usize());
        match token.kind() {
            TokenKind::String if formatted.is_empty() => strings.push((start, end)),
            TokenKind::FStringStart | TokenKind::TStringStart => formatted.push(start),
            TokenKind::FStringEnd | TokenKind::TStringEnd => {
                // An inner one is part of the outermost.
                strings.extend(formatted.pop().filter(|_| formatted.is_empty()).map(|start| (start, end)));
            }
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => open.push(start),
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                brackets.extend(open.pop().filter(|_| open.is_empty()).map(|start| (start, end)));
            }
            _ => {}
        }
    }
    // What is open at the end takes in all that follows.
    strings.extend(formatted.first().map(|start| (*start, usize::MAX)));
    brackets.extend(open.first().map(|start| (*start, usize::MAX)));
    (strings, brackets)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statements of a text, each with whether it parses.
    fn cut_up(text: &str) -> Vec<(&str, bool)> {
        let parsed = parse_unchecked_source(text, PySourceType::Python);
        let all = statements(text, parsed.tokens());
        assert_eq!(all.iter().map(|it| it.range.of(text)).collect::<String>(), text);
        all.iter().map(|it| (it.range.of(text), it.errors.is_empty())).collect()
    }

    #[test]
    fn a_decorator_stays_with_its_function() {
        let parts = cut_up("import a\n\n@jit\ndef f(x):\n    return x\n\n@c(\n  1)\nclass D:\n  pass\nx = 1\n");
        assert_eq!(parts[0], ("import a\n\n", true));
        assert_eq!(parts[1], ("@jit\ndef f(x):\n    return x\n\n", true));
        assert_eq!(parts[2], ("@c(\n  1)\nclass D:\n  pass\n", true));
        assert_eq!(parts[3], ("x = 1\n", true));
    }

    #[test]
    fn lines_of_strings_brackets_and_continued_lines_begin_nothing() {
        for whole in [
            "\"\"\"\nFirst line.\ndef is a word.\n\"\"\"\n",
            "x = f'''\nfirst {\nname\n}\nlast\n'''\n",
            "call(\nfirst,\nlast=[\nitem\n])\n",
            "x = 1 + \\\ny\n",
            "x = r'''\\\nfirst\n'''\n",
        ] {
            let text = format!("{whole}import gluon\nb = (2\n");
            assert_eq!(cut_up(&text), [(whole, true), ("import gluon\n", true), ("b = (2\n", false)]);
        }
    }

    #[test]
    fn an_open_bracket_takes_nothing_with_it() {
        let text = "import a\nx = f(1,\nimport b\ndef g():\n    pass\n'''\nprose\n'''\n";
        let parts = cut_up(text);
        assert_eq!(parts[1], ("x = f(1,\n", false));
        assert_eq!(parts[2], ("import b\n", true));
        assert_eq!(parts[3].0, "def g():\n    pass\n'''\nprose\n'''\n");
    }

    #[test]
    fn an_open_string_ends_where_a_definition_begins() {
        let functions = "def g():\n    '''Doc.\n\n    More.'''\n    return 1\n@jit\ndef h():\n    '''Doc.'''\n";
        let prose = "'''\nprose\nand more\n'''\n";
        let text = format!("import a\ndef f():\n    x = '''\n    return x\n\n{functions}{prose}y = 2\n");
        let parts = cut_up(&text);
        assert_eq!(parts[1], ("def f():\n    x = '''\n    return x\n\n", false));
        assert_eq!(parts[2].0, "def g():\n    '''Doc.\n\n    More.'''\n    return 1\n");
        assert_eq!(parts[3].0, format!("@jit\ndef h():\n    '''Doc.'''\n{prose}"));
        assert_eq!(parts.iter().filter(|(_, good)| !good).count(), 1);
        // To the end of the file.
        assert_eq!(cut_up("x = '''\ndef f():\n    pass\n"), [("x = '''\n", false), ("def f():\n    pass\n", true)]);
    }
}
