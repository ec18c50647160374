//! Sessions with the real server that are too long for the session tests: random edits over the wire, and lines that
//! are typed key by key. The session tests include these files and run a few of each.

#[path = "../../../server/tests/support/capabilities.rs"]
mod capabilities;
#[path = "../../../server/tests/support/client.rs"]
pub(crate) mod client;
pub mod corpus;
pub mod random;
#[path = "../../../server/tests/lsp/requests.rs"]
pub(crate) mod requests;
pub mod typing;

use crate::chaos::edits as typist;
