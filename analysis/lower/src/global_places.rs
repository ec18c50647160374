//! Places of global memory that several partitions of a program access: each a word beside the kernel's own memory, which
//! its ops touch as they touch global memory, so that the machine tells whether barriers order them.

use kernel::{
    Access, Buffer, BufferId, Completion, CtaSet, EffectId, EffectKind, Issuer, Lowered, Mode, Proxy, Shape, Space, Var,
};
use rustc_hash::FxHashMap;
use ttgir::{OpId, Tree};

use super::apply::Predicate;
use super::lowerer::Lowerer;
use super::options::LoweringOptions;

/// A place of global memory: the ops that access it, and how.
pub type GlobalPlace = [(OpId, Mode); 2];

/// Bits of the word that stands for a place.
const BITS: u64 = 32;

/// Lowers the entry function of this name with words for places of global memory
/// ([`SourceMap::global_places`](kernel::SourceMap::global_places)). What it tells of other memory is what
/// [`lower`](super::lower) tells of it, save that what a wait for reads alone ends is not told.
pub fn lower_with_places(
    tree: &Tree,
    kernel: &str,
    places: &[GlobalPlace],
    options: LoweringOptions,
) -> Option<Lowered> {
    let lowered = super::each_entry(tree, |function, mut lowerer| {
        if super::entry::name(tree, function) != kernel {
            return None;
        }
        lowerer.options = options;
        lowerer.follow_places(places, function);
        lowerer.entry(function, kernel);
        Some(lowerer.finish())
    });
    lowered.into_iter().flatten().next()
}

impl Lowerer<'_> {
    /// Allocates a word for each place, and writes it: what is in global memory when a kernel starts was written.
    fn follow_places(&mut self, places: &[GlobalPlace], function: OpId) {
        let mut by_op: FxHashMap<OpId, Vec<(BufferId, Mode)>> = FxHashMap::default();
        let site = self.site(function);
        for place in places {
            let buffer = Buffer { space: Space::Shared, bits: BITS, start: None, barriers: false, slot_bits: BITS };
            let buffer = self.build.buffer(buffer, "", self.tree.op_name_range(function));
            self.build.map.global_places.push(buffer);
            for (op, mode) in place {
                by_op.entry(*op).or_default().push((buffer, *mode));
            }
            let accesses = vec![self.access_of_place(buffer, Mode::Write)];
            let kind = EffectKind::Operation { issuer: Issuer::Base, accesses, completion: Completion::InOrder };
            self.build.effect(site, None, kind);
        }
        self.global_places = by_op;
    }

    fn access_of_place(&mut self, buffer: BufferId, mode: Mode) -> Access {
        let view: Var = self.build.base(buffer, Shape::dense(&[1], BITS), "");
        Access { view, mode, proxy: Proxy::Tensor, operand: "", clears: false, ctas: CtaSet::OWN }
    }

    /// What an op whose effects begin at `first` does to the places of global memory that are followed: with its own
    /// accesses, as far as it has any, and done when these are.
    pub(super) fn touch_places(&mut self, op: OpId, first: EffectId) {
        let Some(touched) = self.global_places.get(&op).cloned() else { return };
        let (site, never) = (self.site(op), matches!(self.predicate(op), Predicate::Never));
        for (buffer, mode) in touched {
            let access = self.access_of_place(buffer, mode);
            let own = self.build.kernel.effects.get_mut(first.index()..).unwrap_or_default();
            let operation = own.iter_mut().find_map(|effect| match &mut effect.kind {
                EffectKind::Operation { accesses, .. } => Some(accesses),
                _ => None,
            });
            match (operation, mode) {
                // Reads come before writes.
                (Some(accesses), Mode::Read) => accesses.insert(0, access),
                (Some(accesses), Mode::Write) => accesses.push(access),
                (None, _) if never => {}
                (None, _) => {
                    let (issuer, completion) = (Issuer::Base, Completion::InOrder);
                    self.build.effect(site, None, EffectKind::Operation { issuer, accesses: vec![access], completion });
                }
            }
        }
    }

    /// Whether a wait says nothing of what is followed: one for reads of shared memory says nothing of stores to places of
    /// global memory.
    pub(super) fn is_passed_by_places(&self, op: OpId) -> bool {
        !self.global_places.is_empty() && self.flag(op, "read_only")
    }
}
