//! What a slip means: whether the kernel still does the same.
//!
//! A mutant that the analysis flags counts as found. Of the others, one that the device shows to
//! change is a gap of the analysis. One that the analysis clears for every schedule, and whose
//! operations read the same writes in every run of the device, is equivalent: the analysis's verdict
//! says that no order of events matters, the runs say what the one order does. The file of
//! survivors says the rest, line by line, and may say more of what is decided here.

use super::device::{Change, Shown};
use super::judge::Verdict;
use super::make::{Class, Mutant};

/// What became of a mutant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// It is no program.
    Rejected,
    /// Flagged; whether the device shows a change too.
    Found(bool),
    /// Not flagged, and nothing changes: why.
    Equivalent(String),
    /// Not flagged, and something changes: what.
    Gap(String),
    /// Not flagged, and nobody knows.
    Unknown(String),
}

impl Meaning {
    /// As it is printed.
    pub fn name(&self) -> &'static str {
        match self {
            Meaning::Rejected => "rejected",
            Meaning::Found(_) => "found",
            Meaning::Equivalent(_) => "equivalent",
            Meaning::Gap(_) => "gap",
            Meaning::Unknown(_) => "unknown",
        }
    }

    /// The argument for it.
    pub fn why(&self) -> &str {
        match self {
            Meaning::Rejected | Meaning::Found(_) => "",
            Meaning::Equivalent(why) | Meaning::Gap(why) | Meaning::Unknown(why) => why,
        }
    }
}

/// The named arguments for an equivalence.
const SAME_READS: &str = "same-reads: no order of events matters, and every operation reads the same writes";
// `tests/corpus/verify.py` lets Triton say so.
const TRITON_FENCES: &str = "triton-fences: the accesses are of one partition, where Triton inserts the fence again";

const KEPT: &str = "kept-until-done: the kernel ends during a copy; the device keeps the memory until it is done \
                    (seen on an H200, not promised by the PTX ISA)";

/// What verdict and runs say together.
pub fn meaning(mutant: &Mutant, verdict: &Verdict, shown: &Shown) -> Meaning {
    match (verdict, shown) {
        (Verdict::Rejected(_), _) => Meaning::Rejected,
        (Verdict::Found(_), shown) => Meaning::Found(matches!(shown, Shown::Changed(_))),
        (_, Shown::Changed(change)) => Meaning::Gap(told(change)),
        (Verdict::Survived(_), Shown::Same(true)) => Meaning::Equivalent(KEPT.to_string()),
        (Verdict::Survived(_), Shown::Same(false)) if mutant.class == Class::Fence => {
            Meaning::Equivalent(TRITON_FENCES.to_string())
        }
        (Verdict::Survived(_), Shown::Same(false)) => Meaning::Equivalent(SAME_READS.to_string()),
        (Verdict::Undecided(why), _) => Meaning::Unknown(format!("undecided: {}", why.join("; "))),
        (_, Shown::Unknown) => Meaning::Unknown("the device cannot play it".to_string()),
    }
}

fn told(change: &Change) -> String {
    let inputs: Vec<String> = change.inputs.iter().map(|(name, value)| format!("`{name}` = {value}")).collect();
    match inputs.is_empty() {
        true => change.to_string(),
        false => format!("{change} with {}", inputs.join(", ")),
    }
}
