//! What a variable is as a function of the inputs alone.

use kernel::{BlockId, InputId, InputKind, Instr, JumpTarget, Kernel, LoopInfo, Pure, Terminator, Var, VarKind};
use machine::Valuation;
use rustc_hash::{FxHashMap, FxHashSet};

/// Definitions of scalar variables, with block parameters that have one source resolved.
#[derive(Debug)]
pub struct Slices<'k> {
    kernel: &'k Kernel,
    defs: Vec<Def>,
    /// Whether words of one pointer count as equal.
    equal_words: bool,
}

#[derive(Clone, Copy, Debug)]
enum Def {
    Let(Pure<Var>),
    Same(Var),
    /// Several values, or a memdesc.
    Opaque,
}

/// By block: where the jumps to it come from.
#[derive(Debug)]
pub struct Predecessors<'k>(Vec<Vec<(usize, &'k JumpTarget)>>);

impl<'k> Predecessors<'k> {
    /// The jumps to a block, and the blocks that they stand in.
    pub fn of(&self, block: usize) -> impl Iterator<Item = (usize, &'k JumpTarget)> {
        self.0.get(block).into_iter().flatten().copied()
    }

    /// The head of a loop and the blocks from which control comes to these without passing it, ascending.
    pub(super) fn leading(&self, head: usize, to: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut seen: FxHashSet<usize> = [head].into_iter().collect();
        let (mut inside, mut open): (Vec<usize>, Vec<usize>) = (vec![head], to.collect());
        while let Some(number) = open.pop() {
            if seen.insert(number) {
                inside.push(number);
                open.extend(self.of(number).map(|(source, _)| source));
            }
        }
        inside.sort_unstable();
        inside
    }

    /// The blocks of a loop with this head: those from which control comes back to it. Blocks are in reverse postorder.
    pub(super) fn around(&self, head: usize) -> Vec<usize> {
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut inside = Vec::new();
        let back = |block: usize| self.of(block).map(|(from, _)| from).filter(move |from| *from >= head);
        let mut open: Vec<usize> = back(head).collect();
        while let Some(block) = open.pop() {
            if seen.insert(block) {
                inside.push(block);
                if block != head {
                    open.extend(back(block));
                }
            }
        }
        inside
    }
}

/// Calls `each` with every jump of a block.
pub(super) fn targets<'k>(terminator: &'k Terminator, mut each: impl FnMut(&'k JumpTarget)) {
    match terminator {
        Terminator::Jump(target) | Terminator::Join(_, target) => each(target),
        Terminator::Branch(_, yes, no) => {
            each(yes);
            each(no);
        }
        Terminator::Fork(fork) => {
            each(&fork.default);
            fork.partitions.iter().for_each(|(_, target)| each(target));
        }
        Terminator::Exit(_) | Terminator::Return(_) => {}
    }
}

/// Scalar parameters of blocks in which the two sides of a branch meet, as selections.
fn choices(kernel: &Kernel) -> Vec<(Var, Pure<Var>)> {
    let mut entries: Vec<Vec<(usize, &JumpTarget)>> = vec![Vec::new(); kernel.blocks.len()];
    for (number, block) in kernel.blocks.iter().enumerate() {
        targets(&block.terminator, |target| {
            if let Some(entries) = entries.get_mut(target.block.index()) {
                entries.push((number, target));
            }
        });
    }
    // The branch that an edge is a side of, itself or through a block that only this side enters.
    let side = |from: usize, target: &JumpTarget| -> Option<(usize, Var, bool)> {
        let (at, target) = match (&kernel.blocks[from].terminator, entries[from].as_slice()) {
            (Terminator::Jump(_), &[(above, entry)]) => (above, entry),
            (Terminator::Jump(_), _) => return None,
            _ => (from, target),
        };
        match &kernel.blocks[at].terminator {
            Terminator::Branch(condition, yes, _) => Some((at, *condition, std::ptr::eq(yes, target))),
            _ => None,
        }
    };
    let mut out = Vec::new();
    for (number, block) in kernel.blocks.iter().enumerate() {
        let &[(p, a), (q, b)] = entries[number].as_slice() else { continue };
        let (Some((at, condition, yes)), Some((other, _, no))) = (side(p, a), side(q, b)) else { continue };
        if at != other || at == number || yes == no {
            continue;
        }
        let (yes, no) = if yes { (a, b) } else { (b, a) };
        for (&param, (&yes, &no)) in block.params.iter().zip(yes.args.iter().zip(&no.args)) {
            if kernel.vars.get(param.index()).is_some_and(|info| info.kind == VarKind::Scalar) {
                out.push((param, Pure::Select(condition, yes, no)));
            }
        }
    }
    out
}

