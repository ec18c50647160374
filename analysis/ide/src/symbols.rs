//! The outline: sections, functions, partitions, loops, barriers, buffers.

use rustc_hash::FxHashSet;

use super::EAGER_SECTIONS;
use base::TextRange;
use ttgir::queries::expr::name;
use ttgir::queries::memory::{is_memory, roots};
use ttgir::queries::spot::{lift, walk};
use ttgir::{Document, OpId, Section, Tree, ValueId, When};

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// One module of a dump.
    Section,
    /// A function.
    Function,
    /// A warp-specialised partition.
    Partition,
    /// A loop.
    Loop,
    /// An allocation of barriers.
    Barrier,
    /// Another allocation.
    Buffer,
}

/// An entry of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// What it is called.
    pub name: String,
    /// More about it; may be empty.
    pub detail: String,
    /// What it is.
    pub kind: SymbolKind,
    /// All of it.
    pub range: TextRange,
    /// Its name.
    pub selection: TextRange,
    /// What is inside.
    pub children: Vec<Symbol>,
}

/// The outline of a document.
pub fn symbols(document: &Document) -> Vec<Symbol> {
    let sections = document.sections();
    let eager = sections.len() <= EAGER_SECTIONS;
    let inside = |section: &Section| if eager || section.is_read() { of_section(section) } else { Vec::new() };
    if let [section] = sections
        && section.header().is_none()
    {
        return inside(section);
    }
    let numbered = sections.iter().enumerate();
    numbered
        .map(|(at, section)| Symbol {
            name: title(section, at),
            detail: String::new(),
            kind: SymbolKind::Section,
            range: section.range(),
            selection: TextRange::empty(section.offset()),
            children: inside(section),
        })
        .collect()
}

fn title(section: &Section, at: usize) -> String {
    match section.header() {
        None => format!("section {}", at + 1),
        Some(header) => {
            let when = match header.when {
                When::Before => "before",
                When::After => "after",
                When::Failed => "after failed",
            };
            format!("{when} {}", header.pass)
        }
    }
}

fn of_section(section: &Section) -> Vec<Symbol> {
    let tree = section.tree();
    let mut barriers = FxHashSet::default();
    walk(tree, tree.top(), &mut |op| {
        let init = matches!(tree.op_name(op), "ttng.init_barrier" | "amdg.init_barrier");
        if let (true, Some(&barrier)) = (init, tree.operands(op).first()) {
            barriers.extend(roots(tree, barrier));
        }
    });
    let outline = Outline { section, tree, barriers };
    outline.inside(tree.top())
}

struct Outline<'a> {
    section: &'a Section,
    tree: &'a Tree,
    barriers: FxHashSet<ValueId>,
}

impl Outline<'_> {
    /// The symbols among and below `ops`.
    fn inside(&self, ops: &[OpId]) -> Vec<Symbol> {
        // Depth-first with a stack of its own: (symbols so far, operations left, what they are in).
        let mut levels: Vec<(Vec<Symbol>, Vec<Todo>, Option<Symbol>)> = vec![(Vec::new(), todo(ops), None)];
        loop {
            let Some((symbols, left, _)) = levels.last_mut() else { return Vec::new() };
            match left.pop() {
                Some(Todo::Op(op)) => {
                    symbols.extend(self.allocation(op));
                    let symbol = self.container(op);
                    let inner = self.regions(op);
                    if inner.is_empty() && symbol.is_none() {
                        continue;
                    }
                    match symbol {
                        Some(symbol) => levels.push((Vec::new(), inner, Some(symbol))),
                        // No symbol of its own: what is inside belongs to what is around.
                        None => left.extend(inner),
                    }
                }
                Some(Todo::Partition(symbol, ops)) => levels.push((Vec::new(), todo(&ops), Some(symbol))),
                None => {
                    let Some((children, _, symbol)) = levels.pop() else { return Vec::new() };
                    let (Some(mut symbol), Some((symbols, _, _))) = (symbol, levels.last_mut()) else {
                        return children;
                    };
                    symbol.children = children;
                    symbols.push(symbol);
                }
            }
        }
    }

    /// What stands in the regions of `op`, last first.
    fn regions(&self, op: OpId) -> Vec<Todo> {
        let tree = self.tree;
        let mut inner = Vec::new();
        for (number, &region) in tree.regions(op).iter().enumerate() {
            let blocks = tree.blocks(region).iter();
            let ops: Vec<OpId> = blocks.flat_map(|block| tree.block_ops(*block)).copied().collect();
            let partition = match (tree.op_name(op), number) {
                ("ttg.warp_specialize", 0) => Some("default".to_owned()),
                ("ttg.warp_specialize", number) => Some(format!("partition{}", number - 1)),
                ("ttg.warp_specialize.partitions", number) => Some(format!("partition{number}")),
                _ => None,
            };
            match partition {
                Some(name) => {
                    let range = self.lift(tree.region_range(region));
                    let selection = TextRange::empty(range.start);
                    let kind = SymbolKind::Partition;
                    let symbol = Symbol { name, detail: String::new(), kind, range, selection, children: Vec::new() };
                    inner.push(Todo::Partition(symbol, ops));
                }
                None => inner.extend(ops.into_iter().map(Todo::Op)),
            }
        }
        inner.reverse();
        inner
    }

    /// A function or loop.
    fn container(&self, op: OpId) -> Option<Symbol> {
        let tree = self.tree;
        let name_range = tree.op_name_range(op);
        let (kind, name, selection) = match tree.op_name(op) {
            "scf.for" | "scf.while" => (SymbolKind::Loop, name_range.of(tree.text()).to_owned(), name_range),
            function if function.ends_with(".func") => {
                let attr = tree.attr(op, "sym_name")?;
                let selection = Some(tree.attr_range(attr)).filter(|range| !range.is_empty()).unwrap_or(name_range);
                (SymbolKind::Function, format!("@{}", tree.attr_str(attr)?), selection)
            }
            _ => return None,
        };
        let detail = match kind {
            SymbolKind::Loop => self.induction(op),
            _ => String::new(),
        };
        let range = self.lift(tree.op_range(op));
        Some(Symbol { name, detail, kind, range, selection: self.lift(selection), children: Vec::new() })
    }

    fn induction(&self, op: OpId) -> String {
        let tree = self.tree;
        let block = tree.regions(op).first().and_then(|region| tree.blocks(*region).first());
        let first = block.and_then(|block| tree.block_args(*block).first());
        match first {
            Some(&value) if tree.op_name(op) == "scf.for" => name(tree, value),
            _ => String::new(),
        }
    }

    fn allocation(&self, op: OpId) -> Option<Symbol> {
        let tree = self.tree;
        let value = *tree.results(op).first().filter(|_| tree.op_name(op).ends_with("_alloc"))?;
        if !is_memory(tree, value) || tree.value_name(value).is_empty() {
            return None;
        }
        let kind = if self.barriers.contains(&value) { SymbolKind::Barrier } else { SymbolKind::Buffer };
        let detail = tree.value_type(value).map_or(String::new(), |ty| tree.type_text(ty).to_owned());
        let range = self.lift(tree.op_range(op));
        let selection = self.lift(tree.value_range(value));
        Some(Symbol { name: name(tree, value), detail, kind, range, selection, children: Vec::new() })
    }

    fn lift(&self, range: TextRange) -> TextRange {
        lift(self.section, range)
    }
}

enum Todo {
    Op(OpId),
    Partition(Symbol, Vec<OpId>),
}

fn todo(ops: &[OpId]) -> Vec<Todo> {
    ops.iter().rev().copied().map(Todo::Op).collect()
}
