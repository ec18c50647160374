//! The graph: nodes, edges, what is known of each node, and the questions that are asked of it.

use std::collections::BinaryHeap;
use std::sync::Arc;

use base::TextRange;
use python::syntax::Module;
use rustc_hash::{FxHashMap, FxHashSet};

use super::classes::Class;
use crate::limits::flow::CLASSES;

/// A node's number.
pub(super) type Node = u32;

/// The scope of names that are fields, of whatever object.
pub(super) const FIELD: u32 = u32::MAX;

/// What a value becomes on its way into a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Edge {
    /// It is the same.
    Copy,
    /// Something is added to it: `ptr + offsets`.
    Sum,
    /// It is computed with.
    Arith,
    /// It is loaded through.
    Load,
    /// It has a part in it.
    Any,
}

/// What is done with a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Traits(u32);

impl Traits {
    pub(crate) const POINTER: Traits = Traits(1);
    /// A tensor descriptor.
    pub(crate) const DESCRIPTOR: Traits = Traits(1 << 1);
    /// An integer: a bound, an index, an offset, an operand of `//` or `&`.
    pub(crate) const INDEX: Traits = Traits(1 << 2);
    pub(crate) const DTYPE: Traits = Traits(1 << 3);
    /// A layout of registers.
    pub(crate) const LAYOUT: Traits = Traits(1 << 4);
    /// A layout of shared memory.
    pub(crate) const SHARED: Traits = Traits(1 << 5);
    /// A layout of tensor memory.
    pub(crate) const TENSOR_MEMORY: Traits = Traits(1 << 6);
    /// The parent of an operand's layout.
    pub(crate) const MMA: Traits = Traits(1 << 7);
    /// A size of memory, a count of `static_range`.
    pub(crate) const SIZE: Traits = Traits(1 << 8);
    /// A condition by itself.
    pub(crate) const FLAG: Traits = Traits(1 << 9);
    /// How many groups or copies a wait leaves open.
    pub(crate) const WAIT: Traits = Traits(1 << 10);
    pub(crate) const CALLED: Traits = Traits(1 << 11);
    /// Integers are loaded through it.
    pub(crate) const LOADS_INDEX: Traits = Traits(1 << 12);
    /// Multiplied, divided or negated: no pointer and no descriptor.
    pub(crate) const NUMBER: Traits = Traits(1 << 13);
    /// How often something is unrolled.
    pub(crate) const COUNT: Traits = Traits(1 << 14);
    /// A dimension of memory that is allocated.
    pub(crate) const EXTENT: Traits = Traits(1 << 15);
    /// How many slots a ring of memory or of barriers has.
    pub(crate) const SLOTS: Traits = Traits(1 << 16);
    /// A descriptor through which rows are gathered or scattered: its block is one row.
    pub(crate) const ROWS: Traits = Traits(1 << 17);
    /// Of computed and loaded values, what is asked of the result.
    const OF_VALUES: Traits = Traits::INDEX;

    pub(crate) fn has(self, other: Traits) -> bool {
        self.0 & other.0 != 0
    }

    fn with(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    fn only(self, other: Traits) -> Traits {
        Traits(self.0 & other.0)
    }
}

/// What is known of a value: of a node by itself, or of a parameter by all nodes that it flows to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub traits: Traits,
    /// Constants that it is compared with, as Python spells them.
    pub compared: Vec<String>,
    /// Those that an assertion demands.
    pub demanded: Vec<String>,
    /// What it is divided by where an assertion demands no rest.
    pub divisors: Vec<i64>,
    /// Into how many parts it is taken apart, or the last index plus one.
    pub parts: usize,
    /// Letters of a string that are compared, by their places.
    pub letters: Vec<(usize, char)>,
    /// Rank of a descriptor, where coordinates show it.
    pub rank: usize,
    /// Methods that are called of it.
    pub methods: Vec<String>,
    /// Of a parameter: classes that have these methods, as the file names them.
    pub classes: Vec<String>,
}

/// A function or method.
#[derive(Debug)]
pub(super) struct Function {
    pub file: u32,
    pub range: TextRange,
    pub name: String,
    pub class: Option<String>,
    pub params: Vec<(String, TextRange)>,
    /// The functions that it may call.
    pub calls: Vec<u32>,
    /// Generations of devices that it asks for.
    pub devices: u32,
}

/// A statement, or the head of one, with what it depends on.
#[derive(Debug)]
struct Place {
    file: u32,
    range: TextRange,
    /// With how far away they are.
    nodes: Vec<(Node, u32)>,
}

/// How much farther a condition around a place is than what the place itself names.
pub(super) const CONDITION: u32 = 5;