impl<'k> Slices<'k> {
    /// Reads all definitions of a kernel.
    pub fn new(kernel: &'k Kernel) -> Slices<'k> {
        let mut defs = vec![Def::Opaque; kernel.vars.len()];
        let mut sources: Vec<Option<Option<Var>>> = vec![None; kernel.vars.len()];
        for block in &kernel.blocks {
            for instr in &block.instrs {
                if let Instr::Let(var, pure) = instr
                    && let Some(def) = defs.get_mut(var.index())
                {
                    *def = Def::Let(*pure);
                }
                if let Instr::Word(word) = instr
                    && let Some((dst, otherwise)) = word.defines()
                    && let Some(def) = defs.get_mut(dst.index())
                {
                    *def = Def::Same(otherwise);
                }
            }
            targets(&block.terminator, |target| {
                let Some(to) = kernel.blocks.get(target.block.index()) else { return };
                for (&param, &arg) in to.params.iter().zip(&target.args) {
                    let Some(source) = sources.get_mut(param.index()) else { continue };
                    *source = match *source {
                        _ if arg == param => *source,
                        None => Some(Some(arg)),
                        Some(Some(known)) if known == arg => Some(Some(arg)),
                        Some(_) => Some(None),
                    };
                }
            });
        }
        for (def, source) in defs.iter_mut().zip(sources) {
            if let Some(Some(var)) = source {
                *def = Def::Same(var);
            }
        }
        for (param, choice) in choices(kernel) {
            if let Some(def @ Def::Opaque) = defs.get_mut(param.index()) {
                *def = Def::Let(choice);
            }
        }
        Slices { kernel, defs, equal_words: false }
    }

    /// The same, to which a word of memory is its input, wherever it is read: right where all words are equal.
    pub fn with_equal_words(self) -> Slices<'k> {
        Slices { equal_words: true, ..self }
    }

    /// What computes a variable, seen so.
    fn def(&self, var: Var) -> Option<Def> {
        match self.defs.get(var.index()).copied()? {
            Def::Let(Pure::Load(input, _)) if self.equal_words => Some(Def::Let(Pure::Input(input))),
            def => Some(def),
        }
    }

    /// The variable that a chain of copies and single-source parameters starts at.
    pub fn root(&self, var: Var) -> Var {
        let mut var = var;
        for _ in 0..self.defs.len() {
            match self.defs.get(var.index()) {
                Some(Def::Same(source) | Def::Let(Pure::Copy(source))) => var = *source,
                _ => break,
            }
        }
        var
    }

    /// The value of a variable that is a constant.
    pub fn constant(&self, var: Var) -> Option<i64> {
        match self.pure(var) {
            Some(Pure::Const(value)) => Some(value),
            _ => None,
        }
    }

    /// A variable as another one plus a constant.
    pub fn offset(&self, var: Var) -> (Var, i64) {
        let (mut var, mut offset) = (self.root(var), 0i64);
        for _ in 0..self.defs.len() {
            let (base, by) = match self.defs.get(var.index()) {
                Some(Def::Let(Pure::Add(_, a, b))) => match (self.constant(*a), self.constant(*b)) {
                    (_, Some(by)) => (*a, by),
                    (Some(by), None) => (*b, by),
                    _ => break,
                },
                Some(Def::Let(Pure::Sub(_, a, b))) => match self.constant(*b) {
                    Some(by) => (*a, -by),
                    None => break,
                },
                _ => break,
            };
            var = self.root(base);
            offset = offset.saturating_add(by);
        }
        (var, offset)
    }

