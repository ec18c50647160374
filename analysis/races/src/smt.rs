//! Whether two accesses can meet, as a question in SMT-LIB for another solver: what is proved apart has no solution there.
//!
//! Numbers are whole and unbounded, as in the proofs; what a proof assumes is a constraint of the question.

use std::collections::BTreeSet;
use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{Base, Program, Source};
use crate::prove::{Counter, Poly, Premise, Spread};
use terms::{BinOp, Node, Term, Variable};

/// What a question is made of.
pub(crate) struct Question<'q> {
    pub(crate) program: &'q mut Program,
    pub(crate) pair: (u32, u32),
    /// Axes of the grid on which the programs may differ.
    pub(crate) axes: &'q [u8],
    /// What a launch gives.
    pub(crate) known: &'q FxHashMap<Variable, i64>,
    pub(crate) tickets: &'q FxHashMap<u32, Counter>,
    pub(crate) premises: &'q BTreeSet<Premise>,
    /// What the proof rests on.
    pub(crate) spreads: &'q [Spread],
}

#[derive(Default)]
struct Writer {
    declarations: String,
    definitions: String,
    facts: String,
    names: FxHashMap<Term, String>,
    declared: FxHashSet<String>,
    /// Tickets that were drawn, by instance.
    drawn: Vec<(u8, Counter, String)>,
}

