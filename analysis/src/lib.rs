//! Barrier bugs of GPU kernels, found in the text of TTGIR and of Gluon files.
//!
//! Fencepost executes the synchronisation of each kernel on an abstract machine and says which barrier is
//! wrong, where, and by which run. This crate is the way in for tools that embed it: [`check`] takes a text
//! and gives what is to be said of it. It does no I/O, knows no clock, no thread, no LSP and no JSON.
//!
//! ```
//! use analysis::{Options, Verdict, check};
//!
//! let kernel = r#"
//! #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
//! #smem = #ttg.shared_memory
//! module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
//!   tt.func public @never_arrives() {
//!     %c0 = arith.constant 0 : i32
//!     %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
//!     ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
//!     ttng.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
//!     tt.return
//!   }
//! }
//! "#;
//! let analysis = check(kernel, &Options::default());
//! let kernel = &analysis.kernels[0];
//! assert_eq!(kernel.verdict, Verdict::Found);
//! assert_eq!(kernel.findings[0].kind.name(), "deadlock");
//! ```
//!
//! Editors and other programs that ask again after every edit keep an [`Engine`], which remembers what it
//! decided. The crates below are public under their own names: `ttgir` reads a text, `gluon` elaborates
//! Python, `lower` makes a `kernel`, `machine` under `explore` runs it, `verify` chooses the runs, `findings`
//! says what they mean, `fixes` mends it, `report` lays it out, `engine` remembers.

use std::sync::Arc;

pub use base::{Cancel, Cancelled, Limits, LineIndex, TextRange};
pub use engine::{Analysis, Engine, Source};
pub use findings::{Finding, Kind, Severity, Verdict};
pub use python::syntax::{NoSources, Sources};

use engine::instances::{Config, Elaborator};

/// How a text is checked.
#[derive(Debug, Default)]
pub struct Options {
    /// The path of the text: `.py` is Python with Gluon kernels, anything else TTGIR. Empty for TTGIR.
    pub path: String,
    /// What bounds the analysis.
    pub limits: Limits,
    /// What Gluon kernels are analysed with where the text does not say it.
    pub config: Config,
}

/// Checks a text: its kernels with their verdicts and findings, what is wrong with its syntax, and what was
/// left out. Files that a Python text imports are not looked at; [`Engine::analyse_source`] takes
/// [`Sources`] that know them.
pub fn check(text: impl Into<Arc<str>>, options: &Options) -> Analysis {
    let source = Source::new(&options.path, text);
    let mut elaborator = Elaborator::new(options.config.clone());
    let mut engine = Engine::new(options.limits.clone());
    // Nobody cancels it.
    engine.analyse_source(&source, &mut elaborator, &NoSources, &Cancel::never()).unwrap_or_default()
}
