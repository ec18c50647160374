//! The table of all ops by name, and what holds for a dialect as a whole.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::code::OpCode;
use crate::effect::OpEffect;
use crate::notation;
use crate::syntax::OpSyntax;

/// The syntax of all declared ops.
#[derive(Debug)]
pub struct OpTable {
    rows: Vec<OpSyntax>,
    by_name: FxHashMap<&'static str, u32>,
}

impl OpTable {
    /// The row of a name. Up to 3.5 Triton called AMD's dialect `amdgpu`.
    pub fn find(&self, name: &str) -> Option<usize> {
        let row = |name: &str| self.by_name.get(name).map(|&row| row as usize);
        row(name).or_else(|| row(&format!("amdg.{}", name.strip_prefix("amdgpu.")?)))
    }

    /// The row with a number that `find` gave.
    pub fn row(&self, row: usize) -> &OpSyntax {
        &self.rows[row]
    }

    /// All rows, dialect by dialect.
    pub fn rows(&self) -> &[OpSyntax] {
        &self.rows
    }

    /// Whether all ops of a dialect are declared, so that a missing one does not exist.
    pub fn knows_dialect(&self, dialect: &str) -> bool {
        COMPLETE.contains(&dialect)
    }
}

/// Dialects whose declarations are complete.
const COMPLETE: [&str; 16] = [
    "tt",
    "ttg",
    "ttng",
    "nvws",
    "amdg",
    "tlx",
    "tti",
    "proton",
    "proton_gpu",
    "gluon",
    "nvg",
    "arith",
    "math",
    "scf",
    "cf",
    "ub",
];

/// The table, read on first use.
pub fn table() -> &'static OpTable {
    static TABLE: OnceLock<OpTable> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows: Vec<OpSyntax> = OpCode::all().into_iter().filter_map(notation::read).collect();
        let mut by_name = FxHashMap::default();
        for (at, row) in rows.iter().enumerate() {
            by_name.entry(row.name).or_insert(at as u32);
        }
        OpTable { rows, by_name }
    })
}

impl OpCode {
    /// The op with this full name.
    pub fn of_name(name: &str) -> Option<OpCode> {
        table().find(name).map(|row| table().row(row).code)
    }
}

/// What to make of an op that is declared nowhere: it may synchronise, unless its dialect has no op that does.
pub fn effect_of_undeclared(name: &str) -> OpEffect {
    match name.split_once('.').map(|(dialect, _)| dialect) {
        Some(dialect) if HARMLESS.contains(&dialect) => OpEffect::Pure,
        _ => OpEffect::Unknown,
    }
}

/// Dialects whose ops compute, as far as barriers and shared memory go.
const HARMLESS: [&str; 18] = [
    "arith",
    "builtin",
    "cf",
    "complex",
    "func",
    "gluon",
    "index",
    "math",
    "proton",
    "proton_gpu",
    "scf",
    "shape",
    "tensor",
    "tt",
    "ttg",
    "tti",
    "ub",
    "vector",
];
