//! Control flow: branches become conditions, loops become numbers of rounds.

use dialects::{Cf, OpCode, Ttg};
use rustc_hash::FxHashMap;
use ttgir::{BlockId, OpId, RegionId, ValueId};

use super::{DEPTH, Elements, Extractor, Pointer, Target, Value};
use crate::program::{Base, Carried, Loop, Source, Step};
use terms::{BinOp, Node, Term, Variable};

/// What a loop makes of a value that it carries.
enum Course {
    /// It is this at the beginning of every round, in terms of the number of the round.
    Formula(Value),
    /// Each round makes it from what it was: the source that stands for it, of the value or of a pointer's offset.
    Carried(u32, Value),
}

/// What is undone behind a walk that only looks.
struct Mark {
    accesses: usize,
    loops: usize,
    gaps: usize,
    unfollowed: usize,
    steps: Vec<Step>,
    path: Term,
}

impl Extractor<'_> {
    fn mark(&mut self) -> Mark {
        Mark {
            accesses: self.program.accesses.len(),
            loops: self.program.loops.len(),
            gaps: self.program.gaps.len(),
            unfollowed: self.program.unfollowed.len(),
            steps: std::mem::take(&mut self.steps),
            path: self.path,
        }
    }

    fn reset(&mut self, mark: Mark) {
        self.program.accesses.truncate(mark.accesses);
        self.program.loops.truncate(mark.loops);
        self.program.gaps.truncate(mark.gaps);
        self.program.unfollowed.truncate(mark.unfollowed);
        self.steps = mark.steps;
        self.path = mark.path;
    }

    /// Walks over a region of one block; gives what its terminator hands on.
    fn region(&mut self, region: RegionId) -> Vec<Value> {
        let tree = self.tree;
        let Some(&block) = tree.blocks(region).first() else { return Vec::new() };
        let ops = tree.block_ops(block);
        self.block(ops);
        match ops.last() {
            Some(&last) if tree.is_terminator(last) => {
                tree.operands(last).iter().map(|value| self.value(*value)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The same, with the steps of the region apart.
    fn apart(&mut self, region: RegionId) -> (Vec<Step>, Vec<Value>) {
        let outer = std::mem::take(&mut self.steps);
        let values = self.region(region);
        (std::mem::replace(&mut self.steps, outer), values)
    }

    fn args(&self, region: RegionId) -> Vec<ValueId> {
        let block = self.tree.blocks(region).first();
        block.map_or_else(Vec::new, |block| self.tree.block_args(*block).to_vec())
    }

    pub(super) fn if_op(&mut self, op: OpId) {
        let tree = self.tree;
        let condition = tree.operands(op).first().and_then(|value| self.int(*value));
        let Some(condition) = condition.map(|condition| condition.term) else {
            return self.gap(op, "the condition is not followed");
        };
        let regions = tree.regions(op).to_vec();
        let path = self.path;
        let mut arms = Vec::new();
        for (at, taken) in [(0, true), (1, false)] {
            let holds = if taken { condition } else { self.program.terms.not(condition) };
            self.path = self.program.terms.and(path, holds);
            let never = self.program.terms.constant(holds) == Some(0);
            arms.push(match regions.get(at) {
                Some(&region) if !never => self.apart(region),
                _ => (Vec::new(), Vec::new()),
            });
        }
        self.path = path;
        let (Some((otherwise, no)), Some((then, yes))) = (arms.pop(), arms.pop()) else { return };
        for (at, &result) in tree.results(op).iter().enumerate() {
            let value = match (yes.get(at), no.get(at)) {
                (Some(yes), Some(no)) => self.choose(condition, yes.clone(), no.clone()),
                (Some(value), None) | (None, Some(value)) => Some(value.clone()),
                (None, None) => None,
            };
            let value = match value {
                Some(value) => value,
                None => self.unknown(result),
            };
            self.bind(result, value);
        }
        self.steps.push(Step::If(condition, then, otherwise));
    }

    /// A value that stands for what a loop carries while its body is looked at.
    fn placeholder(&mut self, first: &Value) -> Option<(u32, Value)> {
        match first {
            Value::Int(elements) => {
                let source = self.source(Source::Carried);
                let bits = self.program.terms.bits(elements.term);
                Some((source, Value::Int(self.whole(source, elements.lanes.clone(), bits))))
            }
            Value::Pointer(pointer) => {
                let source = self.source(Source::Carried);
                let offset = self.whole(source, pointer.lanes.clone(), 64).term;
                Some((source, Value::Pointer(Pointer { offset, ..pointer.clone() })))
            }
            Value::Descriptor(_) | Value::Opaque => None,
        }
    }

    fn term_of(value: &Value) -> Option<Term> {
        match value {
            Value::Int(elements) => Some(elements.term),
            Value::Pointer(pointer) => Some(pointer.offset),
            _ => None,
        }
    }

    fn with_term(value: &Value, term: Term) -> Value {
        match value {
            Value::Int(elements) => Value::Int(Elements { term, ..elements.clone() }),
            Value::Pointer(pointer) => Value::Pointer(Pointer { offset: term, ..pointer.clone() }),
            other => other.clone(),
        }
    }

    /// What is added to `of` to give `term`, where that is all that is done to it.
    fn added(&mut self, term: Term, of: Term) -> Option<Term> {
        if term == of {
            let bits = self.program.terms.bits(of);
            return Some(self.program.terms.int(0, bits));
        }
        match *self.program.terms.node(term) {
            Node::Binary(BinOp::Add, a, b) => {
                let (rest, other) = match self.added(a, of) {
                    Some(rest) => (rest, b),
                    None => (self.added(b, of)?, a),
                };
                Some(self.program.terms.binary(BinOp::Add, rest, other))
            }
            Node::Binary(BinOp::Sub, a, b) => {
                let rest = self.added(a, of)?;
                Some(self.program.terms.binary(BinOp::Sub, rest, b))
            }
            _ => None,
        }
    }

    /// Whether an expression is the same in all rounds of a loop whose sources begin at `from`.
    fn is_invariant(&self, term: Term, round: u32, from: usize) -> bool {
        !self.program.terms.any_leaf(term, |node| match node {
            Node::Variable(Variable::Round(number), _) => *number >= round,
            Node::Read(source, ..) => *source as usize >= from,
            _ => false,
        })
    }

    /// Finds the course of each carried value: `walk` goes over the loop with the values that it is given, and says
    /// what they become. A formula is in terms of the round, `round`.
    fn courses(
        &mut self,
        first: &[Value],
        number: u32,
        round: Term,
        walk: &mut dyn FnMut(&mut Self, Vec<Value>) -> Vec<Value>,
    ) -> Vec<Course> {
        let from = self.program.sources.len();
        let mut placeholders: Vec<Option<(u32, Value)>> = Vec::new();
        for value in first {
            let made = self.placeholder(value);
            placeholders.push(made);
        }
        let carried = |this: &Self, term: Term| {
            let sources = || placeholders.iter().flatten().map(|(source, _)| *source);
            this.program
                .terms
                .any_leaf(term, |node| matches!(node, Node::Read(source, ..) if sources().any(|own| own == *source)))
        };
        let started = first.iter().zip(&placeholders);
        let begin: Vec<Value> =
            started.map(|(first, held)| held.as_ref().map_or(first.clone(), |(_, value)| value.clone())).collect();
        let mark = self.mark();
        let next = walk(self, begin);
        self.reset(mark);
        let mut courses = Vec::new();
        for (at, first) in first.iter().enumerate() {
            let Some((source, held)) = &placeholders[at] else {
                // A described block that the loop moves, or floats.
                courses.push(Course::Formula(self.moved_descriptor(first, next.get(at), round, number, from)));
                continue;
            };
            let known = next.get(at).and_then(|next| {
                let same_base = match (first, next) {
                    (Value::Pointer(a), Value::Pointer(b)) => a.base == b.base,
                    (Value::Int(_), Value::Int(_)) => true,
                    _ => false,
                };
                let (was, becomes) = (Self::term_of(held)?, Self::term_of(next).filter(|_| same_base)?);
                let start = Self::term_of(first)?;
                if let Some(by) = self.added(becomes, was)
                    && self.is_invariant(by, number, from)
                {
                    let bits = self.program.terms.bits(by);
                    let rounds = self.program.terms.resize(round, bits, true);
                    let all = self.program.terms.binary(BinOp::Mul, by, rounds);
                    return Some(self.program.terms.binary(BinOp::Add, start, all));
                }
                self.of_last_round(becomes, start, number, round, from, &carried)
            });
            courses.push(match (known, held) {
                (Some(term), _) => Course::Formula(Self::with_term(first, term)),
                // In a later round it points into another tensor.
                (None, Value::Pointer(pointer)) if !points_into(next.get(at), pointer.base) => Course::Carried(
                    *source,
                    Value::Pointer(Pointer { base: Target::Tensor(Base::Unknown), ..pointer.clone() }),
                ),
                (None, _) => Course::Carried(*source, held.clone()),
            });
        }
        courses
    }

    /// What is made of the round alone: at the beginning of a round it is what the round before made.
    fn of_last_round(
        &mut self,
        becomes: Term,
        start: Term,
        number: u32,
        round: Term,
        from: usize,
        carried: &dyn Fn(&Self, Term) -> bool,
    ) -> Option<Term> {
        let others = |node: &Node| match node {
            Node::Variable(Variable::Round(other), _) => *other > number,
            Node::Read(source, ..) => *source as usize >= from,
            _ => false,
        };
        if carried(self, becomes) || self.program.terms.any_leaf(becomes, others) {
            return None;
        }
        let terms = &mut self.program.terms;
        let one = terms.int(1, terms.bits(round));
        let before = terms.binary(BinOp::Sub, round, one);
        let shifted = terms.replace(becomes, &mut FxHashMap::default(), &mut |_, node, _| match node {
            Node::Variable(Variable::Round(other), 0) if *other == number => Some(before),
            _ => None,
        });
        let zero = terms.int(0, terms.bits(round));
        let at_first = terms.binary(BinOp::Eq, round, zero);
        Some(terms.select(at_first, start, shifted))
    }

    /// A block pointer, or a descriptor of AMD's, that moves by the same in every round.
    fn moved_descriptor(
        &mut self,
        first: &Value,
        next: Option<&Value>,
        round: Term,
        number: u32,
        from: usize,
    ) -> Value {
        let Value::Descriptor(first) = first else { return first.clone() };
        let Some(Value::Descriptor(next)) = next else { return Value::Opaque };
        if first == next {
            return Value::Descriptor(first.clone());
        }
        let same = (first.base, first.bytes, &first.block, &first.sizes, &first.strides)
            == (next.base, next.bytes, &next.block, &next.sizes, &next.strides);
        if !same {
            return Value::Opaque;
        }
        let mut moved = first.clone();
        if moved.place.is_empty() {
            moved.place = vec![self.program.terms.int(0, 64); moved.sizes.len()];
        }
        let places = moved.place.iter_mut().zip(&next.place).chain([(&mut moved.offset, &next.offset)]);
        for (place, next) in places {
            // What moves it adds to it, be it to 0.
            let by = match self.program.terms.constant(*place) {
                Some(_) => Some(self.program.terms.binary(BinOp::Sub, *next, *place)),
                None => self.added(*next, *place),
            };
            let Some(by) = by.filter(|by| self.is_invariant(*by, number, from)) else { return Value::Opaque };
            let rounds = self.program.terms.resize(round, 64, true);
            let all = self.program.terms.binary(BinOp::Mul, by, rounds);
            *place = self.program.terms.binary(BinOp::Add, *place, all);
        }
        if first.enabled != next.enabled {
            // Each round writes its own.
            let source = self.source(Source::Op);
            moved.enabled = Some(self.whole(source, [].into(), 1).term);
        }
        Value::Descriptor(moved)
    }

    /// The loop's carried values that no formula gives.
    fn carried(courses: &[Course], first: &[Value], next: &[Value]) -> Vec<Carried> {
        let mut carried = Vec::new();
        for (at, course) in courses.iter().enumerate() {
            let Course::Carried(source, held) = course else { continue };
            let lanes = match held {
                Value::Int(elements) => elements.lanes.clone(),
                Value::Pointer(pointer) => pointer.lanes.clone(),
                _ => continue,
            };
            if let (Some(first), Some(next)) = (Self::term_of(&first[at]), next.get(at).and_then(Self::term_of)) {
                carried.push(Carried { source: *source, lanes, first, next });
            }
        }
        carried
    }

    fn begin(courses: &[Course]) -> Vec<Value> {
        let value = |course: &Course| match course {
            Course::Formula(value) | Course::Carried(_, value) => value.clone(),
        };
        courses.iter().map(value).collect()
    }

    pub(super) fn for_loop(&mut self, op: OpId) {
        let tree = self.tree;
        let operands = tree.operands(op).to_vec();
        let (Some(&region), [lower, upper, step, ..]) = (tree.regions(op).first(), &*operands) else { return };
        let (Some(lower), Some(upper), Some(step)) = (self.int(*lower), self.int(*upper), self.int(*step)) else {
            return self.gap(op, "the bounds of this loop are not followed");
        };
        let (lower, upper, step) = (lower.term, upper.term, step.term);
        let first: Vec<Value> = operands[3..].iter().map(|value| self.value(*value)).collect();
        let number = self.program.loops.len() as u32;
        let bits = self.program.terms.bits(lower);
        let round = self.program.terms.variable(Variable::Round(number), bits);
        let terms = &mut self.program.terms;
        let passed = terms.binary(BinOp::Mul, step, round);
        let counter = terms.binary(BinOp::Add, lower, passed);
        let condition = terms.binary(BinOp::Slt, counter, upper);
        let span = terms.binary(BinOp::Sub, upper, lower);
        let ran = terms.binary(BinOp::CeilDivS, span, step);
        let zero = terms.int(0, bits);
        let ran = terms.binary(BinOp::MaxS, ran, zero);
        let range = tree.op_name_range(op);
        let rounds = self.source(Source::Rounds);
        self.program.loops.push(Loop { condition, carried: Vec::new(), trips: Some(ran), rounds, range });
        let args = self.args(region);
        let path = self.path;
        let inside = self.program.terms.and(path, condition);
        self.loops.push(number);
        let mut walk = |this: &mut Self, values: Vec<Value>| {
            this.path = inside;
            if let Some((&index, carried)) = args.split_first() {
                this.bind(index, Value::Int(Elements { lanes: [].into(), term: counter }));
                this.bind_all(carried, values);
            }
            this.region(region)
        };
        let courses = self.courses(&first, number, round, &mut walk);
        let outer = std::mem::take(&mut self.steps);
        let next = walk(self, Self::begin(&courses));
        let body = std::mem::replace(&mut self.steps, outer);
        self.program.loops[number as usize].carried = Self::carried(&courses, &first, &next);
        self.loops.pop();
        self.path = path;
        self.steps.push(Step::Loop(number, Vec::new(), body));
        // Behind the loop the number of the round is how often it ran.
        let last = self.at_round(&courses, number, ran);
        self.bind_all(tree.results(op), last);
    }

    /// The carried values with the number of the round replaced.
    fn at_round(&mut self, courses: &[Course], number: u32, round: Term) -> Vec<Value> {
        let mut values = Vec::new();
        for value in Self::begin(courses) {
            values.push(self.value_at_round(value, number, round));
        }
        values
    }

    fn value_at_round(&mut self, value: Value, number: u32, round: Term) -> Value {
        if let Value::Descriptor(descriptor) = &value {
            let mut moved = descriptor.clone();
            moved.base = self.retarget(moved.base, &mut |this, term| this.term_at_round(term, number, round));
            let places = moved.place.iter_mut().chain([&mut moved.offset]).chain(&mut moved.enabled);
            for place in places {
                *place = self.term_at_round(*place, number, round);
            }
            return Value::Descriptor(moved);
        }
        match Self::term_of(&value) {
            Some(term) => {
                let term = self.term_at_round(term, number, round);
                let mut made = Self::with_term(&value, term);
                if let Value::Pointer(pointer) = &mut made {
                    pointer.base =
                        self.retarget(pointer.base, &mut |this, term| this.term_at_round(term, number, round));
                }
                made
            }
            None => value,
        }
    }

    fn term_at_round(&mut self, term: Term, number: u32, round: Term) -> Term {
        self.program.terms.replace(term, &mut FxHashMap::default(), &mut |terms, node, bits| match node {
            Node::Variable(Variable::Round(other), 0) if *other == number => Some(terms.resize(round, bits, true)),
            _ => None,
        })
    }

    pub(super) fn while_loop(&mut self, op: OpId) {
        let tree = self.tree;
        let regions = tree.regions(op).to_vec();
        let &[before, after] = &*regions else { return };
        let first: Vec<Value> = tree.operands(op).iter().map(|value| self.value(*value)).collect();
        let number = self.program.loops.len() as u32;
        let round = self.program.terms.variable(Variable::Round(number), 32);
        let rounds = self.source(Source::Rounds);
        let always = self.program.terms.truth(true);
        let range = tree.op_name_range(op);
        self.program.loops.push(Loop { condition: always, carried: Vec::new(), trips: None, rounds, range });
        let (asked, args) = (self.args(before), self.args(after));
        let path = self.path;
        self.loops.push(number);
        let mut parts = (Vec::new(), Vec::new(), always, Vec::new());
        let mut walk = |this: &mut Self, values: Vec<Value>| {
            this.path = path;
            this.bind_all(&asked, values);
            let (first_steps, mut handed) = this.apart(before);
            let condition = if handed.is_empty() { None } else { Self::term_of(&handed.remove(0)) };
            let condition = match condition {
                Some(condition) => condition,
                None => {
                    this.gap(op, "the condition of this loop is not followed");
                    always
                }
            };
            this.path = this.program.terms.and(path, condition);
            this.bind_all(&args, handed.clone());
            let (body, next) = this.apart(after);
            parts = (first_steps, body, condition, handed);
            next
        };
        let courses = self.courses(&first, number, round, &mut walk);
        let next = walk(self, Self::begin(&courses));
        let (first_steps, body, condition, handed) = parts;
        let entry = &mut self.program.loops[number as usize];
        entry.condition = condition;
        entry.carried = Self::carried(&courses, &first, &next);
        self.loops.pop();
        self.steps.push(Step::Loop(number, first_steps, body));
        // Behind the loop its condition does not hold, in the round that did not begin.
        let ran = self.program.terms.read(rounds, [].into(), 32);
        let over = self.program.terms.not(condition);
        let over = self.term_at_round(over, number, ran);
        self.path = self.program.terms.and(path, over);
        let mut results = Vec::new();
        for value in handed {
            results.push(self.value_at_round(value, number, ran));
        }
        self.bind_all(tree.results(op), results);
    }

    /// Walks over a function's blocks in an order in which each comes behind those that lead to it.
    pub(super) fn function_body(&mut self, region: RegionId) -> Vec<Value> {
        let tree = self.tree;
        let blocks = tree.blocks(region).to_vec();
        if blocks.len() <= 1 {
            return self.region(region);
        }
        let Some(order) = self.order(&blocks) else {
            if let Some(&op) = blocks.first().and_then(|block| tree.block_ops(*block).first()) {
                self.gap(op, "a loop of branches between blocks is not followed");
            }
            return Vec::new();
        };
        let path = self.path;
        let mut reached: FxHashMap<BlockId, Vec<(Term, Vec<Value>)>> = FxHashMap::default();
        let mut returned: Vec<(Term, Vec<Value>)> = Vec::new();
        for (at, block) in order.into_iter().enumerate() {
            let here = if at == 0 { path } else { self.enter(block, reached.remove(&block).unwrap_or_default()) };
            self.path = here;
            let outer = std::mem::take(&mut self.steps);
            let ops = tree.block_ops(block);
            self.block(ops);
            let steps = std::mem::replace(&mut self.steps, outer);
            self.steps.push(Step::If(here, steps, Vec::new()));
            let here = self.path;
            let Some(&last) = ops.last() else { continue };
            let successors = tree.successors(last);
            if successors.is_empty() {
                let values = tree.operands(last).iter().map(|value| self.value(*value)).collect();
                returned.push((here, values));
            }
            let condition = match tree.code(last) {
                Some(OpCode::Cf(Cf::CondBr)) => tree.operands(last).first().and_then(|value| self.int(*value)),
                _ => None,
            };
            for (at, successor) in successors.iter().enumerate() {
                let taken = match &condition {
                    Some(condition) if at == 0 => condition.term,
                    Some(condition) => self.program.terms.not(condition.term),
                    None => self.program.terms.truth(true),
                };
                let taken = self.program.terms.and(here, taken);
                let Some(block) = successor.block else { continue };
                let args = successor.args.iter().map(|value| self.value(*value)).collect();
                reached.entry(block).or_default().push((taken, args));
            }
        }
        self.path = path;
        self.merged(returned)
    }

    /// One of several values, each under its condition.
    fn merged(&mut self, ways: Vec<(Term, Vec<Value>)>) -> Vec<Value> {
        let mut ways = ways.into_iter().rev();
        let Some((_, mut values)) = ways.next() else { return Vec::new() };
        for (condition, others) in ways {
            for (at, value) in values.iter_mut().enumerate() {
                let chosen = others.get(at).and_then(|other| self.choose(condition, other.clone(), value.clone()));
                *value = chosen.unwrap_or(Value::Opaque);
            }
        }
        values
    }

    /// Binds a block's arguments; gives the condition under which it is reached.
    fn enter(&mut self, block: BlockId, ways: Vec<(Term, Vec<Value>)>) -> Term {
        let mut path = self.program.terms.truth(false);
        for (condition, _) in &ways {
            path = self.program.terms.binary(BinOp::Or, path, *condition);
        }
        let values = self.merged(ways);
        let args = self.tree.block_args(block).to_vec();
        self.bind_all(&args, values);
        path
    }

    /// The blocks that are reached, each behind those that lead to it; `None` where they form a circle.
    fn order(&self, blocks: &[BlockId]) -> Option<Vec<BlockId>> {
        let tree = self.tree;
        let targets = |block: BlockId| {
            let last = tree.block_ops(block).last();
            last.map_or_else(Vec::new, |op| tree.successors(*op).into_iter().filter_map(|next| next.block).collect())
        };
        // 1: begun, 2: done.
        let mut state: FxHashMap<BlockId, u8> = FxHashMap::default();
        let mut order = Vec::new();
        let mut open: Vec<(BlockId, Vec<BlockId>)> = vec![(blocks[0], targets(blocks[0]))];
        state.insert(blocks[0], 1);
        while let Some((block, rest)) = open.last_mut() {
            let block = *block;
            match rest.pop() {
                Some(next) => match state.get(&next) {
                    Some(1) => return None,
                    Some(_) => {}
                    None => {
                        state.insert(next, 1);
                        let all = targets(next);
                        open.push((next, all));
                    }
                },
                None => {
                    state.insert(block, 2);
                    order.push(block);
                    open.pop();
                }
            }
        }
        order.reverse();
        Some(order)
    }

    /// Walks over a region in place.
    pub(super) fn inline(&mut self, region: RegionId) -> Vec<Value> {
        self.function_body(region)
    }

    pub(super) fn call(&mut self, op: OpId) {
        let tree = self.tree;
        let name =
            tree.attr(op, "callee").map_or("", |attr| tree.attr_str(attr).unwrap_or_else(|| tree.attr_text(attr)));
        let name = name.trim().trim_start_matches('@').trim_matches('"');
        let region = self.functions.get(name).and_then(|function| tree.regions(*function).first().copied());
        let Some(region) = region.filter(|_| self.depth < DEPTH) else {
            self.bind_all(tree.results(op), Vec::new());
            let pointers = tree
                .operands(op)
                .iter()
                .any(|value| !matches!(self.values.get(value), Some(Value::Int(_) | Value::Opaque) | None));
            if pointers {
                self.gap(op, format!("what `@{name}` does to global memory is not followed"));
            }
            self.unfollowed(op);
            return;
        };
        let handed: Vec<Value> = tree.operands(op).iter().map(|value| self.value(*value)).collect();
        let args = self.args(region);
        self.bind_all(&args, handed);
        self.depth += 1;
        let made = self.function_body(region);
        self.depth -= 1;
        self.bind_all(tree.results(op), made);
    }

    pub(super) fn warp_specialize(&mut self, op: OpId) {
        let tree = self.tree;
        let regions = tree.regions(op).to_vec();
        let Some((&default, own)) = regions.split_first() else { return };
        let first = own.first().and_then(|region| tree.blocks(*region).first());
        let holder = first.and_then(|block| tree.block_ops(*block).first()).copied();
        let holder = holder.filter(|holder| tree.is(*holder, Ttg::WarpSpecializePartitions));
        let partitions = holder.map_or_else(|| own.to_vec(), |holder| tree.regions(holder).to_vec());
        let mut captures = tree.operands(op).to_vec();
        if captures.is_empty()
            && let Some(holder) = holder
        {
            captures = tree.operands(holder).to_vec();
        }
        let captures: Vec<Value> = captures.iter().map(|value| self.value(*value)).collect();
        let path = self.path;
        let (steps, values) = self.apart(default);
        self.path = path;
        let mut all = vec![steps];
        for region in partitions {
            let args = self.args(region);
            self.bind_all(&args, captures.clone());
            let outer = std::mem::take(&mut self.steps);
            self.function_body(region);
            all.push(std::mem::replace(&mut self.steps, outer));
            self.path = path;
        }
        self.steps.push(Step::Partitions(all));
        self.bind_all(tree.results(op), values);
    }
}

/// Whether a value points to where this says.
fn points_into(value: Option<&Value>, base: Target) -> bool {
    matches!(value, Some(Value::Pointer(pointer)) if pointer.base == base)
}
