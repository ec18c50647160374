//! From the trees of files to the graph.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Operator, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;

use super::devices;
use super::graph::{CONDITION, Edge, FIELD, Flow, Function, Node, Traits};
use base::TextRange;
use python::interp::Interp;
use python::syntax::Module;

/// The name of a function's conditions; no variable has it.
const CONDITIONS: &str = "if";

/// Parts of a tuple that a kernel is handed.
const MOST_PARTS: usize = 64;

/// The name of what a function gives back.
pub(super) const RESULT: &str = "return";

/// How many parts of what a function gives back are told apart, where it gives back what another does.
const PARTS_OF_RESULT: usize = 8;

/// The name of a part of what a function gives back.
fn part_of_result(at: usize) -> String {
    format!("{RESULT}.{at}")
}

/// Enters the functions, classes and fields of a file.
pub(super) fn declare(flow: &mut Flow, file: u32, module: &Module) {
    let mut declare = Declare { flow, file, class: Vec::new() };
    module.body().iter().for_each(|stmt| declare.visit_stmt(stmt));
}

struct Declare<'f> {
    flow: &'f mut Flow,
    file: u32,
    class: Vec<Option<String>>,
}

impl Declare<'_> {
    /// Notes what a name is called where it comes from.
    fn rename(&mut self, own: &str, theirs: &str) {
        let theirs = theirs.rsplit('.').next().unwrap_or(theirs);
        if own != theirs {
            self.flow.renamed.entry(self.file).or_default().insert(own.to_owned(), theirs.to_owned());
        }
    }

    /// Notes that a name is bound to Triton or a part of it, where it is imported from there.
    fn note_triton(&mut self, own: &str, from: &str) {
        if from.split('.').next() == Some("triton") {
            self.flow.of_triton.entry(self.file).or_default().insert(own.to_owned());
        }
    }
}

impl<'m> Visitor<'m> for Declare<'_> {
    fn visit_stmt(&mut self, stmt: &'m Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                let class = self.class.last().cloned().flatten();
                let params = def.parameters.iter_non_variadic_params();
                let params = params.map(|param| (param.name().to_string(), Interp::range(&param.range())));
                let function = Function {
                    file: self.file,
                    range: Interp::range(def),
                    name: def.name.to_string(),
                    class,
                    params: params.collect(),
                    calls: Vec::new(),
                    devices: 0,
                };
                let number = self.flow.add_function(function);
                for param in def.parameters.iter_non_variadic_params() {
                    self.flow.node(number, param.name().as_str());
                }
                self.class.push(None);
                walk_stmt(self, stmt);
                self.class.pop();
            }
            Stmt::ClassDef(class) => {
                let fields = class.body.iter().filter_map(|stmt| match stmt {
                    Stmt::AnnAssign(field) => field.target.as_name_expr().map(|name| name.id.to_string()),
                    _ => None,
                });
                let fields: Vec<String> = fields.collect();
                self.flow.fields.extend(fields.iter().cloned());
                self.flow.classes.insert(class.name.to_string(), fields);
                self.class.push(Some(class.name.to_string()));
                walk_stmt(self, stmt);
                self.class.pop();
            }
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    if let Expr::Attribute(attribute) = target {
                        self.flow.fields.insert(attribute.attr.to_string());
                    }
                }
            }
            Stmt::ImportFrom(import) => {
                let from = import.module.as_ref().map_or("", |name| name.as_str());
                for alias in &import.names {
                    let path = from.split('.').chain([alias.name.as_str()]);
                    let asks = path.fold(0, |all, part| all | devices::of_name(part));
                    let own = alias.asname.as_ref().unwrap_or(&alias.name);
                    self.flow.imported.entry(self.file).or_default().insert(own.to_string(), asks);
                    self.note_triton(own, from);
                    self.rename(own.as_str(), alias.name.as_str());
                }
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let own = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    let own = own.split('.').next().unwrap_or(own);
                    self.flow.imported.entry(self.file).or_default().insert(own.to_owned(), 0);
                    self.note_triton(own, &alias.name);
                    if alias.asname.is_some() {
                        self.rename(own, alias.name.as_str());
                    }
                }
            }
            _ => walk_stmt(self, stmt),
        }
    }
}

