//! Constants that a value is compared with.

use ruff_python_ast::{CmpOp, Expr, ExprCompare, Operator};

use super::build::Builder;
use super::constant::constant;
use super::graph::Node;

impl Builder<'_> {
    /// Notes what a comparison says of its sides; whether an assertion demands it.
    pub(super) fn compare(&mut self, compare: &ExprCompare, demanded: bool) {
        let mut left = &*compare.left;
        for (op, right) in compare.ops.iter().zip(&compare.comparators) {
            self.pair(*op, left, right, demanded);
            left = right;
        }
    }

    fn pair(&mut self, op: CmpOp, left: &Expr, right: &Expr, demanded: bool) {
        if op == CmpOp::In || op == CmpOp::NotIn {
            let items: &[Expr] = match right {
                Expr::Tuple(tuple) => &tuple.elts,
                Expr::List(list) => &list.elts,
                Expr::Set(set) => &set.elts,
                _ => return,
            };
            let constants: Vec<String> = items.iter().filter_map(constant).collect();
            self.compared(left, &constants, demanded && op == CmpOp::In);
            return;
        }
        let (value, text) = match (constant(left), constant(right)) {
            (None, Some(text)) => (left, text),
            (Some(text), None) => (right, text),
            _ => return,
        };
        if let Expr::BinOp(rest) = value
            && rest.op == Operator::Mod
            && let Some(divisor) = constant(&rest.right).and_then(|text| text.parse().ok())
            && text == "0"
        {
            if let Some(node) = self.direct(&rest.left)
                && let Some(about) = self.flow.about(node)
            {
                about.divisors.push(divisor);
            }
            return;
        }
        if let Expr::Subscript(part) = value
            && let Some(at) = constant(&part.slice).and_then(|text| text.parse::<usize>().ok())
            && let Some(letter) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''))
            && let [letter] = letter.chars().collect::<Vec<char>>()[..]
            && let Some(about) = self.direct(&part.value).and_then(|node| self.flow.about(node))
        {
            about.letters.push((at, letter));
            return;
        }
        let near: Vec<String> = match (op, text.parse::<i64>()) {
            // One beside the bound is on the other side.
            (CmpOp::Gt | CmpOp::Lt | CmpOp::GtE | CmpOp::LtE, Ok(bound)) => {
                [bound, bound.saturating_add(1), bound.saturating_sub(1)].map(|bound| bound.to_string()).to_vec()
            }
            _ => vec![text],
        };
        self.compared(value, &near, demanded && matches!(op, CmpOp::Eq | CmpOp::Is));
    }

    fn compared(&mut self, value: &Expr, constants: &[String], demanded: bool) {
        let Some(node) = self.direct(value) else { return };
        let Some(about) = self.flow.about(node) else { return };
        let list = if demanded { &mut about.demanded } else { &mut about.compared };
        for text in constants {
            if !list.contains(text) {
                list.push(text.clone());
            }
        }
    }

    /// The node that an expression is by itself.
    pub(super) fn direct(&mut self, expr: &Expr) -> Option<Node> {
        match expr {
            _ if self.flow.calls_alone => None,
            Expr::Name(name) => Some(self.local(name.id.as_str())),
            Expr::Attribute(attribute) if self.flow.fields.contains(attribute.attr.as_str()) => {
                Some(self.field(attribute.attr.as_str()))
            }
            _ => None,
        }
    }
}
