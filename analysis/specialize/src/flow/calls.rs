//! What calls do with their arguments.

use ruff_python_ast::{Expr, ExprAttribute, ExprCall, Operator};

use super::build::{Builder, RESULT};
use super::graph::{Edge, Node, Traits};

/// The last parts of what is called as the file spells them, innermost first: `load`, `async_copy`.
fn path(expr: &Expr) -> (&str, &str) {
    match expr {
        Expr::Name(name) => (name.id.as_str(), ""),
        Expr::Attribute(attribute) => (attribute.attr.as_str(), path(&attribute.value).0),
        _ => ("", ""),
    }
}

/// Calls that give what they are handed.
fn same(last: &str) -> bool {
    matches!(last, "constexpr" | "static_print" | "_unwrap_if_constexpr" | "multiple_of" | "max_contiguous")
}

fn loads(last: &str) -> bool {
    matches!(last, "load" | "buffer_load") || last.starts_with("atomic_") || last.starts_with("buffer_atomic")
}

/// Which argument is the pointer, by position and name.
fn pointer(last: &str, module: &str) -> Option<(usize, &'static str)> {
    Some(match last {
        "load" | "store" if module != "tma" && module != "tdm" => (0, "pointer"),
        "buffer_load" => (0, "ptr"),
        "buffer_store" | "buffer_load_to_shared" => (1, "ptr"),
        "make_tensor_descriptor" | "make_block_ptr" => (0, "base"),
        "async_load" | "async_copy_global_to_shared" | "global_load_to_shared" | "global_to_shared"
            if !matches!(module, "tma" | "tdm") =>
        {
            (1, "pointer")
        }
        "shared_to_global" => (0, "pointer"),
        _ if last.starts_with("atomic_") => (0, "pointer"),
        _ if last.starts_with("buffer_atomic") => (0, "ptr"),
        _ => return None,
    })
}

/// Whether an atomic counts, or has bits: a whole number is one of its operands, or floats do not have it.
fn counts(call: &ExprCall, last: &str) -> bool {
    let whole = |arg: &Expr| match arg {
        Expr::NumberLiteral(number) => number.value.is_int(),
        Expr::UnaryOp(minus) => matches!(&*minus.operand, Expr::NumberLiteral(number) if number.value.is_int()),
        _ => false,
    };
    let operands = ["val", "cmp", "value"];
    let words = call.arguments.keywords.iter();
    let named = words.filter(|word| word.arg.as_ref().is_some_and(|name| operands.contains(&name.as_str())));
    let mut values = call.arguments.args.iter().skip(1).chain(named.map(|word| &word.value));
    matches!(last, "atomic_and" | "atomic_or" | "atomic_xor") || (last.starts_with("atomic_") && values.any(whole))
}

/// The dimension of memory that counts slots: the one in front of a block's, or of barriers.
fn slots(shape: &Expr, barriers: bool) -> Option<&Expr> {
    let (of, block) = match shape {
        // `[stages] + desc.block_shape`
        Expr::BinOp(op) if op.op == Operator::Add => (&*op.left, 2),
        _ => (shape, 0),
    };
    let items = match of {
        Expr::List(list) => &list.elts,
        Expr::Tuple(list) => &list.elts,
        _ => return None,
    };
    let starred = items.iter().any(Expr::is_starred_expr);
    (barriers || starred || items.len() + block >= 3).then(|| items.first()).flatten()
}

/// Whether these are the arguments of a descriptor's method that chooses rows: `gather(rows, column)`,
/// `scatter(value, rows, column)`. Of what lies in registers or shared memory it is chosen along a dimension, a number.
pub(crate) fn chooses_rows(method: &str, args: &[Expr]) -> bool {
    match (method, args) {
        ("scatter", [_, _, column]) | ("gather", [_, column]) => {
            !column.is_number_literal_expr() || method == "scatter"
        }
        _ => false,
    }
}

