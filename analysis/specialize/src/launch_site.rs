//! Launches as the host code makes them, whole: with the grid, and with the shapes of tensors.

use super::given::{plain, same_plain};
use super::partly::may_hold;
use super::{Argument, Entry, Given, Handed, ValueSource};
use base::TextRange;
use python::host::{self, HostLaunch};
use python::interp::Interp;
use python::origin::FileId;
use python::specialization::{ArgumentFacts, LaunchFacts, Shared};
use python::syntax::bodies::run_parameters;
use python::syntax::{Module, path_in};
use python::value::FunctionNode;
use ruff_python_ast::{AnyNodeRef, Expr};

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchSite {
    /// Where its call stands, in the kernel's own file.
    pub range: Option<TextRange>,
    /// Where the function starts that makes it, in that file.
    pub def: u32,
    /// Programs along x, y and z, where that is known.
    pub grid: Option<[u32; 3]>,
    /// What it hands over, by parameter.
    pub arguments: Vec<(String, Handed)>,
    /// Parameters of which it is not known what they are given.
    pub unknown: Vec<String>,
    /// What is known of it beside what shapes the kernel.
    pub facts: LaunchFacts,
    /// What shapes the kernel, as far as it is known: what tells which instances it launches.
    pub(super) given: Vec<Argument>,
    /// Of what is not known, whether it holds.
    truths: Vec<(String, bool)>,
    /// The same of what is taken from the launch itself, see [`Base::held`](super::instance::Base::held).
    pub(super) held: Vec<(String, u64)>,
}

/// What a launch says, made by the function at `def` of `file`.
pub(super) fn of<'a>(
    interp: &Interp<'a>,
    entry: &Entry,
    launch: &HostLaunch<'a>,
    file: FileId,
    def: u32,
) -> LaunchSite {
    let own = launch.file == FileId(0) && file == FileId(0);
    let mut facts = launch.facts.clone();
    if let Some(file) = interp.files.get(launch.file.0 as usize) {
        one_name(file.module, launch, entry, &mut facts);
    }
    let (arguments, unknown, given, held) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let range = own.then_some(launch.at);
    let truths = Vec::new();
    let mut site = LaunchSite { range, def, grid: launch.grid, arguments, unknown, facts, given, truths, held };
    for param in &entry.params {
        let Some((_, value)) = launch.arguments.iter().find(|(name, _)| **name == *param.name) else { continue };
        if let Some(host::Partly::Truth(holds)) = host::partly(interp, value) {
            site.truths.push((param.name.clone(), holds));
        }
        match host::handed(interp, value) {
            Some(handed) => site.arguments.push((param.name.clone(), handed)),
            None => site.unknown.push(param.name.clone()),
        }
    }
    site
}

/// Tells of tensors of which nothing is known that are one: the call gives two parameters the same variable.
fn one_name(module: &Module, launch: &HostLaunch<'_>, entry: &Entry, facts: &mut LaunchFacts) {
    if facts.arguments.iter().filter(|of| of.is_open()).nth(1).is_none() {
        return;
    }
    let nodes = path_in(module.body().iter(), launch.at.start);
    let found = nodes.iter().find_map(|node| match node {
        AnyNodeRef::ExprCall(call) if Interp::range(call) == launch.at => Some(*call),
        _ => None,
    });
    let Some(call) = found else { return };
    let FunctionNode::Def(def) = launch.function.def else { return };
    let names: Vec<&str> =
        run_parameters(def).unwrap_or_else(|| entry.params.iter().map(|param| param.name.as_str()).collect());
    let starred = call.arguments.args.iter().position(Expr::is_starred_expr).unwrap_or(names.len());
    let positional = names.into_iter().zip(&call.arguments.args).take(starred);
    let keywords = call.arguments.keywords.iter().filter_map(|word| Some((word.arg.as_ref()?.as_str(), &word.value)));
    let all: Vec<(&str, &str)> = positional
        .chain(keywords)
        .filter_map(|(param, value)| Some((param, value.as_name_expr()?.id.as_str())))
        .filter(|(param, _)| facts.arguments.iter().any(|of| of.name == *param && of.is_open()))
        .collect();
    let mut next = facts.arguments.iter().filter_map(|of| of.memory).max().map_or(0, |last| last + 1);
    for (at, (one, variable)) in all.iter().enumerate() {
        let others = all.get(at + 1..).unwrap_or_default();
        let same: Vec<&str> = others.iter().filter(|(_, of)| of == variable).map(|(param, _)| *param).collect();
        if same.is_empty() {
            continue;
        }
        let pairs = same.iter().map(|other| ((*one).to_owned(), (*other).to_owned(), Shared::One));
        facts.shared.extend(pairs);
        let known = facts.arguments.iter().find(|of| of.name == *one).and_then(|of| of.memory);
        let memory = known.unwrap_or(next);
        next += u32::from(known.is_none());
        let of_one = |of: &&mut ArgumentFacts| of.name == *one || same.contains(&of.name.as_str());
        facts.arguments.iter_mut().filter(of_one).for_each(|of| of.memory = Some(memory));
    }
}

impl LaunchSite {
    /// Whether another launch is the same but for what host code took to hold on its way there.
    pub(super) fn is_like(&self, other: &LaunchSite) -> bool {
        let LaunchSite { range, def, grid, arguments, unknown, facts, given, truths, held } = self;
        (range, def, grid) == (&other.range, &other.def, &other.grid)
            && (arguments, unknown) == (&other.arguments, &other.unknown)
            && (given, truths, held) == (&other.given, &other.truths, &other.held)
            && facts.is_like(&other.facts)
    }

