//! At which call of a Python kernel the order of two accesses is missing.
//!
//! Helpers are inlined, and a race is seen at the innermost access. The wait that it lacks belongs further out where the
//! access stands in a helper that cannot wait: where the calls to the two accesses part, or further in, in the innermost
//! function that is handed the barrier between them. A wait in between that lets the operation stay open is at fault
//! where it stands, or where its count is given. Places are calls of the kernel's own file.
//!
//! What this misses: barriers in closures and in lists, and which of two waits for one family was meant for the access.

use ruff_python_ast::Expr;
use rustc_hash::FxHashMap;

use super::ElaboratedInstance;
use super::arguments::{argument, call_at, function_at, parameter, receiver};
use super::place::line;
use base::TextRange;
use findings::{Finding, MissingOrder, Note};
use gluon::{FileId, Frame, Origin};
use python::syntax::Module;
use python::syntax::range;
use ttgir::queries::memory;
use ttgir::queries::spot::{around, walk};
use ttgir::{BlockId, OpId, Tree, ValueId};

/// A call at which order is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blame {
    /// The call, in the text of the kernel's own file.
    pub range: TextRange,
    /// What it calls.
    callee: String,
    why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// Nothing before it waits.
    NoWait,
    /// It waits, and lets too much stay open.
    Weak,
    /// Nothing after it waits for what it starts.
    NeverAwaited,
}

/// Whether a wait that lets operations stay open is at fault.
enum Fault {
    /// It is, or the call that gives its count.
    Here(Blame),
    /// It is, beside the access.
    AtAccess,
    /// It may be meant for others.
    Unknown,
}

/// An op with the calls and iterations around it, the outermost first.
struct Chain<'o> {
    origin: &'o Origin,
    frames: Vec<&'o Frame>,
}

impl<'o> Chain<'o> {
    /// How many frames it shares with another chain.
    fn shared(&self, other: &Chain<'_>) -> usize {
        self.frames.iter().zip(&other.frames).take_while(|(a, b)| std::ptr::eq(**a, **b)).count()
    }

    /// How many frames stand around the innermost function on its way that another chain leads through as well, in
    /// the same call or another one.
    fn same_function(&self, other: &Chain<'_>) -> usize {
        let through = |frame: &Frame| other.frames.iter().any(|known| !known.iteration && known.what == frame.what);
        let calls = self.frames.iter().enumerate().filter(|(_, frame)| !frame.iteration && through(frame));
        calls.map(|(at, _)| at + 1).next_back().unwrap_or(0)
    }

    /// The call by which it leaves the function (or iteration) around which `depth` frames stand: file, place and
    /// callee; `None` where it leaves it by no call.
    fn leaves(&self, depth: usize) -> Option<(usize, &'o Frame)> {
        let mut inner = self.frames.iter().copied().enumerate().skip(depth);
        inner.find(|(_, frame)| !frame.iteration)
    }
}

impl ElaboratedInstance {
    /// The call at which the order of two accesses is missing; `None` where that is no other place than the access.
    pub(super) fn blame(&self, order: &MissingOrder) -> Option<Blame> {
        let tree = self.tree()?;
        let early = self.chain(order.early)?;
        let outermost = self.outermost(tree, order.early);
        let Some(awaited) = order.awaited else {
            return self.at_call(&early, outermost, Why::NeverAwaited);
        };
        let other = self.chain(awaited)?;
        let barriers = order.barriers.iter().filter_map(|range| tree.value_at(range.start));
        let barriers: Vec<ValueId> = barriers.map(|(value, _)| value).collect();
        let parted = match (order.same_partition, barriers.is_empty()) {
            (true, known_by_none) => {
                let parted = self.turn(tree, order.early, awaited).unwrap_or_else(|| early.shared(&other));
                // A function that does both, in two calls of it, is where it waits for groups of its own.
                if known_by_none { parted.max(early.same_function(&other)) } else { parted }
            }
            (false, false) => outermost,
            // A group is waited for in the partition that has it.
            (false, true) => return None,
        };
        if let Some(weak) = order.weak.filter(|_| order.same_partition)
            && encloses(tree, weak.start, order.early.start)
        {
            match self.weak(tree, weak, &early, parted)? {
                Fault::Here(blame) => return Some(blame),
                Fault::AtAccess => return None,
                Fault::Unknown => {}
            }
        }
        let depth = self.innermost(tree, &early, &barriers, parted).unwrap_or(parted);
        self.at_call(&early, depth, Why::NoWait)
    }

