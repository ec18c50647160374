//! Who is who in two reports of one kernel, a pass apart.
//!
//! Ids, types and numbered names change from pass to pass, so partitions and buffers are compared by
//! all that can be said of them, and the best pairs are taken first. Names of the program survive as
//! stems of SSA names; what has no name is known by its type and by who uses it.

use std::cmp::Reverse;

use report::{LogicalBuffer, PartitionUse, PhysicalBuffer, Report};
use rustc_hash::FxHashMap;

/// A logical buffer: indices of its physical buffer and of itself in there.
pub(super) type MemberId = (usize, usize);

/// What of the first report is what of the second.
#[derive(Default)]
pub(super) struct Pairing {
    /// Of each partition of the first report, its partner.
    pub partitions: Vec<Option<usize>>,
    /// The partner of each logical buffer of the first report that has one.
    pub members: FxHashMap<MemberId, MemberId>,
}

impl Pairing {
    /// Pairs two reports.
    pub(super) fn new(was: &Report, is: &Report) -> Pairing {
        let partitions = assign(was.partitions.len(), is.partitions.len(), 2, |a, b| partition(was, is, a, b));
        let mut pairing = Pairing { partitions, members: FxHashMap::default() };
        let (old, new) = (member_ids(was), member_ids(is));
        let pairs = assign(old.len(), new.len(), 5, |a, b| pairing.member(was, is, old[a], new[b]));
        pairing.members =
            pairs.iter().enumerate().filter_map(|(a, b)| b.map(|b| (old[a], new[b]))).collect::<FxHashMap<_, _>>();
        pairing
    }

    /// The partner of a partition of the first report.
    pub(super) fn partition(&self, at: usize) -> Option<usize> {
        self.partitions.get(at).copied().flatten()
    }

    fn member(&self, was: &Report, is: &Report, old: MemberId, new: MemberId) -> u32 {
        let (Some((holder, a)), Some((new_holder, b))) = (find(was, old), find(is, new)) else { return 0 };
        if holder.space != new_holder.space {
            return 0;
        }
        let mut score = 0;
        if stem(&a.name).is_some() && stem(&a.name) == stem(&b.name) {
            score += 8 + 2 * u32::from(a.name == b.name);
        }
        score += 4 * u32::from(holder.id.is_some() && holder.id == new_holder.id);
        score += if a.ty == b.ty { 3 } else { 2 * u32::from(tile(&a.ty) == tile(&b.ty)) };
        score += u32::from(a.extent == b.extent);
        score += self.users(&a.writers, &b.writers) + self.users(&a.readers, &b.readers);
        score
    }

    /// Two points for users in the same partition by the same op, one for the same partition.
    fn users(&self, was: &[PartitionUse], is: &[PartitionUse]) -> u32 {
        let pairs = || was.iter().flat_map(|a| is.iter().map(move |b| (a, b)));
        let same = |(a, b): &(&PartitionUse, &PartitionUse)| self.partition(a.partition) == Some(b.partition);
        u32::from(pairs().any(|pair| same(&pair)))
            + u32::from(pairs().any(|pair| same(&pair) && last(&pair.0.op) == last(&pair.1.op)))
    }
}

/// Pairs of the highest scores first, none below `least`; near ones first where scores are equal.
pub(super) fn assign(left: usize, right: usize, least: u32, score: impl Fn(usize, usize) -> u32) -> Vec<Option<usize>> {
    let mut candidates: Vec<(Reverse<u32>, usize, usize, usize)> = Vec::new();
    for a in 0..left {
        for b in 0..right {
            let score = score(a, b);
            if score >= least {
                candidates.push((Reverse(score), a.abs_diff(b), a, b));
            }
        }
    }
    candidates.sort_unstable();
    let (mut pairs, mut taken) = (vec![None; left], vec![false; right]);
    for (_, _, a, b) in candidates {
        if pairs[a].is_none() && !taken[b] {
            pairs[a] = Some(b);
            taken[b] = true;
        }
    }
    pairs
}

/// All logical buffers.
pub(super) fn member_ids(report: &Report) -> Vec<MemberId> {
    let buffers = report.buffers.iter().enumerate();
    buffers.flat_map(|(at, buffer)| (0..buffer.members.len()).map(move |member| (at, member))).collect()
}

