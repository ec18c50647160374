//! What a declaration holds, and the macro that makes an enum and a table of them.

use crate::effect::OpEffect;
use crate::facts::{BarrierOperand, DataMovement, MutationRole, PartitionHint, PythonName};
use crate::{
    Amdg, Arith, Builtin, Cf, Func, Gluon, Gpu, Llvm, Math, Nvg, Nvws, Proton, ProtonGpu, Rocdl, Scf, Tlx, Tt, Ttg,
    Tti, Ttng, Ub,
};

/// All that is known of one op.
#[derive(Clone, Copy, Debug)]
pub struct OpDecl {
    /// Which op it is.
    pub code: OpCode,
    /// `dialect.op`.
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
            /// The declarations, in the order of the variants.
            pub(crate) const OPS: &'static [$crate::OpDecl] = &[$($crate::OpDecl {
                code: $crate::OpCode::$dialect($dialect::$op),
                name: concat!($prefix, ".", $name),
                doc: concat!($($doc),+),
                syntax: $syntax,
                $($($field: $value,)*)?
                ..$crate::declare::defaults($crate::OpCode::$dialect($dialect::$op), $fallback)
            },)*];
        }

        $($($crate::typed::typed_view!($dialect, $op, $syntax, concat!("`", $prefix, ".", $name, "`."), {
            $($kind $name_of = $text),*
        });)?)*

        impl From<$dialect> for $crate::OpCode {
            fn from(op: $dialect) -> Self {
                $crate::OpCode::$dialect(op)
            }
        }
    };
}
pub(crate) use dialect;

/// A declaration that says nothing but the effect.
pub(crate) const fn defaults(code: OpCode, effect: OpEffect) -> OpDecl {
    OpDecl {
        code,
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

macro_rules! codes {
    ($($dialect:ident),* $(,)?) => {
        /// One of the declared ops.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[allow(missing_docs)]
        pub enum OpCode { $($dialect($dialect),)* }

        impl OpCode {
            /// The declaration of the op.
            pub fn decl(self) -> &'static OpDecl {
                match self { $(OpCode::$dialect(op) => &$dialect::OPS[op as usize],)* }
            }
        }

        /// The declarations of all dialects, dialect by dialect.
        pub(crate) const DIALECTS: &[&[OpDecl]] = &[$($dialect::OPS),*];
    };
}

codes! {
    Builtin, Func, Tt, Ttg, Ttng, Nvws, Nvg, Amdg, Tlx, Tti, Gluon, Proton, ProtonGpu, Arith, Math, Scf, Cf, Ub, Gpu,
    Llvm, Rocdl,
}
