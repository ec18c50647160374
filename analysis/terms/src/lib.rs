//! Integer expressions of a kernel, each stored once: what addresses, masks and conditions are made of.
//!
//! A value of `n` bits is kept as the signed number that its bits are, so `i1` is 0 or -1 in MLIR and 0 or 1 here:
//! a truth value is never computed with as a number, save by an extension, which says how.

use lanes::unsigned;
pub use lanes::{BinOp, apply, wrap};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// Up to how many expressions that were met are looked through one by one.
const FEW: usize = 24;

/// An expression of a [`Terms`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Term(
    /// Its place among all of them.
    pub u32,
);

/// What an expression depends on that is no expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Variable {
    /// The number of the program along an axis of the grid.
    Program(u8),
    /// How many programs the grid has along an axis.
    Programs(u8),
    /// An argument of the kernel.
    Argument(u32),
    /// A size of a described tensor that is an argument: of the argument, of the dimension.
    DescriptorSize(u32, u8),
    /// An element's place along a dimension of the tensor at hand.
    Lane(u8),
    /// How often a loop has begun its body before.
    Round(u32),
}

/// An expression's outermost operation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// A number.
    Const(i64),
    /// A variable, of one of two program instances (1 and 2), or of the kernel's text (0).
    Variable(Variable, u8),
    /// Two values of one width.
    Binary(BinOp, Term, Term),
    /// One of two values by a condition.
    Select(Term, Term, Term),
    /// The low bits, as a number of this width.
    Trunc(Term),
    /// A wider number with the sign of a narrower one.
    ExtS(Term),
    /// A wider number without a sign.
    ExtU(Term),
    /// What an access (by its number) read, at the lanes that the terms say, in a program instance.
    Read(u32, Box<[Term]>, u8),
}

/// All expressions of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    nodes: Vec<(Node, u8)>,
    ids: FxHashMap<(Node, u8), Term>,
}

impl Terms {
    /// An expression and its width in bits.
    #[inline]
    pub fn node(&self, term: Term) -> &Node {
        &self.nodes[term.0 as usize].0
    }

    /// Its width in bits.
    #[inline]
    pub fn bits(&self, term: Term) -> u8 {
        self.nodes[term.0 as usize].1
    }

    /// Its value, where it is a constant.
    #[inline]
    pub fn constant(&self, term: Term) -> Option<i64> {
        match self.node(term) {
            Node::Const(value) => Some(*value),
            _ => None,
        }
    }

