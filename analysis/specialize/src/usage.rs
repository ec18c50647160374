//! What a kernel does with a parameter that nobody says the type of.
//!
//! Reads the text alone: arithmetic that ends in a load is a pointer's, `.block_shape` a descriptor's, and
//! what a helper does with a parameter its caller does with the argument.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Operator, Stmt, StmtFunctionDef};
use rustc_hash::FxHashMap;

use super::flow::chooses_rows;
use super::survey::{Func, Survey};
use crate::limits::usage::DEPTH;
use python::specialization::Language;

/// What a parameter is, by its use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum ParamUse {
    /// It does not show.
    #[default]
    Unseen,
    /// A number that the kernel computes with.
    Scalar,
    /// A number that decides: a bound of `static_range`, the shape of an allocation, a plain condition.
    Number,
    /// Memory is read or written through it.
    Pointer,
    /// The same, of integers: a flag, a lock, a counter.
    IntegerPointer,
    /// A tensor descriptor, of this rank where coordinates show it, else 0.
    Descriptor(u8),
    /// An element type.
    DType,
    /// Called, or its functions are: a class or a function.
    Callable,
    /// A layout.
    Layout,
    /// A descriptor of shared or tensor memory, or a barrier: no launch can give it.
    Memory,
    /// An object with fields and methods of its own: no launch can give it, unless as a constexpr.
    Object,
}

/// A [`ParamUse`] for each parameter, in their order, and the attributes that are asked of each.
pub(super) fn uses(survey: &Survey<'_>, func: &Func<'_>) -> Vec<(ParamUse, Vec<String>)> {
    let mut members = Members { params: names(func.def), found: Vec::new() };
    members.found.resize(members.params.len(), Vec::new());
    for stmt in &func.def.body {
        members.visit_stmt(stmt);
    }
    let language = func.language().unwrap_or_default();
    walk(survey, language, func.def, DEPTH).into_iter().zip(members.found).collect()
}

fn names(def: &StmtFunctionDef) -> Vec<&str> {
    def.parameters.iter_non_variadic_params().map(|param| param.name().as_str()).collect()
}

/// Attributes of parameters.
struct Members<'m> {
    params: Vec<&'m str>,
    found: Vec<Vec<String>>,
}

impl<'m> Visitor<'m> for Members<'m> {
    fn visit_expr(&mut self, expr: &'m Expr) {
        if let Expr::Attribute(attribute) = expr
            && let Expr::Name(name) = &*attribute.value
            && let Some(at) = self.params.iter().position(|param| *param == name.id.as_str())
            && let member = attribute.attr.as_str()
            && !self.found[at].iter().any(|known| known == member)
        {
            self.found[at].push(member.to_owned());
        }
        walk_expr(self, expr);
    }
}

/// `language` is that of the kernel, also where a helper of the other language is walked over.
fn walk(survey: &Survey<'_>, language: Language, def: &StmtFunctionDef, depth: u32) -> Vec<ParamUse> {
    let params = names(def);
    let count = params.len();
    let mut walk = Walk {
        survey,
        language,
        depth,
        found: vec![ParamUse::Unseen; count],
        bound_anew: vec![false; count],
        params,
        from: FxHashMap::default(),
    };
    for stmt in &def.body {
        walk.visit_stmt(stmt);
    }
    walk.found
}

struct Walk<'s, 'm> {
    survey: &'s Survey<'m>,
    language: Language,
    depth: u32,
    params: Vec<&'m str>,
    found: Vec<ParamUse>,
    /// Which of them something else was assigned to on the way here.
    bound_anew: Vec<bool>,
    /// The parameter that a variable starts with: `ptrs` of `ptrs = base + offsets`.
    from: FxHashMap<&'m str, usize>,
}

