//! CTAs of a cluster: what layouts, attributes and operands say of them.
//!
//! A layout maps the bits of a CTA's number to the logical shape, one basis a bit. A bit whose
//! basis is zero does not count: the CTAs that differ in it hold the same part. Of a barrier that
//! means one row for all of them, which lives in the CTA where the bit is clear; of the target of
//! a TMA copy, a multicast group. Source: the CTA rules of Triton's concurrency sanitizer (PyPI
//! triton 3.9) and the lowering of its operations.
//!
//! Two kinds of clusters exist. With `ttg.num-ctas` the program is one for the whole cluster and
//! layouts split its tensors. With `ttg.cluster-dim-*` (the facebookexperimental fork) each CTA
//! runs a program of its own, which names the others by number.

use smallvec::SmallVec;

use super::apply::Predicate;
use super::cluster::Ctas;
use super::lowerer::Lowerer;
use dialects::{OpCompletion, Ttng};
use kernel::{CtaSet, Issuer, Recipients, Var};
use ttgir::cga::split_bases;
use ttgir::{AttrId, MemSpace, OpId, Ty, ValueId};

/// One basis for each bit of a CTA's number.
type Bases = Vec<Vec<i64>>;

/// The most CTAs a cluster may have (Hopper's non-portable size; the sanitizer's limit too).
const MOST: i64 = 16;

/// How a memdesc lies in the CTAs that run one program.
#[derive(Clone, Debug, Default)]
pub(super) struct Split {
    /// Bits of a CTA's number that do not count.
    pub(super) broadcast: u16,
    /// For the innermost dimensions: among how many CTAs each is cut.
    pub(super) cuts: SmallVec<[u64; 4]>,
}

impl Split {
    /// Among how many CTAs a dimension of a memdesc of `rank` dimensions is cut.
    pub(super) fn cut(&self, dim: usize, rank: usize) -> u64 {
        let skipped = rank.saturating_sub(self.cuts.len());
        dim.checked_sub(skipped).and_then(|at| self.cuts.get(at)).copied().unwrap_or(1)
    }
}

/// Which CTAs a memory operation concerns.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    /// Only CTAs without a bit of these execute it.
    pub(super) leaders: u16,
    /// Whose memory it touches.
    pub(super) ctas: CtaSet,
    /// Whose barriers it arrives at.
    pub(super) to: Recipients,
    /// How many times the bytes of one CTA's part each of these barriers counts.
    pub(super) times: u64,
    /// Among how many of these barriers those bytes are shared out.
    pub(super) shares: u64,
}

impl Default for Reach {
    fn default() -> Reach {
        Reach { leaders: 0, ctas: CtaSet::OWN, to: Recipients::own(), times: 1, shares: 1 }
    }
}

