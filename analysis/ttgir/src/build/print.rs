//! Prints a module: the declared forms, and the few that are written by hand.

use std::fmt::Write;
use std::rc::Rc;

use dialects::{FormPiece, FormStep, GroupRef, HandWrittenForm, OpForm, OpSyntax};
use rustc_hash::{FxHashMap, FxHashSet};

use super::attr::comma_separated;
use super::{Attr, IrModule, Op, Region, Ssa, Type};

/// How values are called in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueNames {
    /// `%12`.
    Numbers,
    /// After their names in the source, as far as they have one: `%full`, `%full_3`.
    Source,
}

/// The text of a module.
#[derive(Clone, Debug)]
pub struct Printed<O> {
    /// The text.
    pub text: String,
    /// Where in the text the line of an op starts, ascending, with its origin.
    pub origins: Vec<(u32, O)>,
    /// Names of values in the text, without `%`, and their names in the source.
    pub names: Vec<(String, Rc<str>)>,
    /// How each value is called, by number.
    spelt: Vec<Option<Rc<str>>>,
}

impl<O> Printed<O> {
    /// The name of a value in the text, without `%`; `None` of one that does not stand there.
    pub fn spelt(&self, value: Ssa) -> Option<&str> {
        self.spelt.get(value.0 as usize)?.as_deref()
    }
}

impl<O: Clone> IrModule<O> {
    /// The text of the module.
    pub fn print(&self, names: ValueNames) -> Printed<O> {
        let mut printer = Printer {
            module: self,
            named: names == ValueNames::Source,
            spelt: vec![None; self.names.len()],
            taken: FxHashSet::default(),
            space: Space::None,
            printed: Printed { text: String::new(), origins: Vec::new(), names: Vec::new(), spelt: Vec::new() },
        };
        for (number, attribute) in self.aliases.iter().enumerate() {
            printer.text(&format!("#a{number} = {attribute}\n"));
        }
        printer.region(&self.region);
        printer.tell_apart();
        Printed { spelt: printer.spelt, ..printer.printed }
    }
}

/// What stands before the next piece of a form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    /// Nothing: the line begins, or a bracket was opened.
    None,
    /// A space, also before a bracket that opens.
    Always,
    /// A space, save before a bracket or a comma.
    Usually,
}

struct Printer<'m, O> {
    module: &'m IrModule<O>,
    /// Whether values are called by their names in the source.
    named: bool,
    /// How each value is called, once it was printed.
    spelt: Vec<Option<Rc<str>>>,
    taken: FxHashSet<Rc<str>>,
    space: Space,
    printed: Printed<O>,
}

