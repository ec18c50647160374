//! Fixes: changes of the text that the machine has re-checked.
//!
//! For each finding a few plain candidates are written down; each is applied to the text, which
//! is read, lowered and decided anew. The first is offered with which the finding is gone and
//! nothing is new: no finding, no gap, no op that is not modelled. A kernel without findings
//! costs nothing.
//!
//! What is written down, by file: [`fence`] a missing proxy fence; [`pending`] waits for commit
//! groups and commits; [`phase`] the other phase, a phase that follows the laps, the phase that explains
//! a finding; [`wait`] a missing
//! `wait_barrier`; [`order`] an arrival that comes too early or says too little; [`arrive`] a
//! missing arrival; [`count`] counts of arrivals and bytes; [`life`] missing, doubled and
//! forgotten inits; [`edge`] a barrier that a packed buffer lacks; [`token`] a token that is not handed on; [`accumulator`] a first product that adds to what nobody
//! wrote.
//!
//! What is never offered: a change of what is computed (an index, a buffer, a trip count; an accumulator that nobody wrote
//! is the exception), a new capture of a partition but for [`edge`], more slots, a
//! `ttng.warp_group_dot_wait` (its results are the registers that it guards), changes at two
//! places that depend on each other save phases, anything in a text with syntax errors, on a cluster,
//! or for a wait that is lapped and whose phase is not at fault.

use crate::limits::search::{BYTES, FIRST, KERNEL_TRIES, STEPS, TRIES};

mod accumulator;
mod arrive;
mod check;
mod code;
mod context;
mod count;
mod draft;
mod edge;
mod fence;
pub mod gluon;
mod life;
mod limits;
mod order;
mod pending;
mod phase;
mod slot;
mod token;
mod wait;

use base::{Cancelled, Message};
use check::after_edits;
use code::Code;
use context::{Candidate, FixContext};
use findings::{Finding, KernelReport, Kind, describe_violation};
use kernel::Lowered;
use machine::Rule;
use ttgir::Tree;
use verify::{Found, Outcome};

pub use check::{Baseline, Decide, EditedKernel, FindingKey, apply, moved};
pub use limits::LIMITS;

/// Which candidates passed, one entry for each of the outcome's violations; `None` where none were tried. They hold
/// for every text with the same kernel that offers as many candidates, where one of them is merely checked again.
pub type PassedCandidates = Vec<Option<TriedCandidates>>;

/// What the candidates for one violation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriedCandidates {
    /// How many there were.
    of: usize,
    /// The number of the one that passed.
    number: Option<u32>,
}