    /// The expression with this outermost operation, of so many bits.
    pub fn intern(&mut self, node: Node, bits: u8) -> Term {
        let next = Term(self.nodes.len() as u32);
        let id = *self.ids.entry((node.clone(), bits)).or_insert(next);
        if id == next {
            self.nodes.push((node, bits));
        }
        id
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// A number of so many bits; what does not fit wraps.
    pub fn int(&mut self, value: i64, bits: u8) -> Term {
        self.intern(Node::Const(wrap(value, bits)), bits)
    }

    /// A truth value.
    pub fn truth(&mut self, value: bool) -> Term {
        self.int(i64::from(value), 1)
    }

    /// A variable of the kernel's text, of so many bits.
    pub fn variable(&mut self, variable: Variable, bits: u8) -> Term {
        self.intern(Node::Variable(variable, 0), bits)
    }

    /// The widest form of a variable, by which all its forms are known.
    pub fn as_width(&mut self, variable: Variable, copy: u8) -> Term {
        self.intern(Node::Variable(variable, copy), 64)
    }

    /// What an access read at these lanes, of so many bits.
    pub fn read(&mut self, access: u32, lanes: Box<[Term]>, bits: u8) -> Term {
        self.intern(Node::Read(access, lanes, 0), bits)
    }

    /// Two values of one width together; a question has one bit.
    pub fn binary(&mut self, op: BinOp, a: Term, b: Term) -> Term {
        let of = self.bits(a);
        // Masks are multiplied as well.
        let op = if op == BinOp::Mul && of == 1 { BinOp::And } else { op };
        let bits = if op.is_question() { 1 } else { of };
        let (x, y) = (self.constant(a), self.constant(b));
        if let (Some(x), Some(y)) = (x, y)
            && let Some(value) = apply(op, of, x, y)
        {
            return self.int(value, bits);
        }
        if op == BinOp::Sub
            && let Some((op, by)) = self.remainder(a, b)
        {
            return self.binary(op, a, by);
        }
        match (op, x, y) {
            (BinOp::Add, Some(0), _) => return b,
            (BinOp::Add | BinOp::Sub, _, Some(0)) => return a,
            (BinOp::Mul, Some(1), _) => return b,
            (BinOp::Mul | BinOp::DivS | BinOp::DivU | BinOp::FloorDivS | BinOp::CeilDivS, _, Some(1)) => return a,
            (BinOp::Mul, Some(0), _) => return a,
            (BinOp::Mul, _, Some(0)) => return b,
            (BinOp::RemS | BinOp::RemU, _, Some(1)) => return self.int(0, bits),
            (BinOp::And, Some(0), _) | (BinOp::Or, _, Some(0)) => return a,
            (BinOp::And, _, Some(0)) | (BinOp::Or, Some(0), _) => return b,
            (BinOp::And, Some(1), _) if of == 1 => return b,
            (BinOp::And, _, Some(1)) if of == 1 => return a,
            (BinOp::Or, Some(1), _) if of == 1 => return a,
            (BinOp::Or, _, Some(1)) if of == 1 => return b,
            (BinOp::And | BinOp::Or | BinOp::MinS | BinOp::MaxS | BinOp::MinU | BinOp::MaxU, ..) if a == b => return a,
            (BinOp::Sub | BinOp::Xor, ..) if a == b => return self.int(0, bits),
            (BinOp::Eq | BinOp::Sle | BinOp::Ule, ..) if a == b => return self.truth(true),
            (BinOp::Ne | BinOp::Slt | BinOp::Ult, ..) if a == b => return self.truth(false),
            _ => {}
        }
        self.intern(Node::Binary(op, a, b), bits)
    }

    /// Of `a - a / by * by`: how the remainder is taken, and by what.
    fn remainder(&self, a: Term, product: Term) -> Option<(BinOp, Term)> {
        let Node::Binary(BinOp::Mul, x, y) = *self.node(product) else { return None };
        [(x, y), (y, x)].into_iter().find_map(|(quotient, by)| match *self.node(quotient) {
            Node::Binary(BinOp::DivS, of, divisor) if (of, divisor) == (a, by) => Some((BinOp::RemS, by)),
            Node::Binary(BinOp::DivU, of, divisor) if (of, divisor) == (a, by) => Some((BinOp::RemU, by)),
            _ => None,
        })
    }

    /// One of two values by a condition.
    pub fn select(&mut self, condition: Term, yes: Term, no: Term) -> Term {
        match self.constant(condition) {
            Some(0) => no,
            Some(_) => yes,
            None if yes == no => yes,
            None => {
                let bits = self.bits(yes);
                if bits == 1 && self.constant(yes) == Some(1) && self.constant(no) == Some(0) {
                    return condition;
                }
                self.intern(Node::Select(condition, yes, no), bits)
            }
        }
    }

    /// As a number of another width, with its sign or without.
    pub fn resize(&mut self, term: Term, bits: u8, signed: bool) -> Term {
        let of = self.bits(term);
        if of == bits {
            return term;
        }
        if let Some(value) = self.constant(term) {
            let value = match (of, signed) {
                (1, true) => -value,
                (_, true) => value,
                (_, false) => unsigned(value, of) as i64,
            };
            return self.int(value, bits);
        }
        let node = match (of > bits, signed) {
            (true, _) => Node::Trunc(term),
            (false, true) => Node::ExtS(term),
            (false, false) => Node::ExtU(term),
        };
        self.intern(node, bits)
    }

    /// Both.
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        self.binary(BinOp::And, a, b)
    }

    /// The opposite of a truth value.
    pub fn not(&mut self, a: Term) -> Term {
        let opposite = match *self.node(a) {
            Node::Binary(BinOp::Eq, x, y) => Some((BinOp::Ne, x, y)),
            Node::Binary(BinOp::Ne, x, y) => Some((BinOp::Eq, x, y)),
            Node::Binary(BinOp::Slt, x, y) => Some((BinOp::Sle, y, x)),
            Node::Binary(BinOp::Sle, x, y) => Some((BinOp::Slt, y, x)),
            Node::Binary(BinOp::Ult, x, y) => Some((BinOp::Ule, y, x)),
            Node::Binary(BinOp::Ule, x, y) => Some((BinOp::Ult, y, x)),
            Node::Binary(BinOp::Xor, x, y) if self.bits(a) == 1 && self.constant(y) == Some(1) => return x,
            _ => None,
        };
        match opposite {
            Some((op, x, y)) => self.binary(op, x, y),
            None => {
                let one = self.truth(true);
                self.binary(BinOp::Xor, a, one)
            }
        }
    }

