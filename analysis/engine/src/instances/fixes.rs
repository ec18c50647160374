//! Candidates for fixes that are found in the Python alone: the other phase of a wait, a fence or a wait before
//! the access that lacks it, an arrival some statements later, the bytes of the copies that an expectation is
//! for, a number that a call gives one lower, and a count one up or down.

use python::syntax::range;
use ruff_python_ast::visitor::{Visitor, walk_body, walk_expr};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::Ranged;

use base::TextRange;
use findings::{Edit, Finding, Fix, Kind};
use python::syntax::Module;

/// Statements that an arrival is moved over.
const OVER: usize = 3;

/// Calls of a file, and its statements with those behind them in their block.
#[derive(Default)]
struct Calls<'a> {
    calls: Vec<&'a ExprCall>,
    statements: Vec<&'a [Stmt]>,
}

impl<'a> Visitor<'a> for Calls<'a> {
    fn visit_body(&mut self, body: &'a [Stmt]) {
        self.statements.extend((0..body.len()).filter_map(|at| body.get(at..)));
        walk_body(self, body);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr {
            self.calls.push(call);
        }
        walk_expr(self, expr);
    }
}

/// What is known of the text around a finding.
struct Around<'a> {
    module: &'a Module,
    calls: Calls<'a>,
}

impl<'a> Around<'a> {
    fn text(&self, node: &impl Ranged) -> &'a str {
        self.module.slice(range(node))
    }

    fn call(&self, at: TextRange) -> Option<&'a ExprCall> {
        self.calls.calls.iter().copied().find(|call| range(*call) == at)
    }

    /// The last part of what a call calls.
    fn name(&self, call: &ExprCall) -> &'a str {
        let whole = self.text(&*call.func);
        whole.rsplit('.').next().unwrap_or(whole)
    }

    /// The innermost statement that holds a place, with those behind it.
    fn statement(&self, at: TextRange) -> Option<&'a [Stmt]> {
        let holds = |rest: &&&[Stmt]| rest.first().is_some_and(|first| range(first).contains(at));
        self.calls
            .statements
            .iter()
            .filter(holds)
            .min_by_key(|rest| rest.first().map(|first| range(first).len()))
            .copied()
    }

    /// The start of a statement's line and what stands before it there; `None` of one that shares its line.
    fn line(&self, statement: &Stmt) -> Option<(u32, &'a str)> {
        let start = range(statement).start;
        let before = self.module.source().get(..start as usize)?;
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        let indent = before.get(line..)?;
        indent.trim().is_empty().then_some((line as u32, indent))
    }

    fn insert(&self, at: TextRange, code: &str) -> Option<Edit> {
        let statement = self.statement(at)?.first()?;
        let (line, indent) = self.line(statement)?;
        Some(Edit { range: TextRange::empty(line), text: format!("{indent}{code}\n") })
    }
}

/// Changes that might help, the likeliest first. `named` are the ops and values that the finding's message names.
pub(super) fn candidates(module: &Module, finding: &Finding, named: &[String]) -> Vec<Fix> {
    let mut calls = Calls::default();
    calls.visit_body(module.body());
    let around = Around { module, calls };
    let sites = finding.sites.iter().map(|site| site.range);
    let steps = finding.run.iter().rev().map(|step| step.range);
    let mut places: Vec<TextRange> = Vec::new();
    for place in sites.chain(steps) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let mut fixes: Vec<Fix> = Vec::new();
    match finding.kind {
        Kind::MissingProxyFence => fixes.extend(fence(&around, finding.range)),
        Kind::PendingAccess => {
            fixes.extend(lower(&around, finding.range));
            fixes.extend(pending(&around, finding.range, named));
            fixes.extend(places.iter().flat_map(|place| later(&around, *place)));
        }
        Kind::ExpectMismatch => fixes.extend(places.iter().filter_map(|place| bytes(&around, *place))),
        Kind::ArrivalOverflow => fixes.extend(counts(&around, named)),
        Kind::MissingForwardBarrier | Kind::MissingBackwardBarrier | Kind::ReuseSlotHazard => {
            fixes.extend(places.iter().filter_map(|place| other_phase(&around, *place)));
            fixes.extend(places.iter().flat_map(|place| later(&around, *place)));
        }
        Kind::Deadlock | Kind::PhaseMismatch | Kind::LappedWait => {
            fixes.extend(places.iter().filter_map(|place| other_phase(&around, *place)));
            fixes.extend(counts(&around, named));
            fixes.extend(places.iter().filter_map(|place| bytes(&around, *place)));
        }
        _ => {}
    }
    fixes
}

/// The other phase of a wait.
fn other_phase(around: &Around<'_>, place: TextRange) -> Option<Fix> {
    let call = around.call(place).filter(|call| around.name(call) == "wait")?;
    let named = call.arguments.keywords.iter().find(|keyword| keyword.arg.as_ref().is_some_and(|it| it == "phase"));
    let phase = match named {
        Some(keyword) => &keyword.value,
        None => call.arguments.args.get(1)?,
    };
    let old = around.text(phase);
    let new = match old.strip_suffix("^ 1").map(str::trim_end) {
        Some(inner) => inner.to_owned(),
        None if old == "0" => "1".to_owned(),
        None if old == "1" => "0".to_owned(),
        None if matches!(phase, Expr::BinOp(_) | Expr::If(_) | Expr::Compare(_) | Expr::BoolOp(_)) => {
            format!("({old}) ^ 1")
        }
        None => format!("{old} ^ 1"),
    };
    let title = format!("Wait for the other phase: `{new}`");
    Some(Fix { title, edits: vec![Edit { range: range(phase), text: new }] })
}

