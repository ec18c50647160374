//! What editors show of a Python file: uses, symbols.
//!
//! All of it is read off an elaborated instance, the first of its kernel that reaches the place.

use crate::{Symbol, SymbolKind};
use engine::instances::{ElaboratedInstance, Elaboration, KernelInstances};

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
        children = roots.into_iter().flat_map(|root| root.children).map(|child| said(elaborated, child)).collect();
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

fn said(elaborated: &ElaboratedInstance, symbol: Symbol) -> Symbol {
    let place = |range| elaborated.place(range).range;
    let selection = place(symbol.selection);
    Symbol {
        name: elaborated.say(&symbol.name),
        detail: elaborated.say(&symbol.detail),
        kind: symbol.kind,
        range: selection,
        selection,
        children: symbol.children.into_iter().map(|child| said(elaborated, child)).collect(),
    }
}
