//! The control flow of a kernel under one valuation, with each scalar as the expression that it was computed by.
//!
//! A walk executes scalars and branches of all partitions, one after the other, and nothing of barriers and memory:
//! what these would answer (the phase of a barrier, whether a tile is granted) is taken as it usually comes. It
//! decides nothing; it tells which inputs are worth a run.

use crate::Formula;
use crate::limits::directed::{OPERATIONS as MOST_OPERATIONS, VALUES as MOST_VALUES};
use kernel::{
    EffectId, EffectKind, InputId, InputKind, Instr, JumpTarget, Kernel, Pure, Terminator, Var, Width, WordAccess,
};
use machine::Valuation;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The place of a value in a walk.
type Place = u32;

/// Where a condition was seen: the first and the last time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) first: Place,
    pub(super) last: Place,
}

/// What a kernel did under one valuation.
#[derive(Debug)]
pub(super) struct Walk {
    nodes: Vec<(Pure<Place>, i64)>,
    /// By block that ends in a branch: its conditions where they did not hold, and where they did.
    pub(super) branches: BTreeMap<usize, [Option<Seen>; 2]>,
    /// The same of predicates, by effect.
    pub(super) predicates: BTreeMap<usize, [Option<Seen>; 2]>,
    /// By effect: whether it would be executed.
    pub(super) executed: Vec<bool>,
    /// Conditions of branches and predicates, in the order in which they were met.
    decided: Vec<Place>,
}

/// A word of memory: the input that stands for memory, and the address.
pub(crate) type WordAt = (InputId, i64);

/// The words of memory that a walk reads, sorted.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadWords {
    /// Those that decide by themselves which way a branch goes, or whether an op is executed.
    pub(crate) alone: BTreeSet<WordAt>,
    /// The others.
    pub(crate) others: BTreeSet<WordAt>,
}

/// The words that a value is computed from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ComputedFrom {
    NoWord,
    One(WordAt),
    Several,
}

impl ComputedFrom {
    fn and(self, other: ComputedFrom) -> ComputedFrom {
        match (self, other) {
            (ComputedFrom::NoWord, one) | (one, ComputedFrom::NoWord) => one,
            (one, other) if one == other => one,
            _ => ComputedFrom::Several,
        }
    }
}

impl Walk {
    /// Walks through a kernel: all partitions of all of the first few CTAs.
    pub(super) fn new(kernel: &Kernel, valuation: &Valuation) -> Walk {
        let mut walk = Walk {
            nodes: vec![(Pure::Const(0), 0)],
            branches: BTreeMap::new(),
            predicates: BTreeMap::new(),
            executed: vec![false; kernel.effects.len()],
            decided: Vec::new(),
        };
        let tiles = kernel.inputs.iter().position(|input| input.kind == InputKind::Tiles);
        let tiles = tiles.and_then(|at| valuation.values.get(at)).copied().unwrap_or(0);
        for rank in 0..kernel.ctas.min(4) {
            let vars = vec![0; kernel.vars.len()];
            Walker {
                kernel,
                valuation,
                rank: rank.into(),
                tiles,
                vars,
                asked: 0,
                claims: FxHashMap::default(),
                walk: &mut walk,
            }
            .cta();
        }
        walk
    }

    /// Computed values: what a walk costs.
    pub(super) fn cost(&self) -> usize {
        self.nodes.len()
    }

    /// The words of memory that were read.
    pub(super) fn words(&self) -> ReadWords {
        let mut from: Vec<ComputedFrom> = Vec::with_capacity(self.nodes.len());
        let mut read = ReadWords::default();
        for (pure, _) in &self.nodes {
            let of = |place: &Place| from.get(*place as usize).copied().unwrap_or(ComputedFrom::NoWord);
            let now = match pure {
                Pure::Load(memory, address) => {
                    let address = self.nodes.get(*address as usize).map_or(0, |(_, value)| *value);
                    read.others.insert((*memory, address));
                    ComputedFrom::One((*memory, address))
                }
                pure => pure.operands().iter().map(of).fold(ComputedFrom::NoWord, ComputedFrom::and),
            };
            from.push(now);
        }
        for place in &self.decided {
            if let Some(ComputedFrom::One(word)) = from.get(*place as usize)
                && read.others.remove(word)
            {
                read.alone.insert(*word);
            }
        }
        read
    }