impl Lowerer<'_> {
    /// Reads the module's attributes; why it cannot be followed, if so.
    pub(super) fn read_ctas(&mut self, module: OpId) -> Option<String> {
        let int = |name| self.int_attr(module, name).unwrap_or(1).max(1);
        let (program, x) = (int("ttg.num-ctas"), int("ttg.cluster-dim-x"));
        let clusters = x.saturating_mul(int("ttg.cluster-dim-y")).saturating_mul(int("ttg.cluster-dim-z"));
        let all = program.max(clusters);
        self.build.kernel.ctas = u32::try_from(all).unwrap_or(u32::MAX);
        if all > MOST {
            return Some(format!("the kernel runs in clusters of {all} CTAs; at most {MOST} are followed"));
        }
        let target = self.tree.attr(module, "ttg.target").and_then(|attr| self.tree.attr_str(attr));
        self.ctas = Ctas {
            program: program as u16,
            cluster: all as u16,
            along_x: x as u16,
            tensor_memory: target.is_some_and(|target| target.starts_with("cuda:10")),
            tensor_maps: target.is_some_and(|target| {
                let capability = target.strip_prefix("cuda:").and_then(|number| number.parse::<u32>().ok());
                capability.is_some_and(|capability| capability >= 90)
            }),
            apart: target.is_some_and(|target| target.starts_with("hip:")),
            own_barriers: all > 1 && self.is_before_rows(module),
            pairs: all > 1 && (self.flag(module, "ttng.two-ctas") || self.flag(module, "tlx.enable_paired_cta_mma")),
        };
        None
    }

    /// Whether a text is of a release in which a barrier whose layout leaves CTAs alike has a row in each of them: up to
    /// 3.6. Later ones say of each module whether its CTAs work in pairs, and how tensor memory lies in words of
    /// `CGALayout`.
    fn is_before_rows(&self, module: OpId) -> bool {
        let text = self.tree.text();
        let encodings = text.split("#ttng.tensor_memory_encoding<").skip(1).filter_map(|rest| rest.split('>').next());
        let mut splits = encodings.map(|fields| fields.contains("CTASplitM") || fields.contains("CTASplitN"));
        self.tree.attr(module, "ttng.two-ctas").is_none() && splits.any(|split| split)
    }

    /// How a memdesc is split among the CTAs of the program.
    pub(super) fn split(&self, value: ValueId) -> Split {
        if self.ctas.program <= 1 {
            return Split::default();
        }
        let Some(Ty::MemDesc { shape, encoding: Some(encoding), alloc_shape, .. }) =
            self.tree.value_type(value).map(|ty| self.tree.ty(ty))
        else {
            return Split::default();
        };
        let bases = self.bases(encoding);
        let rank = bases.first().map_or(0, Vec::len);
        let whole = alloc_shape.unwrap_or(shape);
        let whole = &whole[whole.len().saturating_sub(rank)..];
        let mut split = Split { broadcast: 0, cuts: SmallVec::from_elem(1, rank) };
        for (bit, base) in bases.iter().enumerate().take(16) {
            // A basis past the end of its dimension counts as zero.
            let cut = base.iter().zip(whole).position(|(&at, &size)| at != 0 && at < size);
            match cut {
                Some(dim) => split.cuts[dim] *= 2,
                None => split.broadcast |= 1 << bit,
            }
        }
        split
    }

    /// One basis for each bit of the CTA's number, in all forms that Triton's versions print.
    fn bases(&self, encoding: AttrId) -> Vec<Vec<i64>> {
        let text = self.tree.attr_text(encoding);
        if let Some(bases) = numbers(text, "CGALayout").or_else(|| numbers(text, "block")) {
            return bases;
        }
        let list = |name| numbers(text, name).and_then(|lists| lists.into_iter().next());
        let of = |name| super::layout::field(text, name).and_then(|number| i64::try_from(number).ok());
        if let (Some(ctas), Some(split)) = (list("CTAsPerCGA"), list("CTASplitNum")) {
            let order = list("CTAOrder").unwrap_or_else(|| (0..ctas.len() as i64).rev().collect());
            return split_bases(&ctas, &split, &order);
        }
        match (of("CTASplitM"), of("CTASplitN")) {
            (None, None) => Vec::new(),
            (rows, columns) => {
                let split = [rows.unwrap_or(1), columns.unwrap_or(1)];
                split_bases(&split, &split, &[0, 1])
            }
        }
    }

    /// Bits of a CTA's number that do not count for a memdesc operand.
    pub(super) fn broadcast(&self, op: OpId, group: &str, at: usize) -> u16 {
        let Some(value) = self.tree.group(op, group).get(at) else { return 0 };
        let own = self.ctas.own_barriers && self.is_barriers(*value);
        if self.ctas.apart || own { 0 } else { self.split(*value).broadcast }
    }

    /// Whether a memdesc is of barriers.
    fn is_barriers(&self, value: ValueId) -> bool {
        let ty = self.tree.value_type(value).map(|ty| self.tree.ty(ty));
        matches!(ty, Some(Ty::MemDesc { elem, .. }) if elem.name == "i64")
    }

    /// Where an arrival by a thread goes, and who makes it.
    pub(super) fn routed(&self, op: OpId, mask: u16) -> (u16, Recipients) {
        let attr = |name| self.int_attr(op, name).and_then(|bits| u16::try_from(bits).ok());
        let all = self.ctas.cluster - 1;
        if let Some(from) = attr("fromCTA") {
            // The bits that it names are kept on the way from the CTA that arrives to the barrier.
            let free = !from & all;
            return (free, Recipients::one(CtaSet::group(free)));
        }
        // The name of the bits to multicast along, from 3.9 on and before.
        match attr("multicastCTA").or_else(|| attr("ctaMask")) {
            Some(bits) if bits != 0 => (0, Recipients::one(CtaSet::group(bits & all))),
            _ => (0, Recipients::one(CtaSet::leader(mask))),
        }
    }

    /// The CTAs of an operation that has a row of its own.
    pub(super) fn reach(&self, op: OpId, issuer: Issuer, completion: OpCompletion) -> Reach {
        match (issuer, completion) {
            _ if self.ctas.cluster <= 1 => Reach::default(),
            (Issuer::Tma, OpCompletion::Transaction { barrier, of }) => {
                let barrier = self.broadcast(op, barrier, 0);
                if self.tree.is(op, Ttng::AsyncSharedStore) {
                    return self.shared_store(op);
                }
                if !self.flag(op, "multicast") {
                    return Reach { to: Recipients::one(CtaSet::leader(barrier)), ..Reach::default() };
                }
                let result = self.broadcast(op, of, 0);
                Reach {
                    leaders: result,
                    ctas: CtaSet::group(result),
                    to: Recipients::one(CtaSet { clear: result | barrier, spread: result & !barrier }),
                    times: 1 << (result & barrier).count_ones(),
                    shares: 1,
                }
            }
            (Issuer::Tma, OpCompletion::Group { .. }) => {
                Reach { leaders: self.broadcast(op, "src", 0), ..Reach::default() }
            }
            (Issuer::TensorCore, _) => self.paired(op),
            (Issuer::Base, OpCompletion::InOrder) => {
                Reach { ctas: CtaSet::group(self.crossed(op)), ..Reach::default() }
            }
            _ => Reach::default(),
        }
    }

    /// A store that counts at a barrier of each CTA that it writes to, as much as that gets of it: each CTA that executes it
    /// stores all that its registers hold, also what others hold as well.
    fn shared_store(&self, op: OpId) -> Reach {
        let to = CtaSet::group(self.crossed(op));
        let parts = |bases: &[Vec<i64>]| bases.iter().filter(|base| base.iter().any(|at| *at != 0)).count();
        let (memory, registers) = self.sides(op).map_or((0, 0), |(memory, registers)| {
            (parts(&memory), registers.first().map_or(0, |registers| parts(registers)))
        });
        let shares = 1 << (registers as u32 + to.bits().count_ones());
        Reach { ctas: to, to: Recipients::one(to), times: 1 << memory, shares, ..Reach::default() }
    }

    /// Bits in which the number of a CTA may differ from those whose part of shared memory its registers go to or come
    /// from: the bases of the two layouts differ in them. Triton makes of such a load or store one that goes through
    /// distributed shared memory, and its sanitizer takes all of these CTAs' parts for touched.
    pub(super) fn crossed(&self, op: OpId) -> u16 {
        if self.ctas.apart {
            return 0;
        }
        let tensor = |result: &ValueId| self.tree.value_type(*result).map(|ty| self.tree.ty(ty));
        let written = self.tree.results(op).iter().all(|result| !matches!(tensor(result), Some(Ty::Tensor { .. })));
        let Some((memory, registers)) = self.sides(op) else { return 0 };
        registers.iter().fold(0, |all, registers| all | crossed(&memory, registers, written))
    }

    /// Of a load or a store, how shared memory and each tensor of registers is split: one basis for each bit of the CTA's
    /// number.
    fn sides(&self, op: OpId) -> Option<(Bases, Vec<Bases>)> {
        let of = |value: &ValueId| self.tree.value_type(*value).map(|ty| (*value, self.tree.ty(ty)));
        let values = || self.tree.operands(op).iter().chain(self.tree.results(op)).filter_map(of);
        let shared = |ty: &Ty| matches!(ty, Ty::MemDesc { space: MemSpace::Shared | MemSpace::SharedCluster, .. });
        let memory = values().find(|(value, ty)| shared(ty) && !self.is_barriers(*value));
        let registers = values().filter_map(|(value, ty)| match ty {
            Ty::Tensor { shape, .. } => Some((self.tree.type_encoding(self.tree.value_type(value)?), shape)),
            _ => None,
        });
        let Some((_, Ty::MemDesc { shape, encoding: Some(encoding), alloc_shape, .. })) = memory else { return None };
        let said = self.tree.attr(op, "registers.cga").and_then(|attr| all_numbers(self.tree.attr_text(attr)));
        let memory = self.bases(encoding);
        let memory = counted(&memory, &alloc_shape.unwrap_or(shape), self.ctas.program);
        let registers = registers.filter_map(|(encoding, shape)| {
            let own = said.clone().or_else(|| encoding.map(|encoding| self.register_bases(encoding)))?;
            Some(counted(&own, &shape, self.ctas.program))
        });
        Some((memory, registers.collect()))
    }

    /// One basis for each bit of the CTA's number, of a layout of registers.
    fn register_bases(&self, encoding: AttrId) -> Vec<Vec<i64>> {
        let text = self.tree.attr_text(encoding);
        let parent = || self.tree.attr_entry(encoding, "parent").map(|parent| self.register_bases(parent));
        let number = |name| self.tree.attr_entry(encoding, name).and_then(|attr| self.tree.attr_int(attr));
        if text.starts_with("#ttg.slice") {
            let (mut bases, dim) =
                (parent().unwrap_or_default(), number("dim").and_then(|dim| usize::try_from(dim).ok()));
            for basis in &mut bases {
                if let Some(dim) = dim.filter(|dim| *dim < basis.len()) {
                    basis.remove(dim);
                }
            }
            return bases;
        }
        if text.starts_with("#ttg.dot_op") {
            let mut bases = parent().unwrap_or_default();
            let back = if number("opIdx") == Some(0) { 1 } else { 2 };
            for basis in &mut bases {
                let inner = basis.len().checked_sub(back);
                if let Some(value) = inner.and_then(|at| basis.get_mut(at)) {
                    *value = 0;
                }
            }
            return bases;
        }
        self.bases(encoding)
    }

    /// The CTAs of a tensor core operation: pairs act as one, by the even CTA.
    pub(super) fn paired(&self, op: OpId) -> Reach {
        // In a plan nothing holds two CTAs together yet, and each does its own half.
        let pairs = self.ctas.pairs || (self.ctas.cluster > 1 && self.flag(op, "two_ctas"));
        let pair = u16::from(pairs && self.plan.is_none());
        Reach {
            leaders: pair,
            ctas: CtaSet::group(pair),
            to: Recipients::one(CtaSet::group(pair)),
            times: 1,
            shares: 1,
        }
    }

    /// Whose barriers a tensor core operation arrives at when its completion is multicast to all
    /// CTAs that may write what it reads.
    pub(super) fn completion_ctas(&self, op: OpId, operands: impl Iterator<Item = ValueId>) -> Recipients {
        let pair = self.paired(op).leaders;
        let mut to = Recipients(SmallVec::new());
        for operand in operands {
            let bits = self.split(operand).broadcast | pair;
            let set = CtaSet::group(bits);
            if bits != 0 && !to.0.contains(&set) {
                to.0.push(set);
            }
        }
        if to.0.is_empty() { Recipients::one(CtaSet::group(pair)) } else { to }
    }

    /// The predicate of an op that has one, or of one more condition.
    pub(super) fn both(&mut self, predicate: &Predicate, condition: Var) -> Var {
        use kernel::{Pure, Width};
        match predicate.var() {
            Some(pred) => self.build.compute(Pure::And(Width(1), pred, condition), ""),
            None => condition,
        }
    }
}

