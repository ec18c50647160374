//! A kernel's instance as the text of a module, and the way back.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::outline::{Comparison, Outline};
use super::say::{VariableNames, python_name, say};
use base::condition::{Condition, Switch};
use base::{Limits, Names, Quantity, TextRange};
use gluon::{
    ArgumentFacts, Elaborated, FileId, Given, Language, LaunchFacts, Origins, Problem, Shared, Spec, ValueSource,
};
use kernel::{InputId, InputKind, LaunchInputs, Lowered, Site};
use lower::{LoweringOptions, lower_with};
use python::syntax::{Demanded, Module, Sources};
use python::value::DType;
use races::{Launch, Views};
use rustc_hash::FxHashMap;
use specialize::Instance;
use ttgir::{Document, Tree};
use verify::{shared_proof, unbound};

/// The longest expression that stands for a value without a name.
const EXPRESSION: usize = 48;

/// One instance of a kernel.
///
/// What was elaborated is kept once, in the places of the text that it was elaborated from. An edit elsewhere makes
/// an instance that shares it; its places are moved when somebody asks for them.
#[derive(Debug)]
pub struct ElaboratedInstance {
    /// With what it is elaborated.
    pub instance: Instance,
    pub(super) module: Arc<Module>,
    /// The kernel's name in the module's source.
    pub(super) name: TextRange,
    pub(super) modules: Vec<Option<Arc<Module>>>,
    original: Arc<Original>,
    /// The kernel, with what its launches give it; `None` where no module could be made.
    lowered: Option<Arc<Lowered>>,
    /// From the text that it was elaborated from to that of the module; `None` where no place has moved.
    moves: Option<Arc<Comparison>>,
    moved: OnceLock<Places>,
}

/// What was elaborated, and all that is said of it without a place.
#[derive(Debug)]
pub(super) struct Original {
    /// The module.
    document: Document,
    /// Whether it was not elaborated, because the file may cost no more.
    left_out: bool,
    /// Whether some op of the module stands for what could not be followed.
    has_unmodelled_op: bool,
    /// The text that it was elaborated from, and the kernel's name there.
    outline: Arc<Outline>,
    name: TextRange,
    /// What was elaborated, with places in that text.
    spec: Spec,
    places: Places,
    files: Vec<String>,
    names: VariableNames,
    /// Where values without a name of their own are defined; found when one is asked for.
    numbered: OnceLock<FxHashMap<String, u32>>,
    /// What it depends on of the statements of its own file; `None` where that is all of them.
    demanded: Option<Demanded>,
    /// Which proof it shares with other instances; found when somebody asks.
    proof: OnceLock<u128>,
    partitions: Vec<String>,
}

/// What has places in the source of Python files.
#[derive(Debug, Default)]
struct Places {
    /// What Triton would refuse.
    problems: Vec<Problem>,
    /// What could not be followed.
    unmodelled: Vec<(FileId, TextRange, String)>,
    /// The functions and classes that were run.
    touched: Vec<(FileId, TextRange)>,
    origins: Origins,
}

impl Places {
    /// The same in another text of the file itself.
    fn moved(&self, by: &Comparison) -> Places {
        let own = FileId(0);
        let mut origins = self.origins.clone();
        for origin in origins.origins.iter_mut().filter(|origin| origin.file == own) {
            origin.range = by.range(origin.range);
        }
        for frame in origins.frames.iter_mut().filter(|frame| frame.file == own) {
            frame.range = by.range(frame.range);
        }
        let mut problems = self.problems.clone();
        for problem in problems.iter_mut().filter(|problem| problem.file == own) {
            problem.range = by.range(problem.range);
        }
        let place = |file, range| if file == own { by.range(range) } else { range };
        let unmodelled = self.unmodelled.iter().map(|(file, range, why)| (*file, place(*file, *range), why.clone()));
        let touched = self.touched.iter().map(|(file, range)| (*file, place(*file, *range)));
        Places { problems, unmodelled: unmodelled.collect(), touched: touched.collect(), origins }
    }
}

