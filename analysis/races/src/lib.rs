//! Races between programs in global memory.
//!
//! A kernel's accesses become sets of addresses: an integer expression of the program, the lane, loop rounds and
//! arguments, with the mask and the branches under which it is used. Two programs never race where no two of those
//! sets meet; that is proved for all launches ([`prove`]). What is not proved is run with a few programs, through all
//! orders of the words by which they steer each other ([`run`]): there a race has its bytes, and a flag, a counter
//! or a lock is what it is.
//!
//! What an answer rests on beside the text is part of it ([`Global::assumed`]).

use crate::limits::launches::LAUNCHES;

mod assumed;
mod between;
mod choose;
mod condition;
mod conjuncts;
mod decide;
mod digits;
mod divisor;
mod expressions;
mod extract;
mod hang;
mod host;
mod interval;
mod launch;
mod limits;
mod meeting;
mod overhang;
mod persistent;
mod point;
mod program;
mod prove;
mod remainder;
mod report;
mod rounds;
mod run;
mod same;
mod say;
mod smt;
mod strides;
mod stuck;
mod uneven;
mod windows;

pub use launch::{Launch, Views};
pub use limits::LIMITS;
pub use report::{Assumption, Beside, Global, Hang, MemSyncScope, PartitionRace, Query, Race, Reason, Side, Status};

use base::{Cancel, Cancelled, TextRange};
use dialects::{Builtin, Tt};
use run::Allowance;
use rustc_hash::FxHashMap;
use ttgir::{OpId, Tree};

/// What there is to say of the global memory of each entry function of a module, in the order of the text, under the
/// launches that are known of it; where there is none, for all that are possible. Of several launches it is what is
/// said of the worst, with all that any of them rests on.
///
/// # Errors
///
/// Where `cancel` says so.
pub fn races(tree: &Tree, launches: &[Launch], cancel: &Cancel<'_>) -> Result<Vec<Global>, Cancelled> {
    let unknown = Launch::default();
    let mut all = Vec::new();
    for kernel in kernels(tree) {
        let of = |launch: &&Launch| launch.kernel.as_ref().is_none_or(|name| name == kernel.name);
        let mut known: Vec<&Launch> = launches.iter().filter(of).collect();
        let rest = known.split_off(known.len().min(LAUNCHES));
        if known.is_empty() {
            known.push(&unknown);
        }
        let mut worst: Option<Global> = None;
        let with = |worst: Option<Global>, global: Global| match worst {
            Some(worst) => Some(worst.and(global)),
            None => Some(global),
        };
        let mut allowance = Allowance::whole();
        let open = |worst: &Global| !matches!(worst.status, Status::NoWrites | Status::Found);
        for launch in known.iter().copied() {
            cancel.check()?;
            worst = with(worst, kernel.decide(tree, launch, &mut allowance, cancel)?);
            if let Some(one) = launch.without_copies().filter(|_| worst.as_ref().is_some_and(open)) {
                worst = with(worst, kernel.decide_as_one(tree, &one, &mut allowance, cancel)?);
            }
            if worst.as_ref().is_some_and(|worst| worst.status == Status::Found) {
                break;
            }
        }
        if let Some(alone) = worst.as_mut().filter(|worst| worst.alone && worst.status == Status::Proved) {
            kernel.widen(alone, tree, &known, cancel)?;
        }
        if !rest.is_empty() && worst.as_ref().is_some_and(open) {
            worst = with(worst, kernel.decide_together(tree, &rest, cancel)?);
        }
        all.extend(worst);
    }
    Ok(all)
}

/// Pairs of ops that are proved to stay apart and that a run shows to race all the same: there are none unless a rule
/// is wrong. For tests.
///
/// # Errors
///
/// Where `cancel` says so.
pub fn contradictions(
    tree: &Tree,
    launch: &Launch,
    cancel: &Cancel<'_>,
) -> Result<Vec<(TextRange, TextRange)>, Cancelled> {
    let mut all = Vec::new();
    for kernel in kernels(tree) {
        all.extend(kernel.decider(tree, launch).contradictions(cancel)?);
    }
    Ok(all)
}

/// All questions whether two accesses can meet, of each kernel, and our answers. For tests.
///
/// # Errors
///
/// Where `cancel` says so.
pub fn queries(tree: &Tree, launch: &Launch, cancel: &Cancel<'_>) -> Result<Vec<Query>, Cancelled> {
    let mut all = Vec::new();
    for kernel in kernels(tree) {
        all.extend(kernel.decider(tree, launch).queries(cancel)?);
    }
    Ok(all)
}

/// An entry function.
struct Kernel<'t> {
    program: program::Program,
    name: &'t str,
    range: TextRange,
}

impl<'t> Kernel<'t> {
    /// What there is to say of it in launches that are too many to decide each: a proof for what they have in common
    /// holds for all of them, if it assumes nothing, since what they give must not be assumed away.
    fn decide_together(&self, tree: &'t Tree, launches: &[&Launch], cancel: &Cancel<'_>) -> Result<Global, Cancelled> {
        let mut others = launches.iter().copied();
        let common = others.next().and_then(|first| others.try_fold(first.clone(), Launch::and));
        let mut global = self.decide(tree, &common.unwrap_or_default(), &mut Allowance::whole(), cancel)?;
        if global.status != Status::Proved || !global.assumed.is_empty() {
            let (count, have) = match launches.len() {
                1 => ("one launch".to_owned(), "is"),
                many => (format!("{many} launches"), "are"),
            };
            global
                .leave_open(format!("{count} beyond the {LAUNCHES} that are looked at one by one {have} not decided"));
            global.assumed.clear();
        }
        Ok(global)
    }