impl<O: Clone> Printer<'_, O> {
    /// Text as it is.
    fn text(&mut self, text: &str) {
        self.printed.text.push_str(text);
    }

    /// A value, or a type, or an attribute, behind a space where one is due.
    fn piece(&mut self, text: &str) {
        if self.space != Space::None {
            self.text(" ");
        }
        self.text(text);
        self.space = Space::Usually;
    }

    fn literal(&mut self, literal: &str) {
        let single = literal.len() == 1;
        let glued = match self.space {
            Space::None => true,
            Space::Always => single && ">)}],".contains(literal),
            Space::Usually => single && "<>(){}[],".contains(literal),
        };
        if !glued {
            self.text(" ");
        }
        self.text(literal);
        self.space = match literal {
            "<" | "(" | "{" | "[" => Space::None,
            _ if literal.starts_with(char::is_alphabetic) => Space::Usually,
            _ => Space::Always,
        };
    }

    /// `%12`, `%full`.
    fn value(&mut self, value: Ssa) -> String {
        let at = value.0 as usize;
        if let Some(Some(spelt)) = self.spelt.get(at) {
            return format!("%{spelt}");
        }
        let source = self.module.names.get(at).cloned().flatten().filter(|_| self.named);
        let spelt: Rc<str> = match source.as_deref().and_then(identifier) {
            Some(word) => {
                let free = self.free(&word, value.0);
                self.printed.names.extend(source.map(|source| (free.to_string(), source)));
                free
            }
            None => value.0.to_string().into(),
        };
        if let Some(slot) = self.spelt.get_mut(at) {
            *slot = Some(spelt.clone());
        }
        format!("%{spelt}")
    }

    /// Of allocations with one name in the source, those that have another name besides get that: what a helper calls
    /// `empty` is `channel.empty` to its caller.
    fn tell_apart(&mut self) {
        if self.module.also_named.is_empty() {
            return;
        }
        let made = |line: &str| {
            let (name, op) = line.trim_start().strip_prefix('%')?.split_once(" = ")?;
            ["ttg.local_alloc", "ttng.tmem_alloc"].iter().any(|alloc| op.starts_with(alloc)).then(|| name.to_owned())
        };
        let allocations: FxHashSet<String> = self.printed.text.lines().filter_map(made).collect();
        let mut shared: FxHashMap<Rc<str>, u32> = FxHashMap::default();
        let mut own: FxHashMap<&str, &mut Rc<str>> = FxHashMap::default();
        for (name, source) in self.printed.names.iter_mut().filter(|(name, _)| allocations.contains(name)) {
            *shared.entry(source.clone()).or_default() += 1;
            own.insert(name, source);
        }
        for (value, other) in &self.module.also_named {
            let spelt = self.spelt.get(value.0 as usize).and_then(Option::as_deref);
            if let Some(source) = spelt.and_then(|spelt| own.get_mut(spelt))
                && shared.get(&**source).is_some_and(|count| *count > 1)
            {
                **source = other.clone();
            }
        }
    }

    /// The name, or where another value has it, the name with the value's number.
    fn free(&mut self, name: &str, number: u32) -> Rc<str> {
        let mut free: Rc<str> = name.into();
        while !self.taken.insert(free.clone()) {
            let longer = format!("{name}_{number}");
            free = if self.taken.contains(&*longer) { format!("{longer}_").into() } else { longer.into() };
        }
        free
    }

    fn values(&mut self, values: &[Ssa]) -> String {
        let names: Vec<String> = values.iter().map(|value| self.value(*value)).collect();
        names.join(", ")
    }

    fn ty(&self, value: Ssa) -> &Type {
        self.module.types.get(value.0 as usize).unwrap_or(&Type::Token)
    }

    fn types(&self, values: &[Ssa]) -> String {
        comma_separated(values.iter().map(|value| self.ty(*value)))
    }

    fn region(&mut self, region: &Region<O>) {
        for placed in &region.ops {
            if let Some(origin) = &placed.origin {
                self.printed.origins.push((self.printed.text.len() as u32, origin.clone()));
            }
            self.op(&placed.op);
            self.text("\n");
        }
    }

    fn op(&mut self, op: &Op<O>) {
        if !op.results.is_empty() {
            let results = self.values(&op.results);
            self.text(&format!("{results} = "));
        }
        match op.syntax.map(|syntax| (syntax, &syntax.form)) {
            Some((syntax, OpForm::Steps(steps))) => {
                self.text(op.name);
                self.space = Space::Usually;
                self.steps(op, syntax, steps);
                self.space = Space::None;
            }
            Some((_, OpForm::HandWritten(form))) => self.hand_written(op, *form),
            _ => self.generic(op),
        }
    }

    /// `"tt.reduce"(%0) <{axis = 0 : i32}> ({ … }) : (tensor<4xi32>) -> i32`.
    fn generic(&mut self, op: &Op<O>) {
        let operands: Vec<Ssa> = op.operands.iter().flat_map(|(_, values)| values.clone()).collect();
        let (values, types) = (self.values(&operands), self.types(&operands));
        let results = self.types(&op.results);
        let results = if op.results.len() == 1 { results } else { format!("({results})") };
        self.text(&format!("\"{}\"({values})", op.name));
        if !op.attrs.is_empty() {
            let entries: Vec<String> = op.attrs.iter().map(|(name, value)| entry(name, value)).collect();
            self.text(&format!(" <{{{}}}>", entries.join(", ")));
        }
        for region in &op.regions {
            let args = self.arguments(region);
            self.text(&format!(" ({{\n^bb0({args}):\n"));
            self.region(region);
            self.text("})");
        }
        self.text(&format!(" : ({types}) -> {results}"));
    }

    fn steps(&mut self, op: &Op<O>, syntax: &OpSyntax, steps: &[FormStep]) {
        for step in steps {
            match step {
                FormStep::Maybe(then, other) => {
                    let there = then.iter().any(|step| is_there(op, syntax, step));
                    self.steps(op, syntax, if there { then } else { other });
                }
                FormStep::AnyOrder(clauses) => {
                    for clause in clauses.iter().filter(|steps| steps.iter().any(|step| is_there(op, syntax, step))) {
                        self.steps(op, syntax, clause);
                    }
                }
                FormStep::Punct(literal) | FormStep::Word(literal) => self.literal(literal),
                FormStep::Operands(group) => {
                    let values = self.values(operands(op, syntax, *group));
                    self.piece(&values);
                }
                FormStep::Attr(name) => {
                    let value = op.attribute(name).map(Attr::in_place).unwrap_or_default();
                    self.piece(&value);
                }
                FormStep::Unit(_) => {}
                FormStep::Dict(word) => self.dictionary(op, syntax, *word),
                FormStep::Types(group, stripped) => {
                    let values = match group {
                        GroupRef::Operand(group) => operands(op, syntax, *group),
                        GroupRef::Result(group) => results(op, syntax, *group),
                    };
                    let types = values.iter().map(|value| match self.ty(*value) {
                        ty if *stripped => ty.stripped(),
                        ty => ty.to_string(),
                    });
                    let types = comma_separated(types);
                    if !types.is_empty() {
                        self.piece(&types);
                    }
                }
                FormStep::AllOperands => {
                    let types = self.all_operand_types(op, syntax);
                    self.piece(&types);
                }
                FormStep::AllResults => {
                    let types = self.types(&op.results);
                    self.piece(&types);
                }
                FormStep::Function => {
                    let (inputs, results) = (self.all_operand_types(op, syntax), self.types(&op.results));
                    let results = if op.results.len() == 1 { results } else { format!("({results})") };
                    self.piece(&format!("({inputs}) -> {results}"));
                }
                FormStep::Piece(piece) => self.special(op, syntax, *piece),
            }
        }
    }

    fn all_operand_types(&self, op: &Op<O>, syntax: &OpSyntax) -> String {
        let all = syntax.operands.iter().flat_map(|group| op.given(group.name));
        comma_separated(all.map(|value| self.ty(*value)))
    }

    fn special(&mut self, op: &Op<O>, syntax: &OpSyntax, piece: FormPiece) {
        match piece {
            FormPiece::Token(group) => {
                let token = self.values(operands(op, syntax, group));
                let gives = op.groups.iter().any(|(name, _)| *name == "token");
                if gives || !token.is_empty() {
                    self.text(&format!("[{token}]"));
                }
            }
            FormPiece::Barriers(barriers, preds) => {
                let pairs = operands(op, syntax, barriers).iter().zip(operands(op, syntax, preds));
                for (barrier, pred) in pairs {
                    let (barrier, pred) = (self.value(*barrier), self.value(*pred));
                    self.text(&format!(", {barrier}[{pred}]"));
                }
            }
            FormPiece::Tokens(tokens, indices) => {
                let pairs = operands(op, syntax, tokens).iter().zip(operands(op, syntax, indices));
                for (token, index) in pairs {
                    let (token, index) = (self.value(*token), self.value(*index));
                    self.text(&format!(" nvws_token {token}[{index}]"));
                }
            }
            FormPiece::Offsets(name) => {
                if let Some(Attr::Ints(offsets)) = op.attribute(name) {
                    let offsets = comma_separated(offsets);
                    self.piece(&offsets);
                }
            }
            FormPiece::Pointer(group) => {
                let types = self.types(operands(op, syntax, group));
                self.piece(&format!("{types} ->"));
            }
            FormPiece::Named => {}
        }
    }

    /// Attributes that the form does not spell.
    fn dictionary(&mut self, op: &Op<O>, syntax: &OpSyntax, word: Option<&'static str>) {
        let OpForm::Steps(steps) = &syntax.form else { return };
        let all = op.attrs.iter().filter(|(name, _)| !spells(steps, name));
        let entries: Vec<String> = all.map(|(name, value)| entry(name, value)).collect();
        if !entries.is_empty() {
            if let Some(word) = word {
                self.literal(word);
            }
            self.piece(&format!("{{{}}}", entries.join(", ")));
        }
    }

    fn hand_written(&mut self, op: &Op<O>, form: HandWrittenForm) {
        match form {
            HandWrittenForm::Module => {
                let entries: Vec<String> = op.attrs.iter().map(|(name, value)| entry(name, value)).collect();
                let attributes = match &entries[..] {
                    [] => String::new(),
                    entries => format!(" attributes {{{}}}", entries.join(", ")),
                };
                self.text(&format!("module{attributes} {{\n"));
            }
            HandWrittenForm::Func => {
                let args = op.regions.first().map_or(&[][..], |region| &region.args);
                let args: Vec<String> = args
                    .iter()
                    .map(|(arg, attr)| {
                        let attr = attr.as_ref().map(|(name, value)| format!(" {{{}}}", entry(name, value)));
                        format!("{}: {}{}", self.value(*arg), self.ty(*arg), attr.unwrap_or_default())
                    })
                    .collect();
                let name = op.attribute("sym_name").map(ToString::to_string).unwrap_or_default();
                self.text(&format!("{} public {name}({}) {{\n", op.name, args.join(", ")));
            }
            HandWrittenForm::For => self.for_header(op),
            HandWrittenForm::If => {
                let condition = self.values(op.given("condition"));
                let arrow = match self.types(&op.results) {
                    types if types.is_empty() => types,
                    types => format!(" -> ({types})"),
                };
                self.text(&format!("{} {condition}{arrow} {{\n", op.name));
            }
            HandWrittenForm::While => self.while_header(op),
            HandWrittenForm::WarpSpecialize => return self.warp_specialize(op),
            HandWrittenForm::Constant => {
                let value = op.attribute("value").map(ToString::to_string).unwrap_or_default();
                self.text(&format!("{} {value}", op.name));
            }
            HandWrittenForm::Select => {
                let parts = ["condition", "true_value", "false_value"].map(|group| self.values(op.given(group)));
                // A condition for each element is named, one for all is not.
                let condition = self.types(op.given("condition"));
                let condition = if condition == "i1" { String::new() } else { format!("{condition}, ") };
                self.text(&format!("{} {} : {condition}{}", op.name, parts.join(", "), self.types(&op.results)));
            }
            HandWrittenForm::Barrier => {
                let space = op.attribute("addrSpace").map(ToString::to_string).unwrap_or_default();
                self.text(&format!("{} {space}", op.name));
            }
            // Refused before.
            _ => {}
        }
        let between = if form == HandWrittenForm::While { "} do {\n" } else { "} else {\n" };
        for (at, region) in op.regions.iter().enumerate() {
            if at > 0 {
                self.text(between);
            }
            if at > 0 && !region.args.is_empty() {
                let args = self.arguments(region);
                self.text(&format!("^bb0({args}):\n"));
            }
            self.region(region);
        }
        if !op.regions.is_empty() {
            self.text("}");
        }
    }

    /// `%0: i32, %1: f16`.
    fn arguments(&mut self, region: &Region<O>) -> String {
        let args = region.args.iter().map(|(arg, _)| format!("{}: {}", self.value(*arg), self.ty(*arg)));
        args.collect::<Vec<_>>().join(", ")
    }

    /// `%1 = %2, …`: arguments with what they begin with.
    fn assigned(&mut self, args: &[Ssa], inits: &[Ssa]) -> String {
        let pairs = args.iter().zip(inits).map(|(arg, init)| format!("{} = {}", self.value(*arg), self.value(*init)));
        pairs.collect::<Vec<_>>().join(", ")
    }

    fn for_header(&mut self, op: &Op<O>) {
        let args: Vec<Ssa> = op.regions.iter().flat_map(|region| &region.args).map(|(arg, _)| *arg).collect();
        let Some((counter, carried)) = args.split_first() else { return };
        let counts = self.ty(*counter).to_string();
        let counter = self.value(*counter);
        let [low, high, step] = ["lowerBound", "upperBound", "step"].map(|group| self.values(op.given(group)));
        let mut line = format!("{} {counter} = {low} to {high} step {step}", op.name);
        if !carried.is_empty() {
            let inits = self.assigned(carried, op.given("initArgs"));
            let _ = write!(line, " iter_args({inits}) -> ({})", self.types(&op.results));
        }
        self.text(&format!("{line} : {counts} {{\n"));
    }

    fn while_header(&mut self, op: &Op<O>) {
        let args: Vec<Ssa> = op.regions.iter().take(1).flat_map(|region| &region.args).map(|(arg, _)| *arg).collect();
        let inits = match self.assigned(&args, op.given("inits")) {
            inits if inits.is_empty() => inits,
            inits => format!("({inits}) "),
        };
        let (takes, gives) = (self.types(op.given("inits")), self.types(&op.results));
        self.text(&format!("{} {inits}: ({takes}) -> ({gives}) {{\n", op.name));
    }

    fn warp_specialize(&mut self, op: &Op<O>) {
        let captures = op.given("explicitCaptures");
        let names = self.values(captures);
        let shown = op.attrs.iter().filter(|(name, _)| *name != NUM_WARPS);
        let entries: Vec<String> = shown.map(|(name, value)| entry(name, value)).collect();
        let attributes =
            if entries.is_empty() { String::new() } else { format!(" attributes {{{}}}", entries.join(", ")) };
        self.text(&format!("{}({names}){attributes}\ndefault {{\n", op.name));
        let warps = match op.attribute(NUM_WARPS) {
            Some(Attr::Ints(warps)) => warps.as_slice(),
            _ => &[],
        };
        if let Some((default, partitions)) = op.regions.split_first() {
            self.region(default);
            for (at, (partition, warps)) in partitions.iter().zip(warps).enumerate() {
                let args = self.arguments(partition);
                self.text(&format!("}}\npartition{at}({args}) num_warps({warps}) {{\n"));
                self.region(partition);
            }
        }
        let (takes, gives) = (self.types(captures), self.types(&op.results));
        self.text(&format!("}}\n: ({takes}) -> ({gives})"));
    }
}

