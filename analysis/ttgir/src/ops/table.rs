//! The table in memory.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::notation;

/// How many values a group holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly one.
    One,
    /// None or one.
    Maybe,
    /// Any number.
    Many,
}

/// A group of operands or results, by position in its list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// An operand group.
    Operand(u8),
    /// A result group.
    Result(u8),
}

/// Where a type comes from that the form does not spell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The form spells it.
    Spelt,
    /// Always this type.
    Fixed(&'static str),
    /// The same as another group's.
    Same(Group),
    /// `i1` in the shape of another group's.
    Bool(Group),
    /// `i32` in the shape of another group's.
    Int(Group),
    /// What another group's pointers point to.
    Pointee(Group),
    /// The element type of another group's.
    Element(Group),
}

/// One operand or result group of an op.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Its name in the dialect's definition.
    pub name: &'static str,
    /// How many values it holds.
    pub arity: Arity,
    /// Its type, where the form leaves it out.
    pub rule: Rule,
}

/// One piece of a form.
#[derive(Clone, Debug)]
pub enum Step {
    /// Punctuation.
    Punct(&'static str),
    /// A keyword.
    Word(&'static str),
    /// The operands of a group.
    Operands(u8),
    /// An attribute, written in place.
    Attr(&'static str),
    /// A unit attribute that the optional group around it stands for.
    Unit(&'static str),
    /// `{…}`, with a keyword before it or without.
    Dict(Option<&'static str>),
    /// The types of a group; with `true`, the dialect's name may be left out.
    Types(Group, bool),
    /// The types of all operands.
    AllOperands,
    /// The types of all results.
    AllResults,
    /// `(operands) -> results`.
    Function,
    /// One form or another, told apart by the first piece.
    Maybe(Vec<Step>, Vec<Step>),
    /// Clauses in any order, each at most once.
    AnyOrder(Vec<Vec<Step>>),
    /// A hand-written piece.
    Piece(Piece),
}

/// The hand-written pieces of forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece {
    /// `[%dep]`, `[]` or nothing; brackets say that there is a token result.
    Token(u8),
    /// `, %barrier[%pred]` any number of times.
    Barriers(u8, u8),
    /// ` nvws_token %token[%index]` any number of times.
    Tokens(u8, u8),
    /// Integers and commas into an attribute.
    Offsets(&'static str),
    /// `!tt.ptr<…> ->` or nothing: the type of an operand that older versions leave out.
    Pointer(u8),
    /// Nothing; the token result that some versions have is there where it has a name.
    Named,
}

/// The hand-written forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Code {
    Func,
    Module,
    For,
    If,
    While,
    ExecuteRegion,
    IndexSwitch,
    WarpSpecialize,
    Barrier,
    WarpGroup,
    SubtiledRegion,
    Constant,
    Branch,
    CondBranch,
    Switch,
    Select,
}

/// What an attribute has to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttrRule {
    /// Its name.
    pub name: &'static str,
    /// Whether the op cannot be without it.
    pub required: bool,
    /// `i32`, `i64` or `bool`.
    pub ty: &'static str,
}

/// How an op is written.
#[derive(Clone, Debug)]
pub enum Form {
    /// Only `"name"(…) : (…) -> …`.
    Generic,
    /// Something that is skimmed for operands, labels and regions.
    Skimmed,
    /// By a parser of its own.
    Code(Code),
    /// Step by step.
    Steps(Vec<Step>),
}

/// One op.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub struct Spec {
    /// `dialect.op`.
    pub name: &'static str,
    /// Operand groups in the dialect's order.
    pub operands: Vec<Operand>,
    /// Result groups.
    pub results: Vec<Operand>,
    /// How it is written.
    pub form: Form,
    /// Whether it ends a block.
    pub terminator: bool,
    /// Whether its regions see nothing from above.
    pub isolated: bool,
    /// Whether its regions have no order.
    pub graph: bool,
    /// Whether its regions need no terminator in the text.
    pub bare: bool,
    /// Whether operands and results all have one shape.
    pub same_shape: bool,
    /// Whether operands and results all have one element type.
    pub same_element: bool,
    /// Attributes in the dictionary whose kind is fixed.
    pub attrs: Vec<AttrRule>,
    /// Whether the form names the operand groups in another order than the definition.
    pub shuffled: bool,
    /// Whether every operand group has exactly one operand.
    pub fixed: bool,
}

/// All ops.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Spec>,
    by_name: FxHashMap<&'static str, u32>,
    dialects: Vec<&'static str>,
}

impl Table {
    /// The row of a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).map(|&row| row as usize)
    }

    /// The row with a number that `find` gave.
    pub fn row(&self, row: usize) -> &Spec {
        &self.rows[row]
    }

    /// All rows.
    pub fn rows(&self) -> &[Spec] {
        &self.rows
    }

    /// Whether all ops of a dialect are in the table, so that a missing one does not exist.
    pub fn knows_dialect(&self, dialect: &str) -> bool {
        self.dialects.contains(&dialect)
    }
}

/// Dialects whose rows are complete.
const COMPLETE: &[&str] = &[
    "tt",
    "ttg",
    "ttng",
    "nvws",
    "amdg",
    "tlx",
    "tti",
    "proton",
    "proton_gpu",
    "gluon",
    "nvg",
    "arith",
    "math",
    "scf",
    "cf",
    "ub",
];

/// The table, read on first use.
pub fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut rows = Vec::new();
        for text in SOURCES {
            notation::read(text, &mut rows);
        }
        let mut by_name = FxHashMap::default();
        for (at, row) in rows.iter().enumerate() {
            by_name.entry(row.name).or_insert(at as u32);
        }
        Table { rows, by_name, dialects: COMPLETE.to_vec() }
    })
}

/// One file a dialect.
const SOURCES: &[&str] = &[
    include_str!("builtin.ops"),
    include_str!("tt.ops"),
    include_str!("ttg.ops"),
    include_str!("ttng.ops"),
    include_str!("nvws.ops"),
    include_str!("nvg.ops"),
    include_str!("amdg.ops"),
    include_str!("tlx.ops"),
    include_str!("tti.ops"),
    include_str!("gluon.ops"),
    include_str!("proton.ops"),
    include_str!("arith.ops"),
    include_str!("math.ops"),
    include_str!("scf.ops"),
    include_str!("cf.ops"),
    include_str!("gpu.ops"),
];

#[cfg(test)]
mod tests {
    use super::{SOURCES, table};

    #[test]
    fn every_row_reads() {
        let lines = SOURCES.iter().flat_map(|text| text.lines());
        let rows: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        for row in &rows {
            let name = row.split(" |").next().unwrap_or(row);
            assert!(table().find(name).is_some(), "this row does not read: {row}");
        }
        assert_eq!(rows.len(), table().rows().len());
    }
}
