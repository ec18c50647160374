//! Expressions in words.

use rustc_hash::FxHashMap;

use crate::conjuncts::conjuncts;
use crate::expressions::parts;
use crate::program::{Base, Program, Source};
use crate::prove::{Converter, Monomial, Poly, Premise, Spread};
use terms::{BinOp, Node, Term, Variable};

/// What has to hold of a stride: `` `%stride` is at least `%n` ``.
pub(crate) fn spread(program: &Program, spread: &Spread) -> String {
    let stride = poly(program, &spread.stride);
    if spread.span.is_zero() {
        return format!("{stride} is not 0");
    }
    match bound(&mut program.clone(), spread) {
        Some(bound) => format!("{stride} is at least {}", poly(program, &bound)),
        // What is read may be negative as well, and so may a difference.
        None if may_be_negative(program, &spread.span) => {
            format!("{} is at least 0 and below {stride}", poly(program, &spread.span))
        }
        None => format!("{stride} exceeds {}", poly(program, &spread.span)),
    }
}

fn may_be_negative(program: &Program, span: &Poly) -> bool {
    span.terms().any(|(_, coefficient)| coefficient < 0)
        || span.atoms().any(|atom| program.terms.any_leaf(atom, |node| matches!(node, Node::Read(..))))
}

/// What has to hold of a table of indices, or of a grid.
pub(crate) fn premise(program: &Program, premise: &Premise) -> String {
    let name = |argument: u32| program.arguments.get(argument as usize).map_or("?", |argument| argument.name.as_str());
    match premise {
        Premise::Distinct(table, 1) if leaves_out(program, *table) => {
            format!("no value of `{}` that is not left out occurs twice", name(*table))
        }
        Premise::Distinct(table, 1) => format!("no value of `{}` occurs twice", name(*table)),
        Premise::Distinct(table, width) => format!("no row of {width} values of `{}` occurs twice", name(*table)),
        Premise::Aside(one, other) => {
            format!("no value of `{}` stands at another place of `{}`", name(*one), name(*other))
        }
        Premise::Ascending(table) => format!("the values of `{}` do not decrease", name(*table)),
        Premise::Apart(starts, lengths) => {
            format!(
                "stretches of `{}` values that begin at those of `{}` do not overlap",
                name(*lengths),
                name(*starts)
            )
        }
        Premise::Chunks(starts, ends, size) => format!(
            "the values of `{}` lie at least as far apart as those of `{}` in chunks of {size}",
            name(*starts),
            name(*ends)
        ),
        Premise::Natural(table) => format!("the values of `{}` are not negative", name(*table)),
        Premise::Few(axis, most) if most.as_constant() == Some(1) => format!("there is one program along axis {axis}"),
        Premise::Few(axis, most) => format!("there are at most {} programs along axis {axis}", poly(program, most)),
    }
}

/// Whether a condition compares values of a table with a number before something is done where they say: with -1, or 0, for
/// nothing.
fn leaves_out(program: &Program, table: u32) -> bool {
    let is_value = |mut term: Term| {
        while let Node::Trunc(inner) | Node::ExtS(inner) | Node::ExtU(inner) = *program.terms.node(term) {
            term = inner;
        }
        let Node::Read(source, ..) = program.terms.node(term) else { return false };
        let access = match program.sources.get(*source as usize) {
            Some(Source::Access(access)) => program.accesses.get(*access as usize),
            _ => None,
        };
        access.is_some_and(|access| access.base == Base::Argument(table))
    };
    let is_number = |term: Term| matches!(program.terms.node(term), Node::Const(_));
    let compares = |condition: &Term| match *program.terms.node(*condition) {
        Node::Binary(BinOp::Eq | BinOp::Ne | BinOp::Slt | BinOp::Sle, a, b) => {
            (is_value(a) && is_number(b)) || (is_number(a) && is_value(b))
        }
        _ => false,
    };
    let conditions = program.accesses.iter().flat_map(|access| [access.mask, access.path]).collect();
    parts(program, conditions).iter().any(compares)
}

/// Whether a mask lets the span reach what the stride would have to exceed.
pub(crate) fn is_impossible(program: &Program, spread: &Spread) -> bool {
    let mut program = program.clone();
    let bound = bound(&mut program, spread);
    bound.is_some_and(|bound| spread.stride.minus(&bound).as_constant().is_some_and(|more| more < 0))
}