    /// The one variable that a parameter or copy takes its value from.
    pub fn source(&self, var: Var) -> Option<Var> {
        match self.defs.get(var.index()) {
            Some(Def::Same(source)) => Some(*source),
            _ => None,
        }
    }

    /// The operation that computes a variable, if one does.
    pub fn pure(&self, var: Var) -> Option<Pure<Var>> {
        match self.defs.get(self.root(var).index()) {
            Some(Def::Let(pure)) => Some(*pure),
            _ => None,
        }
    }

    /// The inputs that a variable is a function of, and the constants on the way; `None` where it
    /// is more than a function of inputs.
    pub fn inputs(&self, var: Var) -> Option<Leaves> {
        let mut leaves = Leaves::default();
        let mut seen = vec![false; self.defs.len()];
        let mut open = vec![var];
        while let Some(var) = open.pop() {
            let var = self.root(var);
            if std::mem::replace(seen.get_mut(var.index())?, true) {
                continue;
            }
            let Def::Let(pure) = self.def(var)? else { return None };
            match pure {
                Pure::Const(value) => leaves.constants.push(value),
                // Differs between CTAs: no function of the inputs of the kernel.
                Pure::Input(input) if self.kernel.inputs.get(input.index())?.kind == InputKind::CtaRank => return None,
                Pure::Input(input) => leaves.inputs.push(input),
                Pure::Load(input, _) => leaves.inputs.push(input),
                _ => {}
            }
            open.extend(pure.operands());
        }
        leaves.inputs.sort_unstable();
        leaves.inputs.dedup();
        leaves.constants.sort_unstable();
        leaves.constants.dedup();
        Some(leaves)
    }

    /// Compiles variables that are functions of inputs into a list of operations.
    pub fn compile(&self, vars: &[Var]) -> Option<Formula> {
        let mut formula = Formula { operations: Vec::new(), results: Vec::new() };
        let mut places: FxHashMap<Var, u32> = FxHashMap::default();
        for &var in vars {
            let mut open = vec![self.root(var)];
            while let Some(&top) = open.last() {
                if places.contains_key(&top) {
                    open.pop();
                    continue;
                }
                let Some(Def::Let(pure)) = self.def(top) else { return None };
                let before = open.len();
                open.extend(
                    pure.operands().into_iter().map(|arg| self.root(arg)).filter(|arg| !places.contains_key(arg)),
                );
                if open.len() > before {
                    // A definition that needs itself would never be placed.
                    if open.len() > self.defs.len() * 4 + 8 {
                        return None;
                    }
                    continue;
                }
                let place = formula.operations.len() as u32;
                formula.operations.push(pure.map(|arg| places.get(&self.root(arg)).copied().unwrap_or(0)));
                places.insert(top, place);
                open.pop();
            }
            formula.results.push(*places.get(&self.root(var))?);
        }
        Some(formula)
    }

    /// Where the jumps to each block come from.
    pub fn predecessors(&self) -> Predecessors<'k> {
        let mut before = vec![Vec::new(); self.kernel.blocks.len()];
        for (number, block) in self.kernel.blocks.iter().enumerate() {
            targets(&block.terminator, |target| {
                if let Some(sources) = before.get_mut(target.block.index()) {
                    sources.push((number, target));
                }
            });
        }
        Predecessors(before)
    }

    /// Which blocks a counted loop consists of, ascending: those that reach its head along a path that ends in
    /// an edge which does not enter it with the lower bound. None where the loop is not counted.
    pub fn body(&self, info: &LoopInfo, before: &Predecessors<'_>) -> Vec<usize> {
        let head = info.head.index();
        let Some((counter, lower, ..)) = info.counted else { return Vec::new() };
        let params = self.kernel.blocks.get(head).map(|block| &block.params);
        let position = params.and_then(|params| params.iter().position(|&param| param == counter));
        let Some(position) = position else { return Vec::new() };
        let lower = self.root(lower);
        let goes_on = |target: &JumpTarget| target.args.get(position).map(|&arg| self.root(arg)) != Some(lower);
        before.leading(head, before.of(head).filter(|(_, target)| goes_on(target)).map(|(number, _)| number))
    }

    /// The trip count of a counted loop whose bounds are functions of inputs.
    pub fn trips(&self, bounds: Bounds) -> Option<Trips> {
        self.compile(&[bounds.lower, bounds.upper, bounds.step]).map(Trips)
    }

    /// Conditions of branches that are no loop tests, with their blocks.
    pub fn conditions(&self) -> Vec<Var> {
        let heads: Vec<BlockId> = self.kernel.loops.iter().map(|info| info.head).collect();
        let mut conditions = Vec::new();
        for (number, block) in self.kernel.blocks.iter().enumerate() {
            if let Terminator::Branch(condition, ..) = block.terminator
                && !heads.contains(&BlockId(number as u32))
            {
                conditions.push(condition);
            }
        }
        for effect in &self.kernel.effects {
            conditions.extend(effect.predicate);
        }
        conditions.sort_unstable();
        conditions.dedup();
        conditions
    }
}

