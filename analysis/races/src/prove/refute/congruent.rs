//! Quotients, remainders, selections and reads that are equal because what they are made of is.

use rustc_hash::FxHashMap;

use super::{Refuter, State, solved};
use crate::program::{Access, Base, Source};
use crate::prove::poly::Poly;
use crate::term::{Node, Symbol, Term};

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
                Node::Select(c, a, b) => vec![u32::MAX, c.0, a.0, b.0].into_boxed_slice(),
                Node::Read(source, ..) => {
                    let Some((base, offset)) = self.constant_word(atom, source) else { continue };
                    let Some(offset) = solved(state, offset) else { continue };
                    let key = (2, base, vec![offset]);
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
            && !poly.is_zero()
        {
            same.push(poly);
        }
    }

    /// The address of a read of a tensor that the kernel never writes: what it gives hangs on nothing else.
    fn constant_word(&mut self, atom: Term, source: u32) -> Option<(u32, Poly)> {
        let Source::Access(number) = *self.program.sources.get(source as usize)? else { return None };
        let access = self.program.accesses.get(number as usize)?;
        let Base::Argument(base) = access.base else { return None };
        let written = |other: &Access| other.base == access.base && other.action.writes();
        if self.program.accesses.iter().any(written) {
            return None;
        }
        let (offset, mask) = (access.offset, access.mask);
        if self.program.terms.constant(mask) != Some(1) {
            return None;
        }
        let Node::Read(_, lanes, copy) = self.program.terms.node(atom).clone() else { return None };
        let own = self.program.terms.instance(offset, copy, &mut FxHashMap::default());
        let at = self.program.terms.replace(own, &mut FxHashMap::default(), &mut |_, node, _| match node {
            Node::Symbol(Symbol::Lane(dim), _) => lanes.get(usize::from(*dim)).copied(),
            _ => None,
        });
        Some((base, self.poly(at)))
    }
}
