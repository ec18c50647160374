//! A wait for the wrong phase: the other constant, the complement, another start of what the loop
//! carries, the parity of the lap, or the count that explains the finding.

use super::context::{Candidate, FixContext, fix};
use super::draft;
use super::slot::{phase_name, phases};
use base::message;
use findings::{Edit, PhaseFormula};
use kernel::EffectKind;
use machine::{BarrierPlace, BlockedOn, Rule};
use ttgir::{Def, OpId, ValueId};

/// Other phases for the wait that guards the access which comes too soon.
pub(crate) fn guard(case: &FixContext<'_>) -> Vec<Candidate> {
    let Some((earlier, later)) = case.pair() else { return Vec::new() };
    let mut out = Vec::new();
    for event in [later, earlier] {
        if let Some((place, _, step)) = case.replay.guard(&case.lowered.kernel, &event)
            && let Some(wait) = case.step_op(step)
        {
            out.extend(others(case, wait, place));
        }
    }
    out
}

/// Other phases for waits that never end.
pub(crate) fn blocked(case: &FixContext<'_>) -> Vec<Candidate> {
    let Rule::Deadlock(blocked) = &case.found.violation.rule else { return Vec::new() };
    // Where no op arrives on a barrier, no phase of it is the right one.
    let dead = |on: &BlockedOn| matches!(on, BlockedOn::Barrier { barrier, .. } if !case.can_flip(barrier.buffer));
    if blocked.iter().any(|stuck| dead(&stuck.on)) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for stuck in blocked {
        if let BlockedOn::Barrier { barrier, pending, initial, .. } = stuck.on
            && pending == initial
            && case.replay.unseen_flips(stuck.thread, barrier).is_none()
            && let Some(wait) = case.site_op(stuck.site)
        {
            out.push(others(case, wait, barrier));
        }
    }
    interleave(out)
}

/// The first of each, then the second of each, …
pub(crate) fn interleave(lists: Vec<Vec<Candidate>>) -> Vec<Candidate> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = Vec::new();
    for at in 0..longest {
        out.extend(lists.iter().filter_map(|list| list.get(at).cloned()));
    }
    out
}

fn others(case: &FixContext<'_>, wait: OpId, place: BarrierPlace) -> Vec<Candidate> {
    let (code, tree) = (case.code, case.code.tree);
    let (Some(&phase), Some((number, _))) = (tree.group(wait, "phase").first(), tree.group_span(wait, "phase")) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    let title = message!("wait for the other phase of `{barrier}`", case.words.barrier(place));
    let constant = code.constant(phase);
    if let Some(value) = constant {
        let mut draft = case.draft(wait);
        let name = draft.constant(1 - (value & 1), code.width(phase).unwrap_or(32));
        out.push(fix(title.clone(), with(draft, draft::operand(code, wait, number, &name))));
    } else {
        out.extend(
            plain(case, wait, phase).map(|name| fix(title.clone(), [draft::operand(code, wait, number, &name)])),
        );
        out.extend(start(case, phase).map(|edits| fix("start with the other phase", edits)));
        let mut draft = case.draft(wait);
        let name = phase_name(case, &mut draft, super::slot::Phase::Other(phase));
        out.push(fix(title, with(draft, draft::operand(code, wait, number, &name))));
    }
    let index = tree.group(wait, "alloc").first().and_then(|barrier| code.slot(*barrier));
    for other in phases(case, &case.draft(wait), wait, place, index) {
        let mut draft = case.draft(wait);
        let name = phase_name(case, &mut draft, other);
        if name != code.name(phase) {
            let title = message!("wait for a phase that follows the flips of `{barrier}`", case.words.barrier(place));
            out.push(fix(title, with(draft, draft::operand(code, wait, number, &name))));
        }
    }
    out
}

/// Lines before an op, if any were written, and an edit in it.
fn with(draft: super::draft::Draft<'_>, edit: Edit) -> Vec<Edit> {
    let lines = draft.insert();
    if lines.text.is_empty() { vec![edit] } else { draft::ordered(vec![lines, edit]) }
}

/// What a phase is the complement of, if that can be used at the wait.
fn plain(case: &FixContext<'_>, wait: OpId, phase: ValueId) -> Option<String> {
    let (code, tree) = (case.code, case.code.tree);
    let op = code.def(phase)?;
    let [a, b] = *tree.operands(op) else { return None };
    let of = match tree.op_name(op) {
        "arith.xori" if code.constant(b) == Some(1) => a,
        "arith.xori" if code.constant(a) == Some(1) => b,
        "arith.subi" if code.constant(a) == Some(1) => b,
        _ => return None,
    };
    case.draft(wait).sees(of).then(|| code.name(of))
}

