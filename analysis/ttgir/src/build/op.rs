//! An op before it is pushed, and a region.

use dialects::{OpCode, OpSyntax, table};

use super::attr::Attr;
use super::ty::Type;
use super::values::Ssa;

/// An op with what it is given, by the names of its declaration.
#[derive(Clone, Debug)]
pub struct Op<O> {
    /// `dialect.op`.
    pub(super) name: &'static str,
    /// How it is written; none for an op that is declared nowhere.
    pub(super) syntax: Option<&'static OpSyntax>,
    pub(super) operands: Vec<(&'static str, Vec<Ssa>)>,
    pub(super) attrs: Vec<(&'static str, Attr)>,
    /// The result groups, with how many values each has.
    pub(super) groups: Vec<(&'static str, usize)>,
    pub(super) result_types: Vec<Type>,
    pub(super) results: Vec<Ssa>,
    pub(super) regions: Vec<Region<O>>,
}

/// An op where it stands, with what the caller remembers of its origin.
#[derive(Clone, Debug)]
pub(super) struct Placed<O> {
    pub(super) op: Op<O>,
    pub(super) origin: Option<O>,
}

/// Ops in order, with the arguments of their block.
#[derive(Clone, Debug)]
pub struct Region<O> {
    pub(super) args: Vec<(Ssa, Option<(&'static str, Attr)>)>,
    pub(super) ops: Vec<Placed<O>>,
}

impl<O> Default for Region<O> {
    fn default() -> Region<O> {
        Region { args: Vec::new(), ops: Vec::new() }
    }
}

impl<O> Region<O> {
    /// Whether it has no op.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Whether it has an op of this name, at any depth.
    pub(super) fn contains(&self, name: &str) -> bool {
        let has = |op: &Op<O>| op.name == name || op.regions.iter().any(|region| region.contains(name));
        self.ops.iter().any(|placed| has(&placed.op))
    }

    /// The same with arguments.
    pub fn with_args(mut self, args: &[Ssa]) -> Region<O> {
        self.args.extend(args.iter().map(|arg| (*arg, None)));
        self
    }

    /// Adds an argument, with an attribute where there is one.
    pub fn add_arg(&mut self, arg: Ssa, attr: Option<(&'static str, Attr)>) {
        self.args.push((arg, attr));
    }

    /// The same ops with the arguments of another region.
    pub fn with_args_of(mut self, other: Region<O>) -> Region<O> {
        self.args = other.args;
        self
    }
}

impl<O> Op<O> {
    /// A declared op, with nothing given yet.
    pub fn new(code: impl Into<OpCode>) -> Op<O> {
        let name = code.into().decl().name;
        Op { syntax: table().find(name).map(|row| table().row(row)), ..Op::undeclared(name) }
    }

    /// An op that is declared nowhere: any operands and results, in the generic form.
    pub fn undeclared(name: &'static str) -> Op<O> {
        Op {
            name,
            syntax: None,
            operands: Vec::new(),
            attrs: Vec::new(),
            groups: Vec::new(),
            result_types: Vec::new(),
            results: Vec::new(),
            regions: Vec::new(),
        }
    }

    /// With the operand of a group.
    pub fn operand(self, group: &'static str, value: Ssa) -> Op<O> {
        self.operands(group, &[value])
    }

    /// With the operands of a group; none leave it empty.
    pub fn operands(mut self, group: &'static str, values: &[Ssa]) -> Op<O> {
        if !values.is_empty() {
            self.operands.push((group, values.to_vec()));
        }
        self
    }

    /// With the operand of a group, where there is one.
    pub fn maybe(self, group: &'static str, value: Option<Ssa>) -> Op<O> {
        self.operands(group, value.as_slice())
    }

    /// With an attribute.
    pub fn attr(mut self, name: &'static str, value: impl Into<Attr>) -> Op<O> {
        self.attrs.push((name, value.into()));
        self
    }

    /// With several attributes.
    pub fn attrs(mut self, attrs: impl IntoIterator<Item = (&'static str, Attr)>) -> Op<O> {
        self.attrs.extend(attrs);
        self
    }

    /// With an attribute that is there where something holds.
    pub fn flag(self, name: &'static str, holds: bool) -> Op<O> {
        if holds { self.attr(name, Attr::Unit) } else { self }
    }

    /// With a result.
    pub fn result(self, group: &'static str, ty: Type) -> Op<O> {
        self.results(group, [ty])
    }

    /// With the results of a group.
    pub fn results(mut self, group: &'static str, types: impl IntoIterator<Item = Type>) -> Op<O> {
        let before = self.result_types.len();
        self.result_types.extend(types);
        if self.result_types.len() > before {
            self.groups.push((group, self.result_types.len() - before));
        }
        self
    }

    /// With one more region.
    pub fn region(mut self, region: Region<O>) -> Op<O> {
        self.regions.push(region);
        self
    }

    /// The operands of a group.
    pub(super) fn given(&self, group: &str) -> &[Ssa] {
        self.operands.iter().find(|(name, _)| *name == group).map_or(&[], |(_, values)| values)
    }

    /// The attribute of a name.
    pub(super) fn attribute(&self, name: &str) -> Option<&Attr> {
        self.attrs.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Where the results of a group stand among all results.
    pub(super) fn result_range(&self, group: &str) -> std::ops::Range<usize> {
        let mut start = 0;
        for (name, count) in &self.groups {
            if *name == group {
                return start..start + count;
            }
            start += count;
        }
        0..0
    }
}
