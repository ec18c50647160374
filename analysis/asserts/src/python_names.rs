//! What Python calls the values of IR that was compiled from it.
//!
//! Triton's front end gives a value the name of the variable that it is assigned to, as a location around the value's
//! own, and the printer of the IR makes `%name` of it, with a number behind where the name is taken. A value without a
//! variable is called by the expression at its location.

use std::collections::BTreeSet;

use base::renamed;
use findings::{Finding, Note};
use rustc_hash::FxHashMap;
use ttgir::{BlockId, Document, OpId, Tree, ValueId};

use super::paths::{PathMap, TargetText, in_file, python_range};

/// The longest expression that stands for a value, in bytes; of a longer one its callee is left.
const EXPRESSION: usize = 48;

/// Names of values of IR, without `%`, and what the Python that it was compiled from calls them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PythonNames(FxHashMap<String, Option<String>>);

impl PythonNames {
    /// The names of all values of a tree; nothing where the target is no Python.
    pub(crate) fn new(tree: &Tree, target: TargetText<'_>, map: &PathMap) -> PythonNames {
        let mut names = PythonNames::default();
        names.add(tree, target, map);
        names
    }

    /// The names of a text of IR, of all its sections.
    pub fn of_text(ir: &str, target: TargetText<'_>, map: &PathMap) -> PythonNames {
        let mut names = PythonNames::default();
        Document::new(ir).sections().iter().for_each(|section| names.add(section.tree(), target, map));
        names
    }

    /// The names of a further tree. What two values of one name are called differently has none.
    fn add(&mut self, tree: &Tree, target: TargetText<'_>, map: &PathMap) {
        if !target.python {
            return;
        }
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let known: BTreeSet<&str> = target.text.split(|c: char| !is_name(c)).collect();
        let mut ops: Vec<OpId> = tree.top().to_vec();
        while let Some(op) = ops.pop() {
            for &result in tree.results(op) {
                let said = of_op(tree, op, target, map);
                self.define(tree, result, said, &known);
            }
            let blocks = tree.regions(op).iter().flat_map(|&region| tree.blocks(region));
            for &block in blocks.collect::<Vec<&BlockId>>() {
                for &argument in tree.block_args(block) {
                    self.define(tree, argument, None, &known);
                }
                ops.extend(tree.block_ops(block));
            }
        }
    }

    /// Enters a value, by what its location says, or else by its name where that is one of the Python.
    fn define(&mut self, tree: &Tree, value: ValueId, said: Option<String>, known: &BTreeSet<&str>) {
        let name = tree.value_name(value).trim_start_matches('%');
        let own = || {
            let stem = || name.rsplit_once('_').filter(|(_, number)| is_number(number)).map(|(stem, _)| stem);
            let found = Some(name).filter(|name| known.contains(name));
            found.or_else(|| stem().filter(|stem| known.contains(stem))).map(str::to_owned)
        };
        let said = if is_number(name) || said.is_some() { said } else { own() };
        match self.0.get_mut(name) {
            Some(before) if *before != said => *before = None,
            Some(_) => {}
            None => _ = self.0.insert(name.to_owned(), said),
        }
    }

    /// What a value is called, by its name without `%`.
    fn value(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned().flatten()
    }

    /// A sentence about the IR with the names of Python.
    pub fn say(&self, text: &str) -> String {
        renamed(text, &|name| self.value(name), &|_| None)
    }

    /// All that a finding says, with the names of Python.
    pub(crate) fn rename(&self, finding: &mut Finding) {
        let say = |text: &mut String| *text = self.say(text);
        say(&mut finding.message);
        finding.sites.iter_mut().chain(&mut finding.context).for_each(|note: &mut Note| say(&mut note.text));
        finding.run.iter_mut().for_each(|step| say(&mut step.text));
        finding.inputs.iter_mut().for_each(|(name, _)| say(name));
    }
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// What an op's result is called: by the name around its location, else by the expression there.
fn of_op(tree: &Tree, op: OpId, target: TargetText<'_>, map: &PathMap) -> Option<String> {
    let chain = tree.loc(op);
    // A placeholder has the name of what it stands for the call of.
    if let Some(name) = chain.first().and_then(|loc| loc.name.clone()).filter(|_| tree.op_name(op) != "tt.opaque") {
        return Some(name);
    }
    // Only what is written in this very file is an expression of it.
    let (0, loc) = in_file(&chain, map, target.path)? else { return None };
    let source = python_range(target.text, loc.line, loc.col).of(target.text);
    match source.find('(') {
        _ if source.is_empty() => None,
        _ if source.len() <= EXPRESSION && !source.contains('\n') => Some(source.to_owned()),
        Some(end) => source.get(..end).map(|callee| format!("{callee}(…)")),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Triton prints what it compiled: names with a number where they are taken, values without a name, and a helper.
    const IR: &str = r#"#loc = loc("k.py":1:1)
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func public @k(%n: i32 loc("n"(#loc)), %a_ptr_0: i32 loc(unknown)) attributes {noinline = false} {
    %c1_i32 = arith.constant 1 : i32 loc(#loc9)
    %ring_3 = arith.addi %n, %c1_i32 : i32 loc(#loc3)
    %4 = arith.muli %ring_3, %c1_i32 : i32 loc(#loc4)
    %5 = arith.subi %4, %c1_i32 : i32 loc(#loc5)
    %6 = arith.subi %5, %a_ptr_0 : i32 loc(#loc6)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("k.py":2:12)
#loc2 = loc("k.py":3:5)
#loc3 = loc("ring"(#loc1))
#loc4 = loc("k.py":3:5)
#loc5 = loc("k.py":4:5)
#loc6 = loc(callsite(#loc7 at #loc4))
#loc7 = loc("helper.py":1:1)
#loc9 = loc(unknown)
"#;

    const PYTHON: &str = "def k(n, a_ptr):
    ring = n + 1
    use(ring)
    far.away(first_argument=1, second_argument=2, third_argument=3)
";

    #[test]
    fn values_are_called_by_variables_and_expressions() {
        let target = TargetText { path: "/src/k.py", text: PYTHON, python: true };
        let names = PythonNames::of_text(IR, target, &PathMap::default());
        let said = names.say("`%ring_3[1]`, %n, %a_ptr_0, %4, %5, but %6 and %c1_i32 and %none");
        assert_eq!(said, "`ring[1]`, n, a_ptr, use(ring), far.away(…), but %6 and %c1_i32 and %none");
        let ir = TargetText { path: "/src/k.ttgir", text: IR, python: false };
        assert_eq!(PythonNames::of_text(IR, ir, &PathMap::default()).say("`%ring_3`"), "`%ring_3`");
    }

    #[test]
    fn a_name_of_two_values_that_differ_stays() {
        let target = TargetText { path: "k.py", text: PYTHON, python: true };
        let other = "  tt.func private @m(%n: i32) {\n    %ring_3 = arith.addi %n, %n : i32 loc(\"other\"(#loc1))\n    tt.return\n  }\n";
        let twice = IR.replacen("  tt.func public", &format!("{other}  tt.func public"), 1);
        let names = PythonNames::of_text(&twice, target, &PathMap::default());
        assert_eq!(names.say("%ring_3 %n"), "%ring_3 n");
    }
}
