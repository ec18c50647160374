//! What an operation's form leaves unsaid, and the way into the arrays.

use smallvec::SmallVec;

use super::op::Draft;
use super::{Parser, SyntaxError};
use crate::ids::{Slice, Sym, TypeId};
use crate::shape;
use crate::store::{Owner, Succ, Value};
use base::TextRange;
use dialects::{Arity, GroupRef, OpForm, OpSyntax, TypeRule};

impl Parser<'_> {
    /// Puts what was read into the arrays.
    pub(super) fn finish(&mut self, mut d: Draft) {
        if let Some(spec) = d.spec {
            self.give_operand_types(&mut d, spec);
        }
        let results = self.results(&mut d);
        if let Some(spec) = d.spec
            && !d.broken
        {
            self.verify(&d, spec, &results);
        }
        self.flush_uses(&mut d);
        let first = self.store.values.len();
        self.make_results(&d, &results);
        let store = &mut self.store;
        let attrs = store.attrs.len();
        store.attrs.extend_from_slice(&d.attrs);
        let regions = store.region_ids.len();
        store.region_ids.extend_from_slice(&d.regions);
        let succs = store.succs.len();
        let uses_at = store.ops[d.op.index()].uses.start;
        store.succs.extend(d.succs.iter().map(|succ| {
            let uses = Slice { start: succ.uses.start + uses_at, len: succ.uses.len };
            Succ { uses, ..*succ }
        }));
        let args = store.arg_attrs.len();
        store.arg_attrs.extend_from_slice(&d.args);
        let op = &mut store.ops[d.op.index()];
        op.end = self.last_end as u32;
        op.header_end = d.header_end.unwrap_or(op.end);
        op.results = Slice::since(first, store.values.len());
        op.attrs = Slice::since(attrs, store.attrs.len());
        op.regions = Slice::since(regions, store.region_ids.len());
        op.succs = Slice::since(succs, store.succs.len());
        op.args = Slice::since(args, store.arg_attrs.len());
        op.broken = d.broken;
    }

    /// Gives each operand the type that the form says or implies.
    fn give_operand_types(&mut self, d: &mut Draft, spec: &'static OpSyntax) {
        if let Some(types) = d.all_operands.take() {
            if types.len() != d.uses.len() && !d.broken {
                self.count_error(d, types.len());
            }
            if d.grouped {
                let order: SmallVec<[u32; 8]> = d.groups.iter().flat_map(|g| g.start..g.start + g.len).collect();
                for (&at, &ty) in order.iter().zip(&types) {
                    d.uses[at as usize].ty = ty;
                }
            } else {
                d.uses.iter_mut().zip(&types).for_each(|(used, &ty)| used.ty = ty);
            }
            return;
        }
        let mut at = 0;
        while at < d.operand_types.len() {
            let group = d.operand_types[at].0;
            let end = at + d.operand_types[at..].iter().take_while(|(g, _)| *g == group).count();
            let range = d.groups[group as usize].range();
            if end - at != range.len() && !d.broken {
                self.count_error(d, end - at);
            }
            for (use_at, type_at) in range.zip(at..end) {
                d.uses[use_at].ty = d.operand_types[type_at].1;
            }
            at = end;
        }
        for (g, group) in spec.operands.iter().enumerate() {
            if group.rule == TypeRule::Spelt || d.groups[g].len == 0 || !d.grouped {
                continue;
            }
            if let Some(ty) = self.implied(d, spec, group.rule, 0) {
                for at in d.groups[g].range() {
                    if d.uses[at].ty == TypeId::NONE {
                        d.uses[at].ty = ty;
                    }
                }
            }
        }
    }

    fn count_error(&mut self, d: &Draft, types: usize) {
        let op = &self.store.ops[d.op.index()];
        let range = TextRange::new(op.name_start, op.name_end);
        let operands = d.uses.len();
        let message =
            format!("the operands and their types differ in number: {operands} operands in all, {types} types");
        self.errors.push(SyntaxError::new(range, "operand-count", message));
    }

    /// The type that `rule` gives.
    fn implied(&mut self, d: &Draft, spec: &'static OpSyntax, rule: TypeRule, depth: u32) -> Option<TypeId> {
        let of = match rule {
            TypeRule::Spelt => return None,
            TypeRule::Fixed(text) => return Some(self.make_type(text)),
            TypeRule::Same(g) | TypeRule::Bool(g) | TypeRule::Int(g) | TypeRule::Pointee(g) | TypeRule::Element(g) => g,
        };
        let (known, next) = match of {
            GroupRef::Operand(g) => {
                let first = d.groups[g as usize];
                let used = d.uses.get(first.start as usize).filter(|_| first.len > 0);
                (used.and_then(|used| used.ty.some()), spec.operands[g as usize].rule)
            }
            GroupRef::Result(g) => {
                let typed = d.result_types.iter().find(|(group, _)| *group == g).map(|(_, ty)| *ty);
                let listed = || d.all_results.as_ref().and_then(|all| all.get(g as usize)).copied();
                (typed.or_else(listed), spec.results[g as usize].rule)
            }
        };
        let of = match known {
            Some(ty) => ty,
            None if depth < 3 => self.implied(d, spec, next, depth + 1)?,
            None => return None,
        };
        let key = match rule {
            TypeRule::Same(_) => return Some(of),
            TypeRule::Bool(_) => 0,
            TypeRule::Int(_) => 1,
            TypeRule::Pointee(_) => 2,
            _ => 3,
        };
        if let Some(&ty) = self.derived.get(&(of, key)) {
            return Some(ty);
        }
        let canon = self.store.types.canon(of);
        let text = shape::derive(rule, self.store.types.text(canon))?;
        let ty = self.make_type(&text);
        self.derived.insert((of, key), ty);
        Some(ty)
    }

    /// The types of the results, NONE where they are unknown.
    fn results(&mut self, d: &mut Draft) -> SmallVec<[TypeId; 4]> {
        let named: u32 = d.names.iter().map(|name| name.count).sum();
        let mut out: SmallVec<[TypeId; 4]> = SmallVec::new();
        let mut known = !d.broken;
        match (d.all_results.take(), d.spec) {
            (Some(types), _) => {
                out.extend(types);
                if let Some(spec) = d.spec
                    && spec.results.iter().all(|g| g.arity != Arity::Many)
                {
                    let least = spec.results.iter().filter(|g| g.arity == Arity::One).count();
                    if !(least..=spec.results.len()).contains(&out.len()) && !d.broken {
                        self.result_error(d, least, out.len());
                    }
                }
            }
            (None, Some(spec)) if !matches!(spec.form, OpForm::Skimmed) => {
                for (g, group) in spec.results.iter().enumerate() {
                    let typed = d.result_types.iter().filter(|(of, _)| *of as usize == g).map(|(_, ty)| *ty);
                    let before = out.len();
                    out.extend(typed);
                    if out.len() > before {
                        continue;
                    }
                    match (group.arity, group.rule) {
                        (Arity::Many, TypeRule::Same(GroupRef::Operand(of))) => {
                            out.extend(d.groups[of as usize].range().map(|at| d.uses[at].ty));
                        }
                        (Arity::One, rule) => {
                            let ty = self.implied(d, spec, rule, 0);
                            out.push(ty.unwrap_or(TypeId::NONE));
                        }
                        (Arity::Maybe, TypeRule::Fixed(text)) if d.token => {
                            let ty = self.make_type(text);
                            out.push(ty);
                        }
                        _ => {}
                    }
                }
            }
            _ => {
                known = false;
                out.extend(d.result_types.iter().map(|(_, ty)| *ty));
            }
        }
        if known && named != 0 && named as usize != out.len() {
            self.result_error(d, out.len(), named as usize);
        }
        if named as usize > out.len() || (!known && named != 0) {
            out.resize(named as usize, TypeId::NONE);
        }
        out
    }

    fn result_error(&mut self, d: &Draft, has: usize, given: usize) {
        let op = &self.store.ops[d.op.index()];
        let range = match d.names.first() {
            Some(first) => TextRange::new(first.start, d.names.last().map_or(first.end, |last| last.end)),
            None => TextRange::new(op.name_start, op.name_end),
        };
        let plural = if has == 1 { "" } else { "s" };
        let message = format!("the operation has {has} result{plural}, not {given}");
        self.errors.push(SyntaxError::new(range, "result-count", message));
    }

    /// Moves the uses into the arrays, in the order of the definition.
    fn flush_uses(&mut self, d: &mut Draft) {
        let start = self.store.uses.len();
        let grouped = d.grouped && d.groups.iter().map(|g| g.len as usize).sum::<usize>() == d.uses.len();
        match d.spec {
            Some(spec) if grouped => {
                if spec.shuffled {
                    for group in &d.groups {
                        self.store.uses.extend_from_slice(&d.uses[group.range()]);
                    }
                } else {
                    self.store.uses.extend_from_slice(&d.uses);
                }
                if !spec.fixed {
                    let groups = self.store.groups.len();
                    self.store.groups.extend(d.groups.iter().map(|g| g.len));
                    self.store.ops[d.op.index()].groups = Slice::since(groups, self.store.groups.len());
                }
            }
            _ => self.store.uses.extend_from_slice(&d.uses),
        }
        self.store.ops[d.op.index()].uses = Slice::since(start, self.store.uses.len());
    }

    fn make_results(&mut self, d: &Draft, types: &[TypeId]) {
        let owner = Owner::Op(d.op);
        let mut index = 0;
        for name in &d.names {
            for sub in 0..name.count {
                let ty = types.get(index as usize).copied().unwrap_or(TypeId::NONE);
                let (start, end, of) = (name.start, name.end, name.count);
                self.store.value(Value { sym: name.sym, owner, index, sub, of, start, end, ty });
                index += 1;
            }
        }
        for &ty in types.iter().skip(index as usize) {
            let at = self.store.ops[d.op.index()].name_start;
            let value = Value { sym: Sym::NONE, owner, index, sub: 0, of: 1, start: at, end: at, ty };
            self.store.value(value);
            index += 1;
        }
    }
}
