//! One module's tree: its text, its flat arrays, and how to ask about them.

use std::sync::Arc;

use super::error::SyntaxError;
use super::ids::{AttrId, BlockId, OpId, RegionId, Sym, TypeId, ValueId};
use super::lexer::{Token, Tokens};
use super::parse::Parser;
use super::resolve;
use super::store::{Op, Owner, Store, Value};
use crate::limits::parse::ERRORS as MAX_ERRORS;
use base::TextRange;
use dialects::{Arity, OpCode, OpEffect, OpReader, OpSyntax, effect_of_undeclared, table};

/// What defines a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Def {
    /// The result of an operation with this number.
    Result(OpId, u32),
    /// The argument of a block with this number.
    BlockArg(BlockId, u32),
    /// Nothing does; the text uses the name all the same.
    Undefined,
}

/// A jump target of a terminator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successor {
    /// The block, if its label exists.
    pub block: Option<BlockId>,
    /// What its arguments become.
    pub args: Vec<ValueId>,
    /// Where the label stands.
    pub range: TextRange,
}

/// The syntax of one module. All ranges count from the start of its text.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(super) text: Arc<str>,
    pub(super) store: Store,
    /// What the parser found, without what resolution found.
    pub(super) parse_errors: Vec<SyntaxError>,
    pub(super) errors: Vec<SyntaxError>,
    /// Whether braces do not fit, so that how one part was read may depend on any other.
    pub(super) unbalanced: bool,
}

impl Tree {
    /// Reads `text`; never fails.
    pub fn parse(text: &str) -> Tree {
        Tree::read(text.into())
    }

    /// Reads a text that is shared.
    pub(super) fn read(text: Arc<str>) -> Tree {
        let mut parser = Parser::new(&text, Store::default());
        parser.file();
        let unbalanced = parser.unbalanced;
        if unbalanced {
            parser = Parser::new(&text, Store::default()).with_layout();
            parser.file();
        }
        let (store, parse_errors) = parser.done();
        Tree { unbalanced, ..Tree::resolved(text, store, parse_errors) }
    }

    /// The tree of a text that is not IR and does not claim to be.
    pub(super) fn empty(text: Arc<str>) -> Tree {
        Tree { text, store: Store::default(), parse_errors: Vec::new(), errors: Vec::new(), unbalanced: false }
    }

    /// Resolves names over fresh arrays.
    pub(super) fn resolved(text: Arc<str>, mut store: Store, parse_errors: Vec<SyntaxError>) -> Tree {
        let mut errors = parse_errors.clone();
        resolve::resolve(&mut store, &mut errors);
        store.shrink_to_fit();
        errors.sort_by_key(|error| error.range);
        errors.truncate(MAX_ERRORS);
        Tree { text, store, parse_errors, errors, unbalanced: false }
    }

