//! The kernels, helpers, classes and barriers of a Python text, by its lines alone: so many files can be searched.

use base::TextRange;

/// What a name of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A kernel, or a function that kernels call.
    Function,
    /// A class whose objects kernels handle.
    Class,
    /// A variable that is given barriers.
    Barrier,
}

/// A name that is worth finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextName {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: NameKind,
    /// Where it stands.
    pub range: TextRange,
    /// The function or class that it is in; empty at the top level.
    pub container: String,
}

/// Lines that are looked at for the end of an assignment.
const LINES: usize = 12;

/// The kernels, helpers, classes and barriers of a text, in order.
pub fn outline(text: &str) -> Vec<TextName> {
    let mut found = Vec::new();
    // Decorators above, and whether one is Triton's; what is around, with its indentation.
    let (mut decorated, mut ours) = (false, false);
    let mut around: Vec<(usize, String)> = Vec::new();
    let mut at = 0usize;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim_start();
        if trimmed.trim_end().is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let indent = line.len() - trimmed.len();
        if trimmed.starts_with('@') {
            decorated = true;
            ours |= is_ours(trimmed);
            continue;
        }
        let place = |name: &str, skipped: usize| {
            let from = (start + indent + skipped) as u32;
            TextRange::new(from, from + name.len() as u32)
        };
        let (keyword, kind) =
            if trimmed.starts_with("class ") { ("class ", NameKind::Class) } else { ("def ", NameKind::Function) };
        if let Some(name) = trimmed.strip_prefix(keyword).map(identifier).filter(|name| !name.is_empty()) {
            around.retain(|(outer, _)| *outer < indent);
            if ours {
                let container = around.last().map_or_else(String::new, |(_, name)| name.clone());
                found.push(TextName { name: name.to_owned(), kind, range: place(name, keyword.len()), container });
            }
            around.push((indent, name.to_owned()));
            (decorated, ours) = (false, false);
            continue;
        }
        if decorated {
            // A decorator that goes on.
            ours |= trimmed.starts_with("triton.jit");
            continue;
        }
        let name = identifier(trimmed);
        if !name.is_empty() && assigns_barriers(text, start + indent + name.len()) {
            let inner = around.iter().rev().find(|(outer, _)| *outer < indent);
            let container = inner.map_or_else(String::new, |(_, name)| name.clone());
            let kind = NameKind::Barrier;
            found.push(TextName { name: name.to_owned(), kind, range: place(name, 0), container });
        }
    }
    found
}

/// Whether a decorator is one of Triton's.
fn is_ours(line: &str) -> bool {
    let head = line.get(1..).unwrap_or("").split(['(', '#']).next().unwrap_or("").trim();
    let last = head.rsplit('.').next().unwrap_or(head);
    matches!(last, "jit" | "aggregate" | "_aggregate" | "constexpr_function" | "autotune" | "heuristics")
}

/// The identifier that a text begins with.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}

/// Whether what stands behind a name gives it barriers: `= mbarrier.allocate_mbarrier(…)` and the like.
fn assigns_barriers(text: &str, at: usize) -> bool {
    let Some(rest) = text.get(at..) else { return false };
    let first = rest.lines().next().unwrap_or("");
    let Some((before, _)) = first.split_once('=') else { return false };
    let plain = before.trim().is_empty() || before.trim_start().starts_with(':');
    if !plain || first.split_once('=').is_some_and(|(_, value)| value.starts_with('=')) {
        return false;
    }
    let mut depth = 0i32;
    for line in rest.lines().take(LINES) {
        if line.contains("allocate_mbarrier") || line.contains("MBarrierLayout") {
            return true;
        }
        depth +=
            line.bytes().map(|byte| i32::from(b"([{".contains(&byte)) - i32::from(b")]}".contains(&byte))).sum::<i32>();
        if depth <= 0 {
            return false;
        }
    }
    false
}

/// How well a name answers what is typed, smaller is better; `None` where its letters are not in the name in order.
pub fn rank(name: &str, typed: &str) -> Option<u32> {
    let (mut gaps, mut last, mut first) = (0u32, None, 0u32);
    let mut letters = name.char_indices();
    for wanted in typed.chars().filter(|c| !c.is_whitespace()) {
        let wanted = wanted.to_lowercase().next()?;
        let (at, _) = letters.find(|(_, c)| c.to_lowercase().next() == Some(wanted))?;
        match last {
            None => first = at as u32,
            Some(last) => gaps += (at - last - 1) as u32,
        }
        last = Some(at);
    }
    Some(gaps * 16 + first * 4 + (name.len() as u32).min(64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_say_what_there_is() {
        let text = "import x\n@triton.autotune(\n    configs=[Config({})],\n)\n@triton.jit\ndef add(p):\n    pass\n\n\
                    def host():\n    pass\n\n@aggregate\nclass Ring:\n    @gluon.jit\n    def wait(self):\n        pass\n\n\
                    @gluon.jit\ndef k(n):\n    ready = mbarrier.allocate_mbarrier(batch=2)\n    \
                    free: gl.constexpr = gl.allocate_shared_memory(\n        gl.int64, [2, 1],\n        \
                    mbarrier.MBarrierLayout())\n    x = gl.load(n)\n    if ready == mbarrier.allocate_mbarrier:\n        pass\n    y = (\n";
        let said: Vec<String> =
            outline(text).into_iter().map(|it| format!("{:?} {}.{}", it.kind, it.container, it.name)).collect();
        let expected =
            ["Function .add", "Class .Ring", "Function Ring.wait", "Function .k", "Barrier k.ready", "Barrier k.free"];
        assert_eq!(said, expected);
        assert!(outline(text).iter().all(|it| it.range.of(text) == it.name));
    }

    #[test]
    fn letters_in_order_are_enough_and_close_ones_are_better() {
        assert!(rank("sum_rows", "srw").is_some() && rank("sum_rows", "SUM").is_some() && rank("x", "").is_some());
        assert_eq!(rank("sum_rows", "ws"), Some(24 + 8));
        assert_eq!(rank("sum_rows", "rsu"), None);
        assert!(rank("ready", "read") < rank("remade", "read"));
    }
}
