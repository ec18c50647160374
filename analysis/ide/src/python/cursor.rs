//! What is typed around a place in Python: the word, the names with dots before it, the call that is open.

use base::TextRange;
use python::syntax::scan::{Lexeme, LexemeKind, lexemes};

/// What a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    Code,
    Comment,
    Str,
}

/// A call whose bracket is open at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OpenCall {
    /// What is called, with dots: `mbarrier.wait`, `ring.index`; with a dot in front where more than names is before it.
    pub name: String,
    /// Where it stands, without `[grid]`.
    pub callee: TextRange,
    /// Whether a kernel is launched: `kernel[grid](`.
    pub launched: bool,
    /// How many arguments stand before the one at the place.
    pub place: usize,
    /// How many of them are given by their place.
    pub positional: usize,
    /// Keywords that are given before or after it.
    pub keywords: Vec<String>,
    /// The keyword of the argument at the place.
    pub keyword: Option<String>,
    /// Whether nothing of that argument but the word at the place is typed.
    pub fresh: bool,
}

/// What is typed before a place.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'t> {
    pub at: Where,
    /// The part of the word at the place that stands before it.
    pub prefix: &'t str,
    /// The word at the place, whole.
    pub word: TextRange,
    /// What stands before the last dot before the word: `gl.nvidia`, or for `ring.index(i).` the name `ring`, and
    /// whether something was called on the way.
    pub receiver: Option<(String, bool)>,
    /// All of what stands before that dot.
    pub object: Option<TextRange>,
    /// The open calls, the innermost first.
    pub calls: Vec<OpenCall>,
    /// The module of `from module import` where the place is behind it.
    pub import_from: Option<String>,
}

/// Keywords that begin a statement and never stand in brackets.
const STATEMENTS: &[&str] = &[
    "def", "class", "return", "while", "with", "pass", "raise", "import", "try", "except", "finally", "break",
    "continue", "global", "nonlocal", "del", "assert",
];

