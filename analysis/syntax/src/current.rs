//! The statements that stand in a file now, also where it does not parse.

use ruff_python_ast::{ModModule, PySourceType, Stmt};
use ruff_python_parser::{Parsed, parse_unchecked_source};
use ruff_text_size::Ranged;

use super::Module;

/// What the text of a file says now: what parses as [`Module`] has it, and of what is broken as much as the parser
/// makes of it, instead of its last good text. All ranges count in the text.
pub struct CurrentTree<'m> {
    module: &'m Module,
    broken: Vec<Parsed<ModModule>>,
}

impl<'m> CurrentTree<'m> {
    /// The tree of a file's present text.
    pub fn of(module: &'m Module) -> CurrentTree<'m> {
        let text = module.unwrapped();
        let blanked = module.broken().iter().filter(|broken| module.slice(broken.range).trim().is_empty());
        let parse = |range: base::TextRange| {
            let part = range.of(text);
            let mut source = blank(text.get(..range.start as usize).unwrap_or(""));
            source.push_str(part);
            parse_unchecked_source(&source, PySourceType::Python)
        };
        CurrentTree { module, broken: blanked.map(|broken| parse(broken.range)).collect() }
    }

    /// The file.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// The statements of the top level: first those that parse, in order, then what is broken.
    pub fn statements(&self) -> impl Iterator<Item = &Stmt> {
        let end = self.module.text().len();
        let good = self.module.body().iter().filter(move |statement| statement.range().start().to_usize() < end);
        good.chain(self.broken.iter().flat_map(|parsed| parsed.suite()))
    }

    /// The same in the order of the text.
    pub fn in_order(&self) -> Vec<&Stmt> {
        let mut all: Vec<&Stmt> = self.statements().collect();
        all.sort_by_key(|statement| statement.range().start());
        all
    }
}

impl std::fmt::Debug for CurrentTree<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CurrentTree({}, {} broken)", self.module.path(), self.broken.len())
    }
}

/// As many bytes without anything in them, with the same lines.
fn blank(text: &str) -> String {
    text.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_half_typed_is_read_where_it_stands() {
        let good = "def a():\n    return [1]\n\ndef b():\n    return 2\n";
        let before = Module::parse("f.py", good, None);
        let now = good.replace("[1]", "g(x, ");
        let module = Module::parse("f.py", now.as_str(), Some(&before));
        assert!(module.broken()[0].stale.is_some());
        let present = CurrentTree::of(&module);
        let starts: Vec<u32> = present.in_order().iter().map(|stmt| stmt.range().start().to_u32()).collect();
        assert_eq!(starts, [0, now.find("def b").unwrap_or(0) as u32]);
    }
}