impl Original {
    /// What a kernel of plain Triton calls for the ops of a name, where one of them is for TLX: the first of them.
    fn called_by_tlx(&self, op: &str) -> Option<&'static str> {
        let is_tlx = |what: &'static str| what.starts_with("tlx.").then_some(what);
        if self.spec.language != Language::Triton {
            return None;
        }
        self.calls(op).find_map(is_tlx)
    }

    /// What is called in Python for each op of a name.
    fn calls<'o>(&'o self, op: &'o str) -> impl Iterator<Item = &'static str> + 'o {
        let text = self.document.text();
        let Origins { origins, ops, .. } = &self.places.origins;
        let of_op = ops.iter().filter(move |(start, _)| {
            let line = text.get(*start as usize..).and_then(|rest| rest.lines().next()).unwrap_or_default();
            let written =
                line.split_once(" = ").filter(|(results, _)| results.starts_with('%')).map_or(line, |(_, op)| op);
            written.strip_prefix(op).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '(', '{']))
        });
        of_op.filter_map(|(_, origin)| origins.get(origin.0 as usize)).map(|origin| origin.what)
    }

    /// What is called in Python for the ops of a name, where it is one function.
    fn called(&self, op: &str) -> Option<&'static str> {
        let mut called = self.calls(op);
        let first = called.next().filter(|what| !what.is_empty())?;
        called.all(|what| what == first).then_some(first)
    }
}

/// By number, where the op that defines a value starts in the text of a module.
fn numbered_values(text: &str) -> FxHashMap<String, u32> {
    let mut all = FxHashMap::default();
    let mut start = 0u32;
    for line in text.split_inclusive('\n') {
        if let Some(rest) = line.strip_prefix('%')
            && rest.starts_with(|c: char| c.is_ascii_digit())
            && let Some(end) = rest.find([' ', ':'])
            && let Some((name, behind)) = rest.split_at_checked(end)
            && (behind.starts_with(" = ") || behind.starts_with(':'))
        {
            all.entry(name.to_owned()).or_insert(start);
        }
        start += line.len() as u32;
    }
    all
}

/// A module that was elaborated, and its kernel, where there is one.
fn read(ir: String) -> (Document, Option<Arc<Lowered>>) {
    let document = Document::new(ir);
    let tree = document.sections().first().map(|section| section.tree());
    let mut lowered = tree.and_then(|tree| lower_with(tree, LoweringOptions::default()).into_iter().next());
    if let Some(lowered) = &mut lowered
        && let Some(kernel) = unbound(&lowered.kernel)
    {
        lowered.kernel = kernel;
    }
    (document, lowered.map(Arc::new))
}

/// A kernel with what the launches of an instance give it, as far as one gives all that it takes.
pub(super) fn launched(lowered: Arc<Lowered>, instance: &Instance) -> Arc<Lowered> {
    let (mut launches, mut otherwise): (Vec<LaunchInputs>, bool) = (Vec::new(), false);
    for facts in instance.launches.iter() {
        let values = lowered.kernel.inputs.iter().enumerate().filter_map(|(at, input)| {
            let of_launch = matches!(input.kind, InputKind::Argument(_) | InputKind::Size(_));
            let id = InputId(at as u32);
            of_launch.then(|| Some((id, number(facts, lowered.map.input(id).trim_start_matches('%'))?)))
        });
        let grid = facts.grid.map(|count| count.and_then(|count| i64::try_from(count).ok()));
        let Some(values) = values.collect::<Option<Vec<(InputId, i64)>>>() else {
            otherwise = true;
            continue;
        };
        let launch = LaunchInputs { values, grid };
        if !launches.contains(&launch) {
            launches.push(launch);
        }
    }
    let grids = grids(&lowered, instance);
    let known = &lowered.kernel;
    if (&known.launches, known.launched_otherwise, &known.grids) == (&launches, otherwise, &grids) {
        return lowered;
    }
    let mut lowered = Lowered::clone(&lowered);
    (lowered.kernel.launches, lowered.kernel.launched_otherwise) = (launches, otherwise);
    lowered.kernel.grids = grids;
    Arc::new(lowered)
}

