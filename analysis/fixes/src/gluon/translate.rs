//! An edit of the IR as one of the Python.

use rustc_hash::FxHashMap;

use super::context::PythonContext;
use super::python::{Call, Python, Statement};
use super::spell::spelled;
use crate::context::{Candidate, FixContext};
use base::TextRange;
use dialects::OpCode;
use findings::Edit;
use python::syntax::range;
use ttgir::{Def, OpId, RegionId, ValueId};

/// Integer ops that an inserted line may have, and their operators.
const OPERATORS: &[(&str, &str)] = &[
    ("arith.divsi", "//"),
    ("arith.remsi", "%"),
    ("arith.andi", "&"),
    ("arith.xori", "^"),
    ("arith.addi", "+"),
    ("arith.subi", "-"),
    ("arith.muli", "*"),
];

/// A fix in Python; `None` where some edit of it has no counterpart there.
pub(super) fn translated(
    case: &FixContext<'_>,
    way: &PythonContext<'_>,
    python: &Python<'_>,
    fix: &Candidate,
) -> Option<Candidate> {
    let mut all = Translation { case, way, python, names: FxHashMap::default() };
    all.collect();
    let mut edits = Vec::new();
    let mut moved: Option<(OpId, Statement<'_>)> = None;
    // What is moved is taken away at one place and put at another.
    for edit in &fix.edits {
        if let Some(op) = all.deleted(edit) {
            let statement = all.own_statement(op)?;
            let line = case.code.tree.op_range(op).of(case.code.tree.text()).trim();
            if fix.edits.iter().any(|other| other != edit && other.text.trim() == line) {
                moved = Some((op, statement));
            }
            edits.push(python.delete(statement)?);
        }
    }
    for edit in &fix.edits {
        if all.deleted(edit).is_none() {
            edits.extend(all.edit(edit, moved)?);
        }
    }
    Some(Candidate { title: fix.title.clone(), edits: settled(edits)? })
}

struct Translation<'t, 'c> {
    case: &'t FixContext<'c>,
    way: &'t PythonContext<'t>,
    python: &'t Python<'t>,
    /// Values of the tree and of inserted lines, by how they are written.
    names: FxHashMap<String, Name>,
}

#[derive(Clone)]
enum Name {
    Value(ValueId),
    /// An expression of Python.
    Text(String),
}

impl<'t> Translation<'t, '_> {
    /// Finds all values of the text.
    fn collect(&mut self) {
        let tree = self.case.code.tree;
        let mut regions: Vec<RegionId> = tree.top().iter().flat_map(|op| tree.regions(*op).to_vec()).collect();
        while let Some(region) = regions.pop() {
            for &block in tree.blocks(region) {
                let results = tree.block_ops(block).iter().flat_map(|op| tree.results(*op).to_vec());
                for value in results.chain(tree.block_args(block).to_vec()) {
                    self.names.insert(self.case.code.name(value), Name::Value(value));
                }
                regions.extend(tree.block_ops(block).iter().flat_map(|op| tree.regions(*op).to_vec()));
            }
        }
    }

    /// The op that an edit takes away with its line.
    fn deleted(&self, edit: &Edit) -> Option<OpId> {
        let tree = self.case.code.tree;
        if edit.range.is_empty() || !edit.text.is_empty() {
            return None;
        }
        let text = edit.range.of(tree.text());
        let start = edit.range.start + (text.len() - text.trim_start().len()) as u32;
        tree.op_at(start).filter(|op| tree.op_range(*op).start == start)
    }

    fn origin(&self, op: OpId) -> Option<TextRange> {
        (self.way.origin)(self.case.code.tree.op_range(op).start)
    }

    fn call(&self, op: OpId) -> Option<Call<'t>> {
        self.python.call(self.origin(op)?)
    }

    /// The statement that is nothing but an op's call.
    fn own_statement(&self, op: OpId) -> Option<Statement<'t>> {
        let call = self.call(op).filter(|call| call.alone)?;
        self.python.statement(call.range)
    }

    fn edit(&mut self, edit: &Edit, moved: Option<(OpId, Statement<'t>)>) -> Option<Vec<Edit>> {
        let tree = self.case.code.tree;
        if edit.range.is_empty() {
            return self.insertion(edit, moved);
        }
        let op = tree.op_at(edit.range.start)?;
        if tree.op_range(op) == edit.range {
            let call = self.call(op)?;
            let text = self.statement_text(&edit.text)?;
            return Some(vec![self.python.replace(call.range, text)]);
        }
        let operand = (0..tree.operands(op).len()).find(|at| tree.operand_range(op, *at) == edit.range);
        if let Some(operand) = operand {
            return self.operand(op, operand, &edit.text);
        }
        let (name, _) =
            tree.attrs(op).into_iter().find(|(_, attr)| tree.attr_range(*attr).start == edit.range.start)?;
        self.number(op, name, &edit.text)
    }

    /// Lines that are inserted.
    fn insertion(&mut self, edit: &Edit, moved: Option<(OpId, Statement<'t>)>) -> Option<Vec<Edit>> {
        let tree = self.case.code.tree;
        let text = tree.text();
        let at = edit.range.start as usize;
        let line_start = text.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
        let before = text.get(line_start..at)?.trim().is_empty();
        let first = line_start + text.get(line_start..)?.len() - text.get(line_start..)?.trim_start().len();
        let op = tree.op_at(first as u32)?;
        let place = self.python.statement(self.origin(op)?)?;
        let mut lines = Vec::new();
        for line in edit.text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some((op, statement)) = moved
                && tree.op_range(op).of(text).trim() == line
            {
                lines.push(self.python.module.slice(statement.range).to_owned());
            } else if !self.define(line) {
                lines.push(self.statement_text(line)?);
            }
        }
        if lines.is_empty() {
            // Only names for another edit.
            return Some(Vec::new());
        }
        let edit = if before { self.python.before(place, &lines) } else { self.python.after(place, &lines) };
        edit.map(|edit| vec![edit])
    }

    /// A line that only computes: its result gets an expression.
    fn define(&mut self, line: &str) -> bool {
        let Some((name, rest)) = line.split_once(" = ") else { return false };
        let Some((op, rest)) = rest.split_once(' ') else { return false };
        let body = rest.split(" : ").next().unwrap_or(rest);
        let text = match op {
            "arith.constant" => Some(match body.trim() {
                "true" => "True".to_owned(),
                "false" => "False".to_owned(),
                number => number.to_owned(),
            }),
            "ttg.memdesc_index" => body.split_once('[').and_then(|(ring, index)| {
                let (ring, index) = (self.text(ring.trim())?, self.text(index.trim_end_matches(']').trim())?);
                Some(format!("{ring}.index({index})"))
            }),
            "arith.cmpi" => body.strip_prefix("ne, ").and_then(|operands| {
                let (left, right) = operands.split_once(',')?;
                let (left, right) = (self.text(left.trim())?, self.text(right.trim())?);
                Some(format!("{} != {}", operand(&left), operand(&right)))
            }),
            _ => OPERATORS.iter().find(|(name, _)| *name == op).and_then(|(_, operator)| {
                let (left, right) = body.split_once(',')?;
                let (left, right) = (self.text(left.trim())?, self.text(right.trim())?);
                Some(format!("{} {operator} {}", operand(&left), operand(&right)))
            }),
        };
        match text {
            Some(text) => {
                self.names.insert(name.trim().to_owned(), Name::Text(text));
                true
            }
            None => false,
        }
    }

    /// The call that stands for a line of IR.
    fn statement_text(&self, line: &str) -> Option<String> {
        let line = line.split_once(" = ").filter(|_| line.starts_with('%')).map_or(line, |(_, rest)| rest);
        let (op, rest) = line.split_once(' ').unwrap_or((line, ""));
        let python = OpCode::of_name(op)?.decl().python?;
        let function = spelled(self.way, &python.path()?)?;
        let rest = rest.split(" : ").next().unwrap_or(rest).trim();
        if let Some(attributes) = rest.strip_prefix('{') {
            let count = attributes.split_once('=').map(|(_, value)| value.trim());
            let digits: String = count.unwrap_or("").chars().take_while(char::is_ascii_digit).collect();
            return Some(format!("{function}({digits})"));
        }
        let mut arguments = Vec::new();
        for (at, operand) in rest.split(',').map(str::trim).filter(|operand| !operand.is_empty()).enumerate() {
            let text = if operand.starts_with('%') { self.text(operand)? } else { operand.to_owned() };
            match at {
                0 => arguments.push(text),
                1 if op.ends_with("arrive_barrier") && text == "1" => {}
                1 if !python.number.is_empty() => arguments.push(format!("{}={text}", python.number)),
                1 => arguments.push(text),
                // A predicate that always holds.
                _ if text == "True" => {}
                _ => arguments.push(format!("pred={text}")),
            }
        }
        Some(format!("{function}({})", arguments.join(", ")))
    }

    /// What Python calls a value.
    fn text(&self, name: &str) -> Option<String> {
        match self.names.get(name)? {
            Name::Text(text) => Some(text.clone()),
            Name::Value(value) => self.value(*value, 0),
        }
    }

    fn value(&self, value: ValueId, depth: u32) -> Option<String> {
        let (code, tree) = (self.case.code, self.case.code.tree);
        if let Some(op) = code.def(value).filter(|op| tree.op_name(*op) == "arith.constant") {
            let number = tree.attr(op, "value").and_then(|attr| tree.attr_int(attr))?;
            return Some(match (code.width(value), number) {
                (Some(1), 0) => "False".to_owned(),
                (Some(1), _) => "True".to_owned(),
                _ => number.to_string(),
            });
        }
        if let Some(variable) = (self.way.variable)(code.name(value).trim_start_matches('%')) {
            return Some(variable);
        }
        match tree.value_def(value) {
            Def::Result(op, _) => {
                let source = self.python.module.slice(self.origin(op)?).to_owned();
                (!source.is_empty() && !source.contains('\n')).then_some(source)
            }
            _ if depth < 8 => self.value(code.outside(value)?, depth + 1),
            _ => None,
        }
    }

    /// Another operand: the phase of a wait, or what a loop starts with.
    fn operand(&mut self, op: OpId, at: usize, name: &str) -> Option<Vec<Edit>> {
        let (code, tree) = (self.case.code, self.case.code.tree);
        let text = self.text(name.trim())?;
        if code.is_barrier_op(op, "wait_barrier") && tree.group_span(op, "phase").is_some_and(|(first, _)| first == at)
        {
            let call = self.call(op)?;
            let phase = self.python.argument(call, &["phase"], Some(1))?;
            return Some(vec![self.python.replace(range(phase), text)]);
        }
        if tree.op_name(op).starts_with("ttng.tc_gen5_mma")
            && tree.group_span(op, "useD").is_some_and(|(first, _)| first == at)
        {
            let call = self.call(op)?;
            return Some(vec![match self.python.argument(call, &["use_acc"], None) {
                Some(argument) => self.python.replace(range(argument), text),
                None => self.python.append(call, &format!("use_acc={text}"))?,
            }]);
        }
        if tree.op_name(op) == "scf.for" {
            let (first, _) = tree.group_span(op, "initArgs")?;
            let body = tree.regions(op).first().and_then(|region| tree.blocks(*region).first().copied())?;
            let carried = *tree.block_args(body).get(at.checked_sub(first)? + 1)?;
            let variable = (self.way.variable)(code.name(carried).trim_start_matches('%'))?;
            let head = self.python.statement(self.origin(op)?)?;
            let value = self.python.assigned_before(head, &variable)?;
            return Some(vec![self.python.replace(range(value), text)]);
        }
        None
    }

    /// Another number: a count, bytes, groups that may stay open.
    fn number(&mut self, op: OpId, attribute: &str, text: &str) -> Option<Vec<Edit>> {
        let tree = self.case.code.tree;
        let call = self.call(op)?;
        let name = tree.op_name(op);
        let (names, place): (&[&str], _) = match (name.split_once('.')?.1, attribute) {
            ("init_barrier", "count") => (&["count"], Some(1)),
            ("arrive_barrier", "count") => (&["count"], None),
            ("barrier_expect", "size") => (&["bytes_per_cta", "bytes"], Some(1)),
            ("async_tma_store_wait", "pendings") => (&["pendings"], Some(0)),
            ("warp_group_dot_wait", "pendings") | ("async_wait" | "async_tdm_wait", "num") => {
                (&["num_outstanding"], Some(0))
            }
            _ => return None,
        };
        let edit = match self.python.argument(call, names, place) {
            Some(argument) => self.python.replace(range(argument), text),
            None => self.python.append(call, &format!("{}={text}", names.first()?))?,
        };
        Some(vec![edit])
    }
}

/// An operand of an operator.
fn operand(text: &str) -> String {
    let plain = text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    if plain { text.to_owned() } else { format!("({text})") }
}

/// Edits in order, each once; `None` where two of them meet.
fn settled(mut edits: Vec<Edit>) -> Option<Vec<Edit>> {
    edits.sort_by(|a, b| (a.range, &a.text).cmp(&(b.range, &b.text)));
    edits.dedup();
    let apart = edits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start && pair[0].range != pair[1].range);
    apart.then_some(edits)
}