impl Builder<'_> {
    /// The last parts of what is called, by the names that they have where they come from.
    fn path(&self, func: &Expr) -> (String, String) {
        let (last, module) = self.spelt(func);
        (last.to_owned(), module.to_owned())
    }

    fn spelt<'n>(&'n self, func: &'n Expr) -> (&'n str, &'n str) {
        let (last, module) = path(func);
        match func {
            Expr::Name(_) => (self.original(last), ""),
            _ => (last, self.original(module)),
        }
    }

    /// What the result of a call is made of.
    pub(super) fn result(&mut self, call: &ExprCall, edge: Edge, out: &mut Vec<(Node, Edge)>) {
        let (last, module) = self.path(&call.func);
        let (last, module) = (last.as_str(), module.as_str());
        let args = &call.arguments;
        if same(last) {
            args.args.iter().for_each(|arg| self.parts(arg, edge, out));
            return;
        }
        if loads(last)
            && self.callees(&call.func).is_empty()
            && let Some((at, name)) = pointer(last, module)
            && let Some(pointer) = args.args.get(at).or_else(|| Some(&args.find_keyword(name)?.value))
        {
            let mut parts = Vec::new();
            self.parts(pointer, Edge::Copy, &mut parts);
            for (node, way) in parts {
                let base =
                    matches!(way, Edge::Copy | Edge::Sum) && matches!(edge, Edge::Copy | Edge::Sum | Edge::Arith);
                out.push((node, if base { Edge::Load } else { Edge::Any }));
            }
            return;
        }
        // One of two values, also where these are pointers.
        if last == "where"
            && let [condition, first, second] = &args.args[..]
        {
            self.parts(condition, Edge::Any, out);
            [first, second].into_iter().for_each(|value| self.parts(value, edge, out));
            return;
        }
        let functions = self.callees(&call.func);
        let keeps = functions.is_empty();
        for (function, _) in functions {
            out.push((self.flow.node(function, RESULT), edge));
        }
        let number = matches!(
            last,
            "cdiv"
                | "min"
                | "max"
                | "minimum"
                | "maximum"
                | "clamp"
                | "int"
                | "abs"
                | "next_power_of_2"
                | "cast"
                | "sum"
                | "reshape"
                | "broadcast_to"
                | "expand_dims"
        );
        let inner = if keeps && number && edge != Edge::Load { Edge::Arith } else { Edge::Any };
        if let Expr::Attribute(attribute) = &*call.func {
            let of = if matches!(last, "to" | "cast") && edge != Edge::Load { Edge::Arith } else { Edge::Any };
            self.parts(&attribute.value, of, out);
        }
        args.args.iter().for_each(|arg| self.parts(arg, inner, out));
        args.keywords.iter().for_each(|word| self.parts(&word.value, Edge::Any, out));
    }

    /// The functions of the kernel's files that an expression may call, and how many parameters stand before its first
    /// argument; none where it is spelled as a function of Triton's, whose names they may have as well.
    pub(super) fn callees(&self, func: &Expr) -> Vec<(u32, usize)> {
        if self.is_of_triton(func) {
            return Vec::new();
        }
        let (last, before) = self.spelt(func);
        if let Some(methods) = self.flow.classes.contains_key(last).then(|| self.flow.named("__init__")) {
            let own = |number: &&u32| self.function_of(**number).is_some_and(|class| class == last);
            return methods.iter().filter(own).map(|number| (*number, 1)).collect();
        }
        let mut all = self.flow.named(last).to_vec();
        if self.flow.classes.contains_key(before) {
            let own = |number: &u32| self.function_of(*number).is_some_and(|class| class == before);
            if all.iter().any(own) {
                all.retain(own);
            }
        }
        let by_object = matches!(func, Expr::Attribute(_)) && !self.flow.classes.contains_key(before);
        let method = |number: u32| {
            let function = self.flow.functions.get(number as usize);
            let first = function.and_then(|of| of.params.first()).is_some_and(|(name, _)| name == "self");
            (number, usize::from(by_object && first))
        };
        all.into_iter().map(method).collect()
    }

    fn function_of(&self, number: u32) -> Option<&str> {
        self.flow.functions.get(number as usize).and_then(|of| of.class.as_deref())
    }

    /// Hands the arguments of a call to the parameters of what it may call.
    fn pass(&mut self, call: &ExprCall) {
        if self.flow.calls_alone {
            self.callees(&call.func).into_iter().for_each(|(function, _)| self.called(function));
            return;
        }
        let (last, _) = self.path(&call.func);
        let fields = self.flow.classes.get(last.as_str()).filter(|_| self.callees(&call.func).is_empty()).cloned();
        if let Some(fields) = fields {
            for (at, arg) in call.arguments.args.iter().enumerate() {
                if let Some(name) = fields.get(at) {
                    let to = self.field(name);
                    self.flow_into(arg, to);
                }
            }
            for word in &call.arguments.keywords {
                if let Some(name) = word.arg.as_ref().filter(|name| fields.iter().any(|field| *field == name.as_str()))
                {
                    let to = self.field(name.as_str());
                    self.flow_into(&word.value, to);
                }
            }
        }
        for (function, before) in self.callees(&call.func) {
            self.called(function);
            for (at, arg) in call.arguments.args.iter().enumerate() {
                self.hand(arg, function, at + before);
            }
            for word in &call.arguments.keywords {
                let Some(name) = &word.arg else { continue };
                let params = self.flow.functions.get(function as usize).map(|of| &of.params);
                if let Some(at) = params.and_then(|params| params.iter().position(|(known, _)| known == name.as_str()))
                {
                    self.hand(&word.value, function, at);
                }
            }
        }
    }

    fn flow_into(&mut self, value: &Expr, to: Node) {
        let mut parts = Vec::new();
        self.parts(value, Edge::Copy, &mut parts);
        parts.into_iter().for_each(|(from, edge)| self.flow.edge(from, to, edge));
    }

    /// What `warp_specialize` is given: `[(function, (arguments…)), …]`; up to 3.5 the arguments, the function of the
    /// default partition, and the functions of the others, in 3.5 with arguments of their own before them.
    fn partitions(&mut self, args: &[Expr]) {
        match args {
            [Expr::List(list), ..] => {
                for pair in &list.elts {
                    let Expr::Tuple(pair) = pair else { continue };
                    let [func, Expr::Tuple(args)] = &pair.elts[..] else { continue };
                    self.partition(func, &args.elts);
                }
            }
            [Expr::Tuple(own), default, rest @ ..] => {
                self.partition(default, &own.elts);
                let (args, others) = match rest {
                    [Expr::Tuple(args), Expr::List(others), ..] => (args, others),
                    [Expr::List(others), ..] => (own, others),
                    _ => return,
                };
                others.elts.iter().for_each(|func| self.partition(func, &args.elts));
            }
            _ => {}
        }
    }

    fn partition(&mut self, func: &Expr, args: &[Expr]) {
        for (function, _) in self.callees(func) {
            self.called(function);
            for (at, arg) in args.iter().enumerate() {
                self.hand(arg, function, at);
            }
        }
    }

    fn marks(&mut self, expr: Option<&Expr>, traits: Traits) {
        if let Some(node) = expr.and_then(|expr| self.direct(expr)) {
            self.flow.mark(node, traits);
        }
    }

    /// Marks what an integer is computed from.
    pub(super) fn index(&mut self, expr: &Expr) {
        let mut parts = Vec::new();
        self.parts(expr, Edge::Copy, &mut parts);
        for (node, way) in parts {
            match way {
                Edge::Copy | Edge::Sum | Edge::Arith => self.flow.mark(node, Traits::INDEX),
                Edge::Load => self.flow.mark(node, Traits::LOADS_INDEX),
                Edge::Any => {}
            }
        }
    }

    /// Marks the base of an address at which integers lie.
    fn counted(&mut self, pointer: &Expr) {
        let mut parts = Vec::new();
        self.parts(pointer, Edge::Copy, &mut parts);
        for (node, _) in parts.iter().filter(|(_, way)| matches!(way, Edge::Copy | Edge::Sum)) {
            self.flow.mark(*node, Traits::LOADS_INDEX);
        }
    }

    fn sizes(&mut self, expr: &Expr, traits: Traits) {
        match expr {
            Expr::Name(_) | Expr::Attribute(_) => self.marks(Some(expr), traits),
            Expr::BinOp(op) => [&op.left, &op.right].into_iter().for_each(|side| self.sizes(side, traits)),
            Expr::List(list) => list.elts.iter().for_each(|expr| self.sizes(expr, traits)),
            Expr::Tuple(list) => list.elts.iter().for_each(|expr| self.sizes(expr, traits)),
            _ => {}
        }
    }

    /// Marks how often something is unrolled: `n`, `n - 1`.
    fn count(&mut self, expr: &Expr) {
        match expr {
            Expr::BinOp(op) if matches!(op.op, Operator::Add | Operator::Sub) => {
                [&op.left, &op.right].into_iter().for_each(|side| self.count(side));
            }
            _ => self.marks(Some(expr), Traits::COUNT),
        }
    }

    /// The base of an address and the rest of it.
    fn address(&mut self, expr: &Expr) {
        let mut parts = Vec::new();
        self.parts(expr, Edge::Copy, &mut parts);
        for (node, way) in parts {
            match way {
                Edge::Copy | Edge::Sum => self.flow.mark(node, Traits::POINTER),
                Edge::Arith => self.flow.mark(node, Traits::INDEX),
                Edge::Load => self.flow.mark(node, Traits::LOADS_INDEX),
                Edge::Any => {}
            }
        }
    }

    /// What a call does with its arguments.
    pub(super) fn call(&mut self, call: &ExprCall) {
        let args = &call.arguments;
        if self.flow.calls_alone {
            self.pass(call);
            if self.spelt(&call.func).0 == "warp_specialize" {
                self.partitions(&args.args);
            }
            return;
        }
        let (last, module) = self.path(&call.func);
        let (last, module) = (last.as_str(), module.as_str());
        let argument = |at: usize, name: &str| args.args.get(at).or_else(|| Some(&args.find_keyword(name)?.value));
        self.pass(call);
        self.marks(Some(&call.func), Traits::CALLED);
        if let Expr::Attribute(method) = &*call.func
            && let Some(about) = self.direct(&method.value).and_then(|node| self.flow.about(node))
            && !about.methods.iter().any(|known| known == method.attr.as_str())
        {
            about.methods.push(method.attr.to_string());
        }
        if let Expr::Attribute(method) = &*call.func
            && chooses_rows(last, &args.args)
            && self.is_value(&method.value)
        {
            self.marks(Some(&method.value), Traits::DESCRIPTOR);
            self.marks(Some(&method.value), Traits::ROWS);
        }
        if let Some((at, name)) = pointer(last, module) {
            // A method of that name is one of a view of memory.
            let method = matches!(&*call.func, Expr::Attribute(of) if self.is_value(&of.value));
            if let Some(pointer) = argument(at, name).filter(|_| !method) {
                self.address(pointer);
            }
        }
        if let Some(pointer) =
            pointer(last, module).and_then(|(at, name)| argument(at, name)).filter(|_| counts(call, last))
        {
            self.counted(pointer);
        }
        if last.starts_with("buffer_")
            && let Some(offsets) = argument(if loads(last) { 1 } else { 2 }, "offsets")
        {
            self.index(offsets);
        }
        if matches!(last, "make_tensor_descriptor" | "make_block_ptr") {
            let offsets = (last == "make_block_ptr").then_some((3, "offsets"));
            for (at, name) in [(1, "shape"), (2, "strides")].into_iter().chain(offsets) {
                match argument(at, name) {
                    Some(Expr::List(list)) => list.elts.iter().for_each(|size| self.index(size)),
                    Some(Expr::Tuple(list)) => list.elts.iter().for_each(|size| self.index(size)),
                    _ => {}
                }
            }
        }
        match last {
            "range" | "static_range" => {
                args.args.iter().for_each(|arg| self.index(arg));
                if last == "static_range" {
                    args.args.iter().for_each(|arg| self.sizes(arg, Traits::SIZE));
                    if let [end] | [_, end] = &args.args[..] {
                        self.count(end);
                    }
                }
            }
            "static_assert" | "assume" | "device_assert" => {
                if let Some(test) = args.args.first() {
                    self.demand(test);
                }
            }
            "warp_specialize" => self.partitions(&args.args),
            "allocate_shared_memory" | "allocate_tensor_memory" => {
                self.marks(argument(0, "element_ty"), Traits::DTYPE);
                let layout = argument(2, "layout");
                if let Some(shape) = argument(1, "shape") {
                    self.sizes(shape, Traits::SIZE);
                    self.sizes(shape, Traits::EXTENT);
                    let barriers =
                        matches!(layout, Some(Expr::Call(layout)) if path(&layout.func).0 == "MBarrierLayout");
                    self.marks(slots(shape, barriers), Traits::SLOTS);
                }
                let kind = if last == "allocate_shared_memory" { Traits::SHARED } else { Traits::TENSOR_MEMORY };
                self.marks(layout, kind);
            }
            "make_block_ptr" => {
                if let Some(shape) = argument(4, "block_shape") {
                    self.sizes(shape, Traits::SIZE);
                    self.sizes(shape, Traits::EXTENT);
                }
            }
            "allocate_mbarrier" => {
                if let Some(batch) = argument(0, "batch") {
                    self.sizes(batch, Traits::SIZE);
                    self.marks(Some(batch), Traits::SLOTS);
                }
            }
            "arange" => {
                self.marks(argument(2, "layout"), Traits::LAYOUT);
                [argument(0, "start"), argument(1, "end")]
                    .into_iter()
                    .flatten()
                    .for_each(|end| self.sizes(end, Traits::SIZE));
            }
            "convert_layout" | "set_auto_layout" => self.marks(args.args.last(), Traits::LAYOUT),
            "full" => {
                self.marks(argument(2, "dtype"), Traits::DTYPE);
                self.marks(argument(3, "layout"), Traits::LAYOUT);
            }
            "zeros" => {
                self.marks(argument(1, "dtype"), Traits::DTYPE);
                self.marks(argument(2, "layout"), Traits::LAYOUT);
            }
            "SliceLayout" => self.marks(argument(1, "parent"), Traits::LAYOUT),
            "DotOperandLayout" => self.marks(argument(1, "parent"), Traits::MMA),
            "load" if self.method(call) => self.marks(args.args.first(), Traits::LAYOUT),
            "to" | "cast" => self.marks(argument(0, "dtype"), Traits::DTYPE),
            "get_default_for" => self.marks(argument(1, "dtype"), Traits::DTYPE),
            "len" => {
                if let Some(node) = args.args.first().and_then(|of| self.direct(of))
                    && let Some(about) = self.flow.about(node)
                {
                    about.parts = about.parts.max(2);
                }
            }
            "wait_group" | "async_wait" | "store_wait" | "warpgroup_mma_wait" | "wait_asynccnt" => {
                for arg in args.args.iter().take(1).chain(args.keywords.iter().map(|word| &word.value)) {
                    self.marks(Some(arg), Traits::WAIT);
                }
            }
            _ if matches!(module, "tma" | "tdm") && pointer(last, module).is_none() => {
                self.marks(args.args.first(), Traits::DESCRIPTOR);
                let coordinates = match args.args.get(1) {
                    Some(Expr::List(list)) => list.elts.as_slice(),
                    Some(Expr::Tuple(list)) => list.elts.as_slice(),
                    _ => &[],
                };
                coordinates.iter().for_each(|at| self.marks(Some(at), Traits::INDEX));
                let rank = coordinates.len();
                let gathers = last.contains("gather") || last.contains("scatter");
                if gathers {
                    self.marks(args.args.first(), Traits::ROWS);
                }
                if let Some(node) = args.args.first().and_then(|of| self.direct(of))
                    && let Some(about) = self.flow.about(node)
                {
                    about.rank = about.rank.max(if gathers { 2 } else { rank });
                }
            }
            _ => {}
        }
        if let Some(layout) = args.find_keyword("layout") {
            self.marks(Some(&layout.value), Traits::LAYOUT);
        }
    }

    /// Whether a call is of a method of some value.
    fn method(&self, call: &ExprCall) -> bool {
        matches!(&*call.func, Expr::Attribute(of) if self.is_value(&of.value))
    }

    /// Whether an expression is no module: a field, a parameter, a call, a subscript.
    fn is_value(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => self.is_variable(name.id.as_str()),
            Expr::Attribute(attribute) => self.flow.fields.contains(attribute.attr.as_str()),
            _ => true,
        }
    }

    /// What is asked of a value.
    pub(super) fn member(&mut self, attribute: &ExprAttribute) {
        let of = Some(&*attribute.value);
        match attribute.attr.as_str() {
            "block_shape" | "block_type" | "nbytes_per_cta" => self.marks(of, Traits::DESCRIPTOR),
            "primitive_bitwidth" | "is_fp8" | "is_floating" | "is_int" => self.marks(of, Traits::DTYPE),
            "element_ty" => {
                if let Expr::Attribute(inner) = &*attribute.value {
                    self.marks(Some(&inner.value), Traits::POINTER);
                }
            }
            "instr_shape" | "warps_per_cta" | "warp_bases" => self.marks(of, Traits::MMA),
            _ => {}
        }
    }
}