/// Programs along each axis in the launches of an instance, as far as the host computes them from what the kernel takes;
/// nothing where some launch says so of no axis.
fn grids(lowered: &Lowered, instance: &Instance) -> Vec<[Option<Quantity>; 3]> {
    let mut all: Vec<[Option<Quantity>; 3]> = Vec::new();
    for facts in instance.launches.iter() {
        // A number without a formula that an argument is handed as it is.
        let input = |id: u32| {
            let argument = facts.arguments.iter().find(|argument| {
                matches!(argument.quantity, Some(Quantity::Unknown { id: own, .. }) if own == id)
                    && argument.value.is_none()
            })?;
            let mut inputs = (0u32..).zip(&lowered.kernel.inputs);
            inputs.find_map(|(at, input)| {
                let named = lowered.map.input(InputId(at)).trim_start_matches('%') == argument.name;
                (matches!(input.kind, InputKind::Argument(_)) && named).then_some(at)
            })
        };
        let grid = facts.programs.each_ref().map(|count| of_inputs(count.as_ref()?, &input));
        if grid.iter().all(Option::is_none) {
            return Vec::new();
        }
        if !all.contains(&grid) {
            all.push(grid);
        }
    }
    all
}

/// A quantity of which unknowns are inputs; `None` where some is none.
fn of_inputs(of: &Quantity, input: &dyn Fn(u32) -> Option<u32>) -> Option<Quantity> {
    match of {
        Quantity::Known(value) => Some(Quantity::Known(*value)),
        Quantity::Unknown { id, .. } => Some(Quantity::Unknown { id: input(*id)?, of: None }),
        Quantity::Made(op, parts) => {
            Some(Quantity::Made(*op, (of_inputs(&parts.0, input)?, of_inputs(&parts.1, input)?).into()))
        }
        Quantity::Stride { .. } => None,
    }
}

/// By argument the number of the tensor that it points into: views of one storage of which it is not known that they
/// lie apart are of one. `None` where that is not known, of one that begins nobody knows where in a storage of several.
fn memories(facts: &LaunchFacts) -> Vec<Option<u32>> {
    let arguments = &facts.arguments;
    let mut all: Vec<Option<u32>> = Vec::with_capacity(arguments.len());
    for (at, argument) in arguments.iter().enumerate() {
        let before = || arguments.iter().take(at).enumerate().filter(|(_, other)| other.memory == argument.memory);
        let mut others =
            arguments.iter().filter(|other| other.name != argument.name && other.memory == argument.memory);
        let settled = |other: &ArgumentFacts| {
            matches!(shared(facts, argument, other), Shared::Apart | Shared::One | Shared::OneOrCopy)
        };
        let known = argument.memory.filter(|_| argument.offset.is_some() || others.all(settled));
        let Some(_) = known else {
            all.push(None);
            continue;
        };
        let meets = |other: &ArgumentFacts| match argument.offset.and(other.offset) {
            Some(_) => may_meet(argument, other),
            None => shared(facts, argument, other) == Shared::One,
        };
        let meeting: Vec<u32> = before().filter(|(_, other)| meets(other)).filter_map(|(at, _)| all[at]).collect();
        let number = meeting.iter().copied().min().unwrap_or(at as u32);
        // It joins those that it meets.
        for one in all.iter_mut().flatten().filter(|one| meeting.contains(one)) {
            *one = number;
        }
        all.push(Some(number));
    }
    all
}

/// How two arguments of one storage lie in it of which it is not known of both where.
fn shared(facts: &LaunchFacts, one: &ArgumentFacts, other: &ArgumentFacts) -> Shared {
    let is = |(a, b, _): &&(String, String, Shared)| {
        (*a == one.name && *b == other.name) || (*a == other.name && *b == one.name)
    };
    facts.shared.iter().find(is).map_or(Shared::PartsOrCopy, |(_, _, how)| *how)
}

