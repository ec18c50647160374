//! One Python file as a tree.

use std::fmt;
use std::sync::{Arc, OnceLock};

use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::{ModModule, PySourceType, Stmt};
use ruff_python_parser::{Parsed, parse_unchecked_source};

use super::bindings::Bindings;
use super::embedded::{self, Embedded, Unwrapped};
use super::statements::{Statement, defines, said, statements};
use crate::scan::is_blank_or_comment;
use base::TextRange;
use ruff_text_size::Ranged;

/// A parsed file. Ranges of the tree count in [`Module::source`], which is the file's text with broken
/// statements blanked, followed by the last good text of each of these.
pub struct Module {
    path: String,
    text: Arc<str>,
    /// The text with what its strings with kernels hold as statements.
    unwrapped: Arc<str>,
    source: Arc<str>,
    parsed: Parsed<ModModule>,
    /// The tree, where names of strings with kernels are others in it than in the text.
    named: Option<ModModule>,
    broken: Vec<Broken>,
    /// Made when somebody asks.
    bindings: OnceLock<Bindings>,
    strings: Vec<Embedded>,
}

/// A top-level statement that does not parse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Where it stands in the text.
    pub range: TextRange,
    /// What the parser says of it, at its place in the text.
    pub errors: Vec<(TextRange, String)>,
    /// Its last good text, at its place in [`Module::source`]; `None` where it was never good. Then the
    /// tree holds what the parser made of it, or nothing where it took what follows with it.
    pub stale: Option<TextRange>,
}

impl Module {
    /// Parses `text`. `before` is the same file as it was, for the last good text of what is broken now.
    pub fn parse(path: impl Into<String>, text: impl Into<Arc<str>>, before: Option<&Module>) -> Module {
        let (path, text) = (path.into(), text.into());
        let (unwrapped, strings) = match embedded::unwrap(&text) {
            Some(Unwrapped { text, strings }) => (text, strings),
            None => (text.clone(), Vec::new()),
        };
        let whole = parse_unchecked_source(&unwrapped, PySourceType::Python);
        let (source, parsed, broken) = if whole.errors().is_empty() {
            (unwrapped.clone(), whole, Vec::new())
        } else {
            mend(&unwrapped, whole, before)
        };
        // A statement that does not parse is in a string by its place, wherever its last good text stands.
        let regions = |string: &Embedded| {
            let stale = broken.iter().filter(|broken| string.range.touches(broken.range.start));
            let all = stale.filter_map(|broken| broken.stale).chain([string.range]);
            if string.unread.is_none() { all.collect() } else { Vec::new() }
        };
        let named = if strings.is_empty() { None } else { embedded::named(&parsed, &strings, regions) };
        Module { path, text, unwrapped, source, parsed, named, broken, bindings: OnceLock::new(), strings }
    }

    /// Which of its statements bind which names.
    pub fn bindings(&self) -> &Bindings {
        self.bindings.get_or_init(|| Bindings::of(self.body()))
    }

    /// The file's name, as its giver spells it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The text as it is now.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// What the tree's ranges count in.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The same, to be kept.
    pub fn shared_source(&self) -> &Arc<str> {
        &self.source
    }

    /// Its statements.
    pub fn body(&self) -> &[Stmt] {
        self.named.as_ref().map_or_else(|| self.parsed.suite(), |tree| &tree.body)
    }

    /// Its strings with kernels.
    pub fn strings(&self) -> &[Embedded] {
        &self.strings
    }

    /// Its text with what these strings hold as statements, at the same places.
    pub fn unwrapped(&self) -> &str {
        &self.unwrapped
    }

    /// The parser's whole answer.
    pub fn parsed(&self) -> &Parsed<ModModule> {
        &self.parsed
    }

    /// Its broken top-level statements, in order.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// The place in the text of a range of the tree, and whether it stands in text that is no longer
    /// there: then it is the place of the broken statement.
    pub fn place(&self, range: TextRange) -> (TextRange, bool) {
        if (range.start as usize) < self.text.len() {
            return (range, false);
        }
        let of = self.broken.iter().find(|broken| broken.stale.is_some_and(|stale| stale.contains(range)));
        (of.map_or(TextRange::default(), |broken| first_line(&self.text, broken.range)), true)
    }

    /// Whether a `#` of the text starts a comment, or may: in what does not parse nobody knows.
    pub fn is_comment(&self, at: u32) -> bool {
        let tokens: &[Token] = self.parsed.tokens();
        let next = tokens.partition_point(|token| token.start().to_u32() <= at);
        let token = next.checked_sub(1).and_then(|last| tokens.get(last)).filter(|token| token.end().to_u32() > at);
        match token {
            Some(token) => token.kind() == TokenKind::Comment,
            None => self.broken.iter().any(|broken| broken.range.touches(at)),
        }
    }