    /// Whether it launches an instance with these arguments: nothing that it gives is another, and what it gives twice
    /// is of one type.
    pub(super) fn launches(&self, arguments: &[Argument]) -> bool {
        let pointed = |name: &str| match &arguments.iter().find(|of| of.name == name)?.given {
            Given::Type(ty) if ty.starts_with('*') => Some(plain(ty)),
            _ => None,
        };
        let two_types = |(one, other): (&str, &str)| {
            let (one, other) = (pointed(one), pointed(other));
            one.is_some() && other.is_some() && one != other
        };
        if self.given_twice().any(two_types) {
            return false;
        }
        let differs = |of: &Argument| {
            let own = self.given.iter().find(|given| given.name == of.name);
            // What one launch gives is not what another one may give.
            let is_other = |own: &Argument| own.source > of.source || !same_plain(&own.given, &of.given);
            of.source >= ValueSource::Launch && own.is_some_and(is_other)
        };
        let holds = |(name, holds): &(String, bool)| {
            arguments.iter().find(|of| of.name == *name).is_none_or(|of| may_hold(&of.given, *holds))
        };
        !arguments.iter().any(differs) && self.truths.iter().all(holds)
    }

    /// Pairs of arguments that are one tensor, by their names.
    fn given_twice(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = &self.facts.arguments;
        all.iter().enumerate().filter(|(_, one)| one.memory.is_some()).flat_map(move |(at, one)| {
            let others = all.get(at + 1..).unwrap_or_default().iter();
            let same = others
                .filter(|other| (other.memory, other.offset, &other.element) == (one.memory, one.offset, &one.element));
            same.map(|other| (one.name.as_str(), other.name.as_str()))
        })
    }

    /// Gives a tensor that is handed over twice one type, where it was chosen. What the kernel takes integers from in one
    /// place and floats in another stands in for what is not given, and is not read.
    pub(super) fn one_type_each(&self, arguments: &mut [Argument]) {
        for (one, other) in self.given_twice() {
            let at = |name: &str| arguments.iter().position(|of| of.name == name);
            let (Some(one), Some(other)) = (at(one), at(other)) else { continue };
            let (from, to) = if arguments[other].source == ValueSource::Chosen { (one, other) } else { (other, one) };
            let floats = |given: &Given| match given {
                Given::Type(ty) => ty.strip_prefix('*').map(|ty| ty.starts_with("fp") || ty.starts_with("bf")),
                Given::Value(_) => None,
            };
            let (now, then) = (floats(&arguments[to].given), floats(&arguments[from].given));
            if arguments[to].source == ValueSource::Chosen && now.is_some() && now == then {
                arguments[to].given = arguments[from].given.clone();
            }
        }
    }

    /// The same in a text in which places stand elsewhere.
    pub(super) fn moved(&mut self, place: impl Fn(u32) -> u32) {
        if let Some(range) = &mut self.range {
            let start = place(range.start);
            *range = TextRange::new(start, start + range.len());
        }
        if self.def != host::MODULE {
            self.def = place(self.def);
        }
    }
}

/// Adds a launch to others. Of two that are alike but for what host code took to hold on its way to them, what it did on both.
pub(super) fn add(sites: &mut Vec<LaunchSite>, site: &LaunchSite) {
    match sites.iter_mut().find(|known| known.is_like(site)) {
        Some(known) => known.facts.conditions.retain(|of| site.facts.conditions.contains(of)),
        None => sites.push(site.clone()),
    }
}

/// Keeps of a launch what another one has as well.
pub(super) fn keep_common(own: &mut LaunchFacts, other: &LaunchFacts) {
    own.several |= *own != *other;
    fn agree<T: PartialEq>(own: &mut Option<T>, other: &Option<T>) {
        if own != other {
            *own = None;
        }
    }
    own.grid.iter_mut().zip(&other.grid).for_each(|(own, other)| agree(own, other));
    let names = |facts: &LaunchFacts| facts.arguments.iter().map(|of| of.name.clone()).collect::<Vec<_>>();
    if names(own) != names(other) {
        own.arguments.clear();
    }
    let pairs = || own.arguments.iter().zip(&other.arguments);
    // Numbers of memory and of what is not known are those of one launch.
    let memory = pairs().all(|(own, other)| (own.memory, own.offset) == (other.memory, other.offset));
    let formulas = own.programs == other.programs && pairs().all(|(own, other)| own.quantity == other.quantity);
    own.conditions.retain(|of| formulas && other.conditions.contains(of));
    if !formulas {
        own.programs = Default::default();
    }
    for (own, other) in own.arguments.iter_mut().zip(&other.arguments) {
        if !memory {
            (own.memory, own.offset) = (None, None);
        }
        if !formulas {
            (own.quantity, own.condition) = (None, None);
        }
        agree(&mut own.condition, &other.condition);
        agree(&mut own.element, &other.element);
        agree(&mut own.shape, &other.shape);
        agree(&mut own.strides, &other.strides);
        agree(&mut own.contents, &other.contents);
        agree(&mut own.value, &other.value);
        own.divisibility = own.divisibility.min(other.divisibility);
    }
}
