//! Which words of global memory programs steer each other by.

use rustc_hash::FxHashSet;

use super::setting::Setting;
use crate::program::{Program, Source, Step};
use crate::term::{Node, Term, Terms};

/// Accesses whose order matters to what programs do, and the tensors that they are of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    /// Sources that an address, a mask or a condition depends on.
    pub(crate) used: FxHashSet<u32>,
    /// Tensors that are written and read so.
    pub(crate) tensors: FxHashSet<u32>,
}

impl Watched {
    pub(crate) fn new(program: &Program, setting: &Setting) -> Watched {
        let mut used = FxHashSet::default();
        for access in &program.accesses {
            for term in [access.offset, access.mask, access.path] {
                note(&program.terms, term, &mut used);
            }
        }
        for of in &program.loops {
            note(&program.terms, of.condition, &mut used);
            for carried in &of.carried {
                if used.contains(&carried.source) {
                    note(&program.terms, carried.first, &mut used);
                    note(&program.terms, carried.next, &mut used);
                }
            }
        }
        conditions(program, &program.steps, &mut used);
        // What is compared with a word, or stored as one, steers too.
        loop {
            let before = used.len();
            let tensors = tensors(program, setting, &used);
            for access in &program.accesses {
                if setting.tensor(access.base).is_some_and(|tensor| tensors.contains(&tensor)) {
                    for term in access.value.iter().chain(&access.compare) {
                        note(&program.terms, *term, &mut used);
                    }
                }
            }
            for carried in program.loops.iter().flat_map(|of| &of.carried) {
                if used.contains(&carried.source) {
                    note(&program.terms, carried.first, &mut used);
                    note(&program.terms, carried.next, &mut used);
                }
            }
            if used.len() == before {
                return Watched { used, tensors };
            }
        }
    }

    /// Whether others can notice when the access happens.
    pub(crate) fn is_visible(&self, program: &Program, setting: &Setting, access: u32) -> bool {
        let tensor = setting.tensor(program.accesses[access as usize].base);
        tensor.is_some_and(|tensor| self.tensors.contains(&tensor))
    }
}

fn tensors(program: &Program, setting: &Setting, used: &FxHashSet<u32>) -> FxHashSet<u32> {
    let of = |number: u32| program.accesses.get(number as usize).and_then(|access| setting.tensor(access.base));
    let mut sources: Vec<u32> = used.iter().copied().collect();
    sources.sort_unstable();
    let read = sources.into_iter().filter_map(|source| match program.sources.get(source as usize) {
        Some(Source::Access(number)) => of(*number),
        _ => None,
    });
    let written: FxHashSet<u32> = program
        .accesses
        .iter()
        .filter(|access| access.action.writes())
        .filter_map(|access| setting.tensor(access.base))
        .collect();
    read.filter(|tensor| written.contains(tensor)).collect()
}

fn note(terms: &Terms, term: Term, used: &mut FxHashSet<u32>) {
    terms.leaves(term, &mut |node| {
        if let Node::Read(source, ..) = node {
            used.insert(*source);
        }
    });
}

fn conditions(program: &Program, steps: &[Step], used: &mut FxHashSet<u32>) {
    for step in steps {
        match step {
            Step::If(condition, then, otherwise) => {
                note(&program.terms, *condition, used);
                conditions(program, then, used);
                conditions(program, otherwise, used);
            }
            Step::Loop(_, before, body) => {
                conditions(program, before, used);
                conditions(program, body, used);
            }
            Step::Partitions(all) => all.iter().for_each(|steps| conditions(program, steps, used)),
            Step::Access(_) | Step::StoreWait(_) => {}
        }
    }
}