    /// The source, byte for byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tokens of the text, white space and comments among them; together they are the text.
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens::new(&self.text)
    }

    /// The tokens of the lines that a range touches.
    pub fn tokens_in(&self, range: TextRange) -> impl Iterator<Item = Token> {
        let (start, end) = (range.start as usize, (range.end as usize).min(self.text.len()));
        let bytes = self.text.as_bytes();
        let start = bytes.get(..start).and_then(|before| memchr::memrchr(b'\n', before)).map_or(0, |at| at + 1);
        let rest = bytes.get(end..).and_then(|rest| memchr::memchr(b'\n', rest));
        let end = rest.map_or(bytes.len(), |at| end + at);
        let moved = move |token: Token| {
            let range = TextRange::new(token.range.start + start as u32, token.range.end + start as u32);
            Token { range, ..token }
        };
        Tokens::new(self.text.get(start..end).unwrap_or("")).map(moved)
    }

    /// All mistakes, in the order of the text.
    pub fn errors(&self) -> &[SyntaxError] {
        &self.errors
    }

    /// The locations that nothing defines, as a text has them that was cut out of a larger one: no mistake, since no
    /// operation means another thing by them. In the order of the text.
    pub fn undefined_locations(&self) -> Vec<TextRange> {
        let lost = self.store.loc_refs.iter().filter(|(name, ..)| self.store.alias(*name).is_none());
        let mut lost: Vec<TextRange> = lost.map(|&(_, start, end)| TextRange::new(start, end)).collect();
        lost.sort_by_key(|range| range.start);
        lost
    }

    /// The operations at the top level, usually one module.
    pub fn top(&self) -> &[OpId] {
        &self.store.top
    }

    fn op(&self, op: OpId) -> &Op {
        &self.store.ops[op.index()]
    }

    /// The table's row for an operation, if it has one.
    fn spec(&self, op: OpId) -> Option<&'static OpSyntax> {
        self.op(op).name.get().ok().map(|row| table().row(row))
    }

    /// The full name, `dialect.op`, also where the text leaves out the dialect.
    pub fn op_name(&self, op: OpId) -> &str {
        match self.op(op).name.get() {
            Ok(row) => table().row(row).name,
            Err(sym) => self.store.names.get(sym),
        }
    }

    /// Which of the declared ops it is; none for a name that no dialect declares.
    pub fn code(&self, op: OpId) -> Option<OpCode> {
        self.spec(op).map(|spec| spec.code)
    }

    /// Whether it is this op.
    pub fn is(&self, op: OpId, code: impl Into<OpCode>) -> bool {
        self.code(op) == Some(code.into())
    }

    /// What it does to memory and barriers, by its declaration or by its dialect.
    pub fn effect(&self, op: OpId) -> OpEffect {
        match self.spec(op) {
            Some(spec) => spec.decl.effect,
            None => effect_of_undeclared(self.op_name(op)),
        }
    }

    /// From the results' names to the end of the trailing location.
    pub fn op_range(&self, op: OpId) -> TextRange {
        TextRange::new(self.op(op).start, self.op(op).end)
    }

    /// [`op_range`](Self::op_range) up to the first region.
    pub fn op_header_range(&self, op: OpId) -> TextRange {
        TextRange::new(self.op(op).start, self.op(op).header_end)
    }

    /// The name as it is written.
    pub fn op_name_range(&self, op: OpId) -> TextRange {
        TextRange::new(self.op(op).name_start, self.op(op).name_end)
    }

    /// Whether the operation could not be read to its end; what is known of it may be partial.
    pub fn is_broken(&self, op: OpId) -> bool {
        self.op(op).broken
    }

    /// Whether the operation ends a block.
    pub fn is_terminator(&self, op: OpId) -> bool {
        self.spec(op).is_some_and(|spec| spec.terminator)
    }

    /// All operands, in the order of the op's definition.
    pub fn operands(&self, op: OpId) -> &[ValueId] {
        self.op(op).uses.of(&self.store.used)
    }

    /// Where an operand stands; the op's name for one that it does not have.
    pub fn operand_range(&self, op: OpId, operand: usize) -> TextRange {
        match self.op(op).uses.of(&self.store.uses).get(operand) {
            Some(used) => TextRange::new(used.start, used.end),
            None => self.op_name_range(op),
        }
    }

    /// The operands of a group, by its name in the op's definition; empty if there is none.
    pub fn group(&self, op: OpId, name: &str) -> &[ValueId] {
        match self.group_span(op, name) {
            Some((first, len)) => self.operands(op).get(first..first + len).unwrap_or(&[]),
            None => &[],
        }
    }

    /// Where a group starts among the operands and how many it has.
    pub fn group_span(&self, op: OpId, name: &str) -> Option<(usize, usize)> {
        let spec = self.spec(op)?;
        let at = spec.operands.iter().position(|group| group.name == name)?;
        self.group_span_at(op, spec, at)
    }

    fn group_span_at(&self, op: OpId, spec: &OpSyntax, at: usize) -> Option<(usize, usize)> {
        if spec.fixed {
            return (at < self.operands(op).len()).then_some((at, 1));
        }
        let sizes = self.op(op).groups.of(&self.store.groups);
        if sizes.is_empty() {
            // Nothing was said about groups: the leading single ones are still where they belong.
            let single = spec.operands[..=at].iter().all(|group| group.arity == Arity::One);
            return (single && at < self.operands(op).len()).then_some((at, 1));
        }
        let first = sizes[..at].iter().sum::<u32>();
        Some((first as usize, sizes[at] as usize))
    }

    /// The results of an operation, in order.
    pub fn results(&self, op: OpId) -> &[ValueId] {
        self.op(op).results.of(&self.store.value_ids)
    }

    /// The regions of an operation, in order.
    pub fn regions(&self, op: OpId) -> &[RegionId] {
        self.op(op).regions.of(&self.store.region_ids)
    }

    /// The blocks of a region.
    pub fn blocks(&self, region: RegionId) -> &[BlockId] {
        self.store.regions[region.index()].blocks.of(&self.store.block_ids)
    }

    /// From brace to brace.
    pub fn region_range(&self, region: RegionId) -> TextRange {
        let region = &self.store.regions[region.index()];
        TextRange::new(region.start, region.end)
    }

    /// Whether a region sees no values from outside.
    pub fn is_isolated(&self, region: RegionId) -> bool {
        self.store.regions[region.index()].isolated
    }

    /// The names of `#` and `!` aliases and where their definitions start, in the order of the text.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, u32)> {
        self.store.aliases.iter().map(|alias| (self.store.names.get(alias.name), alias.start))
    }

    /// The arguments of a block.
    pub fn block_args(&self, block: BlockId) -> &[ValueId] {
        self.store.blocks[block.index()].args.of(&self.store.value_ids)
    }

    /// The operations of a block.
    pub fn block_ops(&self, block: BlockId) -> &[OpId] {
        self.store.blocks[block.index()].ops.of(&self.store.op_ids)
    }

    /// The jump targets.
    pub fn successors(&self, op: OpId) -> Vec<Successor> {
        let region = self.parent_block(op).map(|block| self.parent_region(block));
        let blocks = region.map_or(&[][..], |region| self.blocks(region));
        let find = |label: Sym| blocks.iter().copied().find(|b| self.store.blocks[b.index()].label == label);
        let succs = self.op(op).succs.of(&self.store.succs);
        let successor = |succ: &super::store::Succ| Successor {
            block: find(succ.label),
            args: succ.uses.of(&self.store.used).to_vec(),
            range: TextRange::new(succ.start, succ.end),
        };
        succs.iter().map(successor).collect()
    }

    /// The block around an operation, none at the top level.
    pub fn parent_block(&self, op: OpId) -> Option<BlockId> {
        self.op(op).block.some()
    }

    /// The region around a block.
    pub fn parent_region(&self, block: BlockId) -> RegionId {
        self.store.blocks[block.index()].region
    }

    /// The operation around a region.
    pub fn parent_op(&self, region: RegionId) -> Option<OpId> {
        self.store.regions[region.index()].op.some()
    }

    fn value(&self, value: ValueId) -> &Value {
        &self.store.values[value.index()]
    }

    /// What defines a value.
    pub fn value_def(&self, value: ValueId) -> Def {
        let value = self.value(value);
        match value.owner {
            Owner::Op(op) => Def::Result(op, value.index),
            Owner::Block(block) => Def::BlockArg(block, value.index),
            Owner::Nobody => Def::Undefined,
        }
    }

    /// The name with its `%` and without `#n`; empty for a result that has none.
    pub fn value_name(&self, value: ValueId) -> &str {
        self.value(value).sym.some().map_or("", |sym| self.store.names.get(sym))
    }

    /// Which result of a group `%a:n` the value is, if it is of one.
    pub fn value_number(&self, value: ValueId) -> Option<u32> {
        let value = self.value(value);
        (value.of > 1).then_some(value.sub)
    }

    /// Where the value is defined; for an undefined one, where it is first used.
    pub fn value_range(&self, value: ValueId) -> TextRange {
        let value = self.value(value);
        TextRange::new(value.start, value.end)
    }

    /// The type that its definition gives.
    pub fn value_type(&self, value: ValueId) -> Option<TypeId> {
        self.value(value).ty.some()
    }

    /// Every place that uses the value, in the order of the text.
    pub fn uses(&self, value: ValueId) -> Vec<TextRange> {
        let used = self.store.used.iter().zip(&self.store.uses);
        let hits = used.filter(|(id, _)| **id == value);
        let mut ranges: Vec<TextRange> = hits.map(|(_, used)| TextRange::new(used.start, used.end)).collect();
        ranges.sort();
        ranges.dedup();
        ranges
    }

    /// The value whose name is written at an offset, and where.
    pub fn value_at(&self, offset: u32) -> Option<(ValueId, TextRange)> {
        let mut found: Option<(ValueId, TextRange)> = None;
        let uses = self.store.used.iter().zip(&self.store.uses).map(|(id, used)| (*id, used.start, used.end));
        let defs = self.store.values.iter().enumerate();
        let defs = defs.filter(|(_, value)| value.sub == 0 && value.sym.some().is_some());
        let defs = defs.map(|(at, value)| (ValueId(at as u32), value.start, value.end));
        for (id, start, end) in uses.chain(defs) {
            let range = TextRange::new(start, end);
            let better = found.is_none_or(|(_, best)| range.start > best.start);
            if id.some().is_some() && range.touches(offset) && better {
                found = Some((id, range));
            }
        }
        found
    }

    /// The innermost operation at an offset.
    pub fn op_at(&self, offset: u32) -> Option<OpId> {
        let mut list = &self.store.top[..];
        let mut found = None;
        'down: loop {
            let after = list.partition_point(|op| self.op(*op).start <= offset);
            let op = *list.get(after.checked_sub(1)?)?;
            if !self.op_range(op).touches(offset) {
                return found;
            }
            found = Some(op);
            for &region in self.regions(op) {
                if !self.region_range(region).touches(offset) {
                    continue;
                }
                for &block in self.blocks(region) {
                    let ops = self.block_ops(block);
                    let before = ops.partition_point(|op| self.op(*op).start <= offset);
                    let last = before.checked_sub(1).and_then(|at| ops.get(at));
                    if last.is_some_and(|op| self.op_range(*op).touches(offset)) {
                        list = ops;
                        continue 'down;
                    }
                }
            }
            return found;
        }
    }

    /// An attribute of an operation, wherever the form writes it.
    pub fn attr(&self, op: OpId, name: &str) -> Option<AttrId> {
        let sym = self.store.names.find(name)?;
        let attrs = self.op(op).attrs.of(&self.store.attrs);
        attrs.iter().find(|named| named.name == sym).map(|named| named.attr)
    }

    /// All attributes of an operation, in the order of the text.
    pub fn attrs(&self, op: OpId) -> Vec<(&str, AttrId)> {
        let attrs = self.op(op).attrs.of(&self.store.attrs);
        attrs.iter().map(|named| (self.store.names.get(named.name), named.attr)).collect()
    }

    /// An attribute of a function's argument.
    pub fn arg_attr(&self, op: OpId, argument: usize, name: &str) -> Option<AttrId> {
        let dict = *self.op(op).args.of(&self.store.arg_attrs).get(argument)?;
        self.attr_entry(dict, name)
    }
}

impl OpReader for Tree {
    type Op = OpId;
    type Value = ValueId;
    type Code = OpCode;

    fn code(&self, op: OpId) -> Option<OpCode> {
        Tree::code(self, op)
    }

    fn operand_group(&self, op: OpId, group: usize) -> &[ValueId] {
        let span = self.spec(op).and_then(|spec| self.group_span_at(op, spec, group));
        span.and_then(|(first, len)| self.operands(op).get(first..first + len)).unwrap_or(&[])
    }

    fn int_attr(&self, op: OpId, name: &str) -> Option<i64> {
        self.attr_int(self.attr(op, name)?)
    }
}