/// Gives the findings of a kernel's report their fixes. The ranges of the report and of the
/// edits count from the start of the tree's text. `known` is what an equal kernel gave before. `None` where candidates
/// were left out, since so many may not be tried, or since the text does not parse: that holds for no other text.
pub fn attach_fixes(
    tree: &Tree,
    lowered: &Lowered,
    outcome: &Outcome,
    known: Option<&PassedCandidates>,
    report: &mut KernelReport<Message>,
    decide: &mut Decide<'_>,
) -> Result<Option<PassedCandidates>, Cancelled> {
    // What a kernel clears away as the last thing it does needs no edit.
    let ending = |found: &&Found| matches!(found.violation.rule, Rule::InFlight { ending: true, .. });
    let all: Vec<&Found> = outcome.found.iter().chain(&outcome.outlives).filter(|found| !ending(found)).collect();
    let mut passed: PassedCandidates = vec![None; all.len()];
    // Where the machine could not follow all, a change could not be told from a repair.
    if all.is_empty() || !outcome.gaps.is_empty() || report.findings.is_empty() || !tree.errors().is_empty() {
        return Ok(None);
    }
    let code = Code { tree };
    let before = Baseline::new(lowered, outcome, &report.findings, |range| range.start);
    let mut good: Vec<(Candidate, Vec<FindingKey>)> = Vec::new();
    let mut tries = affordable(tree, outcome);
    for (number, found) in all.into_iter().enumerate() {
        let Some(mut told) = describe_violation(lowered, found) else { continue };
        let Some(at) = told_as(&report.findings, &told) else { continue };
        let Some(finding) = report.findings.get_mut(at).filter(|finding| finding.fix.is_none()) else { continue };
        told.phases.clone_from(&finding.phases);
        let place = FindingKey::new(finding, |range| range.start);
        if let Some((fix, _)) = good.iter().find(|(_, left)| !left.contains(&place)) {
            finding.fix = Some(fix.clone());
            continue;
        }
        let Some(case) = FixContext::new(code, lowered, found, &told) else { continue };
        let candidates = distinct_candidates(&case);
        let of = candidates.len();
        let before_it = known.and_then(|known| known.get(number).copied().flatten()).filter(|known| known.of == of);
        let mut search = CandidateSearch { tree, before: &before, case: &case, place, tries: &mut tries };
        let found = match before_it {
            Some(TriedCandidates { number: None, .. }) => None,
            Some(TriedCandidates { number: Some(at), .. }) => match search.best(&candidates, Some(at), decide)? {
                None => search.best(&candidates, None, decide)?,
                good => good,
            },
            None => search.best(&candidates, None, decide)?,
        };
        if let Some(entry) = passed.get_mut(number) {
            *entry = Some(TriedCandidates { of, number: found.as_ref().map(|(at, ..)| *at) });
        }
        if let Some((_, fix, left)) = found {
            finding.fix = Some(fix.clone());
            good.push((fix, left));
        }
    }
    Ok((tries > 0).then_some(passed))
}

/// As which of `findings` a violation is told: at its own place, or at the wait whose phase is at fault, with its own
/// place among the further ones.
pub fn told_as(findings: &[Finding<Message>], told: &Finding<Message>) -> Option<usize> {
    let same = |finding: &Finding<Message>| finding.kind == told.kind && finding.range == told.range;
    let moved = |finding: &Finding<Message>| {
        finding.kind == told.kind
            && !finding.phases.is_empty()
            && finding.sites.iter().any(|site| site.range == told.range)
    };
    let sites = |finding: &Finding<Message>| {
        finding.sites.first().map(|site| site.range) == told.sites.first().map(|site| site.range)
    };
    let own = findings.iter().position(|finding| same(finding) && sites(finding));
    own.or_else(|| findings.iter().position(same)).or_else(|| findings.iter().position(moved))
}

/// How many candidates of a kernel may be checked.
fn affordable(tree: &Tree, outcome: &Outcome) -> usize {
    let by_steps = usize::try_from(STEPS / outcome.steps.max(1)).unwrap_or(usize::MAX);
    KERNEL_TRIES.min(BYTES / tree.text().len().max(1)).min(by_steps)
}

/// The first candidates, each once.
fn distinct_candidates(case: &FixContext<'_>) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = Vec::new();
    let mut candidates = candidates(case);
    let at = candidates.len().min(FIRST);
    candidates.splice(at..at, phase::counted(case)).for_each(drop);
    for fix in candidates {
        if all.len() < TRIES && !all.iter().any(|other| other.edits == fix.edits) {
            all.push(fix);
        }
    }
    all
}

/// The search for an edit that mends one violation.
struct CandidateSearch<'a> {
    tree: &'a Tree,
    before: &'a Baseline<'a>,
    case: &'a FixContext<'a>,
    place: FindingKey,
    /// Candidates of the kernel that may still be tried.
    tries: &'a mut usize,
}

