//! Builds a module op by op and prints it as the declarations say.
//!
//! An [`Op`] names what it is given by the groups and attributes of its declaration. [`Builder::push`] refuses what
//! the declaration does not have, and what lacks something that it asks for; [`IrModule::print`] follows the declared
//! form step by step, as the parser does, so that what is printed reads back as what was built.
//!
//! Spaces stand where Triton's own printer puts them; there is no indentation, and an op begins a line.

mod attr;
mod check;
mod dtype;
pub mod numbers;
mod op;
mod print;
mod ty;
mod values;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use op::Placed;
use values::Values;

pub use attr::Attr;
pub use check::BuildError;
pub use dtype::DType;
pub use op::{Op, Region};
pub use print::{Printed, ValueNames};
pub use ty::{LayoutAlias, Type};
pub use values::Ssa;

/// A module that is being built. `O` is what the caller remembers of where an op comes from.
#[derive(Clone, Debug)]
pub struct Builder<O> {
    /// What is written now, and what is around it.
    region: Region<O>,
    outer: Vec<Region<O>>,
    values: Values,
    aliases: FxHashMap<String, u32>,
    alias_list: Vec<String>,
}

/// A module that was built.
#[derive(Clone, Debug)]
pub struct IrModule<O> {
    pub(crate) region: Region<O>,
    pub(crate) aliases: Vec<String>,
    /// The name in the source of each value, by number.
    pub(crate) names: Vec<Option<Rc<str>>>,
    /// Names that values have in the source besides.
    pub(crate) also_named: Vec<(Ssa, Rc<str>)>,
    pub(crate) types: Vec<Type>,
}

impl<O> Default for Builder<O> {
    fn default() -> Builder<O> {
        Builder {
            region: Region::default(),
            outer: Vec::new(),
            values: Values::default(),
            aliases: FxHashMap::default(),
            alias_list: Vec::new(),
        }
    }
}

impl<O> Default for IrModule<O> {
    fn default() -> IrModule<O> {
        Builder::default().finish()
    }
}

impl<O> Builder<O> {
    /// A new value, which a region that is not attached yet has as an argument, or nothing defines.
    pub fn fresh(&mut self, ty: Type) -> Ssa {
        let value = Ssa(self.values.types.len() as u32);
        self.values.types.push(ty);
        self.values.names.push(None);
        value
    }

    /// The type of a value.
    pub fn ty(&self, value: Ssa) -> &Type {
        self.values.ty(value)
    }

    /// Names a value after a variable of the source, unless it has a name.
    pub fn name(&mut self, value: Ssa, name: &str) {
        match self.values.names.get_mut(value.0 as usize) {
            Some(slot @ None) => *slot = Some(name.into()),
            Some(Some(known)) if **known != *name => self.values.also_named.push((value, name.into())),
            _ => {}
        }
    }

    /// Whether a variable of the source names a value.
    pub fn is_named(&self, value: Ssa) -> bool {
        self.values.names.get(value.0 as usize).is_some_and(Option::is_some)
    }

    /// Names a value after another one, with `suffix` behind its name, where nothing else ever names it.
    pub fn name_after(&mut self, value: Ssa, other: Ssa, suffix: impl Into<String>) {
        self.values.named_after.push((value, other, suffix.into()));
    }

    /// A name for an attribute at the top of the module: `#a0` for `#ttg.nvmma_shared<{…}>`.
    pub fn alias(&mut self, attribute: &str) -> LayoutAlias {
        let next = self.alias_list.len() as u32;
        let number = *self.aliases.entry(attribute.to_owned()).or_insert(next);
        if number == next {
            self.alias_list.push(attribute.to_owned());
        }
        LayoutAlias(number)
    }

    /// Appends an op and gives its results.
    ///
    /// # Errors
    ///
    /// Where the op's declaration does not have what it is given, or asks for more.
    pub fn push(&mut self, origin: Option<O>, mut op: Op<O>) -> Result<Vec<Ssa>, BuildError> {
        check::check(&op, &self.values)?;
        let types = std::mem::take(&mut op.result_types);
        let results: Vec<Ssa> = types.into_iter().map(|ty| self.fresh(ty)).collect();
        op.results = results.clone();
        self.region.ops.push(Placed { op, origin });
        Ok(results)
    }

    /// Starts a region: what is pushed from now on goes into it.
    pub fn open(&mut self) {
        let outer = std::mem::take(&mut self.region);
        self.outer.push(outer);
    }

    /// Ends the region that was started last.
    pub fn close(&mut self) -> Region<O> {
        let outer = self.outer.pop().unwrap_or_default();
        std::mem::replace(&mut self.region, outer)
    }

    /// Appends the ops of a region to what is being written.
    pub fn append(&mut self, region: Region<O>) {
        self.region.ops.extend(region.ops);
    }

    /// The module; regions that are still open end.
    pub fn finish(mut self) -> IrModule<O> {
        while !self.outer.is_empty() {
            let region = self.close();
            self.append(region);
        }
        let Values { types, mut names, named_after, also_named } = self.values;
        for (value, other, suffix) in named_after {
            let of = names.get(other.0 as usize).cloned().flatten();
            if let (Some(slot @ None), Some(of)) = (names.get_mut(value.0 as usize), of) {
                *slot = Some(format!("{of}{suffix}").into());
            }
        }
        IrModule { region: self.region, aliases: self.alias_list, names, also_named, types }
    }
}

impl<O> IrModule<O> {
    /// Whether it has an op of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.region.contains(name)
    }
}