    /// The expression with its leaves replaced: `leaf` says what a variable or a read with these lanes becomes, or that
    /// it stays.
    pub fn replace(
        &mut self,
        term: Term,
        memo: &mut FxHashMap<Term, Term>,
        leaf: &mut dyn FnMut(&mut Terms, &Node, u8) -> Option<Term>,
    ) -> Term {
        if let Some(known) = memo.get(&term) {
            return *known;
        }
        let (node, bits) = self.nodes[term.0 as usize].clone();
        let made = match node {
            Node::Const(_) => term,
            Node::Variable(..) => leaf(self, &node, bits).unwrap_or(term),
            Node::Read(access, lanes, copy) => {
                let lanes: Box<[Term]> = lanes.iter().map(|lane| self.replace(*lane, memo, leaf)).collect();
                let node = Node::Read(access, lanes, copy);
                match leaf(self, &node, bits) {
                    Some(made) => made,
                    None => self.intern(node, bits),
                }
            }
            Node::Binary(op, a, b) => {
                let (a, b) = (self.replace(a, memo, leaf), self.replace(b, memo, leaf));
                self.binary(op, a, b)
            }
            Node::Select(c, a, b) => {
                let c = self.replace(c, memo, leaf);
                let (a, b) = (self.replace(a, memo, leaf), self.replace(b, memo, leaf));
                self.select(c, a, b)
            }
            Node::Trunc(a) => {
                let a = self.replace(a, memo, leaf);
                self.resize(a, bits, true)
            }
            Node::ExtS(a) => {
                let a = self.replace(a, memo, leaf);
                self.resize(a, bits, true)
            }
            Node::ExtU(a) => {
                let a = self.replace(a, memo, leaf);
                self.resize(a, bits, false)
            }
        };
        memo.insert(term, made);
        made
    }

    /// The expression with each lane of the tensor at hand replaced.
    pub fn at_lanes(&mut self, term: Term, lanes: &[Term]) -> Term {
        self.replace(term, &mut FxHashMap::default(), &mut |_, node, _| match node {
            Node::Variable(Variable::Lane(dim), 0) => lanes.get(usize::from(*dim)).copied(),
            _ => None,
        })
    }

    /// The expression of one of two program instances: what instances share keeps its name.
    pub fn instance(&mut self, term: Term, copy: u8, memo: &mut FxHashMap<Term, Term>) -> Term {
        self.replace(term, memo, &mut |terms, node, bits| match node {
            Node::Variable(variable, 0) if !variable.is_shared() => {
                Some(terms.intern(Node::Variable(*variable, copy), bits))
            }
            Node::Read(access, lanes, 0) => Some(terms.intern(Node::Read(*access, lanes.clone(), copy), bits)),
            _ => None,
        })
    }

    /// The expression of one program instance as that of another.
    pub fn renamed(&mut self, term: Term, from: u8, to: u8) -> Term {
        self.replace(term, &mut FxHashMap::default(), &mut |terms, node, bits| match node {
            Node::Variable(variable, copy) if *copy == from => Some(terms.intern(Node::Variable(*variable, to), bits)),
            Node::Read(access, lanes, copy) if *copy == from => {
                Some(terms.intern(Node::Read(*access, lanes.clone(), to), bits))
            }
            _ => None,
        })
    }

    /// Calls `each` with every leaf below.
    pub fn leaves(&self, term: Term, each: &mut dyn FnMut(&Node)) {
        self.any_leaf(term, |node| {
            each(node);
            false
        });
    }

    /// Whether a leaf is below for which `is` holds.
    pub fn any_leaf(&self, term: Term, mut is: impl FnMut(&Node) -> bool) -> bool {
        // Most terms are small: those that were met are few, and are found faster in a row than by hash.
        let mut few: SmallVec<[Term; FEW]> = SmallVec::new();
        let mut many: FxHashSet<Term> = FxHashSet::default();
        let mut open: SmallVec<[Term; FEW]> = smallvec![term];
        while let Some(term) = open.pop() {
            let node = self.node(term);
            if matches!(node, Node::Const(_)) || few.contains(&term) {
                continue;
            }
            if few.len() < FEW {
                few.push(term);
            } else if !many.insert(term) {
                continue;
            }
            match node {
                Node::Const(_) => {}
                Node::Variable(..) => {
                    if is(node) {
                        return true;
                    }
                }
                Node::Read(_, lanes, _) => {
                    if is(node) {
                        return true;
                    }
                    open.extend(lanes.iter().copied());
                }
                Node::Binary(_, a, b) => open.extend([*a, *b]),
                Node::Select(c, a, b) => open.extend([*c, *a, *b]),
                Node::Trunc(a) | Node::ExtS(a) | Node::ExtU(a) => open.push(*a),
            }
        }
        false
    }
}

impl Variable {
    /// Whether all program instances agree on it.
    pub fn is_shared(self) -> bool {
        matches!(self, Variable::Programs(_) | Variable::Argument(_) | Variable::DescriptorSize(..))
    }
}