impl CandidateSearch<'_> {
    /// The candidate, with its number and what it leaves, that passes and leaves least; of equals the
    /// first. `only` is the one to look at.
    fn best(
        &mut self,
        candidates: &[Candidate],
        only: Option<u32>,
        decide: &mut Decide<'_>,
    ) -> Result<Option<(u32, Candidate, Vec<FindingKey>)>, Cancelled> {
        let case = self.case;
        let mut best: Option<(u32, Candidate, Vec<FindingKey>)> = None;
        for (at, fix) in (0..).zip(candidates).filter(|(at, _)| only.is_none_or(|only| only == *at)) {
            // What a candidate costs is only known behind it: it may go on where the kernel stopped.
            if self.before.spent() >= STEPS {
                *self.tries = 0;
            }
            let Some(rest) = self.tries.checked_sub(1) else { break };
            *self.tries = rest;
            let left = after_edits(self.tree, self.before, &fix.edits, case.found, self.place, decide)?;
            let Some(left) = left else { continue };
            if left.iter().any(|left| cuts_run_short(left.kind)) {
                continue;
            }
            // What leaves fewer findings comes nearer to the cause.
            if best.as_ref().is_none_or(|(.., other)| left.len() < other.len()) {
                best = Some((at, fix.clone(), left));
            }
            // Each packed buffer has barriers of its own: no change mends two, and the tries are for its siblings.
            let alone = case.finding.kind == Kind::PackedOverwrite;
            if best.as_ref().is_some_and(|(.., left)| alone || left.is_empty()) {
                break;
            }
        }
        Ok(best)
    }
}

/// Whether a run that ends with such a finding is cut short, so that what it says of the rest is
/// not the whole truth.
pub fn cuts_run_short(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Deadlock
            | Kind::ExpectMismatch
            | Kind::BarrierNotLive
            | Kind::BarrierReinit
            | Kind::WaitedInvalidation
            | Kind::ArrivalOverflow
    )
}

/// What might help, the likeliest first.
fn candidates(case: &FixContext<'_>) -> Vec<Candidate> {
    let grouped = case.pair().is_some_and(|(earlier, _)| case.words.pending(&earlier).is_some());
    let makers: &[fn(&FixContext<'_>) -> Vec<Candidate>] = match case.finding.kind {
        Kind::MissingProxyFence => &[fence::fences],
        Kind::PendingAccess => {
            &[pending::at_the_end, wait::at_the_end, pending::waits, order::late, order::stronger, wait::waits]
        }
        Kind::PhaseMismatch => &[
            count::shared,
            count::unseen,
            phase::guard,
            phase::blocked,
            count::undercounted,
            order::late,
            order::stronger,
            wait::waits,
            wait::at_once,
        ],
        Kind::MissingForwardBarrier | Kind::MissingBackwardBarrier | Kind::PackedOverwrite if grouped => {
            &[pending::waits, order::late, order::stronger, wait::waits, phase::guard]
        }
        Kind::PackedOverwrite => &[
            order::late,
            order::stronger,
            wait::around,
            wait::waits,
            edge::back,
            wait::at_once,
            count::more,
            phase::guard,
        ],
        Kind::MissingForwardBarrier | Kind::MissingBackwardBarrier => {
            &[count::shared, order::late, order::stronger, wait::waits, wait::at_once, count::more, phase::guard]
        }
        Kind::Deadlock => &[
            phase::blocked,
            life::twice,
            token::handed_on,
            count::arrivals,
            count::unseen,
            count::undercounted,
            count::expects,
            arrive::arrivals,
            count::bytes,
        ],
        Kind::ExpectMismatch => &[count::bytes, count::expects],
        Kind::ArrivalOverflow => &[count::more, life::without],
        Kind::BarrierNotLive => &[life::init],
        Kind::BarrierReinit => &[life::reinit],
        Kind::WaitedInvalidation => &[wait::before_invalidation],
        Kind::UninitialisedRead => &[accumulator::first_use],
        Kind::LappedWait => &[count::undercounted],
        Kind::BarrierStorageReuse
        | Kind::OutOfBounds
        | Kind::ReuseSlotHazard
        | Kind::GlobalRace
        | Kind::DeviceAssert
        | Kind::Unmodelled => &[],
    };
    makers.iter().flat_map(|maker| maker(case)).collect()
}