    /// The blank space and the comment at the end of the line of the text in which a range of them is, without the line
    /// break; `None` where it holds code or a string, and where some of the text does not parse.
    pub fn line_end_around(&self, range: TextRange) -> Option<TextRange> {
        if !self.broken.is_empty() {
            return None;
        }
        let (before, rest) = (self.text.get(..range.start as usize)?, self.text.get(range.start as usize..)?);
        let end = range.start + rest.find(['\n', '\r']).unwrap_or(rest.len()) as u32;
        if end < range.end {
            return None;
        }
        let tokens: &[Token] = self.parsed.tokens();
        let next = tokens.partition_point(|token| token.start().to_u32() < end);
        let earlier = || tokens.iter().take(next).rev();
        let code_end = earlier().find(|token| is_code(token.kind())).map_or(0, |token| token.end().to_u32());
        // What stands between the parts of a string may be shown.
        let line = || earlier().take_while(|token| token.kind() != TokenKind::Newline).map(Token::kind);
        let starts = line().filter(|kind| matches!(kind, TokenKind::FStringStart | TokenKind::TStringStart)).count();
        let ends = line().filter(|kind| matches!(kind, TokenKind::FStringEnd | TokenKind::TStringEnd)).count();
        // A backslash continues a line: what is behind it is no blank space.
        let gap = self.text.get(code_end as usize..end as usize)?;
        if code_end > range.start || starts != ends || !gap.split(['\n', '\r']).all(is_blank_or_comment) {
            return None;
        }
        let line_start = before.rfind(['\n', '\r']).map_or(0, |at| at as u32 + 1);
        Some(TextRange::new(code_end.max(line_start), end))
    }

    /// The text of a range of the tree.
    pub fn slice(&self, range: TextRange) -> &str {
        self.source.get(range.start as usize..range.end as usize).unwrap_or("")
    }
}

/// Whether a token is more than what separates statements.
fn is_code(kind: TokenKind) -> bool {
    !kind.is_trivia()
        && !matches!(kind, TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent | TokenKind::EndOfFile)
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("path", &self.path).field("bytes", &self.text.len()).finish_non_exhaustive()
    }
}

/// Blanks what is broken and puts its last good text behind the rest.
fn mend(
    text: &Arc<str>,
    whole: Parsed<ModModule>,
    before: Option<&Module>,
) -> (Arc<str>, Parsed<ModModule>, Vec<Broken>) {
    let statements = statements(text, whole.tokens());
    let wrong = statements.iter().filter(|statement| !statement.errors.is_empty());
    let mut broken: Vec<Broken> =
        wrong.map(|it| Broken { range: it.range, errors: it.errors.clone(), stale: None }).collect();
    if broken.is_empty() {
        // Only together do they not parse, such as a clause that continues another statement.
        let errors = whole.errors().iter().map(|error| said(error, 0)).collect();
        broken.push(Broken { range: TextRange::new(0, text.len() as u32), errors, stale: None });
    }
    let mut source = text.as_bytes().to_vec();
    let mut behind = String::new();
    let mut kept: Vec<(&str, TextRange)> = Vec::new();
    let swallows = swallows(&whole, text, &statements);
    for part in &mut broken {
        let good = before.and_then(|before| last_good(before, part.range.of(text)));
        if good.is_none() && !swallows {
            continue;
        }
        for byte in &mut source[part.range.start as usize..part.range.end as usize] {
            if !matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        let Some(good) = good else { continue };
        // Of several broken statements that define one name each would bring the same text.
        let known = kept.iter().find(|(text, _)| *text == good).map(|(_, at)| *at);
        let at = known.unwrap_or_else(|| {
            let start = (text.len() + 1 + behind.len()) as u32;
            behind.push_str(good);
            behind.push('\n');
            TextRange::new(start, start + good.len() as u32)
        });
        kept.push((good, at));
        part.stale = Some(at);
    }
    if behind.is_empty() && !swallows {
        return (text.clone(), whole, broken);
    }
    let mut source = String::from_utf8(source).unwrap_or_default();
    source.push('\n');
    source.push_str(&behind);
    let parsed = parse_unchecked_source(&source, PySourceType::Python);
    (source.into(), parsed, broken)
}

/// Whether what is broken took other definitions with it, or their decorators, as an unclosed bracket does.
fn swallows(whole: &Parsed<ModModule>, text: &str, statements: &[Statement]) -> bool {
    let known = |name: &str, start: u32| {
        let is = |found: &&Stmt| name_of(found) == Some(name) && found.start().to_u32() == start;
        whole.suite().iter().any(|found| is(&found))
    };
    let good = statements.iter().filter(|statement| statement.errors.is_empty());
    let mut defined = good.filter_map(|statement| {
        let own = statement.range.of(text);
        Some((definition(own)?, statement.range.start + first_code(own)?))
    });
    defined.any(|(name, start)| !known(name, start))
}

/// Where the first line begins that is neither blank nor a comment.
fn first_code(text: &str) -> Option<u32> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !is_blank_or_comment(line.trim_end_matches(['\r', '\n'])) {
            return Some(start);
        }
        start += line.len() as u32;
    }
    None
}

