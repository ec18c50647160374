//! A server of the Model Context Protocol, whose tools are the commands of a command line.
//!
//! One JSON message a line, on threads. A tool is a row of a table ([`Tool`]): from it come the schema that a client is
//! told and the command line that a call stands for ([`Asked`]), so that the program's own parser reads it.

mod arguments;
mod bound;
mod limits;
mod message;
mod server;
mod tool;

pub use arguments::CallArguments;
pub use limits::LIMITS;
pub use server::{CallTool, Server, Service, ToolAnswer};
pub use tool::{FieldKind, Parameter, Tool};
