//! One operation: its results' names, its form, what the form leaves unsaid.

use smallvec::SmallVec;

use super::attr::Attrs;
use super::{Parsed, Parser, SyntaxError};
use crate::ids::{AttrId, BlockId, OpId, RegionId, Slice, Sym, TypeId};
use crate::store::{Op, OpName, Succ, Use};
use crate::suggest::nearest;
use base::TextRange;
use dialects::{OpForm, OpSyntax};

/// Dialects that may stand in Triton's files and whose ops are skimmed.
const SKIMMED: &[&str] = &[
    "llvm",
    "nvvm",
    "rocdl",
    "gpu",
    "vector",
    "memref",
    "tensor",
    "affine",
    "linalg",
    "index",
    "complex",
    "func",
    "builtin",
    "bufferization",
    "math",
    "nvgpu",
    "amdgpu",
    "ttig",
    "cuda_tile",
    "tts",
    "tptr",
    "spirv",
    "emitc",
    "loop_test",
    "test",
    "transform",
    "xegpu",
    "async",
    "omp",
    "acc",
    "dlti",
    "quant",
    "shape",
    "sparse_tensor",
    "mesh",
    "ml_program",
    "irdl",
    "pdl",
    "pdl_interp",
    "arm_sme",
    "arm_sve",
    "arm_neon",
    "x86vector",
    "amx",
    "tosa",
    "smt",
    "mpi",
    "ptr",
    "wasmssa",
    "shard",
];

/// Words without a dialect that name an operation.
const SHORT: &[(&str, &str)] =
    &[("module", "builtin.module"), ("func", "func.func"), ("return", "func.return"), ("call", "func.call")];

/// `%a:2` in front of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResultName {
    pub sym: Sym,
    pub count: u32,
    pub start: u32,
    pub end: u32,
}

/// An operation while it is being read.
pub(super) struct Draft {
    pub op: OpId,
    pub name: OpName,
    pub spec: Option<&'static OpSyntax>,
    pub names: SmallVec<[ResultName; 2]>,
    pub uses: SmallVec<[Use; 8]>,
    /// Per operand group, its run of `uses`.
    pub groups: SmallVec<[Slice; 8]>,
    pub operand_types: SmallVec<[(u8, TypeId); 8]>,
    pub result_types: SmallVec<[(u8, TypeId); 4]>,
    /// Types of all operands or all results, where the form lists them in one go.
    pub all_operands: Option<Vec<TypeId>>,
    pub all_results: Option<Vec<TypeId>>,
    pub attrs: Attrs,
    pub regions: SmallVec<[RegionId; 2]>,
    pub succs: SmallVec<[Succ; 2]>,
    pub args: Vec<AttrId>,
    /// Whether a token piece said that there is a token result.
    pub token: bool,
    /// Whether the operand groups were filled.
    pub grouped: bool,
    pub header_end: Option<u32>,
    pub broken: bool,
}

impl Draft {
    /// Marks the uses from `first` on as the operands of a group.
    pub(super) fn fill(&mut self, group: u8, first: usize) {
        self.groups[group as usize] = Slice::since(first, self.uses.len());
        self.grouped = true;
    }
}

impl<'t> Parser<'t> {
    /// An operation; none where the text is not one, which is then an error and skipped.
    pub(super) fn operation(&mut self, block: BlockId) -> Option<OpId> {
        let start = self.pos;
        let (outer_op, op) = (self.op, OpId(self.store.ops.len() as u32));
        let outer_start = std::mem::replace(&mut self.op_start, start);
        let mut d = self.draft(op);
        self.op = op;
        let empty = Slice::default();
        self.store.ops.push(Op {
            name: OpName(0),
            block,
            start: start as u32,
            header_end: start as u32,
            end: start as u32,
            name_start: start as u32,
            name_end: start as u32,
            uses: empty,
            results: empty,
            regions: empty,
            attrs: empty,
            args: empty,
            succs: empty,
            signature: empty,
            groups: empty,
            loc: AttrId { start: 0, end: 0 },
            broken: false,
        });
        let read = self.named_op(&mut d);
        let named = self.store.ops[op.index()].name_end > self.store.ops[op.index()].name_start;
        if read.is_err() {
            d.broken = true;
            self.skim(&mut d);
        }
        if self.pos == start {
            // Nothing here starts an operation; the error is recorded, one token goes.
            self.bump_any();
            self.skim(&mut d);
        }
        if !named {
            self.op = outer_op;
            if d.regions.is_empty() && d.names.is_empty() {
                self.store.ops.pop();
                self.op_start = outer_start;
                return None;
            }
        }
        match self.trailing_location() {
            Ok(Some(loc)) => self.store.ops[op.index()].loc = loc,
            Ok(None) => {}
            Err(_) => self.skim(&mut d),
        }
        self.finish(d);
        self.op = outer_op;
        self.op_start = outer_start;
        Some(op)
    }

    fn draft(&self, op: OpId) -> Draft {
        Draft {
            op,
            name: OpName(0),
            spec: None,
            names: SmallVec::new(),
            uses: SmallVec::new(),
            groups: SmallVec::new(),
            operand_types: SmallVec::new(),
            result_types: SmallVec::new(),
            all_operands: None,
            all_results: None,
            attrs: Attrs::new(),
            regions: SmallVec::new(),
            succs: SmallVec::new(),
            args: Vec::new(),
            token: false,
            grouped: false,
            header_end: None,
            broken: false,
        }
    }