/// `name = [[1, 2], [3, 4]]` or `name = [1, 2]`, a list of one, in an attribute's text.
fn numbers(text: &str, name: &str) -> Option<Vec<Vec<i64>>> {
    let rest = text.match_indices(name).find_map(|(at, _)| {
        let before = text[..at].chars().next_back();
        let word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        text[at + name.len()..].trim_start().strip_prefix('=').filter(|_| !word)
    })?;
    all_numbers(rest)
}

/// The bases of a layout as they count: one for each bit of the number of one of so many CTAs, from the innermost
/// dimension outwards, 0 where one goes past the end of its dimension. A linear layout counts elements, the others count
/// CTAs; the smallest step along a dimension is 1 here.
fn counted(bases: &[Vec<i64>], shape: &[i64], ctas: u16) -> Vec<Vec<i64>> {
    let own = |bit: usize| {
        let basis = bases.get(bit).map_or(&[][..], Vec::as_slice);
        let inwards = basis.iter().rev().zip(shape.iter().rev());
        inwards.map(|(&at, &size)| if at < size { at } else { 0 }).collect::<Vec<i64>>()
    };
    let mut all: Vec<Vec<i64>> = (0..ctas.trailing_zeros() as usize).map(own).collect();
    for dim in 0..shape.len() {
        let steps = || all.iter().filter_map(|basis| basis.get(dim)).copied().filter(|step| *step > 0);
        let Some(least) = steps().min() else { continue };
        all.iter_mut().filter_map(|basis| basis.get_mut(dim)).for_each(|step| *step /= least);
    }
    for basis in &mut all {
        basis.truncate(basis.iter().rposition(|at| *at != 0).map_or(0, |last| last + 1));
    }
    all
}

