//! What a declaration holds, and the macro that makes an enum and a table of them.

use crate::effect::OpEffect;
use crate::facts::{BarrierOperand, DataMovement, MutationRole, PartitionHint, PythonName};

/// All that is known of one op.
#[derive(Clone, Copy, Debug)]
pub struct OpDecl {
    /// The full name, `dialect.op`.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// How it is written, in the notation of `notation.rs`.
    pub syntax: &'static str,
    /// What it does to memory and barriers.
    pub effect: OpEffect,
    /// The operand that is a barrier, and what is done with it.
    pub barrier: Option<BarrierOperand>,
    /// What Gluon calls it.
    pub python: Option<PythonName>,
    /// How it moves data when the CPU executes it; without, its operands and results say it.
    pub movement: Option<DataMovement>,
    /// What it tells of the partition that executes it.
    pub partition: Option<PartitionHint>,
    /// Which slips a mutant may have in it.
    pub mutation: Option<MutationRole>,
}

/// Makes the enum of a dialect's ops and their declarations.
///
/// An entry is `/// documentation`, then `Variant = "name": "syntax"`, then in braces the fields of
/// [`OpDecl`] that differ from the default, then `get { … }` with the operands, operand groups and
/// integer attributes that a typed view of the op has; the fallback behind the dialect's name is the effect of
/// ops that give none.
macro_rules! dialect {
    ($(#[$about:meta])* $dialect:ident = $prefix:literal, fallback $fallback:expr;
     $($(#[doc = $doc:literal])+ $op:ident = $name:literal : $syntax:literal
       $({ $($field:ident : $value:expr),* $(,)? })?
       $(get { $($kind:ident $name_of:ident = $text:literal),* $(,)? })? ;)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum $dialect { $($(#[doc = $doc])+ $op,)* }

        impl $dialect {
            /// All ops of the dialect.
            pub(crate) const ALL: &'static [$dialect] = &[$($dialect::$op),*];

            /// The declarations, in the order of [`Self::ALL`]. A declaration that says everything leaves no default.
            #[allow(clippy::needless_update)]
            pub(crate) const OPS: &'static [$crate::OpDecl] = &[$($crate::OpDecl {
                name: concat!($prefix, ".", $name),
                doc: concat!($($doc),+),
                syntax: $syntax,
                $($($field: $value,)*)?
                ..$crate::declare::defaults($fallback)
            },)*];
        }

        $($($crate::typed::typed_view!($dialect, $op, $syntax, concat!("`", $prefix, ".", $name, "`."), {
            $($kind $name_of = $text),*
        });)?)*
    };
}
pub(crate) use dialect;

/// A declaration that says nothing but the effect.
pub(crate) const fn defaults(effect: OpEffect) -> OpDecl {
    OpDecl {
        name: "",
        doc: "",
        syntax: "",
        effect,
        barrier: None,
        python: None,
        movement: None,
        partition: None,
        mutation: None,
    }
}
