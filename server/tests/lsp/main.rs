//! Sessions with the real server: one module a subject, one binary for all of them.

mod actions;
mod calls;
#[path = "../support/capabilities.rs"]
mod capabilities;
mod chaos;
#[path = "../support/client.rs"]
mod client;
mod definitions;
mod diagnostics;
mod editors;
mod edits;
mod features;
mod files;
mod fix_all;
mod folder;
mod gluon;
mod hints;
mod hover;
mod ir;
mod links;
mod names;
mod neovim;
mod on_save;
mod panics;
mod progress;
#[path = "../../../tests/src/lsp/random.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the long runs of the tests")]
mod random;
mod rename;
mod report;
mod requests;
#[cfg(unix)]
mod run_kill;
mod runs;
mod session;
mod settings;
#[path = "../support/skip.rs"]
mod skip;
mod stability;
mod stepping;
mod structure;
mod support;
mod sync;
mod tokens;
#[path = "../../../tests/src/lsp/typing.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the long runs of the tests")]
mod typed;
mod typing;
#[path = "../../../tests/src/chaos/edits.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the analysis")]
mod typist;
mod wire;
mod workspace;