/// A fence before the asynchronous access.
fn fence(around: &Around<'_>, place: TextRange) -> Vec<Fix> {
    let source = around.module.source();
    let imported = |name: &str| {
        let mut lines = source.lines();
        lines.any(|line| line.trim_end_matches(',').trim().ends_with(name) || line.contains(&format!("import {name}")))
    };
    let code = if imported("fence_async_shared") || source.contains(" fence_async_shared,") {
        "fence_async_shared()"
    } else if imported("hopper") {
        "hopper.fence_async_shared()"
    } else {
        "gl.nvidia.hopper.fence_async_shared()"
    };
    let edit = around.insert(place, code);
    edit.map(|edit| Fix { title: "Insert the fence".to_owned(), edits: vec![edit] }).into_iter().collect()
}

/// A wait before the access, of the family that the finding names.
fn pending(around: &Around<'_>, at: TextRange, named: &[String]) -> Option<Fix> {
    let waits = ["tma.store_wait", "async_copy.wait_group", "tdm.async_wait"];
    let wait = waits.into_iter().find(|wait| named.iter().any(|name| name == wait))?;
    let module = wait.split('.').next()?;
    if !around.module.source().contains(module) {
        return None;
    }
    let edit = around.insert(at, &format!("{wait}(0)"))?;
    Some(Fix { title: format!("Insert `{wait}(0)`"), edits: vec![edit] })
}

/// A number that a call gives, one lower: as many operations stay open.
fn lower(around: &Around<'_>, at: TextRange) -> Vec<Fix> {
    let Some(call) = around.call(at) else { return Vec::new() };
    let given = call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|keyword| &keyword.value));
    let lower = given.filter_map(|given| {
        let fewer = around.text(given).parse::<u32>().ok()?.checked_sub(1)?;
        let title = format!("Give {fewer} here");
        Some(Fix { title, edits: vec![Edit { range: range(given), text: fewer.to_string() }] })
    });
    lower.collect()
}

/// An arrival behind the statements that follow it.
fn later(around: &Around<'_>, place: TextRange) -> Vec<Fix> {
    let Some(rest) =
        around.call(place).filter(|call| around.name(call) == "arrive").and_then(|_| around.statement(place))
    else {
        return Vec::new();
    };
    let Some(arrival) = rest.first().filter(|statement| matches!(statement, Stmt::Expr(_))) else { return Vec::new() };
    let Some((line, indent)) = around.line(arrival) else { return Vec::new() };
    let source = around.module.source();
    let end_of = |statement: &Stmt| {
        let end = range(statement).end as usize;
        source.get(end..).and_then(|rest| rest.find('\n')).map(|at| (end + at + 1) as u32)
    };
    let Some(end) = end_of(arrival) else { return Vec::new() };
    let behind = rest.iter().skip(1).take(OVER).filter_map(end_of);
    let edits = behind.map(|to| {
        let cut = Edit { range: TextRange::new(line, end), text: String::new() };
        let paste = Edit { range: TextRange::empty(to), text: format!("{indent}{}\n", around.text(arrival)) };
        Fix { title: "Arrive later".to_owned(), edits: vec![cut, paste] }
    });
    edits.collect()
}

/// The bytes of the copies of an expectation's block.
fn bytes(around: &Around<'_>, place: TextRange) -> Option<Fix> {
    let call = around.call(place).filter(|call| around.name(call) == "expect")?;
    let argument = call.arguments.args.get(1)?;
    let rest = around.statement(place)?;
    let inside = |call: &&&ExprCall| rest.iter().any(|statement| range(statement).contains(range(**call)));
    let copies = around.calls.calls.iter().filter(inside).filter(|call| around.name(call) == "async_load");
    let parts: Vec<String> = copies
        .filter_map(|call| Some(format!("{}.nbytes_per_cta", around.text(call.arguments.args.first()?))))
        .collect();
    let new = parts.join(" + ");
    (!new.is_empty() && new != around.text(argument))
        .then(|| Fix { title: format!("expect `{new}`"), edits: vec![Edit { range: range(argument), text: new }] })
}

/// A count one up or one down, of the barriers that the finding names.
fn counts(around: &Around<'_>, named: &[String]) -> Vec<Fix> {
    let mut fixes = Vec::new();
    for call in around.calls.calls.iter().filter(|call| around.name(call) == "init") {
        let keyword = call.arguments.keywords.iter().find(|it| it.arg.as_ref().is_some_and(|name| name == "count"));
        let Some(count) = keyword.map(|keyword| &keyword.value).or_else(|| call.arguments.args.get(1)) else {
            continue;
        };
        let barrier = call.arguments.args.first().map_or("", |barrier| around.text(barrier));
        let name = barrier.split(['.', '[']).next().unwrap_or("");
        let Ok(number) = around.text(count).parse::<u32>() else { continue };
        // A barrier may have been handed on as a field: `args.ready[0]`.
        if name.is_empty() || !named.iter().any(|named| named.split(['.', '[']).any(|part| part == name)) {
            continue;
        }
        for new in [number + 1, number.saturating_sub(1)].into_iter().filter(|new| *new > 0) {
            let title = format!("Count {new} arrivals on `{name}`");
            fixes.push(Fix { title, edits: vec![Edit { range: range(count), text: new.to_string() }] });
        }
    }
    fixes
}