/// The other constant as the first value of what loops carry.
fn start(case: &FixContext<'_>, phase: ValueId) -> Option<Vec<Edit>> {
    let (code, tree) = (case.code, case.code.tree);
    let mut value = phase;
    for _ in 0..8 {
        let Def::BlockArg(block, at) = tree.value_def(value) else { return None };
        let op = tree.parent_op(tree.parent_region(block))?;
        if tree.op_name(op) != "scf.for" {
            return None;
        }
        let (first, _) = tree.group_span(op, "initArgs")?;
        let number = first + (at as usize).checked_sub(1)?;
        value = *tree.operands(op).get(number)?;
        if let Some(constant) = code.constant(value) {
            let mut draft = case.draft(op);
            let name = draft.constant(1 - (constant & 1), code.width(value)?);
            return Some(with(draft, draft::operand(code, op, number, &name)));
        }
    }
    None
}

/// The phases that explain the finding, written out.
pub(crate) fn counted(case: &FixContext<'_>) -> Vec<Candidate> {
    let mut edits = Vec::new();
    let mut title = None;
    for (number, (wait, form)) in case.finding.phases.iter().enumerate() {
        let Some(op) = case.op(*wait) else { return Vec::new() };
        let Some((at, _)) = case.code.tree.group_span(op, "phase") else { return Vec::new() };
        let mut draft = case.draft(op);
        let Some(name) = count(case, &mut draft, op, form, number) else { return Vec::new() };
        let EffectKind::Wait { barrier, phase } = case.lowered.kernel.effect(*wait).kind else { return Vec::new() };
        let bar = case.words.buffer_of(barrier).map(|buffer| case.words.buffer(buffer)).unwrap_or_default();
        let text = form.text(&case.words, phase).unwrap_or_default();
        title.get_or_insert_with(|| {
            message!("wait for phase `{phase}`, which follows the flips of `{barrier}`", text, bar)
        });
        edits.extend(with(draft, draft::operand(case.code, op, at, &name)));
    }
    title.map(|title| fix(title, edits)).into_iter().collect()
}

/// The name of a phase that counts iterations; lines that compute it are added.
fn count(
    case: &FixContext<'_>,
    draft: &mut draft::Draft<'_>,
    wait: OpId,
    form: &PhaseFormula,
    number: usize,
) -> Option<String> {
    let (code, tree) = (case.code, case.code.tree);
    let PhaseFormula::Count { loops, every, plus } = form else { return None };
    let stem = |stem: &str| if number == 0 { stem.to_owned() } else { format!("{stem}_{number}") };
    let line = |draft: &mut draft::Draft<'_>, name: &str, op: &str, a: &str, b: &str| {
        let name = draft.fresh(&stem(name));
        draft.line(format!("{name} = arith.{op} {a}, {b} : i32"));
        name
    };
    let mut count: Option<String> = None;
    for id in loops {
        let op = case.site_op(case.lowered.kernel.loops.get(*id)?.site)?;
        if tree.op_name(op) != "scf.for" || code.thread(op) != code.thread(wait) {
            return None;
        }
        let bound = |group: &str| tree.group(op, group).first().copied();
        let (lower, upper, step) = (bound("lowerBound")?, bound("upperBound")?, bound("step")?);
        let body = tree.regions(op).first().and_then(|region| tree.blocks(*region).first().copied())?;
        let counter = *tree.block_args(body).first()?;
        if code.width(counter) != Some(32) || !draft.sees(counter) {
            return None;
        }
        let plain = (code.constant(lower) == Some(0), code.constant(step) == Some(1));
        let span = |draft: &mut draft::Draft<'_>, to: ValueId, divide: &str| {
            let mut name = code.name(to);
            if !plain.0 {
                name = line(draft, "span", "subi", &name, &code.name(lower));
            }
            if !plain.1 {
                name = line(draft, "trips", divide, &name, &code.name(step));
            }
            name
        };
        let own = span(draft, counter, "divsi");
        count = Some(match count {
            None => own,
            Some(outer) => {
                let trips = span(draft, upper, "ceildivsi");
                let before = line(draft, "before", "muli", &outer, &trips);
                line(draft, "count", "addi", &before, &own)
            }
        });
    }
    let mut name = count?;
    if *every > 1 {
        let depth = draft.constant(*every, 32);
        name = line(draft, "lap", "divsi", &name, &depth);
    }
    let one = draft.constant(1, 32);
    name = line(draft, "phase", "andi", &name, &one);
    if *plus == 1 {
        name = line(draft, "phase", "xori", &name, &one);
    }
    Some(name)
}