/// A logical buffer.
pub(super) fn find(report: &Report, (buffer, member): MemberId) -> Option<(&PhysicalBuffer, &LogicalBuffer)> {
    let buffer = report.buffers.get(buffer)?;
    Some((buffer, buffer.members.get(member)?))
}

fn partition(was: &Report, is: &Report, a: usize, b: usize) -> u32 {
    let (Some(old), Some(new)) = (was.partitions.get(a), is.partitions.get(b)) else { return 0 };
    let mut score = 3 * u32::from(old.label == new.label) + 4 * u32::from(!old.role.is_empty() && old.role == new.role);
    score += 2 * u32::from(task(&old.label).is_some() && task(&old.label) == task(&new.label));
    let has = |ops: &[(String, u32)], op: &str| ops.iter().any(|(known, _)| last(known) == last(op));
    let common = old.key_ops.iter().filter(|(op, _)| has(&new.key_ops, op)).count();
    let all = old.key_ops.len() + new.key_ops.len() - common.min(new.key_ops.len());
    score + (4 * common).checked_div(all).unwrap_or(0) as u32
}

/// The task that becomes a partition: `default` is task 0, `partition0` task 1.
fn task(label: &str) -> Option<u32> {
    match label {
        "default" => Some(0),
        _ => match label.strip_prefix("task ") {
            Some(number) => number.parse().ok(),
            None => Some(label.strip_prefix("partition")?.trim().parse::<u32>().ok()? + 1),
        },
    }
}

/// A name without what makes it unique: `%alpha_12 (full)` is `alpha (full)`; `None` for numbers.
pub(super) fn stem(name: &str) -> Option<String> {
    let name = name.trim_start_matches('%');
    let (value, rest) = match name.find(' ') {
        Some(at) => name.split_at(at),
        None => (name, ""),
    };
    let trimmed = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let value = if trimmed.len() < value.len() { trimmed.strip_suffix('_').unwrap_or(value) } else { value };
    let named = value.starts_with(|c: char| !c.is_ascii_digit());
    (named && !value.is_empty()).then(|| format!("{value}{rest}"))
}

/// The stem of a barrier's name, whichever half of a token it is: the mbarrier has no half.
pub(super) fn value(name: &str) -> Option<String> {
    stem(name.split(' ').next()?)
}

/// The innermost two sizes and the element of a type: `128x64xf16` in any number of slots.
fn tile(ty: &str) -> Option<String> {
    let (_, inside) = ty.split_once('<')?;
    let shape = inside.split([',', '>']).next()?;
    let parts: Vec<&str> = shape.split('x').collect();
    let from = parts.len().checked_sub(3)?;
    Some(parts.get(from..)?.join("x"))
}

/// An op without its dialect.
fn last(op: &str) -> &str {
    op.rsplit('.').next().unwrap_or(op)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stem_survives_what_a_pass_does_to_names() {
        assert_eq!(stem("%alpha_12").as_deref(), Some("alpha"));
        assert_eq!(stem("%alpha").as_deref(), Some("alpha"));
        assert_eq!(stem("%m_ij_0 (full)").as_deref(), Some("m_ij (full)"));
        assert_eq!(stem("%arg12").as_deref(), Some("arg12"));
        assert_eq!(stem("%12"), None);
        assert_eq!(stem("%12 (empty)"), None);
    }

    #[test]
    fn tasks_become_partitions() {
        assert_eq!(task("default"), task("task 0"));
        assert_eq!(task("partition3"), task("task 4"));
        assert_eq!(task("load"), None);
    }

    #[test]
    fn the_best_pairs_are_taken_first() {
        let scores = [[5, 9], [9, 2]];
        assert_eq!(assign(2, 2, 3, |a, b| scores[a][b]), [Some(1), Some(0)]);
        assert_eq!(assign(2, 1, 3, |a, b| scores[a][b]), [None, Some(0)]);
        assert_eq!(assign(1, 1, 6, |a, b| scores[a][b]), [None]);
    }

    #[test]
    fn types_are_alike_in_any_number_of_slots() {
        let (one, three) = ("!ttg.memdesc<128x64xf16, #shared, #smem>", "!ttg.memdesc<3x128x64xf16, #s, #smem>");
        assert_eq!(tile(one), tile(three));
        assert_ne!(tile(one), tile("!ttg.memdesc<64x64xf16, #shared, #smem>"));
    }
}
