//! What editors show of a Python file: uses, symbols.
//!
//! All of it is read off an elaborated instance, the first of its kernel that reaches the place.

use crate::{Symbol, SymbolKind};
use base::TextRange;
use engine::instances::{ElaboratedInstance, Elaboration, KernelInstances};
use gluon::FileId;

/// The kernels, with their partitions, barriers and buffers.
pub fn symbols(of: &Elaboration) -> Vec<Symbol> {
    of.kernels.iter().map(|kernel| symbol(of, kernel)).collect()
}

fn symbol(of: &Elaboration, kernel: &KernelInstances) -> Symbol {
    let mut children = Vec::new();
    let mut detail = String::new();
    if let Some(elaborated) = kernel.instances.first() {
        detail.clone_from(&elaborated.instance.label);
        let roots = crate::symbols(elaborated.document());
        let within = Within {
            elaborated,
            kernel: of.module.place(kernel.entry.range).0,
            name: of.module.place(kernel.entry.name_range).0,
        };
        children = roots.into_iter().flat_map(|root| root.children).map(|child| within.said(child)).collect();
        children.dedup_by(|a, b| (&a.name, a.selection) == (&b.name, b.selection) && b.children.is_empty());
    }
    Symbol {
        name: kernel.entry.name.clone(),
        detail,
        kind: SymbolKind::Function,
        range: of.module.place(kernel.entry.range).0,
        selection: of.module.place(kernel.entry.name_range).0,
        children,
    }
}

/// A kernel in whose range the places of its symbols lie.
struct Within<'e> {
    elaborated: &'e ElaboratedInstance,
    kernel: TextRange,
    name: TextRange,
}

impl Within<'_> {
    /// A symbol in Python's words, with what is inside of it in its range.
    fn said(&self, symbol: Symbol) -> Symbol {
        let selection = self.place(symbol.selection);
        let children: Vec<Symbol> = symbol.children.into_iter().map(|child| self.said(child)).collect();
        Symbol {
            name: self.elaborated.say(&symbol.name),
            detail: self.elaborated.say(&symbol.detail),
            kind: symbol.kind,
            range: children.iter().fold(selection, |range, child| range.cover(child.range)),
            selection,
            children,
        }
    }

    /// Where a range of the IR comes from in the kernel itself: of what stands in another function, the call that leads
    /// there.
    fn place(&self, range: TextRange) -> TextRange {
        let origins = self.elaborated.origins();
        let Some(origin) = origins.at(range.start) else { return self.name };
        let own = (origin.file, origin.range);
        let around = origins.frames(origin).map(|frame| (frame.file, frame.range));
        let own = std::iter::once(own).chain(around).filter(|(file, _)| *file == FileId(0));
        let mut places = own.map(|(_, range)| self.elaborated.module().place(range).0);
        places.find(|place| self.kernel.contains(*place)).unwrap_or(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Cancel;
    use engine::instances::{Elaborator, PythonFile};
    use python::syntax::NoSources;

    const KERNEL: &str = r#"from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier


@gluon.jit
def waits(bar, n):
    for i in range(n):
        mbarrier.wait(bar, i & 1)


@gluon.jit
def arrives(bar, n):
    for i in range(n):
        mbarrier.arrive(bar, count=1)


@gluon.jit
def kernel(n):
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    gl.warp_specialize([(waits, (bar, n)), (arrives, (bar, n))], [1], [24])
"#;

    #[test]
    fn what_is_inside_lies_inside() {
        fn check(symbol: &Symbol) {
            assert!(symbol.range.contains(symbol.selection), "{symbol:?}");
            for child in &symbol.children {
                assert!(symbol.range.contains(child.range), "{symbol:?}");
                check(child);
            }
        }
        let file = PythonFile::new("k.py", KERNEL);
        let of = Elaborator::default().elaborate(&file, &NoSources, &Cancel::never()).expect("it is not cancelled");
        let found = symbols(&of);
        assert_eq!(found.len(), 1, "{found:?}");
        let kinds: Vec<SymbolKind> = found[0].children.iter().map(|child| child.kind).collect();
        assert!(kinds.contains(&SymbolKind::Partition) && kinds.contains(&SymbolKind::Barrier), "{found:?}");
        found.iter().for_each(check);
    }
}