/// Pairs of arguments of one storage, or that may be, of which it is not known where they lie in it.
fn views(facts: &LaunchFacts) -> Vec<(String, String, Views)> {
    let mut pairs = Vec::new();
    let arguments = &facts.arguments;
    for (at, one) in arguments.iter().enumerate().filter(|(_, one)| one.memory.is_some()) {
        let same = |other: &&ArgumentFacts| other.memory == one.memory && other.offset.and(one.offset).is_none();
        for other in arguments.iter().skip(at + 1).filter(same) {
            let how = match shared(facts, one, other) {
                Shared::Apart | Shared::One => continue,
                // A conversion to another type has made one.
                Shared::OneOrCopy
                    if one.element.is_some() && other.element.is_some() && one.element != other.element =>
                {
                    continue;
                }
                Shared::Parts => Views::Parts,
                Shared::OneOrCopy => Views::OneOrCopy,
                Shared::PartsOrCopy => Views::PartsOrCopy,
            };
            pairs.push((one.name.clone(), other.name.clone(), how));
        }
    }
    pairs
}

/// Whether two views of one storage may have bytes in common.
fn may_meet(one: &ArgumentFacts, other: &ArgumentFacts) -> bool {
    if one.offset == other.offset {
        return true;
    }
    match (extent(one), extent(other)) {
        (Some((from, to)), Some((start, end))) => from < end && start < to,
        _ => true,
    }
}

/// The bytes of its storage between which a view lies, where these are known.
fn extent(view: &ArgumentFacts) -> Option<(i64, i64)> {
    let bytes = i64::from(DType::named(view.element.as_deref()?)?.bits().div_ceil(8));
    let (shape, strides) = (view.shape.as_ref()?, view.strides.as_ref()?);
    let mut last = 0i64;
    for (size, stride) in shape.iter().zip(strides) {
        let size = i64::try_from((*size)?).ok()?;
        if size == 0 || *stride < 0 {
            return None;
        }
        last = last.checked_add((size - 1).checked_mul(*stride)?)?;
    }
    let from = view.offset?;
    Some((from, from.checked_add(last.checked_add(1)?.checked_mul(bytes)?)?))
}

/// What a launch gives an argument of the elaborated kernel: an integer, or a part of a descriptor.
fn number(facts: &LaunchFacts, name: &str) -> Option<i64> {
    facts.arguments.iter().find_map(|argument| {
        if argument.name == name {
            return argument.value;
        }
        let part = name.strip_prefix(&*argument.name)?;
        let axis = |prefix: &str| part.strip_prefix(prefix)?.strip_suffix('_')?.parse::<usize>().ok();
        if let Some(axis) = axis(".shape_") {
            return i64::try_from((*argument.shape.as_ref()?.get(axis)?)?).ok();
        }
        argument.strides.as_ref()?.get(axis(".strides_")?).copied()
    })
}

impl ElaboratedInstance {
    /// What was elaborated of the text that `outline` is of; what is the same as one of those that are `known` is shared.
    pub(super) fn new(
        (module, outline): (Arc<Module>, Arc<Outline>),
        sources: &dyn Sources,
        instance: Instance,
        name: TextRange,
        elaborated: Elaborated,
        known: &[Arc<ElaboratedInstance>],
    ) -> ElaboratedInstance {
        let names = VariableNames::new(&elaborated.names);
        let like = known.iter().rev().find(|known| known.document().text() == elaborated.ir && !known.is_left_out());
        let (document, mut lowered) = match like {
            Some(like) => (like.document().clone(), like.lowered.clone()),
            None => read(elaborated.ir),
        };
        if let Some(lowered) = &mut lowered {
            let calls = elaborated.origins.calls();
            let call = |site: &Site| {
                let origin = elaborated.origins.number_at(site.name.start);
                origin.and_then(|origin| calls.get(origin.0 as usize)).map(|call| call.0)
            };
            if lowered.map.sites.iter().any(|site| site.call != call(site)) {
                Arc::make_mut(lowered).map.sites.iter_mut().for_each(|site| site.call = call(site));
            }
        }
        let lowered = lowered.map(|lowered| launched(lowered, &instance));
        let places = Places {
            problems: elaborated.problems,
            unmodelled: elaborated.unmodelled,
            touched: elaborated.touched,
            origins: elaborated.origins,
        };
        let original = Original {
            document,
            left_out: false,
            has_unmodelled_op: elaborated.has_unmodelled_op,
            outline,
            name,
            spec: instance.spec.clone(),
            places,
            files: elaborated.files,
            names,
            numbered: OnceLock::new(),
            // Host code that launches it may be a statement of the file, which is run as such.
            demanded: elaborated.demanded.filter(|_| instance.spec.host.is_none()),
            proof: OnceLock::new(),
            partitions: elaborated.partitions,
        };
        let own = module.path().to_owned();
        let others = original.files.iter().skip(1).map(|path| sources.file(&own, path));
        let modules = std::iter::once(Some(module.clone())).chain(others).collect();
        ElaboratedInstance {
            instance,
            module,
            name,
            modules,
            lowered,
            original: Arc::new(original),
            moves: None,
            moved: OnceLock::new(),
        }
    }

