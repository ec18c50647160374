//! Writes the IR of a kernel, and remembers from where in the source each op comes.
//!
//! The IR is what Triton's own front end would print before its passes: one op a line, regions as nested
//! text. [`lower`] reads it back, so that what an op means is said in one place.

use std::fmt::{self, Display, Write};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::origin::OriginId;

/// An SSA value; prints as `%12`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Ssa(pub u32);

impl Display for Ssa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// Text of a region with the origins of its ops.
#[derive(Clone, Debug, Default)]
pub struct Code {
    text: String,
    /// Where in `text` the line of an op starts.
    ops: Vec<(u32, OriginId)>,
}

impl Code {
    /// Whether it has no op.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Puts `other` at the end.
    fn append(&mut self, other: Code) {
        let base = self.text.len() as u32;
        self.text.push_str(&other.text);
        self.ops.extend(other.ops.into_iter().map(|(at, origin)| (at + base, origin)));
    }
}

/// A whole module.
#[derive(Debug)]
pub struct Finished {
    pub text: String,
    /// Where in the text the line of an op starts, ascending.
    pub ops: Vec<(u32, OriginId)>,
    /// The Python names of SSA values, by number.
    pub names: Vec<Option<Rc<str>>>,
}

/// The writer.
#[derive(Debug, Default)]
pub struct Emit {
    code: Code,
    outer: Vec<Code>,
    /// Type of each SSA value, as text.
    types: Vec<Rc<str>>,
    /// The Python name of each SSA value, given by the first assignment.
    names: Vec<Option<Rc<str>>>,
    aliases: FxHashMap<String, u32>,
    alias_text: String,
}

impl Emit {
    /// A new SSA value of this type, that some text will define: a result, or an argument of a region.
    pub fn fresh(&mut self, ty: &str) -> Ssa {
        let ssa = Ssa(self.types.len() as u32);
        self.types.push(ty.into());
        self.names.push(None);
        ssa
    }

    /// The type of a value, as text.
    pub fn ty(&self, ssa: Ssa) -> Rc<str> {
        self.types.get(ssa.0 as usize).cloned().unwrap_or_else(|| "none".into())
    }

    /// Names a value after a Python variable, unless it has a name.
    pub fn name(&mut self, ssa: Ssa, name: &str) {
        if let Some(slot @ None) = self.names.get_mut(ssa.0 as usize) {
            *slot = Some(name.into());
        }
    }

    /// An alias for an attribute: `#a0` for `#ttg.nvmma_shared<{…}>`.
    pub fn alias(&mut self, attr: &str) -> String {
        let next = self.aliases.len() as u32;
        let number = *self.aliases.entry(attr.to_owned()).or_insert(next);
        if number == next {
            // Writing to a `String` cannot fail.
            let _ = writeln!(self.alias_text, "#a{number} = {attr}");
        }
        format!("#a{number}")
    }

    /// An op without results: one line.
    pub fn op(&mut self, origin: OriginId, line: fmt::Arguments<'_>) {
        self.code.ops.push((self.code.text.len() as u32, origin));
        let _ = writeln!(self.code.text, "{line}");
    }

    /// An op with one result of type `ty`: `rest` is the line behind the `=`.
    pub fn value(&mut self, origin: OriginId, ty: &str, rest: fmt::Arguments<'_>) -> Ssa {
        let ssa = self.fresh(ty);
        self.op(origin, format_args!("{ssa} = {rest}"));
        ssa
    }

    /// Starts a region: what is emitted from now on goes into it.
    pub fn open(&mut self) {
        let outer = std::mem::take(&mut self.code);
        self.outer.push(outer);
    }

    /// Ends the region that was started last.
    pub fn close(&mut self) -> Code {
        let outer = self.outer.pop().unwrap_or_default();
        std::mem::replace(&mut self.code, outer)
    }

    /// Puts the text of a region, without braces, at the end of what is being written.
    pub fn splice(&mut self, code: Code) {
        self.code.append(code);
    }

    /// A line that is no op (`} else {`).
    pub fn raw(&mut self, line: &str) {
        self.code.text.push_str(line);
        self.code.text.push('\n');
    }

    /// The aliases, then `module`, with origins.
    pub fn finish(mut self) -> Finished {
        while !self.outer.is_empty() {
            let code = self.close();
            self.splice(code);
        }
        let mut whole = Code { text: self.alias_text, ops: Vec::new() };
        whole.append(self.code);
        Finished { text: whole.text, ops: whole.ops, names: self.names }
    }
}