impl<'t> Cursor<'t> {
    /// What is typed before `at`.
    pub(super) fn at(text: &'t str, at: u32) -> Option<Cursor<'t>> {
        let before = text.get(..at as usize)?;
        let all = lexemes(before);
        let word = super::word(text, at);
        let mut cursor = Cursor {
            at: Where::Code,
            prefix: "",
            word: TextRange::empty(at),
            receiver: None,
            object: None,
            calls: Vec::new(),
            import_from: None,
        };
        let last = all.last().filter(|last| last.range.end == at);
        match last.map(|last| last.kind) {
            Some(LexemeKind::Comment) => {
                cursor.at = Where::Comment;
                return Some(cursor);
            }
            Some(LexemeKind::Str { closed: false }) => {
                cursor.at = Where::Str;
                return Some(cursor);
            }
            Some(LexemeKind::Number | LexemeKind::Str { .. }) => {}
            Some(LexemeKind::Name) => {
                cursor.prefix = word.map_or("", |word| text.get(word.start as usize..at as usize).unwrap_or(""));
                cursor.word = word.unwrap_or(cursor.word);
            }
            _ => cursor.word = word.filter(|word| word.start == at).unwrap_or(cursor.word),
        }
        let typed = all.len() - usize::from(last.is_some_and(|last| last.kind == LexemeKind::Name));
        let code = all.get(..typed)?;
        if code.last().is_some_and(|last| last.kind == LexemeKind::Punct(b'.')) {
            cursor.receiver = receiver(text, code.get(..typed - 1)?);
            cursor.object = object(code.get(..typed - 1)?);
        }
        cursor.import_from = import_from(text, code);
        cursor.calls = calls(text, code, at);
        Some(cursor)
    }
}

/// The names with dots at the end of some lexemes, calls and subscripts on the way left out.
fn receiver(text: &str, code: &[Lexeme]) -> Option<(String, bool)> {
    let mut names: Vec<&str> = Vec::new();
    let mut called = false;
    let mut at = code.len();
    loop {
        let lexeme = code.get(at.checked_sub(1)?)?;
        match lexeme.kind {
            LexemeKind::Name => {
                names.push(lexeme.range.of(text));
                at -= 1;
            }
            LexemeKind::Punct(b')' | b']') => {
                at = opening(code, at - 1)?;
                // The method that is called gives a part of what it is called on.
                called |= matches!(lexeme.kind, LexemeKind::Punct(b')'));
                if matches!(lexeme.kind, LexemeKind::Punct(b')')) {
                    let method = code.get(at.checked_sub(1)?).filter(|method| method.kind == LexemeKind::Name)?;
                    if !super::things::VIEWS.contains(&method.range.of(text)) {
                        return None;
                    }
                    at -= 1;
                    if !matches!(code.get(at.checked_sub(1)?)?.kind, LexemeKind::Punct(b'.')) {
                        return None;
                    }
                    at -= 1;
                }
                continue;
            }
            _ => return None,
        }
        match at.checked_sub(1).and_then(|before| code.get(before)) {
            Some(dot) if dot.kind == LexemeKind::Punct(b'.') => at -= 1,
            _ => break,
        }
    }
    names.reverse();
    Some((names.join("."), called))
}

/// The expression of names, calls and subscripts at the end of some lexemes.
fn object(code: &[Lexeme]) -> Option<TextRange> {
    let end = code.last()?.range.end;
    let mut at = code.len();
    loop {
        match code.get(at.checked_sub(1)?)?.kind {
            LexemeKind::Name => at -= 1,
            LexemeKind::Punct(b')' | b']') => {
                at = opening(code, at - 1)?;
                let before = at.checked_sub(1).and_then(|before| code.get(before)).map(|before| before.kind);
                if matches!(before, Some(LexemeKind::Name | LexemeKind::Punct(b')' | b']'))) {
                    continue;
                }
            }
            _ => return None,
        }
        match at.checked_sub(1).and_then(|before| code.get(before)) {
            Some(dot) if dot.kind == LexemeKind::Punct(b'.') => at -= 1,
            _ => break,
        }
    }
    Some(TextRange::new(code.get(at)?.range.start, end))
}

/// The number of the bracket that the one with this number closes.
fn opening(code: &[Lexeme], close: usize) -> Option<usize> {
    let mut depth = 0i32;
    for at in (0..=close).rev() {
        match code.get(at)?.kind {
            LexemeKind::Punct(b')' | b']' | b'}') => depth += 1,
            LexemeKind::Punct(b'(' | b'[' | b'{') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The module of `from module import …` at the end of some lexemes.
fn import_from(text: &str, code: &[Lexeme]) -> Option<String> {
    let import = code.iter().rposition(|lexeme| lexeme.range.of(text) == "import")?;
    let behind = code.get(import + 1..)?;
    // A bracket further behind is of another statement.
    let open = behind.first().is_some_and(|lexeme| lexeme.kind == LexemeKind::Punct(b'('));
    let ended = behind.iter().any(|lexeme| match lexeme.kind {
        LexemeKind::LineEnd => !open,
        LexemeKind::Punct(b')') => true,
        _ => false,
    });
    if ended {
        return None;
    }
    let before = code.get(..import)?;
    let from = before.iter().rposition(|lexeme| lexeme.range.of(text) == "from")?;
    let module = before.get(from + 1..)?;
    let plain = |lexeme: &Lexeme| matches!(lexeme.kind, LexemeKind::Name | LexemeKind::Punct(b'.'));
    if module.is_empty() || !module.iter().all(plain) {
        return None;
    }
    Some(module.iter().map(|lexeme| lexeme.range.of(text)).collect())
}

/// The open calls at the end of some lexemes, the innermost first.
fn calls(text: &str, code: &[Lexeme], at: u32) -> Vec<OpenCall> {
    let mut open: Vec<usize> = Vec::new();
    let mut line = true;
    for (number, lexeme) in code.iter().enumerate() {
        match lexeme.kind {
            LexemeKind::LineEnd => {
                line = true;
                continue;
            }
            LexemeKind::Name if line && STATEMENTS.contains(&lexeme.range.of(text)) => open.clear(),
            LexemeKind::Punct(b'@') if line && starts_line(text, lexeme.range.start) => open.clear(),
            LexemeKind::Punct(b'(' | b'[' | b'{') => open.push(number),
            LexemeKind::Punct(b')' | b']' | b'}') => {
                open.pop();
            }
            _ => {}
        }
        line = false;
    }
    let mut calls = Vec::new();
    for &bracket in open.iter().rev() {
        if code.get(bracket).is_none_or(|lexeme| lexeme.kind != LexemeKind::Punct(b'(')) {
            continue;
        }
        let before = code.get(..bracket).unwrap_or(&[]);
        let launch = before.last().filter(|last| last.kind == LexemeKind::Punct(b']'));
        let grid = launch.and_then(|_| opening(code, bracket - 1));
        let before = grid.and_then(|grid| code.get(..grid)).unwrap_or(before);
        let Some(name) = called(text, before) else { continue };
        let callee = object(before).unwrap_or(TextRange::empty(at));
        let launched = launch.is_some();
        let call = OpenCall { name, callee, launched, ..OpenCall::default() };
        calls.push(arguments(text, code.get(bracket + 1..).unwrap_or(&[]), call, at));
    }
    calls
}

/// Whether nothing stands before an offset in its line.
fn starts_line(text: &str, offset: u32) -> bool {
    offset == 0 || text.as_bytes().get(offset as usize - 1) == Some(&b'\n')
}

/// What is called by a bracket behind some lexemes.
fn called(text: &str, code: &[Lexeme]) -> Option<String> {
    let last = code.last().filter(|last| last.kind == LexemeKind::Name)?;
    let word = last.range.of(text);
    let keyword = ["in", "if", "and", "or", "not", "return", "else", "elif", "while", "print", "lambda", "import"];
    let before = code.len().checked_sub(2).and_then(|at| code.get(at));
    if keyword.contains(&word) || before.is_some_and(|it| matches!(it.range.of(text), "def" | "class")) {
        return None;
    }
    if before.is_some_and(|it| it.kind == LexemeKind::Punct(b'.')) {
        let receiver = receiver(text, code.get(..code.len() - 2)?).map_or(String::new(), |(receiver, _)| receiver);
        return Some(format!("{receiver}.{word}"));
    }
    Some(word.to_owned())
}

/// The arguments that are typed of a call up to the place, and the keywords behind it.
fn arguments(text: &str, code: &[Lexeme], mut call: OpenCall, at: u32) -> OpenCall {
    call.fresh = true;
    let mut depth = 0i32;
    let mut first: Option<&Lexeme> = None;
    for (number, lexeme) in code.iter().enumerate() {
        match lexeme.kind {
            LexemeKind::LineEnd | LexemeKind::Comment => continue,
            LexemeKind::Punct(b'(' | b'[' | b'{') => depth += 1,
            LexemeKind::Punct(b')' | b']' | b'}') => depth -= 1,
            LexemeKind::Punct(b',') if depth == 0 => {
                call.place += 1;
                call.positional += usize::from(call.keyword.is_none());
                (call.keyword, call.fresh, first) = (None, true, None);
                continue;
            }
            LexemeKind::Punct(b'=') if depth == 0 && call.keyword.is_none() => {
                let compares = code.get(number + 1).is_some_and(|next| next.kind == LexemeKind::Punct(b'='));
                if let Some(name) = first.filter(|first| first.kind == LexemeKind::Name && !compares) {
                    let name = name.range.of(text).to_owned();
                    call.keywords.push(name.clone());
                    call.keyword = Some(name);
                }
            }
            _ => {}
        }
        call.fresh = false;
        first = first.or(Some(lexeme));
    }
    call.keywords.extend(keywords_behind(text.get(at as usize..).unwrap_or("")));
    call
}

/// Names of keywords behind a place, up to the bracket that closes the call; of half-typed text those of the line.
fn keywords_behind(text: &str) -> Vec<String> {
    let end = text.char_indices().nth(2000).map_or(text.len(), |(at, _)| at);
    let part = text.get(..end).unwrap_or("");
    let all = lexemes(part);
    let mut depth = 0i32;
    let mut found = Vec::new();
    for pair in all.windows(2) {
        let [first, second] = pair else { continue };
        match first.kind {
            LexemeKind::Punct(b'(' | b'[' | b'{') => depth += 1,
            LexemeKind::Punct(b')' | b']' | b'}') if depth == 0 => break,
            LexemeKind::Punct(b')' | b']' | b'}') => depth -= 1,
            LexemeKind::Name if STATEMENTS.contains(&first.range.of(part)) => break,
            LexemeKind::Name if depth == 0 && second.kind == LexemeKind::Punct(b'=') => {
                found.push(first.range.of(part).to_owned());
            }
            _ => {}
        }
    }
    found
}