/// Whether a mask holds the span below the stride, whatever both are.
pub(crate) fn is_certain(program: &Program, spread: &Spread) -> bool {
    let Some(bound) = bound(&mut program.clone(), spread) else { return false };
    let convert = Converter::default();
    // Sizes and strides are not negative.
    let is_natural = |(monomial, by): (&Monomial, i128)| by >= 0 && convert.natural_product(&program.terms, monomial);
    spread.stride.minus(&bound).terms().all(is_natural)
}

/// What a mask, or the number of lanes, holds the span below: what all programs agree on, where there is such a bound.
pub(crate) fn bound(program: &mut Program, spread: &Spread) -> Option<Poly> {
    let access = program.accesses[spread.access as usize].clone();
    let mut convert = Converter::default();
    let mut own = None;
    for condition in conjuncts(program, &[access.mask, access.path]) {
        let Node::Binary(BinOp::Slt, a, b) = *program.terms.node(condition) else { continue };
        let mut memo = FxHashMap::default();
        let (x, y) = (program.terms.instance(a, 1, &mut memo), program.terms.instance(b, 1, &mut memo));
        let (x, y) = (convert.poly(&mut program.terms, x), convert.poly(&mut program.terms, y));
        let bound = match x == spread.span {
            true => y,
            // A mask on an index says the same of its product with a stride.
            false => match factor(&spread.span, &x) {
                Some(factor) => factor.times(&y)?,
                None => continue,
            },
        };
        if bound.atoms().all(|atom| !program.terms.any_leaf(atom, is_own)) {
            return Some(bound);
        }
        own.get_or_insert(bound);
    }
    // A lane alone is below the number of lanes.
    let mut lanes = spread.span.terms();
    if let (Some((monomial, 1)), None) = (lanes.next(), lanes.next())
        && let [atom] = monomial.as_slice()
        && let Node::Variable(Variable::Lane(dim), _) = program.terms.node(*atom)
    {
        return access.lanes.get(usize::from(*dim)).map(|lanes| Poly::constant((*lanes).into()));
    }
    own
}

/// What masks hold the span below: as [`bound`] says, or where they end parts of it, those parts and what is left.
pub(crate) fn end(program: &mut Program, spread: &Spread) -> Option<Poly> {
    if let Some(bound) = bound(program, spread) {
        return Some(bound);
    }
    let access = program.accesses[spread.access as usize].clone();
    let mut convert = Converter::default();
    let (mut left, mut ends) = (spread.span.clone(), Poly::constant(1));
    for condition in conjuncts(program, &[access.mask, access.path]) {
        let Node::Binary(BinOp::Slt, a, b) = *program.terms.node(condition) else { continue };
        let mut memo = FxHashMap::default();
        let [x, y] = [a, b].map(|side| program.terms.instance(side, 1, &mut memo));
        let (x, y) = (convert.poly(&mut program.terms, x), convert.poly(&mut program.terms, y));
        let is_part = x.as_constant().is_none()
            && x.offset() == 0
            && x.terms().all(|(monomial, by)| left.coefficient(monomial) == Some(by));
        if is_part && y.atoms().all(|atom| !program.terms.any_leaf(atom, is_own)) {
            (left, ends) = (left.minus(&x), ends.plus(&y.shifted(-1), 1));
        }
    }
    (left != spread.span).then(|| ends.plus(&left, 1))
}

/// Whether programs need not agree on something.
fn is_own(node: &Node) -> bool {
    match node {
        Node::Variable(variable, _) => !variable.is_shared(),
        node => matches!(node, Node::Read(..)),
    }
}

/// By what an index is multiplied to give a product.
fn factor(product: &Poly, index: &Poly) -> Option<Poly> {
    let (first, _) = index.terms().next()?;
    for (monomial, _) in product.terms() {
        let mut rest = monomial.clone();
        let mut all = true;
        for atom in first {
            match rest.iter().position(|other| other == atom) {
                Some(at) => {
                    rest.remove(at);
                }
                None => all = false,
            }
        }
        let candidate = Poly::of(rest, 1);
        if all && candidate.as_constant().is_none() && candidate.times(index).as_ref() == Some(product) {
            return Some(candidate);
        }
    }
    None
}

