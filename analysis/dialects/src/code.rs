//! The enum of all declared ops.

use crate::declare::OpDecl;
use crate::{
    Amdg, Arith, Builtin, Cf, Func, Gluon, Gpu, Llvm, Math, Nvg, Nvws, Proton, ProtonGpu, Rocdl, Scf, Tlx, Tt, Ttg,
    Tti, Ttng, Ub,
};

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

            /// All declared ops, dialect by dialect.
            pub(crate) fn all() -> Vec<OpCode> {
                let mut all = Vec::new();
                $(all.extend($dialect::ALL.iter().map(|op| OpCode::$dialect(*op)));)*
                all
            }
        }

        $(impl From<$dialect> for OpCode {
            fn from(op: $dialect) -> Self {
                OpCode::$dialect(op)
            }
        })*
    };
}

codes! {
    Builtin, Func, Tt, Ttg, Ttng, Nvws, Nvg, Amdg, Tlx, Tti, Gluon, Proton, ProtonGpu, Arith, Math, Scf, Cf, Ub, Gpu,
    Llvm, Rocdl,
}