/// Enters the edges of a file.
pub(super) fn connect(flow: &mut Flow, file: u32, module: &Module) {
    let mut builder = Builder { flow, file, scope: None, conditions: Vec::new() };
    module.body().iter().for_each(|stmt| builder.statement(stmt));
}

/// What flows in one file.
pub(super) struct Builder<'f> {
    pub(super) flow: &'f mut Flow,
    file: u32,
    /// The function around.
    scope: Option<u32>,
    /// Nodes of the conditions around, within the function.
    conditions: Vec<Node>,
}

impl Builder<'_> {
    pub(super) fn local(&mut self, name: &str) -> Node {
        // Names of a file itself depend on no argument; each file has its own.
        let scope = self.scope.unwrap_or(FIELD - 1 - self.file);
        self.flow.node(scope, name)
    }

    /// Whether a name is one of the function's own, and none that the file imports.
    pub(super) fn is_variable(&self, name: &str) -> bool {
        let imported = self.flow.imported.get(&self.file).is_some_and(|names| names.contains_key(name));
        !imported && self.scope.is_some_and(|scope| self.flow.knows(scope, name))
    }

    /// What a name of this file is called where it comes from.
    pub(super) fn original<'n>(&'n self, name: &'n str) -> &'n str {
        self.flow.renamed.get(&self.file).and_then(|names| names.get(name)).map_or(name, String::as_str)
    }

    /// Whether this is spelled as Triton or a part of it: `tl.max`, `gl.amd.cdna3.buffer_load`, by the names that its
    /// languages usually have also where another file hands them on.
    pub(super) fn is_of_triton(&self, func: &Expr) -> bool {
        match func {
            Expr::Name(name) => {
                self.flow.of_triton.get(&self.file).is_some_and(|names| names.contains(name.id.as_str()))
            }
            Expr::Attribute(attribute) => {
                let usual =
                    |root: &Expr| matches!(root, Expr::Name(root) if matches!(root.id.as_str(), "tl" | "gl" | "ttgl"));
                usual(&attribute.value) || self.is_of_triton(&attribute.value)
            }
            _ => false,
        }
    }

    pub(super) fn field(&mut self, name: &str) -> Node {
        self.flow.node(FIELD, name)
    }

    /// What an expression is made of.
    pub(super) fn parts(&mut self, expr: &Expr, edge: Edge, out: &mut Vec<(Node, Edge)>) {
        match expr {
            _ if self.flow.calls_alone => {}
            Expr::Name(name) => out.push((self.local(name.id.as_str()), edge)),
            Expr::Attribute(attribute) => match self.direct(expr) {
                Some(node) => out.push((node, edge)),
                None => self.parts(&attribute.value, Edge::Any, out),
            },
            Expr::BinOp(op) => {
                let (left, right) = match (edge, op.op) {
                    (Edge::Copy | Edge::Sum, Operator::Add) => (Edge::Sum, Edge::Arith),
                    (Edge::Copy | Edge::Sum | Edge::Arith, _) => (Edge::Arith, Edge::Arith),
                    _ => (edge, edge),
                };
                self.parts(&op.left, left, out);
                self.parts(&op.right, right, out);
            }
            Expr::UnaryOp(unary) if !unary.op.is_not() => {
                self.parts(&unary.operand, if edge == Edge::Copy { Edge::Arith } else { edge }, out);
            }
            Expr::If(choice) => {
                self.parts(&choice.test, Edge::Any, out);
                self.parts(&choice.body, edge, out);
                self.parts(&choice.orelse, edge, out);
            }
            Expr::Call(call) => self.result(call, edge, out),
            Expr::Named(named) => self.parts(&named.value, edge, out),
            Expr::Subscript(of) if adds_dimensions(&of.slice) => self.parts(&of.value, edge, out),
            _ => {
                let mut names = Names { found: Vec::new() };
                walk_expr(&mut names, expr);
                for inner in names.found {
                    self.parts(inner, Edge::Any, out);
                }
            }
        }
    }

    fn flows(&mut self, value: &Expr, to: Node) {
        let mut parts = Vec::new();
        self.parts(value, Edge::Copy, &mut parts);
        for (from, edge) in parts {
            self.flow.edge(from, to, edge);
        }
        for from in self.conditions.clone() {
            self.flow.condition(from, to);
        }
    }

    /// `value` as the argument of a parameter.
    pub(super) fn hand(&mut self, value: &Expr, function: u32, at: usize) {
        let name = self.flow.functions.get(function as usize).and_then(|of| of.params.get(at));
        if let Some((name, _)) = name.cloned() {
            let to = self.flow.node(function, &name);
            self.flows(value, to);
        }
    }

    /// That a function is called here.
    pub(super) fn called(&mut self, function: u32) {
        if let Some(own) = self.scope.and_then(|scope| self.flow.functions.get_mut(scope as usize))
            && !own.calls.contains(&function)
        {
            own.calls.push(function);
        }
        let to = self.flow.node(function, CONDITIONS);
        let own = self.scope.map(|scope| self.flow.node(scope, CONDITIONS));
        for from in self.conditions.clone().into_iter().chain(own) {
            self.flow.condition(from, to);
        }
    }

    fn assign(&mut self, target: &Expr, value: &Expr) {
        match (target, value) {
            (Expr::Tuple(targets), Expr::Tuple(values)) if targets.elts.len() == values.elts.len() => {
                targets.elts.iter().zip(&values.elts).for_each(|(target, value)| self.assign(target, value));
            }
            (Expr::Tuple(targets), _) => {
                if let Some(node) = self.direct(value)
                    && let Some(about) = self.flow.about(node)
                {
                    about.parts = about.parts.max(targets.elts.len());
                }
                let mut parts = Vec::new();
                self.parts(value, Edge::Any, &mut parts);
                for target in &targets.elts {
                    let Some(to) = self.direct(target) else { continue };
                    parts.iter().for_each(|(from, _)| self.flow.edge(*from, to, Edge::Any));
                }
                let Expr::Call(call) = value else { return };
                for (function, _) in self.callees(&call.func) {
                    for (at, target) in targets.elts.iter().enumerate().take_while(|(_, it)| !it.is_starred_expr()) {
                        let Some(to) = self.direct(target) else { continue };
                        let from = self.flow.node(function, &part_of_result(at));
                        self.flow.edge(from, to, Edge::Copy);
                    }
                }
            }
            (Expr::Name(_), _) => {
                if let Some(to) = self.direct(target) {
                    self.flows(value, to);
                }
            }
            (Expr::Attribute(attribute), _) => {
                let to = self.field(attribute.attr.as_str());
                self.flows(value, to);
            }
            _ => {}
        }
    }

    /// What a function gives back, part by part.
    fn parts_of_result(&mut self, value: &Expr, scope: u32) {
        match value {
            _ if self.flow.calls_alone => {}
            Expr::Tuple(parts) => {
                for (at, part) in parts.elts.iter().enumerate().take_while(|(_, it)| !it.is_starred_expr()) {
                    let to = self.flow.node(scope, &part_of_result(at));
                    self.flows(part, to);
                }
            }
            Expr::Call(call) => {
                for (function, _) in self.callees(&call.func) {
                    for name in (0..PARTS_OF_RESULT).map(part_of_result) {
                        let (from, to) = (self.flow.node(function, &name), self.flow.node(scope, &name));
                        self.flow.edge(from, to, Edge::Copy);
                    }
                }
            }
            Expr::If(choice) => {
                self.parts_of_result(&choice.body, scope);
                self.parts_of_result(&choice.orelse, scope);
            }
            _ => {}
        }
    }

    fn function(&mut self, def: &StmtFunctionDef) {
        let range = Interp::range(def);
        let known = self.flow.functions.iter().position(|of| of.file == self.file && of.range == range);
        let outer = std::mem::replace(&mut self.scope, known.map(|at| at as u32));
        let conditions = std::mem::take(&mut self.conditions);
        def.body.iter().for_each(|stmt| self.statement(stmt));
        self.scope = outer;
        self.conditions = conditions;
    }

    /// What an expression itself does, and that it stands here.
    fn expression(&mut self, expr: &Expr, place: TextRange) {
        let mut parts = Vec::new();
        self.parts(expr, Edge::Any, &mut parts);
        self.note(parts, place);
        self.visit_expr(expr);
    }

    fn note(&mut self, parts: Vec<(Node, Edge)>, place: TextRange) {
        let mut nodes: Vec<(Node, u32)> = parts.into_iter().map(|(node, _)| (node, 0)).collect();
        nodes.extend(self.conditions.iter().map(|node| (*node, CONDITION)));
        if let Some(scope) = self.scope {
            nodes.push((self.flow.node(scope, CONDITIONS), CONDITION));
        }
        self.flow.place(self.file, place, nodes);
    }

    /// Statements under a condition.
    fn under(&mut self, test: &Expr, body: &[Stmt]) {
        let mut parts = Vec::new();
        self.parts(test, Edge::Any, &mut parts);
        let before = self.conditions.len();
        self.conditions.extend(parts.iter().map(|(node, _)| *node));
        body.iter().for_each(|stmt| self.statement(stmt));
        self.conditions.truncate(before);
    }

    /// The head of a statement that starts at `from`.
    fn test(&mut self, test: &Expr, from: u32) {
        self.condition(test);
        self.expression(test, TextRange::new(from, Interp::range(&test.range()).end));
    }

    /// Notes that a value is taken apart, into at least so many parts.
    fn has_parts(&mut self, value: &Expr, parts: usize) {
        if let Some(about) = self.direct(value).and_then(|node| self.flow.about(node)) {
            about.parts = about.parts.max(parts);
        }
    }

    /// Marks what is a condition by itself.
    fn condition(&mut self, test: &Expr) {
        match test {
            Expr::Name(_) | Expr::Attribute(_) => {
                if let Some(node) = self.direct(test) {
                    self.flow.mark(node, Traits::FLAG);
                }
            }
            Expr::UnaryOp(unary) if unary.op.is_not() => self.condition(&unary.operand),
            Expr::BoolOp(op) => op.values.iter().for_each(|value| self.condition(value)),
            _ => {}
        }
    }

    /// What an assertion demands.
    pub(super) fn demand(&mut self, test: &Expr) {
        match test {
            Expr::Compare(compare) => self.compare(compare, true),
            Expr::BoolOp(op) => op.values.iter().for_each(|value| self.demand(value)),
            Expr::Name(_) | Expr::Attribute(_) => self.demanded(test, "True"),
            Expr::UnaryOp(unary) if unary.op.is_not() => self.demanded(&unary.operand, "False"),
            _ => {}
        }
    }

    fn demanded(&mut self, value: &Expr, text: &str) {
        if let Some(node) = self.direct(value)
            && let Some(about) = self.flow.about(node)
        {
            about.demanded.push(text.to_owned());
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        let place = Interp::range(stmt);
        match stmt {
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(class) => class.body.iter().for_each(|stmt| self.statement(stmt)),
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.assign(target, &assign.value));
                self.expression(&assign.value, place);
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.assign(&assign.target, value);
                    self.expression(value, place);
                }
            }
            Stmt::AugAssign(assign) => {
                if let Some(to) = self.direct(&assign.target) {
                    let mut parts = Vec::new();
                    self.parts(&assign.value, Edge::Arith, &mut parts);
                    parts.into_iter().for_each(|(from, edge)| self.flow.edge(from, to, edge));
                }
                let mut parts = Vec::new();
                self.parts(&assign.target, Edge::Any, &mut parts);
                self.parts(&assign.value, Edge::Any, &mut parts);
                self.note(parts, place);
                self.visit_expr(&assign.value);
            }
            Stmt::For(each) => {
                if let Some(about) = self.direct(&each.iter).and_then(|node| self.flow.about(node)) {
                    about.parts = about.parts.max(2);
                }
                if let Some(to) = self.direct(&each.target) {
                    self.flows(&each.iter, to);
                }
                self.expression(&each.iter, TextRange::new(place.start, Interp::range(&each.iter.range()).end));
                each.body.iter().for_each(|stmt| self.statement(stmt));
            }
            Stmt::While(each) => {
                self.test(&each.test, place.start);
                each.body.iter().for_each(|stmt| self.statement(stmt));
            }
            Stmt::If(branch) => {
                self.test(&branch.test, place.start);
                self.under(&branch.test, &branch.body);
                for clause in &branch.elif_else_clauses {
                    if let Some(test) = &clause.test {
                        self.test(test, Interp::range(clause).start);
                    }
                    self.under(clause.test.as_ref().unwrap_or(&branch.test), &clause.body);
                }
            }
            Stmt::Assert(assert) => {
                self.demand(&assert.test);
                self.expression(&assert.test, place);
            }
            Stmt::Return(back) => {
                let Some(value) = &back.value else { return };
                if let Some(scope) = self.scope {
                    let to = self.flow.node(scope, RESULT);
                    self.flows(value, to);
                    self.parts_of_result(value, scope);
                }
                self.expression(value, place);
            }
            Stmt::Expr(expr) => self.expression(&expr.value, place),
            _ => {
                let mut inner = Inner { found: Vec::new() };
                walk_stmt(&mut inner, stmt);
                inner.found.into_iter().for_each(|stmt| self.statement(stmt));
            }
        }
    }
}