/// Bounds of a counted loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bounds {
    /// The counter's first value.
    pub lower: Var,
    /// One past the last value.
    pub upper: Var,
    /// What the counter grows by in each iteration.
    pub step: Var,
}

/// Functions of inputs, in the order of evaluation.
#[derive(Clone, Debug)]
pub struct Formula {
    operations: Vec<Pure<u32>>,
    results: Vec<u32>,
}

impl Formula {
    /// Operations, each over places of earlier ones, and the places that are asked for.
    pub(super) fn new(operations: Vec<Pure<u32>>, results: Vec<u32>) -> Formula {
        Formula { operations, results }
    }

    pub(super) fn operations(&self) -> &[Pure<u32>] {
        &self.operations
    }

    /// Where one of the compiled variables is among the operations.
    pub(super) fn place(&self, result: usize) -> Option<u32> {
        self.results.get(result).copied()
    }

    /// The value of one of the compiled variables; `None` where the operations are undefined.
    pub fn eval(&self, valuation: &Valuation, result: usize) -> Option<i64> {
        self.values(valuation)?.get(*self.results.get(result)? as usize).copied()
    }

    /// The values of all operations; `None` where one is undefined.
    pub(super) fn values(&self, valuation: &Valuation) -> Option<Vec<i64>> {
        let mut values: Vec<i64> = Vec::with_capacity(self.operations.len());
        for operation in &self.operations {
            let value = operation.eval(
                |place| values.get(place as usize).copied().unwrap_or(0),
                |input| valuation.get(input),
                |memory, address| valuation.word(memory, address),
            )?;
            values.push(value);
        }
        Some(values)
    }
}

/// The trip count of a counted loop as a function of inputs.
#[derive(Clone, Debug)]
pub struct Trips(Formula);

impl Trips {
    /// Iterations under a valuation.
    pub fn eval(&self, valuation: &Valuation) -> Option<u64> {
        let values = self.0.values(valuation)?;
        let result = |at: usize| values.get(*self.0.results.get(at)? as usize).copied();
        let (lower, upper, step) = (result(0)?, result(1)?, result(2)?);
        if step <= 0 || upper <= lower {
            return (step > 0).then_some(0);
        }
        Some((upper.checked_sub(lower)? as u64).div_ceil(step as u64))
    }
}

/// What a function of inputs is made of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Leaves {
    /// Inputs that the value is computed from.
    pub inputs: Vec<InputId>,
    /// Constants that it is computed from.
    pub constants: Vec<i64>,
}

impl Slices<'_> {
    /// Whether two variables are the same expression of inputs and constants.
    pub fn equal(&self, a: Var, b: Var) -> bool {
        let mut open = vec![(a, b)];
        let mut steps = 0;
        while let Some((a, b)) = open.pop() {
            let (a, b) = (self.root(a), self.root(b));
            if a == b {
                continue;
            }
            steps += 1;
            let (Some(x), Some(y)) = (self.pure(a), self.pure(b)) else { return false };
            if steps > 256 || x.map(|_| Var(0)) != y.map(|_| Var(0)) {
                return false;
            }
            open.extend(x.operands().into_iter().zip(y.operands()));
        }
        true
    }
}