    /// One that is not elaborated, because the file may cost no more: nothing is known of it.
    pub(super) fn left_out(
        module: Arc<Module>,
        outline: Arc<Outline>,
        instance: Instance,
        name: TextRange,
    ) -> ElaboratedInstance {
        let original = Original {
            document: Document::new(String::new()),
            left_out: true,
            has_unmodelled_op: false,
            outline,
            name,
            spec: instance.spec.clone(),
            places: Places::default(),
            files: vec![module.path().to_owned()],
            names: VariableNames::new(&[]),
            numbered: OnceLock::new(),
            demanded: None,
            proof: OnceLock::new(),
            partitions: Vec::new(),
        };
        ElaboratedInstance {
            instance,
            lowered: None,
            modules: vec![Some(module.clone())],
            module,
            name,
            original: Arc::new(original),
            moves: None,
            moved: OnceLock::new(),
        }
    }

    /// The file that it was elaborated from.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// The file of this number among those that had a part in it; `None` where it could not be read.
    pub fn module_of(&self, file: FileId) -> Option<&Arc<Module>> {
        self.modules.get(file.0 as usize)?.as_ref()
    }

    /// The kernel's name.
    pub fn kernel_name(&self) -> &str {
        self.module.slice(self.name)
    }

    /// The module that it was elaborated to.
    pub fn document(&self) -> &Document {
        &self.original.document
    }

    /// The kernel; `None` where no module could be made.
    pub fn lowered(&self) -> Option<&Arc<Lowered>> {
        self.lowered.as_ref()
    }

    /// Which proof its kernel shares with those of other sizes; `None` where there is no kernel.
    pub(super) fn shared_proof(&self, limits: &Limits) -> Option<u128> {
        let lowered = self.lowered()?;
        Some(*self.original.proof.get_or_init(|| shared_proof(&lowered.kernel, limits)))
    }

    /// What Triton would refuse.
    pub fn problems(&self) -> &[Problem] {
        &self.places().problems
    }

    /// What could not be followed.
    pub fn unmodelled(&self) -> &[(FileId, TextRange, String)] {
        &self.places().unmodelled
    }

    /// Whether it was not elaborated, because the file may cost no more.
    pub(super) fn is_left_out(&self) -> bool {
        self.original.left_out
    }

    /// Whether some op of the module stands for what could not be followed.
    pub(super) fn has_unmodelled_op(&self) -> bool {
        self.original.has_unmodelled_op
    }

    /// The functions and classes that were run.
    pub(crate) fn touched(&self) -> &[(FileId, TextRange)] {
        &self.places().touched
    }

    /// The functions that partitions run, the default one first.
    pub fn partitions(&self) -> &[String] {
        &self.original.partitions
    }

    /// Where its ops come from.
    pub fn origins(&self) -> &Origins {
        &self.places().origins
    }

    /// The files that had a part in it, its own first.
    pub(crate) fn files(&self) -> &[String] {
        &self.original.files
    }

    /// What was elaborated: one for all instances that differ in places alone.
    pub(super) fn original(&self) -> &Arc<Original> {
        &self.original
    }

    fn places(&self) -> &Places {
        match &self.moves {
            Some(moves) => self.moved.get_or_init(|| self.original.places.moved(moves)),
            None => &self.original.places,
        }
    }

