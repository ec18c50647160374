//! The device, played: a second machine, which shares nothing with the analysis's but the kernel.
//!
//! The analysis's machine keeps clocks and judges each access; this one lets things happen. What is
//! issued (copies, MMAs, commits) happens at some later time, a barrier's word counts, a wait
//! blocks; memory remembers which write each bit is from. There are no rules: a mutant has
//! *changed* where, under some order of events, a memory operation reads what it does not read in
//! the clean kernel, where nobody can go on, or where a barrier is used as the PTX ISA forbids. What
//! a run shows is a fact of this machine; that no run shows anything is none, so an equivalence
//! needs the analysis's verdict beside it (`equal.rs`).
//!
//! Source: PTX ISA (mbarrier, `cp.async`, `cp.async.bulk`, wgmma, tcgen05, proxies), and Triton for
//! the fences that it inserts. Operations of one tensor core, and wgmmas of one partition, happen in
//! order; all else in any. Generic accesses are sequentially consistent. When the kernel has ended
//! nothing may happen any more but copies of commit groups: an H200 keeps the memory of a CTA until they
//! are done (of 143,673 CTAs that ended during a bulk store, and 501,645 during `cp.async`, with memory
//! that the next CTA overwrites at once, none went wrong), which the PTX ISA does not promise.
//! Missed: registers (an accumulator
//! that is read before its wgmma is waited for), larger clusters, parts of operations, and the generic reads
//! that a fence orders before an asynchronous write.

mod acts;
mod barrier;
mod board;
mod memory;
mod policy;
mod values;

pub use board::Fault;

use board::{Ending, Slot};
pub use policy::{Pace, Policy};

use base::{Limits, LineIndex};
use kernel::{Input, InputId, Kernel, Lowered};
use lower::lower;
use machine::{MemoryWord, Valuation};
use ttgir::Tree;
use verify::{InputPlan, unbound};

/// CTAs of a cluster that are played, all of them.
const CTAS: u32 = 8;

/// Random orders beside the unlucky ones.
const ROUNDS: u64 = 12;

/// A clean kernel, with what its operations read.
pub struct Device {
    lowered: Lowered,
    lines: LineIndex,
    endings: Vec<(Valuation, Ending)>,
}

/// The input with its name: what tells that two kernels mean the same one.
type Name<'k> = (&'k Input, String);

/// How a mutant differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// What goes wrong; nothing where another write is read.
    pub fault: Option<Fault>,
    /// The operation, and its line in the clean text.
    pub place: Option<(String, u32)>,
    /// With which inputs, as far as they have names.
    pub inputs: Vec<(String, i64)>,
    /// In which order of events.
    pub policy: Policy,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Some((op, line)) => write!(f, "`{op}` of line {line} ")?,
            None => f.write_str("the kernel ")?,
        }
        f.write_str(match self.fault {
            None => "reads another write",
            Some(Fault::Hang) => "hangs",
            Some(Fault::Barrier) => "misuses a barrier",
            Some(Fault::Bounds) => "leaves an allocation",
            Some(Fault::Late) => "is not done when the kernel ends",
            Some(Fault::Lost) => "is lost",
        })
    }
}

/// What playing a mutant shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shown {
    /// It does something else than the clean kernel.
    Changed(Box<Change>),
    /// In no run that was made; whether it ends during copies.
    Same(bool),
    /// The kernel cannot be played.
    Unknown,
}

/// The one kernel of a text.
fn kernel(text: &str) -> Option<Lowered> {
    let mut all = lower(&Tree::parse(text));
    let mut lowered = all.pop().filter(|_| all.is_empty())?;
    if let Some(kernel) = unbound(&lowered.kernel) {
        lowered.kernel = kernel;
    }
    (lowered.kernel.ctas <= CTAS && lowered.unmodelled.is_empty()).then_some(lowered)
}

fn threads(kernel: &Kernel) -> usize {
    kernel.partitions.len().max(1) * kernel.ctas.max(1) as usize
}

fn intervals(kernel: &Kernel) -> Vec<Vec<(u64, u64)>> {
    kernel.shapes.iter().map(|shape| shape.intervals()).collect()
}

fn names(lowered: &Lowered) -> Vec<Name<'_>> {
    let inputs = lowered.kernel.inputs.iter().enumerate();
    inputs.map(|(at, input)| (input, lowered.map.inputs.get(at).cloned().unwrap_or_default())).collect()
}