impl<'m> Walk<'_, 'm> {
    fn param(&self, expr: &Expr) -> Option<usize> {
        let Expr::Name(name) = expr else { return None };
        self.params.iter().position(|param| *param == name.id.as_str())
    }

    fn note(&mut self, at: Option<usize>, used: ParamUse) {
        // What is asked of another value under its name says nothing of what a launch gives.
        let anew = at.and_then(|at| self.bound_anew.get(at)) == Some(&true);
        if anew && matches!(used, ParamUse::Memory | ParamUse::Object) {
            return;
        }
        if let Some(slot) = at.and_then(|at| self.found.get_mut(at)) {
            *slot = (*slot).max(used);
        }
    }

    /// The parameter that a sum starts with.
    fn base(&self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Name(name) => self.param(expr).or_else(|| self.from.get(name.id.as_str()).copied()),
            Expr::BinOp(sum) if sum.op == Operator::Add => self.base(&sum.left).or_else(|| self.base(&sum.right)),
            _ => None,
        }
    }

    /// The sum's first term that is a parameter by itself.
    fn pointer(&mut self, expr: Option<&Expr>) {
        let at = expr.and_then(|expr| self.base(expr));
        self.note(at, ParamUse::Pointer);
    }

    fn call(&mut self, call: &'m ExprCall) {
        let path = self.survey.path(&call.func).unwrap_or_default();
        let last = path.rsplit('.').next().unwrap_or_default();
        let args = &call.arguments.args;
        let argument = |at: usize, name: &str| args.get(at).or_else(|| Some(&call.arguments.find_keyword(name)?.value));
        let in_module = |module: &str| path.rsplit('.').nth(1) == Some(module);
        if let Expr::Attribute(attribute) = &*call.func
            && let at @ Some(_) = self.param(&attribute.value)
        {
            let used = match attribute.attr.as_str() {
                "load" | "store" | "gather" | "scatter"
                    if self.language == Language::Triton && coordinates(&attribute.attr, args).is_some() =>
                {
                    ParamUse::Descriptor(coordinates(&attribute.attr, args).unwrap_or_default())
                }
                "index" | "slice" | "load" | "store" | "permute" | "reshape" | "reinterpret" | "_reinterpret"
                | "gather" | "scatter" | "_keep_alive" => ParamUse::Memory,
                "to" | "broadcast_to" | "sum" | "cast" | "bitcast" => ParamUse::Scalar,
                _ => ParamUse::Object,
            };
            return self.note(at, used);
        }
        let callee = self.param(&call.func);
        self.note(callee, ParamUse::Callable);
        match last {
            "load" | "store" if in_module("gl") || in_module("tl") || in_module("language") => {
                self.pointer(argument(0, "pointer"));
            }
            "buffer_load" | "buffer_atomic_add" => self.pointer(argument(0, "ptr")),
            "buffer_store" => self.pointer(argument(1, "ptr")),
            _ if last.starts_with("atomic_") => {
                let is_whole = |arg: &Expr| {
                    matches!(arg, Expr::NumberLiteral(number) if number.value.is_int())
                        || matches!(arg, Expr::UnaryOp(minus) if minus.operand.is_number_literal_expr())
                };
                let pointer = argument(0, "pointer");
                let whole = args.iter().skip(1).any(is_whole);
                self.pointer(pointer);
                if whole && let Some(at) = pointer.and_then(|pointer| self.base(pointer)) {
                    self.note(Some(at), ParamUse::IntegerPointer);
                }
            }
            "make_tensor_descriptor" | "make_block_ptr" => self.pointer(argument(0, "base")),
            "async_load" | "async_copy_global_to_shared" | "global_load_to_shared" | "global_to_shared"
                if in_module("async_copy") =>
            {
                self.pointer(argument(1, "pointer"));
                self.memory(argument(0, "smem"));
            }
            "buffer_load_to_shared" => self.pointer(argument(1, "ptr")),
            "shared_to_global" => self.pointer(argument(0, "pointer")),
            _ if in_module("tma") || in_module("tdm") => {
                let at = argument(0, "tensor_desc").and_then(|expr| self.param(expr));
                let rank = argument(1, "coord").map_or(0, |coord| match coord {
                    Expr::List(list) => list.elts.len(),
                    Expr::Tuple(list) => list.elts.len(),
                    _ => 0,
                });
                let rank = if last.contains("gather") || last.contains("scatter") { 2 } else { rank };
                self.note(at, ParamUse::Descriptor(rank as u8));
                for (at, name) in [(2, "barrier"), (3, "result")] {
                    if last.contains("load") || last.contains("to_shared") || last.contains("gather") {
                        self.memory(argument(at, name));
                    }
                }
            }
            _ if in_module("mbarrier") && last != "allocate_mbarrier" => self.memory(argument(0, "mbarrier")),
            "warp_specialize" => self.partitions(call),
            "tcgen05_commit" => self.memory(argument(0, "barrier")),
            "tcgen05_mma" | "warpgroup_mma" => {
                self.memory(argument(0, "a"));
                self.memory(argument(1, "b"));
            }
            "static_range" => args.iter().for_each(|arg| self.number(arg)),
            "allocate_mbarrier" => {
                if let Some(batch) = argument(0, "batch") {
                    self.number(batch);
                }
            }
            "allocate_shared_memory" | "allocate_tensor_memory" => {
                let at = argument(0, "element_ty").and_then(|expr| self.param(expr));
                self.note(at, ParamUse::DType);
                if let Some(shape) = argument(1, "shape") {
                    self.number(shape);
                }
                let at = argument(2, "layout").and_then(|expr| self.param(expr));
                self.note(at, ParamUse::Layout);
            }
            "convert_layout" | "arange" | "full" | "zeros" | "set_auto_layout" => {
                let at = args.last().and_then(|expr| self.param(expr));
                let layout = call.arguments.find_keyword("layout").and_then(|word| self.param(&word.value));
                self.note(layout, ParamUse::Layout);
                if last == "convert_layout" {
                    self.note(at, ParamUse::Layout);
                }
            }
            "to" | "cast" | "get_default_for" => {
                for arg in args {
                    let at = self.param(arg).filter(|&at| looks_like_dtype(self.params[at]));
                    self.note(at, ParamUse::DType);
                }
            }
            _ => self.helper(call, last),
        }
    }

    fn memory(&mut self, expr: Option<&Expr>) {
        let at = expr.and_then(|expr| self.param(expr));
        self.note(at, ParamUse::Memory);
    }

    /// Parameters that stand in an expression by themselves, in arithmetic or lists.
    fn number(&mut self, expr: &Expr) {
        match expr {
            Expr::Name(_) => {
                let at = self.param(expr);
                self.note(at, ParamUse::Number);
            }
            Expr::BinOp(op) => {
                self.number(&op.left);
                self.number(&op.right);
            }
            Expr::List(list) => list.elts.iter().for_each(|expr| self.number(expr)),
            Expr::Tuple(list) => list.elts.iter().for_each(|expr| self.number(expr)),
            _ => {}
        }
    }

    /// What a helper of this file does with its parameters.
    fn helper(&mut self, call: &'m ExprCall, name: &str) {
        if self.depth == 0 || !matches!(&*call.func, Expr::Name(_)) {
            return;
        }
        let Some(helper) = self.function(name) else { return };
        let passes = |expr: &Expr| self.base(expr).is_some();
        let any =
            call.arguments.args.iter().any(passes) || call.arguments.keywords.iter().any(|word| passes(&word.value));
        if !any {
            return;
        }
        self.pass(call, helper);
    }

    /// `[(function, (arguments…)), …]`.
    fn partitions(&mut self, call: &'m ExprCall) {
        let Some(Expr::List(list)) = call.arguments.args.first() else { return };
        for pair in &list.elts {
            let Expr::Tuple(pair) = pair else { continue };
            let [Expr::Name(name), Expr::Tuple(args)] = &pair.elts[..] else { continue };
            if self.depth == 0 || !args.elts.iter().any(|arg| self.base(arg).is_some()) {
                continue;
            }
            if let Some(function) = self.function(name.id.as_str()) {
                let inner = walk(self.survey, self.language, function, self.depth - 1);
                for (arg, used) in args.elts.iter().zip(inner) {
                    self.give(arg, Some(used));
                }
            }
        }
    }

    fn function(&self, name: &str) -> Option<&'m StmtFunctionDef> {
        let mut functions = self.survey.functions.iter().filter(|func| func.device() && !func.method);
        functions.find(|func| func.def.name.as_str() == name).map(|func| func.def)
    }

    fn pass(&mut self, call: &'m ExprCall, helper: &'m StmtFunctionDef) {
        let inner = walk(self.survey, self.language, helper, self.depth - 1);
        let names = names(helper);
        for (at, arg) in call.arguments.args.iter().enumerate() {
            self.give(arg, inner.get(at).copied());
        }
        for word in &call.arguments.keywords {
            let at = word.arg.as_ref().and_then(|name| names.iter().position(|param| *param == name.as_str()));
            self.give(&word.value, at.and_then(|at| inner.get(at).copied()));
        }
    }

    fn give(&mut self, arg: &Expr, used: Option<ParamUse>) {
        let at = if matches!(used, Some(ParamUse::Pointer | ParamUse::IntegerPointer)) {
            self.base(arg)
        } else {
            self.param(arg)
        };
        self.note(at, used.unwrap_or_default());
    }
}

