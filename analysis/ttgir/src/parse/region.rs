//! Regions and blocks.

use smallvec::SmallVec;

use super::cursor::is_name;
use super::layout::Brace;
use super::{MAX_REGIONS, Parsed, Parser, SyntaxError};
use crate::ids::{BlockId, OpId, RegionId, Slice, Sym, TypeId};
use crate::store::{Block, Owner, Region, Value};
use base::TextRange;
use dialects::{HandWrittenForm, OpForm};

/// An argument of a block while it is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arg {
    pub sym: Sym,
    pub start: u32,
    pub end: u32,
    pub ty: TypeId,
}

impl Parser<'_> {
    /// `{ … }`; `args` are the entry block's, where the op's form spells them.
    pub(super) fn region(&mut self, op: OpId, isolated: bool, args: &[Arg]) -> Parsed<RegionId> {
        if self.peek() != b'{' {
            return Err(self.expected("`{`"));
        }
        let open = self.pos;
        let id = RegionId(self.store.regions.len() as u32);
        let region = Region { op, blocks: Slice::default(), start: open as u32, end: open as u32, isolated };
        self.store.regions.push(region);
        if self.regions >= MAX_REGIONS {
            let range = TextRange::new(open as u32, open as u32 + 1);
            let message = format!("regions nest deeper than {MAX_REGIONS} levels; what lies deeper is not read");
            self.errors.push(SyntaxError::new(range, "nesting", message));
            self.skip_braces();
            self.store.regions[id.index()].end = self.last_end as u32;
            return Ok(id);
        }
        self.push_open(op, open);
        self.bump(1);
        self.regions += 1;
        let blocks = self.blocks(id, args);
        self.regions -= 1;
        let leaves = self.leaves();
        self.pop_open();
        let first = self.store.block_ids.len();
        self.store.block_ids.extend_from_slice(&blocks);
        let closed = !leaves && self.eat(b'}');
        let region = &mut self.store.regions[id.index()];
        region.blocks = Slice::since(first, first + blocks.len());
        region.end = self.last_end as u32;
        if closed {
            return Ok(id);
        }
        self.unbalanced = true;
        let range = self.here();
        let opened = TextRange::new(open as u32, open as u32 + 1);
        let error = SyntaxError::new(range, "syntax", "expected `}`").relate(opened, "this is not closed");
        self.errors.push(error);
        Ok(id)
    }

    fn blocks(&mut self, region: RegionId, args: &[Arg]) -> SmallVec<[BlockId; 2]> {
        let mut blocks = SmallVec::new();
        if self.peek() != b'^' || !args.is_empty() {
            let block = self.new_block(region, Sym::NONE);
            self.add_args(block, args);
            self.block_ops(block);
            blocks.push(block);
        }
        while self.peek() == b'^' && !self.leaves() {
            let start = self.pos;
            let end = self.name_end(start);
            let label = self.intern(start, end);
            let block = self.new_block(region, label);
            self.bump(end - start);
            let mut args = Vec::new();
            if self.label_args(&mut args).is_err() {
                self.skim_line();
            }
            self.add_args(block, &args);
            self.block_ops(block);
            blocks.push(block);
        }
        blocks
    }

    /// `{}` in the generic form is a region without blocks, as of a declared function.
    pub(super) fn drop_empty_block(&mut self, region: RegionId) {
        let [block] = self.store.regions[region.index()].blocks.of(&self.store.block_ids) else { return };
        let block = &self.store.blocks[block.index()];
        if block.ops.len == 0 && block.args.len == 0 && block.label == Sym::NONE {
            self.store.regions[region.index()].blocks = Slice::default();
        }
    }

    fn new_block(&mut self, region: RegionId, label: Sym) -> BlockId {
        let id = BlockId(self.store.blocks.len() as u32);
        let (start, empty) = (self.pos as u32, Slice::default());
        self.store.blocks.push(Block { region, label, args: empty, ops: empty, start, end: start });
        id
    }

    fn add_args(&mut self, block: BlockId, args: &[Arg]) {
        let first = self.store.values.len();
        for (index, arg) in args.iter().enumerate() {
            let (owner, index) = (Owner::Block(block), index as u32);
            let Arg { sym, start, end, ty } = *arg;
            self.store.value(Value { sym, owner, index, sub: 0, of: 1, start, end, ty });
        }
        self.store.blocks[block.index()].args = Slice::since(first, first + args.len());
    }

    /// `(%a: t, …):` behind a label.
    fn label_args(&mut self, args: &mut Vec<Arg>) -> Parsed {
        if self.peek() == b'(' {
            self.block_args(args)?;
        }
        self.expect(b':')
    }

    /// `(%a: t loc(…), …)`.
    pub(super) fn block_args(&mut self, args: &mut Vec<Arg>) -> Parsed {
        self.expect(b'(')?;
        if self.eat(b')') {
            return Ok(());
        }
        loop {
            let mut arg = self.block_arg_name()?;
            self.expect(b':')?;
            arg.ty = self.ty()?;
            self.trailing_location()?;
            args.push(arg);
            if !self.eat(b',') {
                return self.expect(b')');
            }
        }
    }

    /// `%a` as the name of an argument.
    pub(super) fn block_arg_name(&mut self) -> Parsed<Arg> {
        let start = self.pos;
        let end = self.name_end(start);
        if self.peek() != b'%' || end == start + 1 {
            return Err(self.expected("an argument's name"));
        }
        let sym = self.intern(start, end);
        self.bump(end - start);
        Ok(Arg { sym, start: start as u32, end: end as u32, ty: TypeId::NONE })
    }

    fn block_ops(&mut self, block: BlockId) {
        let mut ops = Vec::new();
        while !self.at_end() && !self.at_label() && !self.leaves() {
            if self.peek() == b'}' {
                if self.brace() != Brace::Stray {
                    break;
                }
                self.stray_brace();
                continue;
            }
            if let Some(op) = self.operation(block) {
                ops.push(op);
            }
        }
        let first = self.store.op_ids.len();
        self.store.op_ids.extend_from_slice(&ops);
        let stored = &mut self.store.blocks[block.index()];
        stored.ops = Slice::since(first, first + ops.len());
        stored.end = self.last_end as u32;
    }

    /// Reads operations of a block from `from` on, and is done when the next token is at `to`.
    /// Gives the end of the last of them too. None if no operation ends there: the text has to be read from further out.
    pub(crate) fn reread(&mut self, block: BlockId, depth: u32, from: u32, to: u32) -> Option<(Vec<OpId>, u32)> {
        self.functions = u32::from(self.in_function(block));
        self.pos = from as usize;
        self.last_end = from as usize;
        self.newline = true;
        self.regions = depth;
        self.trivia();
        let mut ops = Vec::new();
        while self.pos < to as usize {
            if self.peek() == b'}' || self.at_label() {
                return None;
            }
            ops.extend(self.operation(block));
        }
        if self.unbalanced {
            return None;
        }
        (self.pos == to as usize && self.newline_before(to as usize)).then_some((ops, self.last_end as u32))
    }

    /// Whether a block is in a function.
    fn in_function(&self, mut block: BlockId) -> bool {
        loop {
            let Some(op) = self.store.regions[self.store.blocks[block.index()].region.index()].op.some() else {
                return false;
            };
            let op = &self.store.ops[op.index()];
            let form = op.name.get().ok().map(|row| &self.table.row(row).form);
            if matches!(form, Some(OpForm::HandWritten(HandWrittenForm::Func))) {
                return true;
            }
            let Some(around) = op.block.some() else { return false };
            block = around;
        }
    }

    /// Reads the attribute at `from` and says whether it is sound and ends at `to`.
    pub(crate) fn reread_attr(&mut self, from: u32, to: u32) -> bool {
        self.pos = from as usize;
        self.last_end = from as usize;
        self.attr().is_ok() && self.last_end == to as usize && self.errors.is_empty()
    }

    /// Whether the token at `at` is the first of its line.
    fn newline_before(&self, at: usize) -> bool {
        let gap = self.slice(self.last_end, at);
        gap.contains('\n') || at >= self.src.len()
    }

    /// Whether a block's label is next.
    pub(super) fn at_label(&self) -> bool {
        self.peek() == b'^' && is_name(self.byte(self.pos + 1))
    }

    /// Skips from `{` to its partner without reading what is between.
    fn skip_braces(&mut self) {
        let mut depth = 0usize;
        while !self.at_end() {
            match self.peek() {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            self.bump_any();
            if depth == 0 {
                return;
            }
        }
    }
}
