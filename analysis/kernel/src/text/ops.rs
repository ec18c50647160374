//! The words of the text form, each once, for both directions.

use crate::{CmpOp, CommitKind, InputKind, Issuer, Mode, Proxy, Pure, Space, Var, Width};

/// Words for the values of a plain enum.
pub(super) type Words<T> = &'static [(&'static str, T)];

pub(super) fn word<T: PartialEq + Copy>(words: Words<T>, value: T) -> &'static str {
    words.iter().find(|(_, known)| *known == value).map_or("?", |(word, _)| word)
}

pub(super) fn value<T: Copy>(words: Words<T>, name: &str) -> Option<T> {
    words.iter().find(|(word, _)| *word == name).map(|(_, value)| *value)
}

pub(super) const SPACES: Words<Space> = &[("shared", Space::Shared), ("tensor", Space::Tensor)];
pub(super) const MODES: Words<Mode> = &[("read", Mode::Read), ("write", Mode::Write)];
pub(super) const PROXIES: Words<Proxy> =
    &[("generic", Proxy::Generic), ("async", Proxy::Async), ("tensor", Proxy::Tensor)];
pub(super) const ISSUERS: Words<Issuer> =
    &[("base", Issuer::Base), ("tma", Issuer::Tma), ("clc", Issuer::Clc), ("tensor_core", Issuer::TensorCore)];
pub(super) const COMMITS: Words<CommitKind> = &[
    ("async_copy", CommitKind::AsyncCopy),
    ("wgmma", CommitKind::Wgmma),
    ("tma_store", CommitKind::TmaStore),
    ("tdm", CommitKind::Tdm),
    ("relaxed_read", CommitKind::RelaxedRead),
    ("stage", CommitKind::Stage),
];
pub(super) const COMPARES: Words<CmpOp> = &[
    ("eq", CmpOp::Eq),
    ("ne", CmpOp::Ne),
    ("slt", CmpOp::Slt),
    ("sle", CmpOp::Sle),
    ("sgt", CmpOp::Sgt),
    ("sge", CmpOp::Sge),
    ("ult", CmpOp::Ult),
    ("ule", CmpOp::Ule),
    ("ugt", CmpOp::Ugt),
    ("uge", CmpOp::Uge),
];

/// Operand names of accesses; `-` stands for none.
pub(super) const OPERANDS: Words<&'static str> = &[
    ("-", ""),
    ("A", "A"),
    ("B", "B"),
    ("AScale", "AScale"),
    ("BScale", "BScale"),
    ("Acc", "Acc"),
    ("Src", "Src"),
    ("Dst", "Dst"),
    ("Result", "Result"),
    ("Scratch", "Scratch"),
    ("Registers", "Registers"),
    ("Answer", "Answer"),
];

/// Input kinds with a number, then those without.
pub(super) fn input_words(kind: InputKind) -> (&'static str, Option<u32>) {
    match kind {
        InputKind::Argument(at) => ("argument", Some(at)),
        InputKind::Size(at) => ("size", Some(at)),
        InputKind::Pointer(at) => ("pointer", Some(at)),
        InputKind::ProgramId(axis) => ("program_id", Some(u32::from(axis))),
        InputKind::NumPrograms(axis) => ("num_programs", Some(u32::from(axis))),
        InputKind::CtaRank => ("cta_rank", None),
        InputKind::Tiles => ("tiles", None),
        InputKind::Memory => ("memory", None),
        InputKind::Rewritten => ("rewritten", None),
        InputKind::Free => ("free", None),
    }
}

pub(super) fn input_kind(word: &str, number: Option<u32>) -> Option<InputKind> {
    Some(match (word, number) {
        ("argument", Some(at)) => InputKind::Argument(at),
        ("size", Some(at)) => InputKind::Size(at),
        ("pointer", Some(at)) => InputKind::Pointer(at),
        ("program_id", Some(axis)) => InputKind::ProgramId(u8::try_from(axis).ok()?),
        ("num_programs", Some(axis)) => InputKind::NumPrograms(u8::try_from(axis).ok()?),
        ("cta_rank", None) => InputKind::CtaRank,
        ("tiles", None) => InputKind::Tiles,
        ("memory", None) => InputKind::Memory,
        ("rewritten", None) => InputKind::Rewritten,
        ("free", None) => InputKind::Free,
        _ => return None,
    })
}

type Make = fn(Width, Var, Var) -> Pure<Var>;

/// The operations of a width and two operands.
pub(super) const BINARY: &[(&str, Make)] = &[
    ("add", Pure::Add),
    ("sub", Pure::Sub),
    ("mul", Pure::Mul),
    ("div_s", Pure::DivS),
    ("div_u", Pure::DivU),
    ("ceil_div_s", Pure::CeilDivS),
    ("ceil_div_u", Pure::CeilDivU),
    ("floor_div_s", Pure::FloorDivS),
    ("rem_s", Pure::RemS),
    ("rem_u", Pure::RemU),
    ("min_s", Pure::MinS),
    ("max_s", Pure::MaxS),
    ("min_u", Pure::MinU),
    ("max_u", Pure::MaxU),
    ("and", Pure::And),
    ("or", Pure::Or),
    ("xor", Pure::Xor),
    ("shl", Pure::Shl),
    ("shr_s", Pure::ShrS),
    ("shr_u", Pure::ShrU),
];

/// The word and parts of a binary operation; `None` for all others.
pub(super) fn binary_word(pure: &Pure<Var>) -> Option<(&'static str, Width, Var, Var)> {
    use Pure::*;
    let (Add(w, a, b)
    | Sub(w, a, b)
    | Mul(w, a, b)
    | DivS(w, a, b)
    | DivU(w, a, b)
    | CeilDivS(w, a, b)
    | CeilDivU(w, a, b)
    | FloorDivS(w, a, b)
    | RemS(w, a, b)
    | RemU(w, a, b)
    | MinS(w, a, b)
    | MaxS(w, a, b)
    | MinU(w, a, b)
    | MaxU(w, a, b)
    | And(w, a, b)
    | Or(w, a, b)
    | Xor(w, a, b)
    | Shl(w, a, b)
    | ShrS(w, a, b)
    | ShrU(w, a, b)) = *pure
    else {
        return None;
    };
    let (word, _) = BINARY.iter().find(|(_, make)| make(w, a, b) == *pure)?;
    Some((word, w, a, b))
}
