//! What can be folded in Python: functions, classes, loops and other blocks, calls and literals of several lines,
//! runs of comments and of imports.

use base::TextRange;
use python::syntax::scan::{Lexeme, LexemeKind, lexemes};
use python::syntax::{CurrentTree, range};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use ruff_python_ast::{AnyNodeRef, Stmt};
use ruff_text_size::Ranged;

use crate::{Fold, FoldKind};
use engine::instances::PythonFile;

/// Ranges that can be folded, in the order of the text, outer before inner; `None` for a file without kernels.
pub fn folds(file: &PythonFile) -> Option<Vec<Fold>> {
    if !file.mentions_kernels() {
        return None;
    }
    let text = file.text();
    let present = CurrentTree::of(file.module());
    let mut folds = Folds { text, found: Vec::new() };
    let mut imports = Run::default();
    for stmt in present.in_order() {
        folds.visit_stmt(stmt);
        if matches!(stmt, Stmt::Import(_) | Stmt::ImportFrom(_)) {
            imports.add(range(stmt));
        } else {
            folds.push_run(&mut imports, FoldKind::Imports);
        }
    }
    folds.push_run(&mut imports, FoldKind::Imports);
    folds.comments(&lexemes(text));
    let mut found = folds.found;
    found.sort_by_key(|fold| (fold.range.start, std::cmp::Reverse(fold.range.end)));
    Some(found)
}

/// Things that stand below each other.
#[derive(Default)]
struct Run {
    range: Option<TextRange>,
    count: usize,
}

impl Run {
    fn add(&mut self, range: TextRange) {
        self.range = Some(self.range.map_or(range, |before| before.cover(range)));
        self.count += 1;
    }
}

struct Folds<'t> {
    text: &'t str,
    found: Vec<Fold>,
}

impl Folds<'_> {
    fn push(&mut self, range: TextRange, kind: FoldKind, closed: bool) {
        if range.of(self.text).contains('\n') {
            self.found.push(Fold { range, kind, closed });
        }
    }

    fn push_run(&mut self, run: &mut Run, kind: FoldKind) {
        let run = std::mem::take(run);
        if let Some(range) = run.range.filter(|_| run.count > 1) {
            self.push(range, kind, false);
        }
    }

    /// A block from `start` to the end of its statements.
    fn block(&mut self, start: u32, body: &[Stmt]) {
        if let Some(last) = body.last() {
            self.push(TextRange::new(start, range(last).end), FoldKind::Block, false);
        }
    }

    /// A block whose keyword has no node: it stands alone with its colon on a line above the statements.
    fn keyword_block(&mut self, keyword: &str, body: &[Stmt]) {
        let Some(first) = body.first() else { return };
        let before = self.text.get(..range(first).start as usize).unwrap_or("");
        let mut end = before.len();
        for line in before.split_inclusive('\n').rev().take(64) {
            let start = end - line.len();
            end = start;
            let word = line.trim_start();
            if let Some(rest) = word.strip_prefix(keyword)
                && rest.trim_start().starts_with(':')
            {
                self.block((start + line.len() - word.len()) as u32, body);
                return;
            }
        }
    }

    /// Runs of lines that hold nothing but a comment.
    fn comments(&mut self, lexemes: &[Lexeme]) {
        let mut run = Run::default();
        let mut blank = true;
        let mut ends = 0;
        for lexeme in lexemes {
            match lexeme.kind {
                LexemeKind::LineEnd => {
                    ends += 1;
                    blank = true;
                    // An empty line ends a run.
                    if ends > 1 {
                        self.push_run(&mut run, FoldKind::Comment);
                    }
                    continue;
                }
                LexemeKind::Comment if blank => run.add(lexeme.range),
                _ => {
                    self.push_run(&mut run, FoldKind::Comment);
                    blank = false;
                }
            }
            ends = 0;
        }
        self.push_run(&mut run, FoldKind::Comment);
    }
}

impl<'a> SourceOrderVisitor<'a> for Folds<'_> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        let start = node.range().start().to_u32();
        match node {
            AnyNodeRef::StmtFunctionDef(def) => self.block(range(&def.name).start, &def.body),
            AnyNodeRef::StmtClassDef(class) => self.block(range(&class.name).start, &class.body),
            AnyNodeRef::StmtFor(it) => {
                self.block(start, &it.body);
                self.keyword_block("else", &it.orelse);
            }
            AnyNodeRef::StmtWhile(it) => {
                self.block(start, &it.body);
                self.keyword_block("else", &it.orelse);
            }
            AnyNodeRef::StmtIf(it) => self.block(start, &it.body),
            AnyNodeRef::ElifElseClause(it) => self.block(start, &it.body),
            AnyNodeRef::StmtWith(it) => self.block(start, &it.body),
            AnyNodeRef::StmtTry(it) => {
                self.block(start, &it.body);
                self.keyword_block("else", &it.orelse);
                self.keyword_block("finally", &it.finalbody);
            }
            AnyNodeRef::ExceptHandlerExceptHandler(it) => self.block(start, &it.body),
            AnyNodeRef::MatchCase(it) => self.block(start, &it.body),
            AnyNodeRef::StmtMatch(it) => {
                if let Some(last) = it.cases.last() {
                    self.push(TextRange::new(start, range(last).end), FoldKind::Block, false);
                }
            }
            AnyNodeRef::Arguments(_)
            | AnyNodeRef::Parameters(_)
            | AnyNodeRef::ExprList(_)
            | AnyNodeRef::ExprTuple(_)
            | AnyNodeRef::ExprDict(_)
            | AnyNodeRef::ExprSet(_)
            | AnyNodeRef::ExprListComp(_)
            | AnyNodeRef::ExprDictComp(_)
            | AnyNodeRef::ExprSetComp(_)
            | AnyNodeRef::StringLiteral(_)
            | AnyNodeRef::FString(_)
            | AnyNodeRef::StmtImportFrom(_) => {
                let all = range(&node);
                let closed = all.of(self.text).ends_with([')', ']', '}', '"', '\'']);
                self.push(all, FoldKind::Block, closed);
            }
            _ => {}
        }
        TraversalSignal::Traverse
    }
}
