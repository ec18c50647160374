//! Which CTAs of the cluster a run executes.
//!
//! CTAs that never reach each other behave alike, for they run one program on equal inputs. The
//! bits in which an operation's CTAs may differ say who reaches whom, so the CTAs that agree with
//! CTA 0 in all other bits stand for the rest. A kernel that reads its CTA's number, names another
//! CTA by number or meets the whole cluster is run in all of them.

use kernel::{EffectKind, InputKind, Instr, Kernel, ViewOp};

/// The CTAs of a run, by dense position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cluster {
    numbers: Vec<u16>,
    positions: Vec<Option<u16>>,
}

impl Cluster {
    /// The most CTAs a cluster may have (Hopper's non-portable size; the sanitizer's limit too).
    pub const LIMIT: u32 = 16;

    /// Whether a kernel's cluster is one that is followed: groups of CTAs are masks of bits of their numbers, which name
    /// no CTA that is not there where the cluster's size is a multiple of the group's.
    pub fn is_followed(kernel: &Kernel) -> bool {
        let ctas = kernel.ctas.max(1);
        ctas <= Cluster::LIMIT && (ctas.is_power_of_two() || u32::from(reach(kernel)) < 1 << ctas.trailing_zeros())
    }

    /// The CTAs that a kernel has to be run in.
    pub fn new(kernel: &Kernel) -> Cluster {
        let all = kernel.ctas.clamp(1, Cluster::LIMIT) as u16;
        let bits = if uses_whole_cluster(kernel) { u16::MAX } else { reach(kernel) };
        let numbers: Vec<u16> = (0..all).filter(|number| number & !bits == 0).collect();
        let position = |number| numbers.iter().position(|known| *known == number).map(|at| at as u16);
        Cluster { positions: (0..all).map(position).collect(), numbers }
    }

    /// All of them.
    pub fn whole(kernel: &Kernel) -> Cluster {
        let all = kernel.ctas.clamp(1, Cluster::LIMIT) as u16;
        Cluster { positions: (0..all).map(Some).collect(), numbers: (0..all).collect() }
    }

    /// How many are run.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Never: CTA 0 is always run.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The number in the cluster of the CTA at a position.
    pub fn number(&self, position: usize) -> u16 {
        self.numbers.get(position).copied().unwrap_or(0)
    }

    /// The position of a CTA by its number; `None` where there is none such, or it is not run.
    pub fn position(&self, number: u16) -> Option<usize> {
        self.positions.get(usize::from(number)).copied().flatten().map(usize::from)
    }
}

/// Whether some CTA can tell itself from the others, or all of them meet.
fn uses_whole_cluster(kernel: &Kernel) -> bool {
    let instrs = || kernel.blocks.iter().flat_map(|block| &block.instrs);
    kernel.inputs.iter().any(|input| input.kind == InputKind::CtaRank)
        || kernel.effects.iter().any(|effect| matches!(effect.kind, EffectKind::ClusterArrive { .. }))
        || instrs().any(|instr| matches!(instr, Instr::View { op: ViewOp::Remote(_), .. }))
}

/// Bits in which the CTAs that some operation concerns may differ from the one that acts.
fn reach(kernel: &Kernel) -> u16 {
    kernel.effects.iter().fold(0, |bits, effect| {
        let own = match &effect.kind {
            EffectKind::Operation { accesses, completion, .. } => {
                let touched = accesses.iter().fold(0, |bits, access| bits | access.ctas.bits());
                completion.arrivals().iter().fold(touched, |bits, arrival| bits | arrival.to.bits())
            }
            EffectKind::Expect { to, .. }
            | EffectKind::Arrive { to, .. }
            | EffectKind::TensorCoreCommit { to, .. }
            | EffectKind::AsyncCopyArrive { to, .. } => to.bits(),
            EffectKind::ClcLoad { source, .. } => source.ctas.bits(),
            EffectKind::Allocate(_)
            | EffectKind::Init { .. }
            | EffectKind::Invalidate { .. }
            | EffectKind::Wait { .. }
            | EffectKind::ReadPhase { .. }
            | EffectKind::Commit(_)
            | EffectKind::WaitGroup { .. }
            | EffectKind::Use { .. }
            | EffectKind::ProxyFence
            | EffectKind::ClusterArrive { .. }
            | EffectKind::ClusterWait
            | EffectKind::NamedArrive { .. }
            | EffectKind::NamedWait { .. }
            | EffectKind::Unmodelled => 0,
        };
        bits | own | effect.leaders
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::text::parse;

    fn numbers(text: &str) -> Vec<u16> {
        Cluster::new(&parse(text).expect("a kernel").kernel).numbers
    }

    const HEAD: &str =
        "buffer $0 shared bits=64 slot=64 barriers\nshape s0 element=64 dims=1:64\nblock b0()\n  %0:s0 = base $0\n";

    #[test]
    fn ctas_that_reach_nobody_stand_for_all() {
        assert_eq!(numbers(&format!("kernel ctas=8\n{HEAD}  arrive %0 count=1\n  return\n")), [0]);
    }

    #[test]
    fn pairs_are_run_as_pairs() {
        assert_eq!(numbers(&format!("kernel ctas=8\n{HEAD}  arrive %0 count=1 to=2:0\n  return\n")), [0, 2]);
        assert_eq!(numbers(&format!("kernel ctas=8\n{HEAD}  init %0 count=1 leaders=1\n  return\n")), [0, 1]);
    }

    #[test]
    fn a_rendezvous_takes_them_all() {
        let cluster = numbers(&format!("kernel ctas=4\n{HEAD}  cluster_arrive\n  cluster_wait\n  return\n"));
        assert_eq!(cluster, [0, 1, 2, 3]);
    }
}
