//! Whether what Triton would refuse of an instance may be right with other values than those that were chosen.

use super::ElaboratedInstance;
use base::TextRange;
use gluon::{FileId, Problem, ValueSource};
use python::interp::Interp;
use python::syntax::names::bound_in;
use ruff_python_ast::Stmt;

impl ElaboratedInstance {
    /// Whether what Triton would refuse may be right with other values than ours. A message speaks of CTAs and of warps
    /// where it depends on how many there are.
    pub(super) fn refused_by_guess(&self, problem: &Problem) -> bool {
        let (spec, message) = (&self.instance.spec, &problem.message);
        let chosen = spec.arguments.iter().any(|argument| argument.source == ValueSource::Chosen);
        let warps = spec.num_warps.1 == ValueSource::Chosen;
        (chosen && !self.is_refused_always(problem))
            || (self.guessed() && specialize::speaks_of_ctas(message))
            || (warps && message.contains("warp"))
    }

    /// Whether no value changes that Triton refuses it: a name that no statement of the file or the kernel binds, or a parameter that a
    /// callee does not have, or a constexpr that is assigned again, in a statement of the kernel's own that no condition and no `return` stands before.
    pub(super) fn is_refused_always(&self, problem: &Problem) -> bool {
        let undefined =
            problem.message.strip_prefix("the name `").and_then(|rest| rest.strip_suffix("` is not defined"));
        let is_of_text = ["` has no parameter `", "a constexpr is assigned once"];
        if undefined.is_none() && !is_of_text.iter().any(|part| problem.message.contains(part)) {
            return false;
        }
        let source = self.module.source();
        // What binds the name is what the kernel asked for, or its own: an edit of either judges it anew.
        let is_bound = |name: &str| {
            let mut names = self.module.bindings().names();
            let around = |stmt: &&Stmt| Interp::range(stmt).contains(problem.range);
            let own = self.module.body().iter().find(around).and_then(Stmt::as_function_def_stmt);
            names.as_mut().is_none_or(|names| names.any(|bound| bound == name))
                || own.is_none_or(|def| bound_in(&def.body).contains(&name))
        };
        problem.file == FileId(0) && self.always_executes(source, problem.range) && !undefined.is_some_and(is_bound)
    }

    /// Whether each call of the kernel comes to a place: a line of its body itself, behind no `return`.
    fn always_executes(&self, source: &str, range: TextRange) -> bool {
        let from = self.instance.spec.def as usize;
        // What a function around it defines is not looked at.
        if source.get(..from).is_some_and(|before| !before.is_empty() && !before.ends_with('\n')) {
            return false;
        }
        let Some(before) = source.get(from..range.start as usize) else { return false };
        let Some((above, own)) = before.rsplit_once('\n') else { return false };
        let lines = above.lines().skip_while(|line| !line.trim_end().ends_with(':')).skip(1);
        let is_code = |line: &&str| !matches!(line.trim_start().chars().next(), None | Some('#'));
        let indent = |line: &str| line.len() - line.trim_start().len();
        let body = indent(own);
        let may_leave = |line: &str| indent(line) < body || line.trim_start().starts_with("return");
        let mut code = lines.filter(is_code).peekable();
        // The first statement of the body says how far it is indented.
        body > 0 && code.peek().is_none_or(|first| indent(first) == body) && !code.any(may_leave)
    }
}