    /// A condition as a function of inputs and words of memory.
    pub(super) fn formula(&self, of: Place) -> Option<Formula> {
        let mut needed = vec![of];
        let mut known: FxHashMap<Place, u32> = FxHashMap::default();
        let mut at = 0;
        while let Some(&place) = needed.get(at) {
            at += 1;
            if known.insert(place, 0).is_some() {
                continue;
            }
            if known.len() > MOST_OPERATIONS {
                return None;
            }
            needed.extend(self.nodes.get(place as usize)?.0.operands());
        }
        // Operands come before what is computed from them.
        let mut places: Vec<Place> = known.keys().copied().collect();
        places.sort_unstable();
        for (number, place) in places.iter().enumerate() {
            known.insert(*place, number as u32);
        }
        let operation = |place: &Place| {
            let (pure, _) = self.nodes.get(*place as usize)?;
            Some(pure.map(|operand| known.get(&operand).copied().unwrap_or(0)))
        };
        let operations: Option<Vec<Pure<u32>>> = places.iter().map(operation).collect();
        Some(Formula::new(operations?, vec![*known.get(&of)?]))
    }

    fn note(seen: &mut BTreeMap<usize, [Option<Seen>; 2]>, at: usize, holds: bool, place: Place) {
        let slot = &mut seen.entry(at).or_default()[usize::from(holds)];
        let first = slot.map_or(place, |seen| seen.first);
        *slot = Some(Seen { first, last: place });
    }
}

struct Walker<'w> {
    kernel: &'w Kernel,
    valuation: &'w Valuation,
    rank: i64,
    /// Tiles that are handed out.
    tiles: i64,
    /// By variable: its value.
    vars: Vec<Place>,
    /// Questions to barriers and to launch control that the partition at hand asked.
    asked: i64,
    /// By variable: how often the partition at hand added to a counter.
    claims: FxHashMap<Var, i64>,
    walk: &'w mut Walk,
}

impl<'w> Walker<'w> {
    fn cta(&mut self) {
        let mut starts: Vec<(usize, Vec<(Var, Place)>)> = vec![(self.kernel.entry.index(), Vec::new())];
        // A loop that is told when to end by what another partition leaves goes on for ever here.
        let share = MOST_VALUES / self.kernel.partitions.len().max(1);
        while let Some((entry, params)) = starts.pop() {
            params.into_iter().for_each(|(var, place)| self.assign(var, place));
            self.asked = 0;
            self.claims.clear();
            let mut at = Some(entry);
            let most = MOST_VALUES.min(self.walk.nodes.len() + share);
            while let Some(number) = at.filter(|_| self.walk.nodes.len() < most) {
                at = self.block(number, &mut starts);
            }
        }
    }

    fn assign(&mut self, var: Var, place: Place) {
        if let Some(slot) = self.vars.get_mut(var.index()) {
            *slot = place;
        }
    }

    fn place(&self, var: Var) -> Place {
        self.vars.get(var.index()).copied().unwrap_or(0)
    }

    fn value(&self, place: Place) -> i64 {
        self.walk.nodes.get(place as usize).map_or(0, |(_, value)| *value)
    }

    fn push(&mut self, pure: Pure<Place>, value: i64) -> Place {
        let nodes = &self.walk.nodes;
        // What depends on nothing is a constant.
        let constant = |place: &Place| matches!(nodes.get(*place as usize), Some((Pure::Const(_), _)));
        let input = matches!(pure, Pure::Input(_) | Pure::Load(..));
        let pure = if !input && pure.operands().iter().all(constant) { Pure::Const(value) } else { pure };
        self.walk.nodes.push((pure, value));
        self.walk.nodes.len() as Place - 1
    }

