//! Why a verdict is what it is: the runs made, the loops closed, what was assumed, what stayed open.

use super::describe::reason;
use base::{Limits, Message, Names, TextRange, message};
use kernel::{InputKind, LoopId, Lowered, SiteId};
use verify::{InputPlan, OpenReason, Outcome, Reach};

/// The account of a verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof<M = String> {
    /// Choices of inputs that were run.
    pub valuations: usize,
    /// Whether others were left out.
    pub cut: bool,
    /// Runs made.
    pub runs: u32,
    /// Steps taken.
    pub steps: u64,
    /// States that were visited where schedules differ; 0 where one run stands for all.
    pub states: u64,
    /// Loops whose state repeats.
    pub loops: Vec<ClosedLoop<M>>,
    /// What the verdict rests on.
    pub assumed: Vec<ProofReason<M>>,
    /// What keeps the verdict from being `proved`.
    pub open: Vec<ProofReason<M>>,
}

/// A loop that covers all its trip counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedLoop<M = String> {
    /// The op.
    pub range: TextRange,
    /// Its name: `scf.for`.
    pub op: M,
    /// Iterations before the state first repeats.
    pub warm_up: u64,
    /// Iterations from one repetition to the next.
    pub period: u64,
}

/// A sentence with its place, where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofReason<M = String> {
    /// The sentence.
    pub text: M,
    /// What it is about.
    pub range: Option<TextRange>,
}

impl ProofReason<Message> {
    fn new(text: impl Into<Message>, range: Option<TextRange>) -> ProofReason<Message> {
        ProofReason { text: text.into(), range }
    }
}

impl Proof<Message> {
    /// The account in these names.
    pub fn render(self, names: &dyn Names) -> Proof {
        let Proof { valuations, cut, runs, steps, states, loops, assumed, open } = self;
        let reasons = |reasons: Vec<ProofReason<Message>>| {
            reasons.into_iter().map(|it| ProofReason { text: it.text.render(names), range: it.range }).collect()
        };
        let closed = |it: ClosedLoop<Message>| {
            let ClosedLoop { range, op, warm_up, period } = it;
            ClosedLoop { range, op: op.render(names), warm_up, period }
        };
        let loops = loops.into_iter().map(closed).collect();
        Proof { valuations, cut, runs, steps, states, loops, assumed: reasons(assumed), open: reasons(open) }
    }
}

/// The account of an outcome.
pub fn explain(lowered: &Lowered, outcome: &Outcome, limits: &Limits) -> Proof<Message> {
    let loops = match &outcome.reach {
        Reach::Closed(closures) => closures
            .iter()
            .map(|closure| {
                let site = site(lowered, closure.loop_number);
                let (warm_up, period) = (closure.warm_up, closure.period);
                ClosedLoop { range: range(lowered, site), op: op(lowered, site), warm_up, period }
            })
            .collect(),
        Reach::NoInputs | Reach::Runs(_) => Vec::new(),
    };
    let nothing = outcome.gaps.is_empty() && outcome.found.is_empty() && outcome.lapped.is_empty();
    let assumed = if nothing { assumed(lowered, outcome, limits) } else { Vec::new() };
    Proof {
        valuations: outcome.valuations.len(),
        cut: outcome.cut,
        runs: outcome.runs,
        steps: outcome.steps,
        states: outcome.states,
        loops,
        assumed,
        open: open(lowered, outcome),
    }
}

fn site(lowered: &Lowered, loop_number: usize) -> Option<SiteId> {
    lowered.kernel.loops.get(LoopId(loop_number as u32).index()).map(|info| info.site)
}

fn range(lowered: &Lowered, site: Option<SiteId>) -> TextRange {
    site.and_then(|site| lowered.map.sites.get(site.index())).map(|site| site.name).unwrap_or_default()
}

fn op(lowered: &Lowered, site: Option<SiteId>) -> Message {
    site.and_then(|site| lowered.map.sites.get(site.index()))
        .map(|site| Message::op(site.op.clone()))
        .unwrap_or_default()
}