/// The conditions of which no other says the same with a larger number.
pub(crate) fn largest<'s>(program: &Program, spreads: &'s [Spread]) -> Vec<&'s Spread> {
    // A mask may say more of one access than of another.
    let parts = |spread: &Spread| {
        let bound = bound(&mut program.clone(), spread).map(|bound| bound.shifted(-spread.span.offset()));
        (spread.stride.clone(), spread.span.shifted(-spread.span.offset()), bound)
    };
    let mut kept: FxHashMap<_, usize> = FxHashMap::default();
    let mut all: Vec<&Spread> = Vec::new();
    for spread in spreads {
        match kept.get(&parts(spread)) {
            Some(at) if all[*at].span.offset() < spread.span.offset() => all[*at] = spread,
            Some(_) => {}
            None => {
                kept.insert(parts(spread), all.len());
                all.push(spread);
            }
        }
    }
    all
}

/// A polynomial, its names in backquotes.
pub(crate) fn poly(program: &Program, of: &Poly) -> String {
    if let Some(value) = of.as_constant() {
        return value.to_string();
    }
    let mut text = String::new();
    for (monomial, coefficient) in of.terms().rev() {
        let mut factors: Vec<String> = monomial.iter().map(|atom| term(program, *atom)).collect();
        let size = coefficient.abs();
        if size != 1 || factors.is_empty() {
            factors.insert(0, size.to_string());
        }
        let sign = match (text.is_empty(), coefficient < 0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        text.push_str(sign);
        text.push_str(&factors.join("*"));
    }
    text
}

/// Expressions inside expressions that are written out.
const DEPTH: usize = 4;

/// An expression, its names in backquotes.
pub(crate) fn term(program: &Program, of: Term) -> String {
    within(program, of, 0)
}

fn within(program: &Program, of: Term, depth: usize) -> String {
    if depth > DEPTH {
        return "…".to_owned();
    }
    let inner = |term: Term| within(program, term, depth + 1);
    match program.terms.node(of) {
        Node::Const(value) => value.to_string(),
        Node::Variable(variable, _) => match variable {
            Variable::Program(axis) => format!("program_id({axis})"),
            Variable::Programs(axis) => format!("num_programs({axis})"),
            Variable::Argument(at) => {
                let name = program.arguments.get(*at as usize).map_or("?", |argument| argument.name.as_str());
                format!("`{name}`")
            }
            Variable::DescriptorSize(at, dim) => {
                let name = program.arguments.get(*at as usize).map_or("?", |argument| argument.name.as_str());
                format!("`{name}`.shape[{dim}]")
            }
            Variable::Lane(dim) => match dim {
                0 => "the lane".to_owned(),
                _ => format!("the lane along dimension {dim}"),
            },
            Variable::Round(_) => "the iteration".to_owned(),
        },
        Node::Read(source, ..) => match program.sources.get(*source as usize) {
            Some(Source::Access(access)) => match program.accesses.get(*access as usize).map(|access| access.base) {
                Some(Base::Argument(at)) => {
                    let name = program.arguments.get(at as usize).map_or("?", |argument| argument.name.as_str());
                    format!("a value of `{name}`")
                }
                _ => "a loaded value".to_owned(),
            },
            _ => "a computed value".to_owned(),
        },
        Node::Trunc(a) | Node::ExtS(a) | Node::ExtU(a) => inner(*a),
        Node::Select(_, a, b) => format!("({} or {})", inner(*a), inner(*b)),
        Node::Binary(op, a, b) => {
            let sign = match op {
                BinOp::Add => "+",
                BinOp::Sub => "-",
                BinOp::Mul => "*",
                BinOp::DivS | BinOp::DivU | BinOp::FloorDivS => "//",
                BinOp::RemS | BinOp::RemU => "%",
                BinOp::MinS | BinOp::MinU => return format!("min({}, {})", inner(*a), inner(*b)),
                BinOp::MaxS | BinOp::MaxU => return format!("max({}, {})", inner(*a), inner(*b)),
                BinOp::CeilDivS | BinOp::CeilDivU => return format!("cdiv({}, {})", inner(*a), inner(*b)),
                BinOp::And => "&",
                BinOp::Or => "|",
                BinOp::Xor => "^",
                BinOp::Shl => "<<",
                BinOp::ShrS | BinOp::ShrU => ">>",
                BinOp::Eq => "==",
                BinOp::Ne => "!=",
                BinOp::Slt | BinOp::Ult => "<",
                BinOp::Sle | BinOp::Ule => "<=",
            };
            format!("({} {sign} {})", inner(*a), inner(*b))
        }
    }
}