    /// Switches that heuristics compute of the numbers of a launch by formulas of which all is known.
    pub(super) fn computed(&self) -> Vec<String> {
        let computed = super::heuristics::switches(&self.module, &self.instance.spec);
        let launches = &self.instance.launches;
        let tells = |name: &str| {
            let of = |facts: &LaunchFacts| facts.arguments.iter().any(|of| of.name == name && of.condition.is_some());
            !launches.is_empty() && launches.iter().all(of)
        };
        let told = self.instance.spec.arguments.iter().filter(|of| tells(&of.name)).map(|of| of.name.clone());
        computed.into_iter().filter(|of| of.whole).map(|of| of.name).chain(told).collect()
    }

    /// What holds of the numbers of a launch: what host code took to hold on its way there, and what truth values it hands
    /// over say of them.
    fn conditions(&self, facts: &LaunchFacts) -> Vec<Condition> {
        let mut all = facts.conditions.clone();
        for argument in &self.instance.spec.arguments {
            let told = facts.arguments.iter().find(|of| of.name == argument.name);
            let Some(condition) = told.and_then(|of| of.condition.clone()) else { continue };
            match &argument.given {
                Given::Value(text) if text == "True" => all.push(condition),
                Given::Value(text) if text == "False" => all.push(condition.negated()),
                _ => {}
            }
        }
        all
    }

    /// The launches that were found of it, as far as global memory depends on them.
    pub(crate) fn launches(&self) -> Arc<[Launch]> {
        let computed = super::heuristics::switches(&self.module, &self.instance.spec);
        let switches: Vec<Switch> = computed.into_iter().map(|of| of.switch).collect();
        let of = |facts: &LaunchFacts| {
            let mut launch = Launch {
                grid: facts.grid.map(|count| count.and_then(|it| i64::try_from(it).ok())),
                programs: facts.programs.clone(),
                several: facts.several,
                ..Launch::default()
            };
            for argument in &facts.arguments {
                let count = argument
                    .shape
                    .as_ref()
                    .and_then(|shape| shape.iter().try_fold(1u64, |all, size| all.checked_mul((*size)?)));
                let contents = argument.contents.as_ref().zip(count).and_then(|(all, count)| all.elements(count));
                launch.contents.extend(contents.map(|contents| (argument.name.clone(), contents)));
                let sizes = argument.shape.iter().flatten().map(|size| size.and_then(|size| i64::try_from(size).ok()));
                let sizes: Option<Vec<i64>> = argument.shape.as_ref().and_then(|_| sizes.collect());
                if let (Some(sizes), Some(strides)) = (sizes, &argument.strides) {
                    let described = sizes.into_iter().zip(strides.iter().copied()).collect();
                    launch.described.push((argument.name.clone(), described));
                }
                launch.sizes.extend(argument.sizes.clone().map(|sizes| (argument.name.clone(), sizes)));
                launch.values.extend(argument.value.map(|value| (argument.name.clone(), value)));
                let Some(quantity) = argument.quantity.clone().filter(|_| argument.value.is_none()) else { continue };
                let chosen = self.instance.spec.arguments.iter().find(|of| of.name == argument.name);
                match chosen.map(|chosen| &chosen.given) {
                    Some(Given::Value(text)) => {
                        launch.constants.extend(text.parse().ok().map(|value| (value, quantity)));
                    }
                    _ => launch.quantities.push((argument.name.clone(), quantity)),
                }
            }
            let memories = memories(facts);
            for (argument, memory) in facts.arguments.iter().zip(&memories) {
                let Some(memory) = *memory else { continue };
                launch.memory.push((argument.name.clone(), memory));
                if memories.iter().filter(|other| **other == Some(memory)).count() > 1
                    && let Some(shift) = argument.offset.filter(|shift| *shift != 0)
                {
                    launch.shifts.push((argument.name.clone(), shift));
                }
            }
            launch.views = views(facts);
            launch.switches = switches.clone();
            launch.conditions = self.conditions(facts);
            launch
        };
        let mut launches: Vec<Launch> = Vec::new();
        for launch in self.instance.launches.iter().map(of) {
            let mut alike = launch.clone();
            let known = launches.iter_mut().find(|known| {
                alike.conditions.clone_from(&known.conditions);
                **known == alike
            });
            match known {
                Some(known) => known.conditions.retain(|condition| launch.conditions.contains(condition)),
                None => launches.push(launch),
            }
        }
        if launches.is_empty() && !switches.is_empty() {
            launches.push(Launch { switches, ..Launch::default() });
        }
        launches.into()
    }

