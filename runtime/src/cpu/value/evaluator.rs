//! What an operation does, read off the tree once.

use std::rc::Rc;

use ttgir::{OpId, Tree};

use super::tile::{TileType, read};
use super::{Environment, Tensor, Trap, Value};

/// What an operation does to its operands.
type Act = dyn Fn(&[Value], &mut Environment) -> Result<Vec<Value>, Trap>;

/// An operation, ready to be executed.
#[derive(Clone)]
pub struct Evaluator(Rc<Act>);

impl Evaluator {
    /// Executes it.
    pub fn run(&self, operands: &[Value], world: &mut Environment) -> Result<Vec<Value>, Trap> {
        (self.0)(operands, world)
    }

    /// Of a function.
    pub fn new(act: impl Fn(&[Value], &mut Environment) -> Result<Vec<Value>, Trap> + 'static) -> Evaluator {
        Evaluator(Rc::new(act))
    }

    /// The same value every time.
    pub fn constant(value: Value) -> Evaluator {
        Evaluator::new(move |_, _| Ok(vec![value.clone()]))
    }

    /// Of a function of one tensor.
    pub fn one(act: impl Fn(&Tensor) -> Result<Tensor, Trap> + 'static) -> Evaluator {
        Evaluator::new(move |operands, _| Ok(vec![Value::Tensor(act(arg(operands, 0)?)?)]))
    }

    /// Of a function of two tensors.
    pub fn two(act: impl Fn(&Tensor, &Tensor) -> Result<Tensor, Trap> + 'static) -> Evaluator {
        Evaluator::new(move |operands, _| Ok(vec![Value::Tensor(act(arg(operands, 0)?, arg(operands, 1)?)?)]))
    }

    /// Of a function of three tensors.
    pub fn three(act: impl Fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor, Trap> + 'static) -> Evaluator {
        Evaluator::new(move |operands, _| {
            Ok(vec![Value::Tensor(act(arg(operands, 0)?, arg(operands, 1)?, arg(operands, 2)?)?)])
        })
    }
}

/// The tensor that an operand is.
pub fn arg(operands: &[Value], at: usize) -> Result<&Tensor, Trap> {
    match operands.get(at) {
        Some(Value::Tensor(tensor)) => Ok(tensor),
        _ => Err(Trap::not_followed("an operand is no tensor")),
    }
}

/// The integer that an operand is.
pub fn int(operands: &[Value], at: usize) -> Result<i64, Trap> {
    operands.get(at).and_then(Value::as_int).ok_or_else(|| Trap::not_followed("an operand is no integer"))
}

/// An operation in a CTA, to be read.
#[derive(Clone, Copy)]
pub struct OpSite<'t> {
    /// The tree.
    pub tree: &'t Tree,
    /// The operation.
    pub op: OpId,
    /// The CTA.
    pub cta: u16,
}

impl<'t> OpSite<'t> {
    /// `dialect.op`.
    pub fn name(&self) -> &'t str {
        self.tree.op_name(self.op)
    }

    /// Type of a result.
    pub fn result(&self, at: usize) -> Result<TileType, Trap> {
        match self.tree.results(self.op).get(at) {
            Some(&result) => read(self.tree, result, self.cta),
            None => Err(self.miss("has fewer results than it should")),
        }
    }

    /// Type of an operand.
    pub fn operand(&self, at: usize) -> Result<TileType, Trap> {
        match self.tree.operands(self.op).get(at) {
            Some(&operand) => read(self.tree, operand, self.cta),
            None => Err(self.miss("has fewer operands than it should")),
        }
    }

    /// Where an optional operand is among the operands.
    pub fn group(&self, name: &str) -> Option<usize> {
        self.tree.group_span(self.op, name).filter(|(_, len)| *len > 0).map(|(first, _)| first)
    }

    /// Text of an attribute.
    pub fn text(&self, name: &str) -> Option<&'t str> {
        self.tree.attr(self.op, name).map(|attr| self.tree.attr_text(attr))
    }

    /// A word or a string.
    pub fn word(&self, name: &str) -> Option<&'t str> {
        self.tree.attr(self.op, name).and_then(|attr| self.tree.attr_str(attr))
    }

    /// An integer attribute.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.tree.attr(self.op, name).and_then(|attr| self.tree.attr_int(attr))
    }

    /// A list of integers.
    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.tree.attr(self.op, name).map(|attr| self.tree.attr_ints(attr))
    }

    /// A truth value; false where there is none.
    pub fn flag(&self, name: &str) -> bool {
        self.tree.attr(self.op, name).is_some_and(|attr| self.tree.attr_bool(attr))
    }

    /// The attribute `axis`, checked against a rank.
    pub fn axis(&self, rank: usize) -> Result<usize, Trap> {
        let axis = self.int("axis").and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < rank);
        axis.ok_or_else(|| self.miss("has no axis of its operand"))
    }

    /// A trap about the operation.
    pub fn miss(&self, why: &str) -> Trap {
        Trap::not_followed(format!("`{}` {why}", self.name()))
    }
}

/// Reads an operation.
pub fn compile(tree: &Tree, op: OpId, cta: u16) -> Result<Evaluator, Trap> {
    let site = OpSite { tree, op, cta };
    let rooms = [
        super::arith::compile,
        super::math::compile,
        super::cast::compile,
        super::shape::compile,
        super::pointer_ops::compile,
        super::atomic::compile,
        super::reduce::compile,
        super::dot::compile,
        super::descriptor_ops::compile,
        super::intrinsics::compile,
    ];
    for room in rooms {
        if let Some(compile) = room(&site)? {
            return Ok(compile);
        }
    }
    Err(site.miss("is not followed"))
}