/// The warps of each partition, which the form spells at its region.
const NUM_WARPS: &str = "partitionNumWarps";

/// `count = 1 : i32`, `is_async`.
fn entry(name: &str, value: &Attr) -> String {
    let bare = name.chars().all(|c| c.is_ascii_alphanumeric() || "_$.".contains(c));
    let name = if bare { name.to_owned() } else { format!("\"{name}\"") };
    if *value == Attr::Unit { name } else { format!("{name} = {value}") }
}

/// Whether a form spells an attribute in place.
fn spells(steps: &[FormStep], attribute: &str) -> bool {
    steps.iter().any(|step| match step {
        FormStep::Attr(name) | FormStep::Unit(name) | FormStep::Piece(FormPiece::Offsets(name)) => *name == attribute,
        FormStep::Maybe(then, other) => spells(then, attribute) || spells(other, attribute),
        FormStep::AnyOrder(clauses) => clauses.iter().any(|steps| spells(steps, attribute)),
        _ => false,
    })
}

/// Whether an op has what a step of an optional part writes.
fn is_there<O>(op: &Op<O>, syntax: &OpSyntax, step: &FormStep) -> bool {
    match step {
        FormStep::Operands(group) => !operands(op, syntax, *group).is_empty(),
        FormStep::Attr(name) | FormStep::Unit(name) => op.attribute(name).is_some(),
        FormStep::Types(GroupRef::Operand(group), _) => !operands(op, syntax, *group).is_empty(),
        FormStep::Types(GroupRef::Result(group), _) => !results(op, syntax, *group).is_empty(),
        _ => false,
    }
}

fn operands<'o, O>(op: &'o Op<O>, syntax: &OpSyntax, group: u8) -> &'o [Ssa] {
    syntax.operands.get(group as usize).map_or(&[], |group| op.given(group.name))
}

fn results<'o, O>(op: &'o Op<O>, syntax: &OpSyntax, group: u8) -> &'o [Ssa] {
    let range = syntax.results.get(group as usize).map_or(0..0, |group| op.result_range(group.name));
    op.results.get(range).unwrap_or(&[])
}

/// A name that MLIR can take; none where it would be a number.
fn identifier(name: &str) -> Option<String> {
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    let word: String = name.chars().map(legal).collect();
    (!word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit())).then_some(word)
}
