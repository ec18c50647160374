//! Matrix products of several tiles whose accumulators go from the partition that multiplies to the one that stores, in
//! tensor memory.

use base::rng::SplitMix64;

use super::choice::one_of;
use super::slip::{Slip, SlipKind, is};
use super::text::{Generated, Text};
use crate::runs::{Given, Numbers};

/// Rows of a tile of the result.
const ROWS: usize = 128;
/// Depth of a tile of the operands.
const K: usize = 32;

/// A design.
#[derive(Clone, Debug)]
pub struct Handover {
    /// Slots of the ring of operands.
    depth: usize,
    /// Accumulators.
    accumulators: usize,
    columns: usize,
    steps: usize,
    tiles: usize,
    /// Whether who multiplies loads too, one step ahead, or a partition of its own does.
    loads_itself: bool,
    /// Whether an accumulator is handed back before its values are stored, or after.
    drains_late: bool,
}

impl Handover {
    pub(super) fn random(rng: &mut SplitMix64) -> Handover {
        Handover {
            depth: 1 + rng.below(3),
            accumulators: 1 + rng.below(2),
            columns: one_of(rng, &[32, 64]),
            steps: 2 + rng.below(3),
            tiles: 3 + rng.below(3),
            loads_itself: rng.one_in(2),
            drains_late: rng.one_in(2),
        }
    }

    pub(super) fn slips(&self) -> Vec<Slip> {
        let kinds = SlipKind::ALL.iter().copied().filter(|kind| match kind {
            SlipKind::NoFullWait
            | SlipKind::NoReadyWait
            | SlipKind::NoDrainedWait
            | SlipKind::DrainedEarly
            | SlipKind::NeverDrained
            | SlipKind::DrainedPhase
            | SlipKind::ReaderPhase
            | SlipKind::ShortBytes
            | SlipKind::FullCountsMore
            | SlipKind::EmptyCountsMore
            | SlipKind::NoEmptyWait
            | SlipKind::StoreNotWaited => true,
            SlipKind::OtherAccumulator => self.accumulators > 1,
            _ => false,
        });
        kinds.map(|kind| Slip { kind, ring: 0 }).collect()
    }

    /// Loads into the slot of step number `count`.
    fn load(&self, text: &mut Text, count: &str, k: &str, slip: Option<Slip>) {
        let depth = self.depth;
        if !is(slip, SlipKind::NoEmptyWait, 0) {
            text.line(format!("mbarrier.wait(empty.index({count} % {depth}), (({count} // {depth}) & 1) ^ 1)"));
        }
        let bytes = if is(slip, SlipKind::ShortBytes, 0) {
            "a_desc.nbytes_per_cta"
        } else {
            "a_desc.nbytes_per_cta + b_desc.nbytes_per_cta"
        };
        text.line(format!("mbarrier.expect(full.index({count} % {depth}), {bytes})"));
        let column = format!("tile * {}", self.columns);
        for (operand, at) in [("a", format!("0, {k} * {K}")), ("b", format!("{k} * {K}, {column}"))] {
            text.line(format!(
                "tma.async_load({operand}_desc, [{at}], full.index({count} % {depth}), {operand}.index({count} % {depth}))"
            ));
        }
    }

    /// A loop over all steps of all tiles; `count` is the number of the step.
    fn loops(text: &mut Text, begin: impl Fn(&mut Text), step: impl Fn(&mut Text), end: impl Fn(&mut Text)) {
        text.line("count = 0");
        text.block("for tile in range(tiles):", |text| {
            begin(text);
            text.block("for k in range(steps):", |text| {
                step(text);
                text.line("count += 1");
            });
            end(text);
        });
    }

    fn multiply(&self, text: &mut Text, slip: Option<Slip>) {
        let (depth, accumulators) = (self.depth, self.accumulators);
        let begin = |text: &mut Text| {
            text.line(format!("at = tile % {accumulators}"));
            let other = if is(slip, SlipKind::DrainedPhase, 0) { "" } else { " ^ 1" };
            if !is(slip, SlipKind::NoDrainedWait, 0) {
                text.line(format!("mbarrier.wait(drained.index(at), ((tile // {accumulators}) & 1){other})"));
            }
        };
        let step = |text: &mut Text| {
            if self.loads_itself {
                self.load(text, "count", "k", slip);
            }
            let other = if is(slip, SlipKind::ReaderPhase, 0) { " ^ 1" } else { "" };
            if !is(slip, SlipKind::NoFullWait, 0) {
                text.line(format!("mbarrier.wait(full.index(count % {depth}), ((count // {depth}) & 1){other})"));
            }
            text.line(format!(
                "tcgen05_mma(a.index(count % {depth}), b.index(count % {depth}), acc.index(at), use_acc=k > 0)"
            ));
            text.line(format!("tcgen05_commit(empty.index(count % {depth}))"));
        };
        Self::loops(text, begin, step, |text| text.line("tcgen05_commit(ready.index(at))"));
    }