    /// How many frames stand around the kernel's own statements, or those of the partition's function.
    fn outermost(&self, tree: &Tree, place: TextRange) -> usize {
        let inner = tree.op_at(place.start);
        let partition =
            inner.and_then(|op| around(tree, op).find(|(op, _)| tree.op_name(*op) == "ttg.warp_specialize"));
        let frames = partition.and_then(|(op, _)| self.chain(tree.op_range(op))).map(|chain| chain.frames.len());
        frames.map_or(0, |frames| frames + 1)
    }

    fn chain(&self, range: TextRange) -> Option<Chain<'_>> {
        let origin = self.origins().at(range.start)?;
        let mut frames: Vec<&Frame> = self.origins().frames(origin).collect();
        frames.reverse();
        Some(Chain { origin, frames })
    }

    /// How many frames stand around the loop that is between two accesses, where the first in time is the later one in
    /// the text or the same.
    fn turn(&self, tree: &Tree, early: TextRange, awaited: TextRange) -> Option<usize> {
        let (early, awaited) = (tree.op_at(early.start)?, tree.op_at(awaited.start)?);
        if tree.op_range(awaited).start < tree.op_range(early).start {
            return None;
        }
        let holds = |op: &OpId| tree.op_range(*op).contains(tree.op_range(awaited));
        let mut loops = around(tree, early).map(|(op, _)| op);
        let turns = loops.find(|op| matches!(tree.op_name(*op), "scf.for" | "scf.while") && holds(op))?;
        Some(self.chain(tree.op_range(turns))?.frames.len())
    }

    /// What a wait that lets operations stay open has to do with an access that follows it.
    fn weak(&self, tree: &Tree, weak: TextRange, early: &Chain<'_>, parted: usize) -> Option<Fault> {
        let wait = self.chain(tree.op_range(tree.op_at(weak.start)?))?;
        let given = self.gives_count(&wait).and_then(|at| Some((at, *wait.frames.get(at)?)));
        let depth = given.map_or(wait.frames.len(), |(at, _)| at);
        let shared = calls(&wait, wait.shared(early).min(depth));
        if shared == calls(&wait, depth) {
            // It stands in a function that the way to the access leads through.
            if given.is_none() && shared == calls(early, early.frames.len()) {
                return Some(Fault::AtAccess);
            }
            let leads = early.leaves(parted).map(|(_, frame)| frame);
            let same = given.is_some_and(|(_, frame)| leads.is_some_and(|leads| std::ptr::eq(leads, frame)));
            if shared == calls(early, parted) && !same {
                return Some(Fault::Unknown);
            }
        }
        let (file, range, callee) = match given {
            Some((_, frame)) => (frame.file, frame.range, frame.what.clone()),
            None => (wait.origin.file, wait.origin.range, wait.origin.what.to_owned()),
        };
        if file != FileId(0) {
            return Some(Fault::Unknown);
        }
        Some(Fault::Here(Blame { range: self.module.place(range).0, callee, why: Why::Weak }))
    }

    /// By which of the calls around it a wait is given its count: the number of the frame.
    fn gives_count(&self, wait: &Chain<'_>) -> Option<usize> {
        let module = |file: FileId| self.module_of(file).map(|module| &**module);
        let mut count = argument(call_at(module(wait.origin.file)?, wait.origin.range)?, 0, None);
        let mut file = wait.origin.file;
        let mut given = None;
        for (at, frame) in wait.frames.iter().enumerate().rev().filter(|(_, frame)| !frame.iteration) {
            let Some(Expr::Name(name)) = count else { break };
            let Some(function) = function_at(module(file)?, range(name)) else { break };
            let Some(parameter) = parameter(function, name.id.as_str()) else { break };
            let Some(call) = call_at(module(frame.file)?, frame.range) else { break };
            let Some(expr) = argument(call, parameter.saturating_sub(receiver(function, call)), Some(name.id.as_str()))
            else {
                break;
            };
            (given, count, file) = (Some(at), Some(expr), frame.file);
        }
        given
    }

    /// How many frames stand around the innermost function on the way to an access that knows one of these barriers,
    /// from the function with `parted` frames around it inwards.
    fn innermost(&self, tree: &Tree, early: &Chain<'_>, barriers: &[ValueId], parted: usize) -> Option<usize> {
        let handed = early.frames.iter().enumerate().skip(parted).filter(|(_, frame)| !frame.iteration);
        let name = |number: &u32| self.origins().memory.get(*number as usize).map(String::as_str);
        let names = handed.clone().flat_map(|(_, frame)| &frame.memory).filter_map(name);
        let mut names: FxHashMap<&str, bool> = names.map(|name| (name, false)).collect();
        let mut see = |value: ValueId| {
            if let Some(leads) = names.get_mut(tree.value_name(value).trim_start_matches('%')) {
                *leads = memory::roots(tree, value).iter().any(|root| barriers.contains(root));
            }
        };
        walk(tree, tree.top(), &mut |op| {
            tree.results(op).iter().copied().for_each(&mut see);
            let blocks = tree.regions(op).iter().flat_map(|region| tree.blocks(*region));
            blocks.flat_map(|block| tree.block_args(*block)).copied().for_each(&mut see);
        });
        let knows = |frame: &Frame| frame.memory.iter().filter_map(name).any(|name| names.get(name) == Some(&true));
        let made = barriers.iter().filter_map(|barrier| self.chain(tree.value_range(*barrier)));
        let made = made.map(|made| made.shared(early)).max().unwrap_or(0);
        let handed = handed.filter(|(_, frame)| knows(frame)).map(|(at, _)| at + 1).next_back();
        handed.into_iter().chain((made > parted).then_some(made)).max()
    }

    /// The call that leads from the function with so many frames around it to an access, or of one in another file the
    /// call in this one that leads there.
    fn at_call(&self, chain: &Chain<'_>, depth: usize, why: Why) -> Option<Blame> {
        let (at, frame) = chain.leaves(depth)?;
        let own = FileId(0);
        let frame = if frame.file == own {
            frame
        } else {
            chain.frames.get(..at)?.iter().rev().find(|frame| frame.file == own && !frame.iteration)?
        };
        Some(Blame { range: self.module.place(frame.range).0, callee: frame.what.clone(), why })
    }
}