    /// The tree of the module.
    pub fn tree(&self) -> Option<&Tree> {
        self.document().sections().first().map(|section| section.tree())
    }

    /// A sentence about the elaborated instance, said of the Python.
    pub fn say(&self, text: &str) -> String {
        let op = |name: &str| self.original.called_by_tlx(name).or_else(|| python_name(name));
        say(text, &|name| self.python_value(name), &|at| self.python_partition(at), &op)
    }

    /// A sentence about what Triton compiled of the kernel, with the names that Python has for its partitions and ops. The
    /// compiled kernel numbers its values by itself: they are named by its locations, not here.
    pub fn say_of_compiled(&self, text: &str) -> String {
        let op = |name: &str| self.original.called_by_tlx(name).or_else(|| python_name(name));
        say(text, &|name| Some(format!("%{name}")), &|at| self.python_partition(at), &op)
    }

    /// The Python variable that a value is named after, by its name in the elaborated instance without `%`.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.original.names.get(name).map(str::to_owned)
    }

    /// What Python calls a value of the elaborated instance, by its name there without `%`.
    fn python_value(&self, name: &str) -> Option<String> {
        if let Some(name) = self.original.names.get(name) {
            return Some(name.to_owned());
        }
        if !name.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(name.to_owned());
        }
        let numbered = self.original.numbered.get_or_init(|| numbered_values(self.document().text()));
        let Some(&start) = numbered.get(name) else {
            return Some(format!("value {name}"));
        };
        let origin = self.origins().at(start)?;
        let source = self.module_of(origin.file)?.slice(origin.range);
        let short = source.len() <= EXPRESSION && !source.contains('\n') && !source.is_empty();
        Some(if short { source.to_owned() } else { format!("{}(…)", origin.what) })
    }

    /// What the partition of this number runs; workers count from 0. A function that several run has a
    /// number behind it.
    fn python_partition(&self, at: usize) -> Option<String> {
        let name = self.original.partitions.get(at + 1)?;
        let before = self.original.partitions.iter().take(at + 1).filter(|other| *other == name).count();
        Some(if before == 0 { name.clone() } else { format!("{name} #{}", before + 1) })
    }

    /// Whether what shapes it is our own choice in part: with other values it may be another kernel.
    pub fn guessed(&self) -> bool {
        let spec = &self.instance.spec;
        let chosen = spec.arguments.iter().any(|argument| argument.source == ValueSource::Chosen);
        // Nobody who launches on clusters leaves that out.
        let launched =
            spec.host.is_some() || spec.arguments.iter().any(|argument| argument.source == ValueSource::Launch);
        chosen || spec.num_ctas.1 == ValueSource::Chosen || (spec.num_ctas.1 == ValueSource::Default && !launched)
    }

    /// Where the kernel is named in the elaborated instance.
    pub(super) fn kernel_range(&self) -> TextRange {
        self.lowered().map_or_else(TextRange::default, |lowered| lowered.map.kernel_range)
    }

    /// What of the file itself it ran, and its name, in the source of the module.
    fn ran(&self) -> impl Iterator<Item = TextRange> {
        let own = self.original.places.touched.iter().filter(|(file, _)| *file == FileId(0)).map(|(_, range)| *range);
        let now = |range| self.moves.as_ref().map_or(range, |moves| moves.range(range));
        own.map(now).chain([self.name])
    }

    /// Where all of the file itself has ended that it ran or has a place in, in the source of the module.
    pub(super) fn end(&self) -> u32 {
        let places = self.places();
        let own = |file: &FileId| *file == FileId(0);
        let touched = places.touched.iter().filter(|(file, _)| own(file)).map(|(_, range)| range.end);
        let origins = places.origins.origins.iter().filter(|origin| own(&origin.file)).map(|origin| origin.range.end);
        let frames = places.origins.frames.iter().filter(|frame| own(&frame.file)).map(|frame| frame.range.end);
        let problems = places.problems.iter().filter(|problem| own(&problem.file)).map(|problem| problem.range.end);
        let unmodelled = places.unmodelled.iter().filter(|(file, ..)| own(file)).map(|(_, range, _)| range.end);
        touched.chain(origins).chain(frames).chain(problems).chain(unmodelled).fold(self.name.end, u32::max)
    }

    /// Whether any of what it ran is text that is no longer there; then the place of what is broken.
    pub(super) fn stale(&self) -> Option<TextRange> {
        let places = self.ran().map(|range| self.module.place(range));
        places.filter(|(_, stale)| *stale).map(|(range, _)| range).next()
    }

    /// Whether any of what it ran does not parse, and never did.
    pub(super) fn broken(&self) -> Option<TextRange> {
        let bad = self.module.broken().iter().filter(|broken| broken.stale.is_none());
        bad.map(|broken| broken.range).find(|range| self.ran().any(|ran| range.contains(ran)))
    }

    /// Whether all that it ran parses.
    pub(super) fn is_whole(&self) -> bool {
        self.module.broken().is_empty() || (self.stale().is_none() && self.broken().is_none())
    }
}

