//! Structured control flow: `scf.for`, `scf.while`, `scf.if`, `scf.index_switch`,
//! `scf.execute_region`.

use super::autows::{Counter, Counters};
use super::exit::Exit;
use super::lowerer::Lowerer;
use super::value::{Class, Val};
use kernel::{BlockId, CmpOp, Input, InputKind, JumpTarget, Pure, Terminator, Var, Width};
use ttgir::{OpId, RegionId, ValueId};

/// What goes round a loop.
#[derive(Clone, Copy)]
enum Place {
    /// A place in the list of carried values.
    Value(usize),
    /// A counter that the text does not spell.
    Counter(Counter),
}

/// A parameter of a loop's head.
type Carried = (Place, Var);

impl Lowerer<'_> {
    /// Lowers the one block of a structured region in place; its terminator is given back.
    fn inline_region(&mut self, region: Option<RegionId>) -> Option<OpId> {
        let tree = self.tree;
        let block = *tree.blocks(region?).first()?;
        self.block(block)
    }

    /// Parameters of a loop head for the block arguments `args`, entered with `inits`, and for the
    /// counters that `regions` advance.
    fn carry(&mut self, args: &[ValueId], inits: &[ValueId], regions: &[RegionId]) -> (Vec<Carried>, Vec<Var>) {
        let mut carried = Vec::new();
        let mut entry = Vec::new();
        for (at, (&arg, &init)) in args.iter().zip(inits).enumerate() {
            let incoming = self.values.get(&init).copied();
            if let Some(param) = self.param(arg, incoming) {
                carried.push((Place::Value(at), param));
                entry.push(match incoming {
                    Some(Val::View(var) | Val::Stage(var)) => var,
                    _ => self.scalar(init),
                });
            }
        }
        for counter in self.advanced_in(regions) {
            let Some(now) = self.hidden.counters.get(&counter).copied() else { continue };
            let param = self.build.scalar_param(counter.name());
            self.hidden.counters.insert(counter, param);
            carried.push((Place::Counter(counter), param));
            entry.push(now);
        }
        (carried, entry)
    }

    /// What goes round the loop again.
    fn carry_on(&mut self, op: OpId, values: &[ValueId], carried: &[Carried]) -> Vec<Var> {
        let mut args = Vec::with_capacity(carried.len());
        for &(place, param) in carried {
            args.push(match place {
                Place::Value(at) => match values.get(at) {
                    Some(&value) => self.pass(op, value, param),
                    None => param,
                },
                Place::Counter(counter) => self.hidden.counters.get(&counter).copied().unwrap_or(param),
            });
        }
        args
    }

    /// Gives the results of a loop the values that its parameters have at the end.
    fn carried_out(&mut self, op: OpId, carried: &[Carried]) {
        let tree = self.tree;
        for (at, &result) in tree.results(op).iter().enumerate() {
            let found = carried.iter().find(|(place, _)| matches!(place, Place::Value(place) if *place == at));
            match (found, self.class(result)) {
                (Some((_, var)), Class::Scalar(_)) => self.bind(result, Val::Scalar(*var)),
                (Some((_, var)), Class::View) => self.bind(result, Val::View(*var)),
                (Some((_, var)), Class::Dropped) => self.bind(result, Val::Stage(*var)),
                (None, Class::View) => self.bind(result, Val::Opaque),
                (None, _) => {}
            }
        }
        for &(place, var) in carried {
            if let Place::Counter(counter) = place {
                self.hidden.counters.insert(counter, var);
            }
        }
    }

    pub(super) fn scf_for(&mut self, op: OpId) {
        let tree = self.tree;
        let operands = tree.operands(op);
        let (&[lower, upper, step, ..], Some(&region)) = (operands, tree.regions(op).first()) else {
            return self.unmodelled(op, "the loop has no bounds");
        };
        let staged = self.enter_pipeline(op);
        let inits = &operands[3..];
        let args = tree.blocks(region).first().map_or(&[][..], |block| tree.block_args(*block));
        let Some((&iv, args)) = args.split_first() else { return self.unmodelled(op, "the loop has no body") };
        let width = Width(self.width(iv));
        let site = self.site(op);
        let (lower, upper, step) = (self.scalar(lower), self.scalar(upper), self.scalar(step));
        let counter = self.build.scalar_param(tree.value_name(iv));
        self.bind(iv, Val::Scalar(counter));
        let (carried, entry) = self.carry(args, inits, &[region]);

        let params = std::iter::once(counter).chain(carried.iter().map(|(_, var)| *var)).collect();
        let head = self.build.block(params);
        let (body, exit) = (self.build.block(Vec::new()), self.build.block(Vec::new()));
        self.build.jump(head, std::iter::once(lower).chain(entry).collect());
        self.build.enter(head);
        let less = if self.flag(op, "unsignedCmp") { CmpOp::Ult } else { CmpOp::Slt };
        let again = self.build.compute(Pure::Cmp(less, width, counter, upper), "");
        self.build.branch(again, body, exit);
        self.build.loop_head(site, head, Some((counter, lower, upper, step)));

        self.build.enter(body);
        let end = self.inline_region(Some(region));
        if staged {
            self.end_round(op);
        }
        let values = end.map_or(&[][..], |end| tree.operands(end));
        let next = self.build.compute(Pure::Add(width, counter, step), "");
        let on = self.carry_on(end.unwrap_or(op), values, &carried);
        self.build.jump(head, std::iter::once(next).chain(on).collect());

        self.build.enter(exit);
        if staged {
            self.leave_pipeline(op);
        }
        self.carried_out(op, &carried);
    }

    pub(super) fn scf_while(&mut self, op: OpId) {
        let tree = self.tree;
        let &[before, after, ..] = tree.regions(op) else { return self.unmodelled(op, "the loop has no body") };
        let args = |region| tree.blocks(region).first().map_or(&[][..], |block| tree.block_args(*block));
        let site = self.site(op);
        let (carried, entry) = self.carry(args(before), tree.operands(op), &[before, after]);
        let head = self.build.block(carried.iter().map(|(_, var)| *var).collect());
        self.build.jump(head, entry);
        self.build.loop_head(site, head, None);
        self.build.enter(head);
        let Some(condition) = self.inline_region(Some(before)) else {
            return self.unmodelled(op, "the loop has no condition");
        };
        let Some((&again, values)) = tree.operands(condition).split_first() else {
            return self.unmodelled(condition, "the loop has no condition");
        };
        let again = self.scalar(again);
        // The values of the condition are seen by the body and after the loop.
        for targets in [args(after), tree.results(op)] {
            for (&target, &value) in targets.iter().zip(values) {
                match (self.values.get(&value).copied(), self.class(target)) {
                    (Some(val), _) => self.bind(target, val),
                    (None, Class::Scalar(_)) => {
                        let var = self.scalar(value);
                        self.bind(target, Val::Scalar(var));
                    }
                    (None, Class::View) => self.bind(target, Val::Opaque),
                    (None, Class::Dropped) => {
                        self.values.remove(&target);
                    }
                }
            }
        }
        let counters = self.hidden.counters.clone();
        let (body, exit) = (self.build.block(Vec::new()), self.build.block(Vec::new()));
        self.build.branch(again, body, exit);
        self.build.enter(body);
        let end = self.inline_region(Some(after));
        let values = end.map_or(&[][..], |end| tree.operands(end));
        let on = self.carry_on(end.unwrap_or(op), values, &carried);
        self.build.jump(head, on);
        self.build.enter(exit);
        self.hidden.counters = counters;
    }

    pub(super) fn scf_if(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&condition) = tree.operands(op).first() else {
            return self.unmodelled(op, "the condition is missing");
        };
        let condition = self.scalar(condition);
        let regions = tree.regions(op);
        let ways = match self.build.constant(condition) {
            Some(value) => vec![regions.get(usize::from(value & 1 == 0)).copied()],
            None => vec![regions.first().copied(), regions.get(1).copied()],
        };
        if let [only] = ways[..] {
            let end = self.inline_region(only);
            let values = end.map_or(&[][..], |end| tree.operands(end));
            for (&result, &value) in tree.results(op).iter().zip(values) {
                self.rebind(result, value);
            }
            return;
        }
        let (yes, no) = (self.build.block(Vec::new()), self.build.block(Vec::new()));
        self.build.branch(condition, yes, no);
        self.join(op, vec![(yes, ways[0]), (no, ways[1])]);
    }

    /// The generic form has the default first and the cases as an attribute. The custom form has
    /// the default last, and its case numbers are no attribute: any case may be taken.
    pub(super) fn scf_index_switch(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&index) = tree.operands(op).first() else { return self.unmodelled(op, "the index is missing") };
        let index = self.scalar(index);
        let values = tree.attr(op, "cases").map(|attr| tree.attr_ints(attr)).unwrap_or_default();
        let regions = tree.regions(op);
        let split = if values.is_empty() {
            regions.split_last().map(|(default, cases)| (*default, cases))
        } else {
            regions.split_first().map(|(default, cases)| (*default, cases))
        };
        let Some((default, cases)) = split else { return };
        let mut ways = Vec::new();
        for (at, &region) in cases.iter().enumerate() {
            let here = match values.get(at) {
                Some(value) => {
                    let value = self.build.number(*value);
                    self.build.compute(Pure::Cmp(CmpOp::Eq, Width(64), index, value), "")
                }
                None => {
                    let input = Input { kind: InputKind::Free, width: 1, divisor: 1 };
                    let input = self.build.input(input, &format!("case {at}"));
                    self.build.compute(Pure::Input(input), "")
                }
            };
            let (yes, no) = (self.build.block(Vec::new()), self.build.block(Vec::new()));
            self.build.branch(here, yes, no);
            ways.push((yes, Some(region)));
            self.build.enter(no);
        }
        let last = self.build.here();
        ways.push((last, Some(default)));
        self.join(op, ways);
    }

    /// Lowers regions that exclude each other and joins what they yield.
    fn join(&mut self, op: OpId, ways: Vec<(BlockId, Option<RegionId>)>) {
        let tree = self.tree;
        let results = tree.results(op);
        let mut ends: Vec<(BlockId, Vec<Option<Val>>, Counters)> = Vec::new();
        let counters = self.hidden.counters.clone();
        for (block, region) in ways {
            self.build.enter(block);
            self.hidden.counters.clone_from(&counters);
            let end = self.inline_region(region);
            let values = end.map_or(&[][..], |end| tree.operands(end));
            let mut vals = Vec::new();
            for (at, &result) in results.iter().enumerate() {
                let value = values.get(at).copied();
                vals.push(match (self.class(result), value) {
                    (Class::Scalar(_), Some(value)) => Some(Val::Scalar(self.scalar(value))),
                    (Class::View | Class::Dropped, Some(value)) => self.values.get(&value).copied(),
                    _ => None,
                });
            }
            ends.push((self.build.here(), vals, std::mem::take(&mut self.hidden.counters)));
        }
        let mut params = Vec::new();
        let mut kept = Vec::new();
        for (at, &result) in results.iter().enumerate() {
            let vals: Vec<Option<Val>> = ends.iter().map(|(_, vals, _)| vals[at]).collect();
            let first = vals.first().copied().flatten();
            let fits = match first {
                Some(Val::View(like)) => vals
                    .iter()
                    .all(|val| matches!(val, Some(Val::View(var)) if self.build.kind(*var) == self.build.kind(like))),
                Some(Val::Scalar(_)) => vals.iter().all(|val| matches!(val, Some(Val::Scalar(_)))),
                Some(Val::Stage(_)) => vals.iter().all(|val| matches!(val, Some(Val::Stage(_)))),
                _ => false,
            };
            if fits {
                params.extend(self.param(result, first));
                kept.push(at);
            } else {
                self.param(result, None);
            }
        }
        let mut moved = Vec::new();
        self.hidden.counters = counters;
        for (counter, before) in &mut self.hidden.counters {
            if ends.iter().any(|(.., counters)| counters.get(counter) != Some(before)) {
                let param = self.build.scalar_param(counter.name());
                moved.push((*counter, std::mem::replace(before, param)));
                params.push(param);
            }
        }
        let after = self.build.block(params);
        for (block, vals, counters) in ends {
            let args = kept.iter().filter_map(|at| match vals[*at] {
                Some(Val::Scalar(var) | Val::View(var) | Val::Stage(var)) => Some(var),
                _ => None,
            });
            let counted = moved.iter().map(|(counter, before)| counters.get(counter).copied().unwrap_or(*before));
            let target = JumpTarget { block: after, args: args.chain(counted).collect() };
            self.build.enter(block);
            self.build.end(Terminator::Jump(target));
        }
        self.build.enter(after);
    }

    /// `result` is another name of `value`.
    pub(super) fn rebind(&mut self, result: ValueId, value: ValueId) {
        match (self.values.get(&value).copied(), self.class(result)) {
            (Some(val), _) => self.bind(result, val),
            (None, Class::Scalar(_)) => {
                let var = self.scalar(value);
                self.bind(result, Val::Scalar(var));
            }
            (None, Class::View) => self.bind(result, Val::Opaque),
            (None, Class::Dropped) => {
                self.values.remove(&result);
            }
        }
    }

    pub(super) fn scf_execute_region(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&region) = tree.regions(op).first() else { return };
        let after = self.exit_block(tree.results(op));
        self.exits.push(Exit::Jump(after.clone()));
        self.region(region, None);
        self.exits.pop();
        self.leave_to(&after);
    }
}
