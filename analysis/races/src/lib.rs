//! Races between programs in global memory.

mod extract;
mod program;
mod prove;
mod term;

use rustc_hash::FxHashMap;
use ttgir::Tree;

/// debug
pub fn debug(tree: &Tree) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let mut functions = Vec::new();
    for &top in tree.top() {
        for region in tree.regions(top) {
            for block in tree.blocks(*region) {
                for &op in tree.block_ops(*block) {
                    if tree.is(op, dialects::Tt::Func) {
                        functions.push(op);
                    }
                }
            }
        }
    }
    let name = |op| tree.attr(op, "sym_name").and_then(|a| tree.attr_str(a)).unwrap_or("");
    let table: FxHashMap<&str, ttgir::OpId> = functions.iter().map(|&op| (name(op), op)).collect();
    for &function in &functions {
        let private = tree.attr(function, "sym_visibility").is_some_and(|a| tree.attr_text(a).contains("private"));
        if private {
            continue;
        }
        let mut program = extract::extract(tree, &table, function);
        let known = FxHashMap::default();
        let mut prover = prove::Prover { program: &mut program, convert: Default::default(), known: &known, axes: vec![0, 1, 2], wanted: vec![] };
        let n = prover.program.accesses.len();
        let mut open = 0;
        let mut axes = std::collections::BTreeSet::new();
        for a in &prover.program.accesses {
            for t in [a.offset, a.mask, a.path] {
                prover.program.terms.leaves(t, &mut |node| {
                    if let term::Node::Symbol(term::Symbol::Program(axis), _) = node {
                        axes.insert(*axis);
                    }
                });
            }
        }
        prover.axes = axes.iter().copied().collect();
        for i in 0..n {
            for j in i..n {
                let (a, b) = (&prover.program.accesses[i], &prover.program.accesses[j]);
                if !(a.action.writes() || b.action.writes()) || a.base != b.base {
                    continue;
                }
                if a.action.ordering().is_some() && b.action.ordering().is_some() {
                    continue;
                }
                let made = prover.apart(i as u32, j as u32);
                let l = |i: usize| {
                    let r = tree.op_range(prover.program.accesses[i].op);
                    tree.text()[r.start as usize..r.end as usize].lines().next().unwrap_or("").chars().take(60).collect::<String>()
                };
                match made {
                    Some(made) => {
                        let _ = writeln!(out, "  {i} {j} apart, {} assumed   {}", made.spreads.len(), l(i));
                    }
                    None => {
                        open += 1;
                        let _ = writeln!(out, "  {i} {j} OPEN  {} | {}", l(i), l(j));
                    }
                }
            }
        }
        let mut setting = run::Setting { grid: [4, 1, 1], ..Default::default() };
        if let Ok(text) = std::env::var("ARGS") {
            for (at, value) in text.split(',').enumerate() {
                if let Ok(value) = value.parse::<i64>() {
                    setting.values.insert(term::Symbol::Argument(at as u32), value);
                }
            }
        }
        if let Ok(grid) = std::env::var("GRID") {
            setting.grid[0] = grid.parse().unwrap_or(4);
        }
        let outcome = run::explore(prover.program, &setting, 4_000_000, &base::Cancel::never()).unwrap();
        for race in &outcome.races {
            let _ = writeln!(out, "  RACE {} {} programs {:?} lanes {:?} at {}", race.first.access, race.second.access, race.programs, race.lanes, race.start);
        }
        let _ = writeln!(out, "  run: races {} stuck {:?} work {} limited {} waits {}", outcome.races.len(), outcome.stuck, outcome.work, outcome.limited, outcome.waits);
        let _ = writeln!(out, "{}: accesses {n} axes {:?} open {open} gaps {:?} terms {}", name(function), prover.axes, prover.program.gaps, prover.program.terms.len());
    }
    out
}
mod run;
