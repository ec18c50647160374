//! Where suppression comments stand, and what they stand at.

use base::TextRange;
use findings::KernelReport;
use memchr::memmem;
use python::syntax::Module;
use python::syntax::range;
use ruff_python_ast::{Stmt, StmtFunctionDef};
use ttgir::queries::spot;
use ttgir::{Document, IrLevel};

use super::comment::{Comment, MARK, read};

/// A comment and what it is about.
#[derive(Clone, Debug)]
pub(super) struct Suppression {
    pub(super) comment: Comment,
    /// Start of the line that it is about; `None` where nothing stands under it.
    pub(super) line: Option<u32>,
    /// Whether it stands behind code.
    pub(super) behind: bool,
    /// The function that it stands above.
    pub(super) above: Option<Function>,
    /// The function that it stands in or above, for which it may be of no use.
    pub(super) within: Option<TextRange>,
}

/// A function that a comment stands above.
#[derive(Clone, Debug)]
pub(super) struct Function {
    /// All of it, decorators included.
    pub range: TextRange,
    /// Its name.
    pub name: TextRange,
}

impl Function {
    /// Whether it is the kernel of a report.
    pub(super) fn is(&self, report: &KernelReport) -> bool {
        self.name.touches(report.range.start) && self.range.contains(report.range)
    }
}

/// Start of the line of an offset.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

/// The comments of a TTGIR text, and whether all of it was read.
pub(super) fn ir_comments(document: &Document) -> (Vec<Suppression>, bool) {
    let text = document.text();
    let is_comment = |sign: usize| {
        let before = text.get(line_start(text, sign)..sign).unwrap_or("");
        before.replace("\\\"", "").matches('"').count() % 2 == 0
    };
    let function = |at: u32| {
        let sections = document.sections().iter().filter(|section| section.level() != IrLevel::Llvm);
        let section = sections.into_iter().find(|section| section.range().touches(at))?;
        let (tree, offset) = (section.tree(), section.offset());
        let op = spot::function(tree, tree.op_at(at.checked_sub(offset)?)?)?;
        let moved = |range: TextRange| TextRange::new(range.start + offset, range.end + offset);
        Some(Function { range: moved(tree.op_range(op)), name: moved(tree.op_header_range(op)) })
    };
    let read_all = || document.sections().iter().all(|section| section.tree().errors().is_empty());
    let all = comments(text, "//", is_comment, function);
    let whole = all.is_empty() || read_all();
    (all, whole)
}

/// The comments of a Python file, and whether all of it was read.
pub(super) fn python_comments(module: &Module) -> (Vec<Suppression>, bool) {
    let text = module.text();
    if memmem::find(text.as_bytes(), MARK.as_bytes()).is_none() {
        return (Vec::new(), true);
    }
    let mut functions = Vec::new();
    collect(module.body(), &mut functions);
    let function = |at: u32| {
        let found = functions.iter().map(|def| Function { range: range(*def), name: range(&def.name) });
        // The innermost.
        found.filter(|it| it.range.touches(at)).min_by_key(|it| it.range.len())
    };
    let all = comments(text, "#", |sign| module.is_comment(sign as u32), function);
    (all, module.broken().is_empty())
}

fn collect<'a>(body: &'a [Stmt], into: &mut Vec<&'a StmtFunctionDef>) {
    for statement in body {
        match statement {
            Stmt::FunctionDef(def) => {
                into.push(def);
                collect(&def.body, into);
            }
            Stmt::ClassDef(class) => collect(&class.body, into),
            Stmt::If(branch) => collect(&branch.body, into),
            _ => {}
        }
    }
}

/// All suppressions of a text, those for a line before those for a function. `function` is the one around an offset.
fn comments(
    text: &str,
    sign: &str,
    is_comment: impl Fn(usize) -> bool,
    function: impl Fn(u32) -> Option<Function>,
) -> Vec<Suppression> {
    let mut all = Vec::new();
    for mark in memmem::find_iter(text.as_bytes(), MARK.as_bytes()) {
        let start = line_start(text, mark);
        let before = text.get(start..mark).unwrap_or("").trim_end();
        let Some(code) = before.strip_suffix(sign) else { continue };
        let at = start + code.len();
        let Some(comment) = read(text, at, mark, sign).filter(|_| is_comment(at)) else { continue };
        let behind = !before.trim_start().starts_with(sign);
        let line = if behind { Some(start) } else { under(text, mark, sign) };
        let line = line.map(|line| line as u32);
        let around = line.and_then(|line| function(first_word(text, line)));
        let head = |it: &Function| !behind && line.is_some_and(|line| line <= it.name.end);
        let above = around.clone().filter(head);
        all.push(Suppression { comment, line, behind, above, within: around.map(|it| it.range) });
    }
    all.sort_by_key(|it| it.above.is_some());
    all
}

/// Where the first word of a line stands.
fn first_word(text: &str, line: u32) -> u32 {
    let rest = text.get(line as usize..).unwrap_or("");
    line + (rest.len() - rest.trim_start_matches([' ', '\t']).len()) as u32
}

/// The line under a comment, other comments left out; `None` where nothing stands there.
fn under(text: &str, at: usize, sign: &str) -> Option<usize> {
    let mut at = at;
    loop {
        at += text.get(at..)?.find('\n')? + 1;
        let rest = text.get(at..)?;
        let line = rest.split('\n').next()?.trim();
        if line.is_empty() {
            return None;
        }
        if !line.starts_with(sign) {
            return Some(at);
        }
    }
}