/// The text that a statement had when it last parsed: the one that defines the same name.
fn last_good<'a>(before: &'a Module, now: &str) -> Option<&'a str> {
    let name = definition(now)?;
    let stale = || before.broken.iter().filter_map(|broken| broken.stale);
    if let Some(known) = stale().map(|stale| before.slice(stale)).find(|text| definition(text) == Some(name)) {
        return Some(known);
    }
    // What the parser made of a broken text may go on into what was put behind it.
    let broken = |range: TextRange| {
        let touches = |broken: &Broken| range.start < broken.range.end && broken.range.start < range.end;
        range.end as usize > before.text.len() || before.broken.iter().any(touches)
    };
    let named = before.parsed.suite().iter().filter(|statement| name_of(statement) == Some(name));
    let mut ranges = named.map(|statement| TextRange::new(statement.start().to_u32(), statement.end().to_u32()));
    ranges.find(|range| !broken(*range)).map(|range| before.slice(range))
}

/// The name that a statement defines.
fn name_of(statement: &Stmt) -> Option<&str> {
    match statement {
        Stmt::FunctionDef(def) => Some(def.name.as_str()),
        Stmt::ClassDef(def) => Some(def.name.as_str()),
        _ => None,
    }
}

/// The name that the text of a statement defines.
fn definition(text: &str) -> Option<&str> {
    text.lines().find_map(defines)
}