impl Device {
    /// Plays a clean kernel; `None` where that cannot be done.
    pub fn new(text: &str) -> Option<Device> {
        let lowered = kernel(text)?;
        let intervals = intervals(&lowered.kernel);
        let plan = InputPlan::new(&lowered.kernel, &Limits::default());
        let all = Policy::all(threads(&lowered.kernel), ROUNDS);
        let play = |valuation: &Valuation, policy| board::play(&lowered.kernel, valuation, &intervals, policy);
        let mut endings = Vec::new();
        for valuation in plan.valuations {
            let ending = play(&valuation, &all[0]);
            // Some kernels are not right for inputs that nobody launches them with.
            if ending.fault.is_none() && all[1..].iter().all(|policy| same(&play(&valuation, policy), &ending)) {
                endings.push((valuation, ending));
            }
        }
        (!endings.is_empty()).then(|| Device { lowered, lines: LineIndex::new(text), endings })
    }

    /// With how many inputs the clean kernel does the same in every order of events.
    pub fn inputs(&self) -> usize {
        self.endings.len()
    }

    /// Plays a mutant.
    pub fn play(&self, text: &str) -> Shown {
        let Some(lowered) = kernel(text) else { return Shown::Unknown };
        let intervals = intervals(&lowered.kernel);
        let all = Policy::all(threads(&lowered.kernel), ROUNDS);
        let (mut known, mut late) = (true, false);
        // The longest runs show most.
        for (valuation, clean) in self.endings.iter().rev() {
            let Some(own) = self.translate(&lowered, valuation) else { return Shown::Unknown };
            for policy in &all {
                let ending = board::play(&lowered.kernel, &own, &intervals, policy);
                if matches!(ending.fault, Some((Fault::Lost, _))) {
                    known = false;
                } else if !same(&ending, clean) {
                    return Shown::Changed(Box::new(self.change(&ending, clean, valuation, policy)));
                }
                late |= ending.late;
            }
        }
        if known { Shown::Same(late) } else { Shown::Unknown }
    }

    fn change(&self, ending: &Ending, clean: &Ending, valuation: &Valuation, policy: &Policy) -> Change {
        let (fault, slot) = match ending.fault {
            Some((fault, slot)) => (Some(fault), slot),
            None => (None, first_difference(&ending.reads, &clean.reads)),
        };
        let site = slot.and_then(|(thread, number)| clean.sites.get(thread)?.get(number));
        let site = site.and_then(|site| self.lowered.map.sites.get(site.index()));
        let inputs = self.lowered.map.inputs.iter().cloned().zip(valuation.values.iter().copied());
        Change {
            fault,
            place: site.map(|site| (site.op.clone(), self.lines.line_col(site.range.start).line + 1)),
            inputs: inputs.collect(),
            policy: *policy,
        }
    }

    /// The values of a mutant's inputs: what a slip leaves unused is no input of it.
    fn translate(&self, mutant: &Lowered, valuation: &Valuation) -> Option<Valuation> {
        let clean = names(&self.lowered);
        let mut taken = vec![false; clean.len()];
        let (mut values, mut words) = (Vec::new(), Vec::new());
        for name in names(mutant) {
            let at = (0..clean.len()).find(|&at| !taken[at] && clean[at] == name)?;
            taken[at] = true;
            let memory = InputId(values.len() as u32);
            words.extend(
                valuation
                    .words
                    .iter()
                    .filter(|word| word.memory.index() == at)
                    .map(|word| MemoryWord { memory, ..*word }),
            );
            values.push(*valuation.values.get(at)?);
        }
        words.sort_unstable();
        Some(Valuation { values, slope: valuation.slope, words })
    }
}

fn same(a: &Ending, b: &Ending) -> bool {
    a.fault == b.fault && a.reads == b.reads
}

fn first_difference(a: &[Vec<u64>], b: &[Vec<u64>]) -> Option<Slot> {
    a.iter().zip(b).enumerate().find_map(|(thread, (a, b))| {
        let at = a.iter().zip(b).position(|(a, b)| a != b);
        at.or((a.len() != b.len()).then_some(a.len().min(b.len()))).map(|at| (thread, at))
    })
}