    fn store(&self, text: &mut Text, slip: Option<Slip>) {
        let accumulators = self.accumulators;
        text.block("for tile in range(tiles):", |text| {
            text.line(format!("at = tile % {accumulators}"));
            if !is(slip, SlipKind::NoReadyWait, 0) {
                text.line(format!("mbarrier.wait(ready.index(at), (tile // {accumulators}) & 1)"));
            }
            let early = is(slip, SlipKind::DrainedEarly, 0);
            let drained = "mbarrier.arrive(drained.index(at), count=1)";
            if early {
                text.line(drained);
            }
            let read = if is(slip, SlipKind::OtherAccumulator, 0) { "at ^ 1" } else { "at" };
            text.line(format!("value = acc.index({read}).load()"));
            let never = early || is(slip, SlipKind::NeverDrained, 0);
            if !never && !self.drains_late {
                text.line(drained);
            }
            if !is(slip, SlipKind::StoreNotWaited, 0) {
                text.line("tma.store_wait(0)");
            }
            text.line("c.store(value.to(gl.float16))");
            text.line("fence_async_shared()");
            text.line(format!("tma.async_store(c_desc, [0, tile * {}], c)", self.columns));
            if !never && self.drains_late {
                text.line(drained);
            }
        });
        text.line("tma.store_wait(0)");
    }

    pub(super) fn write(&self, slip: Option<Slip>) -> Generated {
        let mut text = Text::default();
        let (depth, accumulators, columns) = (self.depth, self.accumulators, self.columns);
        text.line("from triton.experimental import gluon");
        text.line("from triton.experimental.gluon import language as gl");
        text.line("from triton.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout, allocate_tensor_memory, fence_async_shared, mbarrier, tcgen05_commit, tcgen05_mma, tma");
        let gap = |text: &mut Text| text.lines([String::new(), String::new()]);
        gap(&mut text);
        let operands = "a_desc, b_desc, a, b";
        if !self.loads_itself {
            text.line("@gluon.jit");
            text.block(format!("def loader({operands}, full, empty, steps, tiles):"), |text| {
                Self::loops(text, |_| {}, |text| self.load(text, "count", "k", slip), |_| {});
            });
            gap(&mut text);
        }
        let taken = "full, empty, acc, ready, drained, steps, tiles";
        text.line("@gluon.jit");
        text.block(format!("def multiply({operands}, {taken}):"), |text| self.multiply(text, slip));
        gap(&mut text);
        text.line("@gluon.jit");
        text.block("def store(c_desc, c, acc, ready, drained, tiles):", |text| self.store(text, slip));
        gap(&mut text);
        text.line(format!(
            "# fencepost: a_desc=fp16[{ROWS}, {K}], b_desc=fp16[{K}, {columns}], c_desc=fp16[{ROWS}, {columns}], target=sm_100"
        ));
        text.line("@gluon.jit");
        text.block("def handover(a_desc, b_desc, c_desc, steps, tiles):", |text| {
            text.line(format!("a = gl.allocate_shared_memory(gl.float16, [{depth}, {ROWS}, {K}], a_desc.layout)"));
            text.line(format!("b = gl.allocate_shared_memory(gl.float16, [{depth}, {K}, {columns}], b_desc.layout)"));
            text.line(format!("c = gl.allocate_shared_memory(gl.float16, [{ROWS}, {columns}], c_desc.layout)"));
            text.line(format!(
                "acc = allocate_tensor_memory(gl.float32, [{accumulators}, {ROWS}, {columns}], TensorMemoryLayout([{ROWS}, {columns}], col_stride=1))"
            ));
            let more = |kind| 1 + usize::from(is(slip, kind, 0));
            let rings = [
                ("full", depth, more(SlipKind::FullCountsMore)),
                ("empty", depth, 1),
                ("ready", accumulators, 1),
                ("drained", accumulators, more(SlipKind::EmptyCountsMore)),
            ];
            for (name, slots, count) in rings {
                text.line(format!("{name} = mbarrier.allocate_mbarrier(batch={slots})"));
                text.block(format!("for s in gl.static_range({slots}):"), |text| {
                    text.line(format!("mbarrier.init({name}.index(s), count={count})"));
                });
            }
            text.line("steps = gl.maximum(steps, 1)");
            text.block("gl.warp_specialize([", |text| {
                text.line("(store, (c_desc, c, acc, ready, drained, tiles)),");
                if !self.loads_itself {
                    text.line(format!("(loader, ({operands}, full, empty, steps, tiles)),"));
                }
                text.line(format!("(multiply, ({operands}, {taken})),"));
            });
            text.line(if self.loads_itself { "], [1], [24])" } else { "], [1, 1], [24, 24])" });
        });
        let (depth, width) = (K * self.steps, columns * self.tiles);
        let recipe = format!(
            "grid=(1) a_desc=f16[{ROWS},{depth}] b_desc=f16[{depth},{width}] c_desc=f16[{ROWS},{width}]:nan steps={} tiles={}",
            self.steps, self.tiles
        );
        Generated { text: text.finish(), recipe }
    }

    pub(super) fn expected(&self, given: &Given) -> Numbers {
        let (a, b) = (given.tensor("a_desc"), given.tensor("b_desc"));
        let depth = a.width();
        Numbers::matrix(a.values.len() / depth, b.width(), |row, column| {
            (0..depth).map(|k| a.at(row, k) * b.at(k, column)).sum()
        })
    }
}