impl<'m> Visitor<'m> for Walk<'_, 'm> {
    fn visit_stmt(&mut self, stmt: &'m Stmt) {
        if let Stmt::Assign(assign) = stmt
            && let [Expr::Name(target)] = &assign.targets[..]
            && let Some(at) = self.base(&assign.value)
            && !self.params.contains(&target.id.as_str())
        {
            self.from.insert(target.id.as_str(), at);
        }
        match stmt {
            Stmt::If(branch) => {
                let at = self.param(&branch.test);
                self.note(at, ParamUse::Number);
                walk_stmt(self, stmt);
            }
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            _ => walk_stmt(self, stmt),
        }
        let targets = match stmt {
            Stmt::Assign(assign) => &assign.targets[..],
            Stmt::AnnAssign(assign) if assign.value.is_some() => std::slice::from_ref(&*assign.target),
            _ => &[],
        };
        for target in targets {
            let at = self.param(target);
            if let Some(anew) = at.and_then(|at| self.bound_anew.get_mut(at)) {
                *anew = true;
            }
        }
    }

    fn visit_expr(&mut self, expr: &'m Expr) {
        match expr {
            Expr::Call(call) => self.call(call),
            Expr::Attribute(attribute) => {
                let at = self.param(&attribute.value);
                let used = match attribute.attr.as_str() {
                    "block_shape" | "nbytes_per_cta" | "block_type" | "layout" | "strides" => ParamUse::Descriptor(0),
                    // Pointers and descriptors have the first two; the others are told apart by their calls.
                    "dtype" | "shape" | "type" | "to" | "sum" | "cast" | "load" | "store" | "gather" | "scatter" => {
                        ParamUse::Unseen
                    }
                    _ => ParamUse::Object,
                };
                self.note(at, used);
                if attribute.attr.as_str() == "element_ty"
                    && let Expr::Attribute(inner) = &*attribute.value
                {
                    let at = self.param(&inner.value);
                    self.note(at, ParamUse::Pointer);
                }
            }
            Expr::BinOp(op) => {
                for side in [&op.left, &op.right] {
                    let at = self.param(side);
                    self.note(at, ParamUse::Scalar);
                }
            }
            Expr::Compare(compare) => {
                for side in std::iter::once(&*compare.left).chain(&compare.comparators) {
                    let at = self.param(side);
                    self.note(at, ParamUse::Scalar);
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// How many coordinates a method of a tensor descriptor is given, if these are the arguments of one.
fn coordinates(method: &str, args: &[Expr]) -> Option<u8> {
    let list = match args.first()? {
        Expr::List(list) => &list.elts,
        Expr::Tuple(list) => &list.elts,
        _ => return chooses_rows(method, args).then_some(2),
    };
    matches!(method, "load" | "store").then(|| u8::try_from(list.len()).unwrap_or_default())
}

fn looks_like_dtype(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("dtype") || name.ends_with("_ty") || name.ends_with("_type")
}