/// What the kernel's parts are called in the Python that it was elaborated from.
impl Names for ElaboratedInstance {
    fn value<'a>(&'a self, ir: &'a str) -> Cow<'a, str> {
        let Some(bare) = ir.strip_prefix('%') else { return Cow::Borrowed(ir) };
        // Behind the name may stand which of an op's results it is.
        let end = bare.find('#').unwrap_or(bare.len());
        let (name, rest) = bare.split_at(end);
        match self.python_value(name) {
            Some(python) => Cow::Owned(python + rest),
            None => Cow::Borrowed(ir),
        }
    }

    fn op<'a>(&'a self, ir: &'a str) -> Cow<'a, str> {
        let declared = python_name(ir);
        if let Some(called) = self.original.called_by_tlx(ir) {
            return Cow::Borrowed(called);
        }
        // What several functions of several targets give is called as it was called here.
        let called = match declared.is_none_or(|name| name.starts_with("async_copy.")) {
            true => self.original.called(ir),
            false => None,
        };
        Cow::Borrowed(called.or(declared).unwrap_or(ir))
    }

    fn partition<'a>(&'a self, label: &'a str) -> Cow<'a, str> {
        let number = label.strip_prefix("partition").and_then(|number| number.parse().ok());
        number.and_then(|number| self.python_partition(number)).map_or(Cow::Borrowed(label), Cow::Owned)
    }
}

/// An elaborated instance whose file has changed elsewhere.
impl ElaboratedInstance {
    /// Whether it says the same in a text that compares so with the one that it was elaborated from.
    pub(super) fn holds_after(&self, comparison: &Comparison) -> bool {
        let own = self.original.places.touched.iter().filter(|(file, _)| *file == FileId(0));
        comparison.keeps(own.map(|(_, range)| *range).chain([self.original.name]), self.original.demanded.as_ref())
    }

    /// What was elaborated, with places in the text that it was elaborated from.
    pub(super) fn original_spec(&self) -> &Spec {
        &self.original.spec
    }

    /// The text that it was elaborated from.
    pub(super) fn outline(&self) -> &Arc<Outline> {
        &self.original.outline
    }

    /// The same instance in another text; `comparison` is that of the two texts.
    pub(super) fn moved(
        &self,
        module: &Arc<Module>,
        instance: Instance,
        name: TextRange,
        comparison: &Arc<Comparison>,
    ) -> ElaboratedInstance {
        let mut modules = self.modules.clone();
        if let Some(first) = modules.first_mut() {
            *first = Some(module.clone());
        }
        ElaboratedInstance {
            lowered: self.lowered.clone().map(|lowered| launched(lowered, &instance)),
            instance,
            module: module.clone(),
            name,
            modules,
            original: self.original.clone(),
            moves: (!comparison.is_still()).then(|| comparison.clone()),
            moved: OnceLock::new(),
        }
    }
}