    /// Parameters and what a jump gives them.
    fn passes(&self, target: &JumpTarget) -> Vec<(Var, Place)> {
        let params = self.kernel.blocks.get(target.block.index()).map_or(&[][..], |block| &block.params);
        params.iter().zip(&target.args).map(|(&param, &arg)| (param, self.place(arg))).collect()
    }

    fn jump(&mut self, target: &JumpTarget) -> usize {
        self.passes(target).into_iter().for_each(|(var, place)| self.assign(var, place));
        target.block.index()
    }

    /// Executes a block; where to go on.
    fn block(&mut self, number: usize, starts: &mut Vec<(usize, Vec<(Var, Place)>)>) -> Option<usize> {
        let kernel = self.kernel;
        let block = kernel.blocks.get(number)?;
        // A block costs something even where it computes nothing.
        self.push(Pure::Const(0), 0);
        for instr in &block.instrs {
            match instr {
                Instr::Let(dst, pure) => self.compute(*dst, pure)?,
                Instr::Effect(id) => self.effect(*id),
                Instr::Word(word) => {
                    if let Some((dst, otherwise)) = word.defines() {
                        let place = self.claimed(word, self.place(otherwise));
                        self.assign(dst, place);
                    }
                }
                Instr::View { .. } | Instr::Base(..) | Instr::Host(_) => {}
            }
        }
        match &block.terminator {
            Terminator::Jump(target) | Terminator::Join(_, target) => Some(self.jump(target)),
            Terminator::Branch(condition, yes, no) => {
                let place = self.place(*condition);
                let holds = self.value(place) & 1 == 1;
                Walk::note(&mut self.walk.branches, number, holds, place);
                self.walk.decided.push(place);
                Some(self.jump(if holds { yes } else { no }))
            }
            Terminator::Fork(fork) => {
                for (_, target) in fork.partitions.iter().rev() {
                    starts.push((target.block.index(), self.passes(target)));
                }
                Some(self.jump(&fork.default))
            }
            Terminator::Exit(_) | Terminator::Return(_) => None,
        }
    }

    fn compute(&mut self, dst: Var, pure: &Pure<Var>) -> Option<()> {
        let pure = pure.map(|var| self.place(var));
        let pure = match pure {
            Pure::Copy(place) => {
                self.assign(dst, place);
                return Some(());
            }
            Pure::Input(input) if self.kernel.inputs.get(input.index())?.kind == InputKind::CtaRank => {
                Pure::Const(self.rank)
            }
            other => other,
        };
        let value = pure.eval(
            |place| self.value(place),
            |input| self.valuation.get(input),
            |memory, address| self.valuation.word(memory, address),
        )?;
        let place = self.push(pure, value);
        self.assign(dst, place);
        Some(())
    }

    /// What a word is in a walk, which holds no memory: the input, or as much more as was claimed before.
    fn claimed(&mut self, word: &WordAccess, otherwise: Place) -> Place {
        let WordAccess::Claim { dst, by, .. } = *word else { return otherwise };
        let before = self.claims.entry(dst).or_default();
        let times = *before;
        *before += 1;
        let by = self.value(self.place(by)).wrapping_mul(times);
        let more = self.push(Pure::Const(by), by);
        let value = self.value(otherwise).wrapping_add(by);
        self.push(Pure::Add(Width(64), otherwise, more), value)
    }

    fn effect(&mut self, id: EffectId) {
        let Some(effect) = self.kernel.effects.get(id.index()) else { return };
        if let Some(predicate) = effect.predicate {
            let place = self.place(predicate);
            let holds = self.value(place) & 1 == 1;
            Walk::note(&mut self.walk.predicates, id.index(), holds, place);
            self.walk.decided.push(place);
            if !holds {
                return;
            }
        }
        if let Some(executed) = self.walk.executed.get_mut(id.index()) {
            *executed = true;
        }
        let Some(dst) = effect.kind.defines() else { return };
        self.asked += 1;
        let answer = match effect.kind {
            EffectKind::ClcLoad { .. } => i64::from(self.asked <= self.tiles),
            _ => self.asked & 1,
        };
        let place = self.push(Pure::Const(answer), answer);
        self.assign(dst, place);
    }
}
