//! Quotients, remainders, selections and reads that are equal because what they are made of is.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::{Refuter, State, solved};
use crate::program::{Base, Source};
use crate::prove::convert::Word;
use crate::prove::poly::Poly;
use terms::{BinOp, Node, Term, Variable};

impl Refuter<'_> {
    /// Equations between atoms that are made alike of equal parts.
    pub(super) fn congruent(&mut self, state: &State) -> Vec<Poly> {
        let mut known: FxHashMap<(u8, u32, Vec<Poly>), Term> = FxHashMap::default();
        let mut same = Vec::new();
        let mut atoms: Vec<Term> = state.said.iter().copied().collect();
        atoms.sort();
        for atom in atoms {
            let parts = match self.program.terms.node(atom).clone() {
                Node::Binary(op, a, b) => vec![op as u32, a.0, b.0].into_boxed_slice(),
                // What is cut off at its width.
                Node::Trunc(a) => vec![u32::MAX - 1, u32::from(self.program.terms.bits(atom)), a.0].into_boxed_slice(),
                Node::ExtU(a) => vec![u32::MAX - 2, u32::from(self.program.terms.bits(a)), a.0].into_boxed_slice(),
                Node::Select(c, a, b) => vec![u32::MAX, c.0, a.0, b.0].into_boxed_slice(),
                Node::Read(source, ..) => {
                    let Some(word) = self.constant_word(state, atom, source) else { continue };
                    let Some(offset) = solved(state, word.offset.clone()) else { continue };
                    let key = (2, word.argument, vec![offset]);
                    match known.get(&key) {
                        Some(other) => self.alike(state, atom, *other, &mut same),
                        None => {
                            known.insert(key, atom);
                        }
                    }
                    continue;
                }
                _ => continue,
            };
            let (op, arguments) = (parts[0], &parts[1..]);
            let polys = arguments.iter().map(|term| {
                let poly = self.poly(Term(*term));
                solved(state, poly)
            });
            let Some(polys) = polys.collect::<Option<Vec<Poly>>>() else { continue };
            let key = (1, op, polys);
            match known.get(&key) {
                Some(other) => self.alike(state, atom, *other, &mut same),
                None => {
                    known.insert(key, atom);
                }
            }
        }
        same
    }

    fn alike(&self, state: &State, a: Term, b: Term, same: &mut Vec<Poly>) {
        let difference = Poly::atom(a).minus(&Poly::atom(b));
        if let Some(poly) = solved(state, difference)
            && !state.is_known(&poly)
        {
            same.push(poly);
        }
    }

    /// The address of a read of a tensor that the kernel never writes: what it gives hangs on nothing else. `None`
    /// where it is not known that the read takes place.
    pub(super) fn constant_word(&mut self, state: &State, atom: Term, source: u32) -> Option<Rc<Word>> {
        let word = match self.convert.words.get(&atom) {
            Some(known) => known.clone(),
            None => {
                let made = self.word(atom, source).map(Rc::new);
                self.convert.words.insert(atom, made.clone());
                made
            }
        }?;
        self.holds(state, word.mask).then_some(word)
    }

    fn word(&mut self, atom: Term, source: u32) -> Option<Word> {
        let Source::Access(number) = *self.program.sources.get(source as usize)? else { return None };
        let access = self.program.accesses.get(number as usize)?;
        let Base::Argument(argument) = access.base else { return None };
        if !self.constant.contains(&argument) {
            return None;
        }
        let (offset, mask, bytes) = (access.offset, access.mask, i128::from(access.bytes));
        let Node::Read(_, lanes, copy) = self.program.terms.node(atom).clone() else { return None };
        let mask = self.at(mask, copy, &lanes);
        let at = self.at(offset, copy, &lanes);
        Some(Word { argument, mask, offset: self.poly(at), bytes })
    }

    /// An expression of an access, as it is in one of the instances at these lanes.
    fn at(&mut self, term: Term, copy: u8, lanes: &[Term]) -> Term {
        let own = self.program.terms.instance(term, copy, &mut FxHashMap::default());
        self.program.terms.replace(own, &mut FxHashMap::default(), &mut |_, node, _| match node {
            Node::Variable(Variable::Lane(dim), _) => lanes.get(usize::from(*dim)).copied(),
            _ => None,
        })
    }

    /// Whether a condition is known to hold.
    fn holds(&self, state: &State, condition: Term) -> bool {
        if self.program.terms.constant(condition) == Some(1) || state.held.contains(&condition) {
            return true;
        }
        match *self.program.terms.node(condition) {
            Node::Binary(BinOp::And, a, b) => self.holds(state, a) && self.holds(state, b),
            _ => false,
        }
    }
}