fn first_line(text: &str, range: TextRange) -> TextRange {
    let part = range.of(text);
    let skipped = part.len() - part.trim_start().len();
    let line = part.trim_start().lines().next().unwrap_or("").trim_end();
    let start = range.start + skipped as u32;
    TextRange::new(start, start + line.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::range;

    #[test]
    fn an_unclosed_bracket_costs_one_function() {
        let good = "def a():\n    return [1, (2, 3)]\n\ndef b():\n    return 2\n";
        let before = Module::parse("f.py", good, None);
        let now = good.replace("(2, 3)]", "(2, [(");
        let module = Module::parse("f.py", now.as_str(), Some(&before));
        assert_eq!(module.broken().len(), 1);
        assert_eq!(module.body().len(), 2);
        let stale = module.broken()[0].stale.unwrap_or_default();
        assert_eq!(module.slice(stale).trim(), "def a():\n    return [1, (2, 3)]");
        assert_eq!(module.place(stale), (TextRange::new(0, 8), true));
    }

    #[test]
    fn prose_in_a_string_is_no_mistake_of_another_line() {
        for newline in ["\n", "\r\n"] {
            let text = "\"\"\"\nFirst line.\n\"\"\"\nimport gluon\nb = (2\n".replace('\n', newline);
            let module = Module::parse("f.py", text.as_str(), None);
            let ranges: Vec<&str> = module.broken().iter().map(|broken| broken.range.of(&text)).collect();
            assert_eq!(ranges, [format!("b = (2{newline}")]);
        }
    }

    #[test]
    fn a_function_whose_string_is_open_is_what_it_was() {
        let first = "def a():\n    x = 1\n    return x";
        let good = format!("{first}\n\ndef b():\n    '@'Doc.'@'\n    return 2\n").replace("'@'", "\"\"\"");
        let before = Module::parse("f.py", good.as_str(), None);
        let now = good.replace("x = 1", "x = \"\"\"");
        let module = Module::parse("f.py", now.as_str(), Some(&before));
        // And stays so with the next key.
        let next = Module::parse("f.py", now.replace("x = \"\"\"", "x = \"\"\"y"), Some(&module));
        for module in [&module, &next] {
            assert_eq!((module.body().len(), module.broken().len()), (2, 1));
            assert_eq!(module.broken()[0].stale.map(|stale| module.slice(stale)), Some(first));
        }
    }

    #[test]
    fn what_is_broken_for_long_does_not_grow() {
        let good = "def a():\n    return 1\n\ndef b():\n    return [2, 3]\n";
        let mut module = Module::parse("f.py", good, None);
        let broken = good.replace("3]", "3 ").replace("return 1", "return (1") + "\ndef b():\n    x = (\n\ndef b(:\n";
        for key in 0..200 {
            module = Module::parse("f.py", format!("{broken}    y{key} = (\n"), Some(&module));
        }
        assert!(module.broken().iter().filter(|broken| broken.stale.is_some()).count() > 1);
        assert!(module.source().len() < 3 * broken.len(), "{}", module.source());
    }

    #[test]
    fn what_was_never_good_is_kept_as_it_is() {
        let module = Module::parse("f.py", "def a(:\n    pass\ndef b():\n    pass\n", None);
        assert_eq!((module.body().len(), module.broken().len()), (2, 1));
        assert_eq!(module.broken()[0].stale, None);
    }

    #[test]
    fn what_was_never_good_does_not_take_others_with_it() {
        let module = Module::parse("f.py", "def a():\n    return [(\n\ndef b():\n    return 2\n", None);
        let names = module.body().iter().filter_map(|statement| Some(statement.as_function_def_stmt()?.name.as_str()));
        assert!(names.eq(["b"]));
        assert_eq!(module.broken().len(), 1);
    }

    fn kernel(name: &str, inner: &str, body: &str) -> String {
        format!(
            "{name} = async_compile.triton('{inner}', '''\nimport triton\n\n@triton.jit\ndef _one(x):\n    return x\n\n\
             @triton.jit\ndef {inner}(x):\n    {body}\n''', device_str='cuda')\n\n"
        )
    }

    fn names(module: &Module) -> Vec<&str> {
        module.body().iter().filter_map(|stmt| Some(stmt.as_function_def_stmt()?.name.as_str())).collect()
    }

    #[test]
    fn what_stands_in_a_string_is_read_where_it_stands() {
        let text = kernel("add_0", "triton_", "_one(x)")
            + &kernel("mul_1", "triton_", "_one(x + 1)")
            + "def call(x):\n    pass\n";
        let module = Module::parse("f.py", text.as_str(), None);
        assert!(module.broken().is_empty(), "{:?}", module.broken());
        assert_eq!(names(&module), ["_one of add_0", "add_0", "_one of mul_1", "mul_1", "call"]);
        // No place moves.
        assert_eq!(module.source().len(), text.len());
        let functions: Vec<&Stmt> = module.body().iter().filter(|stmt| stmt.is_function_def_stmt()).collect();
        assert!(range(functions[3]).of(&text).ends_with("def triton_(x):\n    _one(x + 1)"));
        // A call means the function of its own string.
        let Some(def) = functions[3].as_function_def_stmt() else { panic!("{functions:?}") };
        let call = def.body[0].as_expr_stmt().and_then(|stmt| stmt.value.as_call_expr());
        let called = call.and_then(|call| call.func.as_name_expr());
        assert_eq!(called.map(|name| name.id.as_str()), Some("_one of mul_1"));
    }

    #[test]
    fn what_is_broken_in_a_string_is_what_it_was() {
        let text = kernel("add_0", "triton_", "_one(x)") + &kernel("mul_1", "mul_1", "_one(x)");
        let before = Module::parse("f.py", text.as_str(), None);
        let module = Module::parse("f.py", text.replacen("    _one(x)\n", "    _one((x\n", 1), Some(&before));
        assert_eq!(module.broken().len(), 1);
        let mut all = names(&module);
        all.sort_unstable();
        assert_eq!(all, ["_one of add_0", "_one of mul_1", "add_0", "mul_1"]);
    }

    #[test]
    fn what_cannot_be_read_in_place_is_said() {
        for (body, why) in [("x = '\\\\n'", "backslashes"), ("pass", "indented"), ("pass", "line of the quotes")] {
            let mut text = kernel("add_0", "add_0", body);
            match why {
                "indented" => text = text.replace("\nimport", "\n import"),
                "line of the quotes" => text = text.replacen("'''\nimport", "'''import", 1),
                _ => {}
            }
            let module = Module::parse("f.py", text.as_str(), None);
            let unread = module.strings().first().and_then(|string| string.unread);
            assert!(unread.is_some_and(|said| said.contains(why)), "{why}: {unread:?}");
            assert_eq!(names(&module), [""; 0]);
        }
        // Raw ones are what they say.
        let raw = kernel("add_0", "add_0", "x = '\\\\n'").replacen("'''", "r'''", 1);
        assert_eq!(names(&Module::parse("f.py", raw, None)), ["_one", "add_0"]);
    }
}