/// The flow in some files.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// Whether only calls are wanted: there are no nodes then.
    pub(super) calls_alone: bool,
    /// The files, the kernel's own first.
    pub(super) modules: Vec<Arc<Module>>,
    pub(super) functions: Vec<Function>,
    by_name: FxHashMap<String, Vec<u32>>,
    /// Fields of a class, in the order of its constructor.
    pub(super) classes: FxHashMap<String, Vec<String>>,
    pub(super) fields: FxHashSet<String>,
    /// Classes that a kernel can be handed.
    pub(super) handed: Vec<Class>,
    /// By scope and name.
    numbers: FxHashMap<u32, FxHashMap<String, Node>>,
    about: Vec<Facts>,
    /// What flows into a node.
    into: Vec<Vec<(Node, u32)>>,
    /// What a node flows into.
    onto: Vec<Vec<(Node, Edge)>>,
    places: Vec<Place>,
    /// Names that a file imports from a module of one generation of devices.
    pub(super) imported: FxHashMap<u32, FxHashMap<String, u32>>,
    /// By file: names of what is imported from Triton.
    pub(super) of_triton: FxHashMap<u32, FxHashSet<String>>,
    /// Names that a file imports under another one, and what they are called where they come from.
    pub(super) renamed: FxHashMap<u32, FxHashMap<String, String>>,
}

impl Flow {
    pub(super) fn node(&mut self, scope: u32, name: &str) -> Node {
        if self.calls_alone {
            return Node::MAX;
        }
        let names = self.numbers.entry(scope).or_default();
        if let Some(known) = names.get(name) {
            return *known;
        }
        let number = self.about.len() as Node;
        names.insert(name.to_owned(), number);
        self.about.push(Facts::default());
        self.into.push(Vec::new());
        self.onto.push(Vec::new());
        number
    }

    fn number(&self, scope: u32, name: &str) -> Option<Node> {
        self.numbers.get(&scope)?.get(name).copied()
    }

    pub(super) fn knows(&self, scope: u32, name: &str) -> bool {
        self.number(scope, name).is_some()
    }

    pub(super) fn edge(&mut self, from: Node, to: Node, edge: Edge) {
        let (Some(into), Some(onto)) = (self.into.get_mut(to as usize), self.onto.get_mut(from as usize)) else {
            return;
        };
        if from != to && !onto.contains(&(to, edge)) {
            onto.push((to, edge));
            into.push((from, 1));
        }
    }

    /// A condition on which it depends whether a node's function runs.
    pub(super) fn condition(&mut self, from: Node, to: Node) {
        if let Some(into) = self.into.get_mut(to as usize)
            && !into.contains(&(from, CONDITION))
        {
            into.push((from, CONDITION));
        }
    }

    pub(super) fn mark(&mut self, node: Node, traits: Traits) {
        if let Some(about) = self.about.get_mut(node as usize) {
            about.traits = about.traits.with(traits);
        }
    }

    pub(super) fn about(&mut self, node: Node) -> Option<&mut Facts> {
        self.about.get_mut(node as usize)
    }

    pub(super) fn add_function(&mut self, function: Function) -> u32 {
        let number = self.functions.len() as u32;
        self.by_name.entry(function.name.clone()).or_default().push(number);
        self.functions.push(function);
        number
    }

    pub(super) fn named(&self, name: &str) -> &[u32] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn place(&mut self, file: u32, range: TextRange, nodes: Vec<(Node, u32)>) {
        if !self.calls_alone {
            self.places.push(Place { file, range, nodes });
        }
    }

    /// The node of a parameter of the function that starts at `def` of the first file.
    fn parameter(&self, def: u32, name: &str) -> Option<Node> {
        let function = self.functions.iter().position(|of| of.file == 0 && of.range.start == def)? as u32;
        self.number(function, name)
    }

    /// What is known of the value of a parameter, wherever it goes.
    pub(crate) fn of_parameter(&self, def: u32, name: &str) -> Facts {
        let mut facts = Facts::default();
        let Some(start) = self.parameter(def, name) else { return facts };
        // How it came here: as it is, through sums, through other arithmetic, through a load.
        let mut open = vec![(start, Edge::Copy)];
        let mut seen: FxHashSet<(Node, u8)> = FxHashSet::default();
        let mut next = 0;
        while let Some(&(node, way)) = open.get(next) {
            next += 1;
            let Some(about) = self.about.get(node as usize) else { continue };
            facts.take(about, way);
            for &(to, edge) in self.onto.get(node as usize).into_iter().flatten() {
                let way = match (way, edge) {
                    (_, Edge::Any) => continue,
                    (way, Edge::Copy) => way,
                    (Edge::Copy, edge) => edge,
                    (Edge::Sum, Edge::Load) => Edge::Load,
                    (Edge::Load, Edge::Sum | Edge::Arith) => Edge::Load,
                    (Edge::Load, _) => continue,
                    (Edge::Sum, Edge::Sum) => Edge::Sum,
                    _ => Edge::Arith,
                };
                if seen.insert((to, way as u8)) {
                    open.push((to, way));
                }
            }
        }
        if !facts.methods.is_empty() {
            let fits = |class: &&Class| facts.methods.iter().all(|method| class.methods.contains(method));
            facts.classes = self.handed.iter().filter(fits).map(|class| class.name.clone()).take(CLASSES).collect();
        }
        facts
    }