impl Question<'_> {
    /// The question's text; it has a solution where the accesses can meet.
    pub(crate) fn text(&mut self) -> String {
        let mut writer = Writer::default();
        let mut places = Vec::new();
        for (copy, number) in [(1, self.pair.0), (2, self.pair.1)] {
            let access = self.program.accesses[number as usize].clone();
            let mut memo = FxHashMap::default();
            for condition in [access.path, access.mask] {
                let own = self.program.terms.instance(condition, copy, &mut memo);
                let name = self.term(&mut writer, own);
                let _ = writeln!(writer.facts, "(assert (= {name} 1))");
            }
            let offset = self.program.terms.instance(access.offset, copy, &mut memo);
            places.push((self.term(&mut writer, offset), access.bytes));
        }
        let [(x, size), (y, other)] = [places[0].clone(), places[1].clone()];
        let _ = writeln!(writer.facts, "(assert (< {x} (+ {y} {other})))\n(assert (< {y} (+ {x} {size})))");
        let mut differ = String::new();
        for axis in 0..3u8 {
            let [mine, others] = [1, 2].map(|copy| self.variable(&mut writer, Variable::Program(axis), copy));
            match self.axes.contains(&axis) {
                true => differ += &format!(" (not (= {mine} {others}))"),
                false => _ = writeln!(writer.facts, "(assert (= {mine} {others}))"),
            }
        }
        let _ = writeln!(writer.facts, "(assert (or false{differ}))");
        self.assume(&mut writer);
        let mut drawn = std::mem::take(&mut writer.drawn);
        if let Some((counter, axis)) = self.tickets.values().find_map(|counter| Some((*counter, counter.axis()?))) {
            drawn.extend([1, 2].map(|copy| (copy, counter, self.variable(&mut writer, Variable::Program(axis), copy))));
        }
        for (_, counter, mine) in drawn.iter().filter(|one| one.0 == 1) {
            for (_, of, others) in drawn.iter().filter(|one| one.0 == 2 && one.1.is(*counter)) {
                let step = counter.step.min(of.step);
                let [up, down] = [format!("(- {mine} {others})"), format!("(- {others} {mine})")];
                let _ = writeln!(writer.facts, "(assert (or (>= {up} {step}) (>= {down} {step})))");
            }
        }
        format!("{}{}{}(check-sat)\n", writer.declarations, writer.definitions, writer.facts)
    }

    /// What the proof rests on, for each instance.
    fn assume(&mut self, writer: &mut Writer) {
        for premise in self.premises {
            let Premise::Few(axis, most) = premise else { continue };
            let (programs, most) = (self.variable(writer, Variable::Programs(*axis), 0), self.poly(writer, most, 1));
            let _ = writeln!(writer.facts, "(assert (<= {programs} {most}))");
        }
        for spread in self.spreads {
            // What is of both instances is said as it is.
            let second = |node: &Node| matches!(node, Node::Variable(_, 2) | Node::Read(_, _, 2));
            let both = spread.span.atoms().any(|atom| self.program.terms.any_leaf(atom, second));
            for (copy, number) in [(1, self.pair.0), (2, self.pair.1)] {
                let [one, of] = [number, spread.access].map(|number| &self.program.accesses[number as usize]);
                if (one.offset, one.mask, one.path) != (of.offset, of.mask, of.path) || (both && copy == 2) {
                    continue;
                }
                let [stride, span] = [&spread.stride, &spread.span].map(|poly| self.poly(writer, poly, copy));
                let _ = writeln!(writer.facts, "(assert (> {stride} {span}))\n(assert (>= {span} 0))");
            }
        }
    }

    /// A sum of the first instance, said of one of the two.
    fn poly(&mut self, writer: &mut Writer, poly: &Poly, copy: u8) -> String {
        let mut parts = Vec::new();
        for (monomial, coefficient) in poly.terms() {
            let mut product = vec![number(coefficient)];
            for atom in monomial {
                let own = self.program.terms.renamed(*atom, 1, copy);
                product.push(self.term(writer, own));
            }
            parts.push(format!("(* {} 1)", product.join(" ")));
        }
        format!("(+ 0 0 {})", parts.join(" "))
    }

    fn variable(&self, writer: &mut Writer, variable: Variable, copy: u8) -> String {
        let copy = if variable.is_shared() { 0 } else { copy };
        let name = match variable {
            Variable::Program(axis) => format!("program{axis}_{copy}"),
            Variable::Programs(axis) => format!("programs{axis}"),
            Variable::Argument(at) => format!("argument{at}"),
            Variable::DescriptorSize(at, dim) => format!("size{at}_{dim}"),
            Variable::Lane(dim) => format!("lane{dim}_{copy}"),
            Variable::Round(number) => format!("round{number}_{copy}"),
        };
        if !writer.declared.insert(name.clone()) {
            return name;
        }
        let _ = writeln!(writer.declarations, "(declare-const {name} Int)");
        let _ = writeln!(writer.facts, "(assert (>= {name} 0))");
        if let Some(value) = self.known.get(&variable) {
            let _ = writeln!(writer.facts, "(assert (= {name} {}))", number((*value).into()));
        }
        match variable {
            Variable::Program(axis) => {
                let all = self.variable(writer, Variable::Programs(axis), 0);
                let _ = writeln!(writer.facts, "(assert (< {name} {all}))");
            }
            Variable::Programs(_) => _ = writeln!(writer.facts, "(assert (>= {name} 1))"),
            Variable::Lane(dim) => {
                let access = if copy == 2 { self.pair.1 } else { self.pair.0 };
                let size = self.program.accesses[access as usize].lanes.get(usize::from(dim)).copied().unwrap_or(1);
                let _ = writeln!(writer.facts, "(assert (< {name} {size}))");
            }
            Variable::Argument(_) | Variable::DescriptorSize(..) | Variable::Round(_) => {}
        }
        name
    }

    /// The name of an expression, which is defined before.
    fn term(&mut self, writer: &mut Writer, term: Term) -> String {
        if let Some(known) = writer.names.get(&term) {
            return known.clone();
        }
        let bits = self.program.terms.bits(term);
        let text = match self.program.terms.node(term).clone() {
            Node::Const(value) => number(if bits == 1 { i128::from(value & 1) } else { value.into() }),
            Node::Variable(variable, copy) => self.variable(writer, variable, copy),
            Node::Read(source, lanes, copy) => self.read(writer, term, (source, lanes, copy), bits),
            Node::Trunc(a) => {
                let a = self.term(writer, a);
                if bits == 1 { format!("(mod {a} 2)") } else { a }
            }
            Node::ExtS(a) => {
                let (narrow, a) = (self.program.terms.bits(a), self.term(writer, a));
                if narrow == 1 { format!("(- {a})") } else { a }
            }
            Node::ExtU(a) => self.term(writer, a),
            Node::Select(c, a, b) => {
                let [c, a, b] = [c, a, b].map(|part| self.term(writer, part));
                format!("(ite (= {c} 0) {b} {a})")
            }
            Node::Binary(op, a, b) => {
                let narrow = self.program.terms.bits(a);
                let by = self.program.terms.constant(b);
                let [a, b] = [a, b].map(|part| self.term(writer, part));
                binary(writer, op, narrow, &a, &b, by)
            }
        };
        let name = format!("t{}", term.0);
        let _ = writeln!(writer.definitions, "(declare-const {name} Int)");
        let _ = writeln!(writer.facts, "(assert (= {name} {text}))");
        writer.names.insert(term, name.clone());
        name
    }

    /// What was read: of a tensor that is never written a function of the address, else anything.
    fn read(
        &mut self,
        writer: &mut Writer,
        term: Term,
        (source, lanes, copy): (u32, Box<[Term]>, u8),
        bits: u8,
    ) -> String {
        let name = match self.constant_word(source, &lanes, copy) {
            Some((base, bytes, at)) => {
                let (function, at) = (format!("memory{base}_{bytes}"), self.term(writer, at));
                if writer.declared.insert(function.clone()) {
                    let _ = writeln!(writer.declarations, "(declare-fun {function} (Int) Int)");
                }
                format!("({function} {at})")
            }
            None => {
                let name = format!("read{}", term.0);
                let _ = writeln!(writer.declarations, "(declare-const {name} Int)");
                if let Some(counter) = self.tickets.get(&source) {
                    writer.drawn.push((copy, *counter, name.clone()));
                    if let Some(axis) = counter.axis() {
                        let all = self.variable(writer, Variable::Programs(axis), 0);
                        let _ = writeln!(writer.facts, "(assert (and (>= {name} 0) (< {name} {all})))");
                    }
                }
                name
            }
        };
        if bits == 1 {
            let _ = writeln!(writer.facts, "(assert (or (= {name} 0) (= {name} 1)))");
        }
        name
    }

    fn constant_word(&mut self, source: u32, lanes: &[Term], copy: u8) -> Option<(u32, u32, Term)> {
        let Source::Access(number) = *self.program.sources.get(source as usize)? else { return None };
        let access = self.program.accesses.get(number as usize)?.clone();
        let Base::Argument(base) = access.base else { return None };
        let written = self.program.accesses.iter().any(|other| other.base == access.base && other.action.writes());
        if written || self.program.terms.constant(access.mask) != Some(1) {
            return None;
        }
        let own = self.program.terms.instance(access.offset, copy, &mut FxHashMap::default());
        let at = self.program.terms.replace(own, &mut FxHashMap::default(), &mut |_, node, _| match node {
            Node::Variable(Variable::Lane(dim), _) => lanes.get(usize::from(*dim)).copied(),
            _ => None,
        });
        Some((base, access.bytes, at))
    }
}