impl<'m> Visitor<'m> for Builder<'_> {
    fn visit_expr(&mut self, expr: &'m Expr) {
        let named = match expr {
            Expr::Name(name) => {
                let name = name.id.as_str();
                let imported = self.flow.imported.get(&self.file).and_then(|names| names.get(name));
                imported.copied().unwrap_or(0) | devices::of_name(name)
            }
            Expr::Attribute(attribute) => devices::of_name(attribute.attr.as_str()),
            _ => 0,
        };
        if let Some(own) = self.scope.and_then(|scope| self.flow.functions.get_mut(scope as usize)) {
            own.devices |= named;
        }
        match expr {
            Expr::Call(call) => self.call(call),
            Expr::Compare(_) if self.flow.calls_alone => {}
            Expr::Compare(compare) => self.compare(compare, false),
            Expr::BinOp(op) if integral(op.op) => {
                for side in [&op.left, &op.right] {
                    self.index(side);
                }
            }
            Expr::BinOp(op) if matches!(op.op, Operator::Mult | Operator::Div | Operator::Pow) => {
                for side in [&op.left, &op.right] {
                    if let Some(node) = self.direct(side) {
                        self.flow.mark(node, Traits::NUMBER);
                    }
                }
            }
            Expr::UnaryOp(unary) if unary.op.is_u_sub() => {
                if let Some(node) = self.direct(&unary.operand) {
                    self.flow.mark(node, Traits::NUMBER);
                }
            }
            Expr::If(choice) => self.condition(&choice.test),
            Expr::Attribute(attribute) => self.member(attribute),
            Expr::Subscript(subscript) => {
                let parts = match &*subscript.slice {
                    // Of a tensor, and of a dictionary.
                    Expr::Tuple(_) | Expr::Slice(_) | Expr::NoneLiteral(_) | Expr::StringLiteral(_) => 0,
                    slice => match super::constant::constant(slice).and_then(|text| text.parse::<usize>().ok()) {
                        Some(at) if at < MOST_PARTS => at + 1,
                        // No tuple that a kernel is handed is so long.
                        Some(_) => 0,
                        None => 2,
                    },
                };
                self.has_parts(&subscript.value, parts);
            }
            Expr::Starred(starred) => self.has_parts(&starred.value, 1),
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// Operators that only integers have.
fn integral(op: Operator) -> bool {
    matches!(
        op,
        Operator::FloorDiv
            | Operator::Mod
            | Operator::BitAnd
            | Operator::BitOr
            | Operator::BitXor
            | Operator::LShift
            | Operator::RShift
    )
}

/// The expressions inside of one that are names, fields and calls.
struct Names<'m> {
    found: Vec<&'m Expr>,
}

impl<'m> Visitor<'m> for Names<'m> {
    fn visit_expr(&mut self, expr: &'m Expr) {
        match expr {
            Expr::Name(_) | Expr::Attribute(_) | Expr::Call(_) => self.found.push(expr),
            _ => walk_expr(self, expr),
        }
    }
}

/// The statements inside of one.
struct Inner<'m> {
    found: Vec<&'m Stmt>,
}

impl<'m> Visitor<'m> for Inner<'m> {
    fn visit_stmt(&mut self, stmt: &'m Stmt) {
        self.found.push(stmt);
    }
}

/// Whether an index leaves the elements as they are: `:` and `None`.
fn adds_dimensions(index: &Expr) -> bool {
    match index {
        Expr::Tuple(parts) => parts.elts.iter().all(adds_dimensions),
        Expr::Slice(slice) => slice.lower.is_none() && slice.upper.is_none() && slice.step.is_none(),
        Expr::NoneLiteral(_) => true,
        _ => false,
    }
}