/// Bits in which the CTA that has a part in memory may differ from the one that has it in registers.
fn crossed(memory: &[Vec<i64>], registers: &[Vec<i64>], written: bool) -> u16 {
    let differ = |bit: usize| {
        let (in_memory, own) = (&memory[bit], &registers[bit]);
        in_memory != own && (!in_memory.is_empty() || written)
    };
    let bits: Vec<usize> = (0..memory.len().min(registers.len())).filter(|bit| differ(*bit)).collect();
    let mut all = 0;
    for bit in bits {
        all |= 1 << bit;
        for (other, (in_memory, own)) in memory.iter().zip(registers).enumerate() {
            let meets =
                (!own.is_empty() && *own == memory[bit]) || (!in_memory.is_empty() && *in_memory == registers[bit]);
            all |= u16::from(meets) << other;
        }
    }
    all
}

/// Lists of numbers from a text's beginning on: `[[1, 0], [0, 1]]`.
fn all_numbers(rest: &str) -> Option<Vec<Vec<i64>>> {
    let body = rest.trim_start().strip_prefix('[')?.trim_start();
    let list = |text: &str| text.split(',').filter_map(|number| number.trim().parse().ok()).collect::<Vec<i64>>();
    if !body.starts_with('[') {
        let inside = list(body.split(']').next()?);
        return Some(if inside.is_empty() { Vec::new() } else { vec![inside] });
    }
    let mut lists = Vec::new();
    let mut body = body;
    while let Some(inner) = body.strip_prefix('[') {
        let (inside, after) = inner.split_once(']')?;
        lists.push(list(inside));
        body = after.trim_start_matches([',', ' ', '\n']);
    }
    Some(lists)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_read_in_every_form() {
        assert_eq!(
            numbers("<{order = [0], CGALayout = [[1, 0], [0, 0]]}>", "CGALayout"),
            Some(vec![vec![1, 0], vec![0, 0]])
        );
        assert_eq!(numbers("<blockM = 64, CGALayout = [[1, 0]]>", "block"), None);
        assert_eq!(numbers("<{offset = [[1]], block = []}, alignment = 8>", "block"), Some(Vec::new()));
        assert_eq!(numbers("<{CTAsPerCGA = [2, 1]}>", "CTAsPerCGA"), Some(vec![vec![2, 1]]));
    }

    #[test]
    fn registers_cross_where_their_bases_are_others() {
        let (rows, columns) = (counted(&[vec![1, 0]], &[256, 128], 2), counted(&[vec![0, 1]], &[256, 128], 2));
        // A linear layout counts elements.
        assert_eq!(rows, counted(&[vec![128, 0]], &[256, 128], 2));
        assert_eq!(crossed(&rows, &rows, true), 0);
        assert_eq!(crossed(&columns, &rows, false), 1);
        // What all CTAs hold is read where it is, and written by all of them.
        let same = counted(&[vec![0, 0]], &[256, 128], 2);
        assert_eq!((crossed(&same, &rows, false), crossed(&same, &rows, true)), (0, 1));
    }

    #[test]
    fn numbers_of_ctas_are_bases_too() {
        assert_eq!(split_bases(&[2, 2], &[2, 1], &[1, 0]), [[0, 0], [1, 0]]);
        assert_eq!(split_bases(&[4], &[4], &[0]), [[1], [2]]);
    }
}