fn number(value: i128) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

/// An operation; divisors are positive, as the proofs assume.
fn binary(writer: &mut Writer, op: BinOp, bits: u8, a: &str, b: &str, by: Option<i64>) -> String {
    let truth = |question: String| format!("(ite {question} 1 0)");
    let divides = |writer: &mut Writer| _ = writeln!(writer.facts, "(assert (> {b} 0))");
    let power = by.and_then(|by| u32::try_from(by).ok()).and_then(|by| 1i128.checked_shl(by));
    match op {
        BinOp::Add => format!("(+ {a} {b})"),
        BinOp::Sub => format!("(- {a} {b})"),
        BinOp::Mul => format!("(* {a} {b})"),
        BinOp::DivS | BinOp::DivU => {
            divides(writer);
            format!("(ite (>= {a} 0) (div {a} {b}) (- (div (- {a}) {b})))")
        }
        BinOp::FloorDivS => {
            divides(writer);
            format!("(div {a} {b})")
        }
        BinOp::CeilDivS | BinOp::CeilDivU => {
            divides(writer);
            format!("(- (div (- {a}) {b}))")
        }
        BinOp::RemS | BinOp::RemU => {
            divides(writer);
            format!("(ite (>= {a} 0) (mod {a} {b}) (- (mod (- {a}) {b})))")
        }
        BinOp::MinS | BinOp::MinU => format!("(ite (<= {a} {b}) {a} {b})"),
        BinOp::MaxS | BinOp::MaxU => format!("(ite (>= {a} {b}) {a} {b})"),
        BinOp::And if bits == 1 => truth(format!("(and (= {a} 1) (= {b} 1))")),
        BinOp::Or if bits == 1 => truth(format!("(or (= {a} 1) (= {b} 1))")),
        BinOp::Xor if bits == 1 => truth(format!("(not (= {a} {b}))")),
        BinOp::Shl if power.is_some() => format!("(* {a} {})", power.unwrap_or(1)),
        BinOp::ShrS | BinOp::ShrU if power.is_some() => format!("(div {a} {})", power.unwrap_or(1)),
        BinOp::And if by.is_some_and(|by| by >= 0 && (by + 1).count_ones() == 1) => {
            format!("(mod {a} {})", by.unwrap_or(0) + 1)
        }
        BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::ShrS | BinOp::ShrU => {
            let function = format!("{op:?}{bits}");
            if writer.declared.insert(function.clone()) {
                let _ = writeln!(writer.declarations, "(declare-fun {function} (Int Int) Int)");
            }
            if let Some(mask) = by.filter(|mask| op == BinOp::And && *mask >= 0) {
                let _ = writeln!(writer.facts, "(assert (<= 0 ({function} {a} {b}) {mask}))");
            }
            format!("({function} {a} {b})")
        }
        BinOp::Eq => truth(format!("(= {a} {b})")),
        BinOp::Ne => truth(format!("(not (= {a} {b}))")),
        BinOp::Slt => truth(format!("(< {a} {b})")),
        BinOp::Sle => truth(format!("(<= {a} {b})")),
        BinOp::Ult => truth(format!("(and (<= 0 {a}) (< {a} {b}))")),
        BinOp::Ule => truth(format!("(and (<= 0 {a}) (<= {a} {b}))")),
    }
}