fn assumed(lowered: &Lowered, outcome: &Outcome, limits: &Limits) -> Vec<ProofReason<Message>> {
    let kernel = &lowered.kernel;
    let mut reasons = Vec::new();
    if outcome.reach == Reach::NoInputs {
        return reasons;
    }
    let plan = InputPlan::new(kernel, limits);
    for group in &plan.groups {
        let floor = plan.floor(kernel, group);
        let Some(&number) = group.loops.first().filter(|_| floor > 1) else { continue };
        let text = message!("this loop runs at least {floor} times, as often as its ring has slots", floor);
        reasons.push(ProofReason::new(text, Some(range(lowered, site(lowered, number)))));
    }
    let closed = matches!(outcome.reach, Reach::Closed(_));
    if closed {
        reasons.push(ProofReason::new("no counter wraps around its width, and steps of loops are positive", None));
    }
    let kinds = |wanted: InputKind| kernel.inputs.iter().filter(|input| input.kind == wanted).count();
    if !closed && kinds(InputKind::Free) > 1 {
        let text = "values that the analysis cannot compute (read from tensors or by atomics) are equal where they have one width";
        reasons.push(ProofReason::new(text, None));
    }
    if kinds(InputKind::Memory) > 0 {
        let text = if closed {
            "the words of memory that steer it do not change while it runs"
        } else if outcome.valuations.iter().any(|valuation| valuation.slope != 0 || !valuation.words.is_empty()) {
            "the words that one argument points to are equal, or rise, or differ as those do that were chosen"
        } else {
            "all words that one argument points to are equal"
        };
        reasons.push(ProofReason::new(text, None));
    }
    let constants = kernel.inputs.len().saturating_sub(lowered.map.inputs.len());
    if constants > 0 {
        let text = message!("{constants} constant trip counts of thousands are taken as any count", constants);
        reasons.push(ProofReason::new(text, None));
    }
    if !outcome.assumed.is_empty() {
        let text = message!("with fewer iterations there are findings, shown as hints: {}", outcome.assumed.len());
        reasons.push(ProofReason::new(text, None));
    }
    reasons
}

fn open(lowered: &Lowered, outcome: &Outcome) -> Vec<ProofReason<Message>> {
    let mut reasons: Vec<ProofReason<Message>> =
        outcome.gaps.iter().map(|gap| ProofReason::new(reason(gap), None)).collect();
    reasons.extend(lowered.unmodelled.iter().map(|op| ProofReason::new(op.reason.clone(), Some(op.range))));
    let Reach::Runs(opens) = &outcome.reach else { return reasons };
    if outcome.cut {
        reasons.push(ProofReason::new("there are more choices of inputs than the limit", None));
    }
    for open in opens {
        let at = |number: usize| Some(range(lowered, site(lowered, number)));
        reasons.push(match *open {
            OpenReason::Noticed(input) => {
                let name = Message::value(lowered.map.input(input));
                ProofReason::new(
                    message!("an index or a phase depends on `{name}` in a way that is not followed", name),
                    None,
                )
            }
            OpenReason::Unfollowed => {
                ProofReason::new("an index, a phase or a condition is not followed for all inputs", None)
            }
            OpenReason::Aperiodic { loop_number, trips } => {
                let text = message!("the states at this loop did not repeat in {trips} iterations", trips);
                ProofReason::new(text, at(loop_number))
            }
            OpenReason::Broken(site) => {
                let text = "a rule breaks here if inner loops may run differently often each time";
                ProofReason::new(text, Some(range(lowered, Some(site))))
            }
            OpenReason::Order => ProofReason::new("on some path the order of steps may matter", None),
            OpenReason::Budget => ProofReason::new("the share of steps that a proof may use was spent", None),
            OpenReason::NotAsked => ProofReason::new("no proof was asked for", None),
        });
    }
    reasons
}
