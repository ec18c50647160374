//! What is said of a kernel's global memory.

use base::TextRange;
use ttgir::OpId;

pub use crate::program::MemSyncScope;

/// How far a kernel is decided.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Status {
    /// It writes no global memory.
    NoWrites,
    /// No two programs of any launch touch a common byte that one of them writes, save as they synchronise.
    Proved,
    /// No race in the launches that were run, in any order of the programs.
    Clean,
    /// It is not decided.
    Undecided,
    /// There are races.
    Found,
}

/// What an answer rests on beside the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assumption {
    /// A clause: `arguments point into distinct tensors`. Values of the kernel stand in backquotes, with `%`.
    pub text: String,
}

impl Assumption {
    pub(crate) fn text(text: impl Into<String>) -> Assumption {
        Assumption { text: text.into() }
    }
}

/// Why something is not decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// The op that it is about.
    pub range: TextRange,
    /// A clause.
    pub text: String,
}

/// One of two accesses that race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    /// The op.
    pub range: TextRange,
    /// Its full name.
    pub op: String,
    /// Whether it writes.
    pub writes: bool,
    /// The scope of an atomic access.
    pub atomic: Option<MemSyncScope>,
    /// The program, as many axes as matter.
    pub program: Vec<i64>,
    /// The lane, as many dimensions as the access has.
    pub lane: Vec<i64>,
    /// First and last element that all its lanes touch.
    pub extent: (i64, i64),
    /// Rounds of the loops around it, from 0, outermost first.
    pub rounds: Vec<i64>,
    /// Whether it is under way still, since its wait is missing or comes later.
    pub pending: bool,
    /// `file:line` of the program that the text was compiled from, where the op records it.
    pub source: Option<String>,
}

/// Two accesses of a common byte of which one writes, and nothing orders them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Race {
    /// The argument that points into the tensor, as the text names it.
    pub tensor: String,
    /// The element, counted from where the argument points.
    pub index: i64,
    /// The first common byte, likewise.
    pub start: i64,
    /// Common bytes of the two lanes.
    pub bytes: i64,
    /// One access.
    pub first: Side,
    /// The other one.
    pub second: Side,
    /// The launch that shows it: programs along each axis.
    pub grid: [i64; 3],
    /// Arguments that were chosen for it.
    pub inputs: Vec<(String, i64)>,
    /// Whether both write the same value, so that it makes no difference which comes last.
    pub same: bool,
}

/// A program that waits for ever for a word that another one has taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hang {
    /// The argument that points into the word's tensor, as the text names it.
    pub tensor: String,
    /// The word, counted in elements from where the argument points.
    pub index: i64,
    /// The access that asks.
    pub wait: Side,
    /// The one that has taken the word.
    pub taken: Side,
    /// The launch that shows it: programs along each axis.
    pub grid: [i64; 3],
}

/// Two accesses of partitions that run beside each other in one program, which may touch a common byte that one of them
/// writes. Whether barriers order them is not looked at here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Beside {
    /// The ops, in the order of the text.
    pub ops: [OpId; 2],
    /// Where they stand.
    pub ranges: [TextRange; 2],
    /// Which of them write.
    pub writes: [bool; 2],
    /// The argument that points into the tensor, as the text names it.
    pub tensor: String,
    /// Whether they touch the same elements wherever both are executed, so that nothing but an order keeps them apart.
    pub same: bool,
}

/// Two accesses of partitions of one program that touch common bytes, and that no barrier orders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartitionRace {
    /// The accesses.
    pub pair: Beside,
    /// Labels of the partitions, of each access.
    pub partitions: [String; 2],
}

/// What there is to say of one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// The function's name without `@`.
    pub kernel: String,
    /// Where the name stands.
    pub range: TextRange,
    /// How far it is decided.
    pub status: Status,
    /// The races, by place.
    pub races: Vec<Race>,
    /// Races between partitions of one program. [`races`](crate::races) itself finds none: which accesses are ordered it
    /// does not know.
    pub partition_races: Vec<PartitionRace>,
    /// Accesses of several partitions of which that is to be known.
    pub beside: Vec<Beside>,
    /// A program that waits for ever.
    pub hang: Option<Hang>,
    /// What the answer rests on.
    pub assumed: Vec<Assumption>,
    /// What is in the way of an answer.
    pub reasons: Vec<Reason>,
    /// Launches that were run.
    pub runs: u32,
    /// Accesses of global memory in the text.
    pub accesses: u32,
    /// Whether each launch has one program, although the kernel asks for its number: there is nobody to race with.
    pub alone: bool,
}

/// A question whether two accesses of a kernel can meet, for another solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The kernel.
    pub kernel: String,
    /// The two ops.
    pub ops: (TextRange, TextRange),
    /// Whether they are proved apart here: then the text has no solution.
    pub apart: bool,
    /// The question in SMT-LIB, which ends by asking for satisfiability.
    pub text: String,
}

impl Global {
    /// Leaves it undecided for this reason, which is said at the first race, or of the kernel.
    pub(crate) fn leave_open(&mut self, text: String) {
        let range = self.races.first().map_or(self.range, |race| race.second.range);
        self.reasons = vec![Reason { range, text }];
        (self.status, self.races, self.hang) = (Status::Undecided, Vec::new(), None);
    }

    /// What is said of a kernel in these launches and in others: of the worst, with all that any of them rests on.
    pub(crate) fn and(self, other: Global) -> Global {
        let (mut worst, better) = if self.status < other.status { (other, self) } else { (self, other) };
        worst.alone &= better.alone;
        for pair in better.beside {
            if !worst.beside.contains(&pair) {
                worst.beside.push(pair);
            }
        }
        for assumption in better.assumed {
            if !worst.assumed.contains(&assumption) {
                worst.assumed.push(assumption);
            }
        }
        worst
    }
}