impl Blame {
    /// Draws a finding at this call; its other places stay.
    pub(super) fn draw(self, finding: &mut Finding, module: &Module) {
        if self.range == finding.range {
            return;
        }
        let line = line(module, finding.range);
        let callee = &self.callee;
        let (lead, text) = match self.why {
            Why::NoWait => (
                format!("a wait is missing before this call of `{callee}`, for what it does in line {line}"),
                format!("nothing waits before this call of `{callee}`"),
            ),
            Why::Weak => (
                format!("this `{callee}` lets too much stay open for line {line}"),
                format!("this `{callee}` lets operations stay open"),
            ),
            Why::NeverAwaited => (
                format!("what this call of `{callee}` starts in line {line} is never known to be over"),
                format!("this call of `{callee}` starts it"),
            ),
        };
        finding.message = format!("{lead}: {}", finding.message);
        finding.range = self.range;
        finding.context.retain(|note| note.range != self.range);
        finding.sites.iter_mut().for_each(|site| site.primary = false);
        finding.sites.push(Note { range: self.range, text, source: None, primary: true });
    }
}

/// Makes one finding of those that lack order at one call: their accesses become its further places.
pub(super) fn one_a_call(findings: &mut Vec<Finding>, module: &Module) {
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    let mut by_cause = FxHashMap::default();
    for finding in findings.drain(..) {
        let Some(cause) = cause(&finding) else {
            kept.push(finding);
            continue;
        };
        let key = (finding.kind, finding.severity, cause.range, cause.text.clone());
        let at = *by_cause.entry(key).or_insert(kept.len());
        let Some(other) = kept.get_mut(at) else {
            kept.push(finding);
            continue;
        };
        let more = finding.sites.into_iter().filter(|site| !site.primary);
        let more: Vec<Note> = more.filter(|site| !other.sites.contains(site)).collect();
        let told: Vec<usize> = other.sites.iter().map(|site| line(module, site.range)).collect();
        if let Some(at) = more.last().map(|access| line(module, access.range)).filter(|at| !told.contains(at)) {
            other.message.push_str(&format!("; and so in line {at}"));
        }
        let end = other.sites.len().saturating_sub(1);
        other.sites.splice(end..end, more).for_each(drop);
    }
    *findings = kept;
}

/// The call at which a finding was drawn because of what is missing there.
pub(super) fn cause(finding: &Finding) -> Option<&Note> {
    finding.order.as_ref()?;
    finding.sites.last().filter(|site| site.primary && finding.sites.len() > 2)
}

/// How many calls are among the first frames of a chain, for comparing functions and not iterations.
fn calls(chain: &Chain<'_>, depth: usize) -> usize {
    chain.frames.iter().take(depth).filter(|frame| !frame.iteration).count()
}

/// Whether the block of an op encloses another place.
fn encloses(tree: &Tree, op: u32, place: u32) -> bool {
    let block = |offset| tree.op_at(offset).and_then(|op| tree.parent_block(op));
    let Some(inner) = tree.op_at(place) else { return false };
    let blocks: Vec<BlockId> = std::iter::once(inner)
        .chain(around(tree, inner).map(|(op, _)| op))
        .filter_map(|op| tree.parent_block(op))
        .collect();
    block(op).is_some_and(|block| blocks.contains(&block))
}
