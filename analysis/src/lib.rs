//! Text in, findings out.

pub use asserts;
pub use base;
pub use engine::{self, Analysis, Engine, Source, ide, instances as gluon, is_python};
pub use explore;
pub use findings;
pub use fixes as fix;
pub use kernel as sync;
pub use machine as model;
pub use report::{self, timeline};
pub use verify as decide;

/// From trees to kernels.
pub mod lower {
    pub use gluon;
    pub use lower::*;
}

/// Trees of both languages.
pub mod syntax {
    pub use gluon::syntax as gluon;
    pub use ttgir;
}
