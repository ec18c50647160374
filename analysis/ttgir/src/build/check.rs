//! Whether an op is what its declaration says.

use std::fmt;

use dialects::{Arity, FormStep, HandWrittenForm, OpForm, OpSyntax, OperandGroup, TypeRule};

use super::op::Op;
use super::ty::Type;
use super::values::Values;

/// Why an op cannot be pushed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildError {
    /// `dialect.op`.
    pub op: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.op, self.reason)
    }
}

impl std::error::Error for BuildError {}

pub(super) fn check<O>(op: &Op<O>, values: &Values) -> Result<(), BuildError> {
    let Some(syntax) = op.syntax else { return Ok(()) };
    match fault(op, syntax, values) {
        Some(reason) => Err(BuildError { op: op.name, reason }),
        None => Ok(()),
    }
}

fn fault<O>(op: &Op<O>, syntax: &OpSyntax, values: &Values) -> Option<String> {
    let operands = || op.operands.iter().map(|(name, _)| *name);
    let results = || op.groups.iter().map(|(name, _)| *name);
    names("operand", operands, &syntax.operands)
        .or_else(|| names("result", results, &syntax.results))
        .or_else(|| {
            syntax.operands.iter().find_map(|group| {
                let given = op.given(group.name);
                types("operand", group, given.len(), given.iter().map(|value| values.ty(*value)))
            })
        })
        .or_else(|| {
            syntax.results.iter().find_map(|group| {
                let given = op.result_types.get(op.result_range(group.name)).unwrap_or(&[]);
                types("result", group, given.len(), given.iter())
            })
        })
        .or_else(|| attributes(op, syntax))
        .or_else(|| regions(op, syntax))
}

/// What is wrong with the names of the groups that are given, by the declared ones.
fn names<'g, I: Iterator<Item = &'g str>>(
    kind: &str,
    given: impl Fn() -> I,
    declared: &[OperandGroup],
) -> Option<String> {
    for (at, name) in given().enumerate() {
        if !declared.iter().any(|group| group.name == name) {
            return Some(format!("has no {kind} group `{name}`"));
        }
        if given().take(at).any(|before| before == name) {
            return Some(format!("is given the {kind} group `{name}` twice"));
        }
    }
    None
}

/// What is wrong with the values of a declared group.
fn types<'t>(
    kind: &str,
    group: &OperandGroup,
    count: usize,
    mut types: impl Iterator<Item = &'t Type>,
) -> Option<String> {
    let fits = match group.arity {
        Arity::One => count == 1,
        Arity::Maybe => count <= 1,
        Arity::Many => true,
    };
    if !fits {
        return Some(format!("is given {count} values for its {kind} group `{}`", group.name));
    }
    let TypeRule::Fixed(expected) = group.rule else { return None };
    let other = types.find(|ty| !ty.is_spelled(expected))?;
    Some(format!("has {expected} in its {kind} group `{}`, not {other}", group.name))
}

/// What is wrong with the attributes: one that the op cannot be without, or whose kind is another.
fn attributes<O>(op: &Op<O>, syntax: &OpSyntax) -> Option<String> {
    let required = syntax.attrs.iter().filter(|rule| rule.required).map(|rule| rule.name);
    let mut spelt = Vec::new();
    if let OpForm::Steps(steps) = &syntax.form {
        spelt.extend(steps.iter().filter_map(|step| if let FormStep::Attr(name) = step { Some(*name) } else { None }));
    }
    let missing = required.chain(spelt).find(|name| op.attribute(name).is_none());
    missing.map(|name| format!("is not given its attribute `{name}`"))
}

fn regions<O>(op: &Op<O>, syntax: &OpSyntax) -> Option<String> {
    let count = op.regions.len();
    let fits = match syntax.form {
        OpForm::HandWritten(HandWrittenForm::Func | HandWrittenForm::Module | HandWrittenForm::For) => count == 1,
        OpForm::HandWritten(HandWrittenForm::If) => count == 1 || count == 2,
        OpForm::HandWritten(HandWrittenForm::While) => count == 2,
        OpForm::HandWritten(HandWrittenForm::WarpSpecialize) => count >= 1,
        OpForm::HandWritten(HandWrittenForm::Constant | HandWrittenForm::Select | HandWrittenForm::Barrier)
        | OpForm::Steps(_)
        | OpForm::Skimmed => count == 0,
        OpForm::Generic => count <= 1,
        // The printer does not know these forms.
        OpForm::HandWritten(_) => false,
    };
    (!fits).then(|| format!("cannot be printed with {count} regions"))
}
