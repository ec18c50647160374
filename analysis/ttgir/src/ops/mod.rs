//! The op table: which operations there are and how each is written.
//!
//! The rows are data, one file a dialect, in a notation of our own; `notation` reads them once
//! into steps that the parser follows. A row is
//!
//! ```text
//! dialect.op | operands | results | form | flags
//! ```
//!
//! - An operand or result is a group name, then `:type` if its type is fixed or `=rule` if it
//!   follows from another group (`=src`, `=i1(ptr)`, `=pointee(ptr)`, `=elem(src)`, `=i32(src)`),
//!   then `?` for an optional and `*` for a variadic group.
//! - In a form, `%g` is the operands of a group, `!g` their types (`!<g` if the dialect's name may be left out), `!operands`, `!results` and
//!   `!fn` are the types of all, `$a` is an attribute written in place, `$!a` a unit attribute
//!   that its optional group stands for, `@` the attribute dictionary (`@attributes` after that
//!   keyword), `?{…}:{…}` an optional group with its alternative, `*{… | …}` clauses in any
//!   order, `~x` one of the few hand-written pieces, anything else is literal. `=name` is a
//!   hand-written parser, `-` means that the op has only the generic form, `...` that the form
//!   is skimmed and not checked.
//! - Flags: `term` a terminator, `isolated` sees nothing from above, `sized` stores its group
//!   sizes, `shape` and `elem` say that operands and results agree in that, `a!i32` that the
//!   attribute `a` is a must and `a?i32` that it is not, `graph` has regions without order, `bare` has regions whose terminator may be left out.
//!
//! Names of the ops and their forms are facts of the dialects; where two versions differ the
//! table takes both.

mod notation;
mod table;

pub(super) use table::{Arity, AttrRule, Code, Form, Group, Piece, Rule, Spec, Step, Table, table};