    fn named_op(&mut self, d: &mut Draft) -> Parsed {
        if self.peek() == b'%' {
            self.result_names(d)?;
        }
        let start = self.pos;
        if self.peek() == b'"' {
            let name = self.string()?;
            let row = self.table.find(name);
            self.set_name(d, start, name, row);
            return self.generic_form(d);
        }
        let word = self.peek_word();
        if word.is_empty() {
            return Err(self.expected("an operation"));
        }
        let full = SHORT.iter().find(|(short, _)| *short == word).map_or(word, |(_, full)| full);
        let row = self.table.find(full);
        if row.is_none() {
            self.check_name(word)?;
        }
        self.bump(word.len());
        self.set_name(d, start, full, row);
        match d.spec.map(|spec| &spec.form) {
            None | Some(OpForm::Skimmed) => {
                self.skim(d);
                Ok(())
            }
            Some(OpForm::Generic) => Err(self.expected("the generic form, as this operation has no other")),
            Some(OpForm::Steps(steps)) => self.steps(d, steps),
            Some(OpForm::HandWritten(code)) => self.coded(d, *code),
        }
    }

    fn set_name(&mut self, d: &mut Draft, start: usize, name: &str, row: Option<usize>) {
        d.name = match row {
            Some(row) => OpName::row(row),
            None => OpName::free(self.store.names.intern(name)),
        };
        d.spec = row.map(|row| self.table.row(row));
        if let Some(spec) = d.spec {
            d.groups.resize(spec.operands.len(), Slice::default());
        }
        let op = &mut self.store.ops[d.op.index()];
        op.name = d.name;
        op.name_start = start as u32;
        op.name_end = self.last_end as u32;
    }

    /// An error if no dialect can have an op of this name; it is then still read as one.
    fn check_name(&mut self, word: &'t str) -> Parsed {
        let range = TextRange::new(self.pos as u32, (self.pos + word.len()) as u32);
        let names = || self.table.rows().iter().map(|row| row.name);
        let Some((dialect, _)) = word.split_once('.') else {
            let guess = nearest(word, SHORT.iter().map(|(short, _)| *short));
            let message = format!("`{word}` is not an operation");
            return Err(self.error(SyntaxError::new(range, "unknown-op", message).suggest(guess)));
        };
        if self.table.knows_dialect(dialect) {
            let guess = nearest(word, names());
            let message = format!("`{dialect}` has no operation `{word}`");
            self.errors.push(SyntaxError::new(range, "unknown-op", message).suggest(guess));
        } else if !SKIMMED.contains(&dialect) {
            let guess = nearest(word, names());
            let message = format!("there is no dialect `{dialect}`");
            self.errors.push(SyntaxError::new(range, "unknown-dialect", message).suggest(guess));
        }
        Ok(())
    }

    /// `%a, %b:2 =`.
    fn result_names(&mut self, d: &mut Draft) -> Parsed {
        loop {
            let start = self.pos;
            let end = self.name_end(start);
            if self.peek() != b'%' || end == start + 1 {
                return Err(self.expected("a value's name"));
            }
            let sym = self.intern(start, end);
            self.bump(end - start);
            let mut count = 1;
            if self.eat(b':') {
                let start = self.pos;
                self.integer()?;
                count = self.slice(start, self.last_end).parse().unwrap_or(0);
                if !(1..=4096).contains(&count) {
                    let range = TextRange::new(start as u32, self.last_end as u32);
                    return Err(self.error(SyntaxError::new(
                        range,
                        "syntax",
                        "expected a number of results, 1 or more",
                    )));
                }
            }
            d.names.push(ResultName { sym, count, start: start as u32, end: end as u32 });
            if !self.eat(b',') {
                return self.expect(b'=');
            }
        }
    }

    /// `%a` or `%a#1` as an operand.
    pub(super) fn operand(&mut self, d: &mut Draft) -> Parsed {
        let start = self.pos;
        let end = self.name_end(start);
        if self.peek() != b'%' || end == start + 1 || (self.newline && self.at_op_start()) {
            return Err(self.expected("a value"));
        }
        let sym = self.intern(start, end);
        let mut sub = 0;
        let mut stop = end;
        if self.byte(end) == b'#' {
            stop = self.run(end + 1, |b| b.is_ascii_digit());
            sub = self.slice(end + 1, stop).parse().unwrap_or(u32::MAX);
        }
        self.bump(stop - start);
        d.uses.push(Use { sym, sub, start: start as u32, end: stop as u32, ty: TypeId::NONE, op: d.op });
        Ok(())
    }

    /// `%a, %b, …`, as far as names follow commas.
    pub(super) fn operands(&mut self, d: &mut Draft) -> Parsed {
        if self.peek() != b'%' {
            return Ok(());
        }
        loop {
            self.operand(d)?;
            if self.peek() != b',' || self.byte(self.skip_trivia(self.pos + 1)) != b'%' {
                return Ok(());
            }
            self.bump(1);
        }
    }

    /// Where the header ends, noted before the first region.
    pub(super) fn end_header(&mut self, d: &mut Draft) {
        if d.header_end.is_none() {
            d.header_end = Some(self.last_end as u32);
        }
    }
}