    /// The functions of the first file that start at `defs`, and all that they may call.
    pub(super) fn reached(&self, defs: &[u32]) -> Vec<&Function> {
        let is = |of: &Function| of.file == 0 && defs.contains(&of.range.start);
        let mut open: Vec<u32> = (0..).zip(&self.functions).filter(|(_, of)| is(of)).map(|(at, _)| at).collect();
        let mut next = 0;
        let mut seen: FxHashSet<u32> = open.iter().copied().collect();
        while let Some(at) = open.get(next).copied() {
            next += 1;
            let calls = self.functions.get(at as usize).map(|of| &of.calls);
            open.extend(calls.into_iter().flatten().copied().filter(|other| seen.insert(*other)));
        }
        open.into_iter().filter_map(|at| self.functions.get(at as usize)).collect()
    }

    /// The generations of devices that a kernel and what it calls ask for: bits of [`super::devices`].
    pub(crate) fn devices(&self, def: u32) -> u32 {
        self.reached(&[def]).into_iter().fold(0, |all, function| all | function.devices)
    }

    /// Whether something that a kernel may call mentions a word.
    pub(crate) fn calls_mention(&self, def: u32, word: &str) -> bool {
        let text = |of: &Function| self.modules.get(of.file as usize).map_or("", |module| module.slice(of.range));
        let called = |of: &&Function| (of.file, of.range.start) != (0, def);
        self.reached(&[def]).into_iter().filter(called).any(|of| text(of).contains(word))
    }

    /// The parameters of a kernel on which a place depends, the nearest first.
    pub(crate) fn blame(&self, def: u32, path: &str, range: TextRange) -> Vec<String> {
        let Some(file) = self.modules.iter().position(|known| known.path() == path) else { return Vec::new() };
        let Some(kernel) = self.functions.iter().position(|of| of.file == 0 && of.range.start == def) else {
            return Vec::new();
        };
        let own = &self.functions[kernel].params;
        if file == 0
            && let Some((name, _)) = own.iter().find(|(_, at)| at.contains(range))
        {
            return vec![name.clone()];
        }
        let here = self.places.iter().filter(|place| place.file == file as u32 && place.range.contains(range));
        let Some(place) = here.min_by_key(|place| place.range.len()) else { return Vec::new() };
        let ends: FxHashMap<Node, &str> =
            own.iter().filter_map(|(name, _)| Some((self.number(kernel as u32, name)?, name.as_str()))).collect();
        let mut queue: BinaryHeap<std::cmp::Reverse<(u32, Node)>> =
            place.nodes.iter().map(|(node, away)| std::cmp::Reverse((*away, *node))).collect();
        let mut seen: FxHashSet<Node> = FxHashSet::default();
        let mut blamed = Vec::new();
        while let Some(std::cmp::Reverse((distance, node))) = queue.pop() {
            if !seen.insert(node) {
                continue;
            }
            if let Some(name) = ends.get(&node) {
                blamed.push((*name).to_owned());
            }
            for (from, away) in self.into.get(node as usize).into_iter().flatten() {
                queue.push(std::cmp::Reverse((distance + away, *from)));
            }
        }
        blamed
    }
}

impl Facts {
    fn take(&mut self, about: &Facts, way: Edge) {
        match way {
            Edge::Copy => {
                self.traits = self.traits.with(about.traits);
                self.parts = self.parts.max(about.parts);
                self.rank = self.rank.max(about.rank);
                let add = |to: &mut Vec<String>, from: &[String]| {
                    for text in from {
                        if !to.contains(text) {
                            to.push(text.clone());
                        }
                    }
                };
                add(&mut self.compared, &about.compared);
                add(&mut self.demanded, &about.demanded);
                add(&mut self.methods, &about.methods);
                self.divisors.extend(&about.divisors);
                self.letters.extend(&about.letters);
            }
            Edge::Sum => self.traits = self.traits.with(about.traits.only(Traits::POINTER.with(Traits::INDEX))),
            Edge::Arith => self.traits = self.traits.with(about.traits.only(Traits::OF_VALUES)),
            // Of a sum that is an address it is not known which part is the pointer; what is read from memory is none.
            Edge::Load if about.traits.has(Traits::INDEX) || about.traits.has(Traits::POINTER) => {
                self.traits = self.traits.with(Traits::LOADS_INDEX);
            }
            Edge::Load | Edge::Any => {}
        }
    }
}
