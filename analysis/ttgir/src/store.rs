//! The flat arrays of a tree. Everything is plain data: a copy of the tree is a copy of memory,
//! and an edit moves the offsets behind it.

use super::ids::{AttrId, BlockId, OpId, RegionId, Slice, Sym, TypeId, ValueId};
use super::names::Names;
use super::types::Types;

/// What an operation is called: a row of the op table, or a name the table does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OpName(pub u32);

impl OpName {
    const FREE: u32 = 1 << 31;

    pub(crate) fn row(row: usize) -> OpName {
        OpName(row as u32)
    }

    pub(crate) fn free(sym: Sym) -> OpName {
        OpName(sym.0 | OpName::FREE)
    }

    /// The table row, or the interned name.
    pub(crate) fn get(self) -> Result<usize, Sym> {
        if self.0 & OpName::FREE == 0 { Ok(self.0 as usize) } else { Err(Sym(self.0 & !OpName::FREE)) }
    }
}

/// One operation: slices of the arrays, and places in the text.
#[derive(Clone, Debug)]
pub(super) struct Op {
    pub name: OpName,
    pub block: BlockId,
    pub start: u32,
    /// End without the regions and what follows them.
    pub header_end: u32,
    pub end: u32,
    pub name_start: u32,
    pub name_end: u32,
    pub uses: Slice,
    pub results: Slice,
    pub regions: Slice,
    pub attrs: Slice,
    pub args: Slice,
    pub succs: Slice,
    /// The result types of a function.
    pub signature: Slice,
    /// Sizes of the operand groups; empty when each group has exactly one operand.
    pub groups: Slice,
    /// The bytes inside `loc(…)`.
    pub loc: AttrId,
    /// Whether what could be read of it is all of it.
    pub broken: bool,
}

/// One use of a value as an operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub sym: Sym,
    /// The `#n` of a multi-result name.
    pub sub: u32,
    pub start: u32,
    pub end: u32,
    /// The type that the operation's trailer gives the operand.
    pub ty: TypeId,
    pub op: OpId,
}

/// Who defines a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    Op(OpId),
    Block(BlockId),
    Nobody,
}

/// One value: a result or a block argument.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    /// The name without `#n`; none for a result that has no name.
    pub sym: Sym,
    pub owner: Owner,
    pub index: u32,
    /// Which result of a `%a:n` group it is, and how many the group has.
    pub sub: u32,
    pub of: u32,
    pub start: u32,
    pub end: u32,
    pub ty: TypeId,
}

/// One region of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub op: OpId,
    pub blocks: Slice,
    pub start: u32,
    pub end: u32,
    pub isolated: bool,
}

/// One block of a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub region: RegionId,
    pub label: Sym,
    pub args: Slice,
    pub ops: Slice,
    pub start: u32,
    pub end: u32,
}

/// A jump target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Succ {
    pub label: Sym,
    pub start: u32,
    pub end: u32,
    pub uses: Slice,
}

/// A named attribute of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub name: Sym,
    pub attr: AttrId,
}

/// `#name = …` or `!name = …`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alias {
    pub name: Sym,
    pub start: u32,
    pub value: AttrId,
}

/// All arrays of a tree.
#[derive(Clone, Default, Debug)]
pub(super) struct Store {
    pub names: Names,
    pub ops: Vec<Op>,
    pub uses: Vec<Use>,
    /// What each use resolves to, filled by `resolve`.
    pub used: Vec<ValueId>,
    pub values: Vec<Value>,
    /// `0, 1, 2, …`: so that a run of values can be lent as a slice of handles.
    pub value_ids: Vec<ValueId>,
    pub regions: Vec<Region>,
    pub region_ids: Vec<RegionId>,
    pub blocks: Vec<Block>,
    pub block_ids: Vec<BlockId>,
    pub op_ids: Vec<OpId>,
    pub succs: Vec<Succ>,
    pub attrs: Vec<Named>,
    /// Attribute dictionaries of function arguments, in order.
    pub arg_attrs: Vec<AttrId>,
    pub groups: Vec<u32>,
    pub signatures: Vec<TypeId>,
    pub top: Vec<OpId>,
    pub aliases: Vec<Alias>,
    /// Per name, its alias + 1, 0 where it is none.
    pub alias_of: Vec<u32>,
    /// How many entries of the arrays belong to nothing any more, after edits.
    pub garbage: usize,
    /// Locations named before their definition: checked when all aliases are known.
    pub loc_refs: Vec<(Sym, u32, u32)>,
    /// Uses of attribute and type aliases that nothing above them defines.
    pub alias_refs: Vec<(Sym, u32, u32)>,
    /// Where a bracket opens whose end was looked for and not found, and how far: what stands there decided how
    /// the text was read.
    pub unclosed: Vec<(u32, u32)>,
    pub types: Types,
    /// Text of attributes that no single place spells.
    pub made: String,
}

impl Store {
    /// Gives back what the arrays hold beyond their ends: a tree that was read stays as long as its text.
    pub(super) fn shrink_to_fit(&mut self) {
        self.ops.shrink_to_fit();
        self.uses.shrink_to_fit();
        self.used.shrink_to_fit();
        self.values.shrink_to_fit();
        self.value_ids.shrink_to_fit();
        self.regions.shrink_to_fit();
        self.region_ids.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self.block_ids.shrink_to_fit();
        self.op_ids.shrink_to_fit();
        self.succs.shrink_to_fit();
        self.attrs.shrink_to_fit();
        self.arg_attrs.shrink_to_fit();
        self.groups.shrink_to_fit();
        self.signatures.shrink_to_fit();
        self.top.shrink_to_fit();
        self.aliases.shrink_to_fit();
        self.alias_of.shrink_to_fit();
        self.loc_refs.shrink_to_fit();
        self.alias_refs.shrink_to_fit();
        self.unclosed.shrink_to_fit();
        self.made.shrink_to_fit();
    }

    /// Adds a value.
    pub(crate) fn value(&mut self, value: Value) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(value);
        self.value_ids.push(id);
        id
    }

    /// The alias of a name, if it has one.
    pub(crate) fn alias(&self, sym: Sym) -> Option<&Alias> {
        let at = self.alias_of.get(sym.index())?.checked_sub(1)?;
        self.aliases.get(at as usize)
    }

    /// Adds an alias.
    pub(crate) fn define(&mut self, alias: Alias) {
        let at = alias.name.index();
        if self.alias_of.len() <= at {
            self.alias_of.resize(at + 1, 0);
        }
        self.aliases.push(alias);
        self.alias_of[at] = self.aliases.len() as u32;
    }

    /// Adds text that the source does not spell and gives the attribute made of it.
    pub(crate) fn make(&mut self, text: &str) -> AttrId {
        let start = AttrId::MADE + self.made.len() as u32;
        self.made.push_str(text);
        AttrId { start, end: AttrId::MADE + self.made.len() as u32 }
    }
}
