//! The statements of a text as it is at this moment, half-typed ones included.
//!
//! A [`Module`] keeps the last good text of what is broken, which is right for analysis. What is shown about the
//! characters on the screen needs what the parser makes of those.

use ruff_python_ast::{ModModule, PySourceType, Stmt};
use ruff_python_parser::{Parsed, parse_unchecked_source};
use ruff_text_size::Ranged;

use super::Module;

/// The statements of a file's present text.
pub struct Present<'m> {
    module: &'m Module,
    /// Broken statements as the parser reads them, with where their text starts.
    broken: Vec<(u32, Parsed<ModModule>)>,
}

impl<'m> Present<'m> {
    /// Those of a file.
    pub fn of(module: &'m Module) -> Present<'m> {
        let read = |range: base::TextRange| parse_unchecked_source(range.of(module.text()), PySourceType::Python);
        let broken = module.broken().iter().map(|broken| (broken.range.start, read(broken.range)));
        Present { module, broken: broken.collect() }
    }

    /// The top-level statements in the order of the text, each with what its ranges lack to count in the text.
    pub fn statements(&self) -> Vec<(&Stmt, u32)> {
        let length = self.module.text().len();
        let broken = |at: u32| self.module.broken().iter().any(|part| part.range.start <= at && at < part.range.end);
        let good = self.module.body().iter().filter(|stmt| {
            let start = stmt.range().start().to_u32();
            (start as usize) < length && !broken(start)
        });
        let half = self.broken.iter().flat_map(|(offset, parsed)| parsed.suite().iter().map(|stmt| (stmt, *offset)));
        let mut all: Vec<(&Stmt, u32)> = good.map(|stmt| (stmt, 0)).chain(half).collect();
        all.sort_by_key(|(stmt, offset)| stmt.range().start().to_u32() + offset);
        all
    }
}

impl std::fmt::Debug for Present<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Present({}, {} broken)", self.module.path(), self.broken.len())
    }
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
        let present = Present::of(&module);
        let starts: Vec<u32> =
            present.statements().iter().map(|(stmt, offset)| stmt.range().start().to_u32() + offset).collect();
        assert_eq!(starts, [0, now.find("def b").unwrap_or(0) as u32]);
    }
}