    /// What there is to say of it in a launch.
    ///
    /// Of a launch that is known in part, a 0 may be what one branch of the host makes of the values that are not
    /// known: the stride of a dimension of one element. A race that is gone with another number is then none.
    fn decide(
        &self,
        tree: &'t Tree,
        launch: &Launch,
        allowance: &mut Allowance,
        cancel: &Cancel<'_>,
    ) -> Result<Global, Cancelled> {
        let decider = self.decider(tree, launch);
        let zeros = decider.zeros();
        let beside = decider.clone().beside(cancel)?;
        let mut global = Global { beside, ..decider.decide(allowance, cancel)? };
        if global.status == Status::Found && launch.several {
            global.leave_open(
                "programs race with numbers that launches do not share which are not decided one by one".into(),
            );
            return Ok(global);
        }
        if global.status != Status::Found || zeros.is_empty() {
            return Ok(global);
        }
        let mut without = launch.clone();
        without.values.retain(|(_, value)| *value != 0);
        if self.decider(tree, &without).decide(&mut Allowance::whole(), cancel)?.status != Status::Found {
            let zeros = zeros.join("` and `");
            global.leave_open(format!("programs race where `{zeros}` is 0, in a launch that is known in part"));
        }
        Ok(global)
    }

    /// Of launches of one program each nothing is to be proved: what is, if it can be, is proved of launches of several.
    fn widen(
        &self,
        alone: &mut Global,
        tree: &'t Tree,
        launches: &[&Launch],
        cancel: &Cancel<'_>,
    ) -> Result<(), Cancelled> {
        let mut wide: Option<Global> = None;
        for launch in launches {
            let (memory, shifts, views) = (launch.memory.clone(), launch.shifts.clone(), launch.views.clone());
            let any = Launch { memory, shifts, views, ..Launch::default() };
            let global = self.decide(tree, &any, &mut Allowance::whole(), cancel)?;
            wide = Some(match wide {
                Some(wide) => wide.and(global),
                None => global,
            });
        }
        if let Some(wide) = wide.filter(|wide| wide.status == Status::Proved) {
            *alone = wide;
        }
        Ok(())
    }

    /// What there is to say of it where conversions make no copies: whether they do is not known.
    fn decide_as_one(
        &self,
        tree: &'t Tree,
        launch: &Launch,
        allowance: &mut Allowance,
        cancel: &Cancel<'_>,
    ) -> Result<Global, Cancelled> {
        let mut global = self.decide(tree, launch, allowance, cancel)?;
        if global.status == Status::Found {
            global.leave_open(
                "programs race here unless a conversion of the host makes a copy, which it need not".into(),
            );
        }
        Ok(global)
    }

    fn decider(&self, tree: &'t Tree, launch: &Launch) -> decide::Decider<'t> {
        let launch = launch::Known::new(launch, &self.program);
        let mut program = self.program.clone();
        program.shift(&launch.shifts);
        if launch.sizes.is_empty() {
            program.share_sizes(&launch.same);
        }
        program.share_arguments(&launch.host.same());
        launch.host.bound(&mut program);
        // What it does not ask for does not tell its programs apart.
        program.axes.extend(launch.further_axes(&program.axes));
        program.axes.sort_unstable();
        decide::Decider { tree, program, launch, name: self.name.to_owned(), range: self.range }
    }
}

fn kernels(tree: &Tree) -> Vec<Kernel<'_>> {
    let mut all = Vec::new();
    for functions in modules(tree) {
        let table: FxHashMap<&str, OpId> = functions.iter().map(|&op| (name(tree, op), op)).collect();
        for &function in functions.iter().filter(|op| !is_private(tree, **op)) {
            let attr = tree.attr(function, "sym_name");
            let range = attr.map_or_else(|| tree.op_name_range(function), |attr| tree.attr_range(attr));
            all.push(Kernel { program: extract::extract(tree, &table, function), name: name(tree, function), range });
        }
    }
    all
}

/// Functions with a body, by module; those that stand outside of modules last.
fn modules(tree: &Tree) -> Vec<Vec<OpId>> {
    let body = |op: OpId| -> Vec<OpId> {
        let blocks = tree.regions(op).iter().flat_map(|region| tree.blocks(*region));
        blocks.flat_map(|block| tree.block_ops(*block)).copied().collect()
    };
    let functions = |ops: Vec<OpId>| -> Vec<OpId> {
        ops.into_iter().filter(|op| tree.is(*op, Tt::Func) && !body(*op).is_empty()).collect()
    };
    let tops = tree.top().iter().filter(|&&top| tree.is(top, Builtin::Module));
    let mut all: Vec<Vec<OpId>> = tops.map(|&top| functions(body(top))).collect();
    all.push(functions(tree.top().to_vec()));
    all
}

fn name(tree: &Tree, function: OpId) -> &str {
    tree.attr(function, "sym_name").and_then(|attr| tree.attr_str(attr)).unwrap_or("")
}

fn is_private(tree: &Tree, function: OpId) -> bool {
    let visibility = tree.attr(function, "sym_visibility");
    visibility.is_some_and(|attr| tree.attr_text(attr).contains("private"))
}
