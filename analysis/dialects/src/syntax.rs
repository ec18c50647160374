//! The syntax of an op in the form in which the parser follows it.

use crate::code::OpCode;
use crate::declare::OpDecl;

/// How many values a group holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly one value.
    One,
    /// None or one.
    Maybe,
    /// Any number of values.
    Many,
}

/// A group of operands or results, by position in its list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupRef {
    /// An operand group.
    Operand(u8),
    /// A result group.
    Result(u8),
}

/// Where a type comes from that the form does not spell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeRule {
    /// The form spells it.
    Spelt,
    /// Always this type.
    Fixed(&'static str),
    /// The same as another group's.
    Same(GroupRef),
    /// `i1` in the shape of another group's.
    Bool(GroupRef),
    /// `i32` in the shape of another group's.
    Int(GroupRef),
    /// What another group's pointers point to.
    Pointee(GroupRef),
    /// The element type of another group's.
    Element(GroupRef),
}

/// One operand or result group of an op.
#[derive(Clone, Debug)]
pub struct OperandGroup {
    /// Its name in the dialect's definition.
    pub name: &'static str,
    /// How many values it holds.
    pub arity: Arity,
    /// Its type, where the form leaves it out.
    pub rule: TypeRule,
}

/// One piece of a form.
#[derive(Clone, Debug)]
pub enum FormStep {
    /// Punctuation, as written.
    Punct(&'static str),
    /// A keyword, as written.
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
    Types(GroupRef, bool),
    /// The types of all operands.
    AllOperands,
    /// The types of all results.
    AllResults,
    /// `(operands) -> results`.
    Function,
    /// One form or another, told apart by the first piece.
    Maybe(Vec<FormStep>, Vec<FormStep>),
    /// Clauses in any order, each at most once.
    AnyOrder(Vec<Vec<FormStep>>),
    /// A hand-written piece.
    Piece(FormPiece),
}

/// The hand-written pieces of forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FormPiece {
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
pub enum HandWrittenForm {
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
    /// Its name in the syntax.
    pub name: &'static str,
    /// Whether the op cannot be without it.
    pub required: bool,
    /// `i32`, `i64` or `bool`.
    pub ty: &'static str,
}

/// How an op is written.
#[derive(Clone, Debug)]
pub enum OpForm {
    /// Only `"name"(…) : (…) -> …`.
    Generic,
    /// Something that is skimmed for operands, labels and regions.
    Skimmed,
    /// By a parser of its own.
    HandWritten(HandWrittenForm),
    /// FormStep by step.
    Steps(Vec<FormStep>),
}

/// The syntax of one op.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub struct OpSyntax {
    /// Which op it is.
    pub code: OpCode,
    /// The declaration that it was read from.
    pub decl: &'static OpDecl,
    /// Its name in the syntax.
    pub name: &'static str,
    /// OperandGroup groups in the dialect's order.
    pub operands: Vec<OperandGroup>,
    /// Result groups in order.
    pub results: Vec<OperandGroup>,
    /// How it is written.
    pub form: OpForm,
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
