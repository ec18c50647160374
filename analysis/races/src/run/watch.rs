//! Which words of global memory programs steer each other by.

use rustc_hash::FxHashSet;

use super::setting::Setting;
use crate::program::{Program, Source, Step};
use terms::{Node, Term, Terms};

/// What of a program is run: the accesses that are asked for, those whose order matters to what programs do, and
/// what both depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    /// Sources that an address, a mask or a condition depends on.
    pub(crate) used: FxHashSet<u32>,
    /// Tensors that are written and read so.
    pub(crate) tensors: FxHashSet<u32>,
    /// The program's steps without those that nothing of this depends on.
    pub(crate) steps: Vec<Step>,
}

impl Watched {
    /// For the accesses of `asked`.
    pub(crate) fn new(program: &Program, setting: &Setting, asked: &FxHashSet<u32>) -> Watched {
        let mut watched = Watched::default();
        for number in (0..program.accesses.len() as u32).filter(|number| asked.contains(number)) {
            watched.note_access(program, number);
        }
        // What is compared with a word, or stored as one, steers too.
        loop {
            let before = watched.used.len();
            watched.tensors = tensors(program, setting, &watched.used);
            for (number, access) in (0u32..).zip(&program.accesses) {
                if watched.is_visible(program, setting, number) {
                    watched.note_access(program, number);
                    for term in access.value.iter().chain(&access.compare) {
                        note(&program.terms, *term, &mut watched.used);
                    }
                } else if access.source.is_some_and(|source| watched.used.contains(&source)) {
                    watched.note_access(program, number);
                }
            }
            for carried in program.loops.iter().flat_map(|of| &of.carried) {
                if watched.used.contains(&carried.source) {
                    note(&program.terms, carried.first, &mut watched.used);
                    note(&program.terms, carried.next, &mut watched.used);
                }
            }
            let steps = watched.needed(program, setting, asked, &program.steps);
            conditions(program, &steps, &mut watched.used);
            if watched.used.len() == before {
                watched.steps = steps;
                return watched;
            }
        }
    }

    fn note_access(&mut self, program: &Program, number: u32) {
        if let Some(access) = program.accesses.get(number as usize) {
            for term in [access.offset, access.mask, access.path] {
                note(&program.terms, term, &mut self.used);
            }
        }
    }

    /// The steps that hold an access that is asked for or visible, or that give what is used.
    fn needed(&self, program: &Program, setting: &Setting, asked: &FxHashSet<u32>, steps: &[Step]) -> Vec<Step> {
        let within = |steps: &[Step]| self.needed(program, setting, asked, steps);
        let mut kept = Vec::new();
        for step in steps {
            match step {
                Step::Access(number) => {
                    let source = program.accesses.get(*number as usize).and_then(|access| access.source);
                    let used = source.is_some_and(|source| self.used.contains(&source));
                    // What orders programs counts, though nothing depends on what it gives.
                    let ordering = program.accesses.get(*number as usize).and_then(|access| access.action.ordering());
                    let orders = ordering.is_some_and(|ordering| ordering.acquire || ordering.release);
                    if used || orders || asked.contains(number) || self.is_visible(program, setting, *number) {
                        kept.push(step.clone());
                    }
                }
                Step::If(condition, then, otherwise) => {
                    let (then, otherwise) = (within(then), within(otherwise));
                    if !then.is_empty() || !otherwise.is_empty() {
                        kept.push(Step::If(*condition, then, otherwise));
                    }
                }
                Step::Loop(number, before, body) => {
                    let (before, body) = (within(before), within(body));
                    let of = &program.loops[*number as usize];
                    let used = of.carried.iter().map(|carried| carried.source).chain([of.rounds]);
                    if !before.is_empty() || !body.is_empty() || used.into_iter().any(|one| self.used.contains(&one)) {
                        kept.push(Step::Loop(*number, before, body));
                    }
                }
                Step::Partitions(all) => kept.push(Step::Partitions(all.iter().map(|steps| within(steps)).collect())),
                Step::StoreWait(_) => kept.push(step.clone()),
            }
        }
        kept
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
            Step::Loop(number, before, body) => {
                note(&program.terms, program.loops[*number as usize].condition, used);
                conditions(program, before, used);
                conditions(program, body, used);
            }
            Step::Partitions(all) => all.iter().for_each(|steps| conditions(program, steps, used)),
            Step::Access(_) | Step::StoreWait(_) => {}
        }
    }
}
