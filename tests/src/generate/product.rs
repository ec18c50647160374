//! Matrix products: one partition loads tiles of both operands into a ring, another multiplies them.

use base::rng::SplitMix64;

use super::choice::one_of;
use super::cursor::{Cursor, Walk};
use super::slip::{Slip, SlipKind, is};
use super::text::{Generated, Text};
use crate::runs::{Given, Numbers};

/// Rows of the result and of a tile of the first operand.
const M: usize = 64;
/// Depth of a tile.
const K: usize = 32;
/// Tiles of the launch.
const STEPS: usize = 7;

/// What multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    /// `wgmma`; so many products are under way when a slot is handed back.
    Wgmma { pending: usize },
    /// `tcgen05.mma`, which hands slots back itself: by its own barriers, or by a commit behind it.
    Tcgen05 { commit: bool },
}

/// A design.
#[derive(Clone, Debug)]
pub struct Product {
    depth: usize,
    engine: Engine,
    /// How the loading and the multiplying partition walk.
    walks: [Walk; 2],
    columns: usize,
    /// Whether each operand has a barrier of its own.
    apart: bool,
}

impl Product {
    pub(super) fn random(rng: &mut SplitMix64) -> Product {
        let depth = 1 + rng.below(4);
        let engine = match rng.below(3) {
            0 => Engine::Wgmma { pending: 0 },
            1 => Engine::Wgmma { pending: usize::from(depth > 1) },
            _ => Engine::Tcgen05 { commit: rng.one_in(2) },
        };
        let walk = |rng: &mut SplitMix64| one_of(rng, &[Walk::Divided, Walk::Carried]);
        let walks = [walk(rng), walk(rng)];
        Product { depth, engine, walks, columns: one_of(rng, &[64, 128]), apart: rng.one_in(3) }
    }

    fn rows(&self) -> usize {
        if self.is_blackwell() { 2 * M } else { M }
    }

    fn is_blackwell(&self) -> bool {
        matches!(self.engine, Engine::Tcgen05 { .. })
    }

    pub(super) fn slips(&self) -> Vec<Slip> {
        let kinds = SlipKind::HAND_OVER.iter().copied().filter(|kind| match kind {
            SlipKind::PhaseEachStep | SlipKind::NextSlot => self.depth > 1,
            // Between accesses of one partition the compiler inserts the fence itself.
            SlipKind::EarlyAnnounce | SlipKind::StoreNotWaited | SlipKind::NoFence => false,
            _ => true,
        });
        kinds.map(|kind| Slip { kind, ring: 0 }).collect()
    }

    pub(super) fn expected(&self, given: &Given) -> Numbers {
        let (a, b) = (given.tensor("a_desc"), given.tensor("b_desc"));
        let depth = a.width();
        Numbers::matrix(a.values.len() / depth, b.width(), |row, column| {
            (0..depth).map(|k| a.at(row, k) * b.at(k, column)).sum()
        })
    }

    pub(super) fn write(&self, slip: Option<Slip>) -> Generated {
        let mut text = Text::default();
        let names = if self.is_blackwell() {
            "blackwell import TensorMemoryLayout, allocate_tensor_memory, fence_async_shared, mbarrier, tcgen05_commit, tcgen05_mma, tma"
        } else {
            "hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait"
        };
        text.line("from triton.experimental import gluon");
        text.line("from triton.experimental.gluon import language as gl");
        text.line(format!("from triton.experimental.gluon.language.nvidia.{names}"));
        text.lines([String::new(), String::new()]);
        self.loader(&mut text, slip);
        match self.engine {
            Engine::Wgmma { pending } => self.wgmma(&mut text, pending, slip),
            Engine::Tcgen05 { commit } => {
                self.tcgen05(&mut text, commit, slip);
                self.store(&mut text);
            }
        }
        self.kernel(&mut text, slip);
        let (rows, columns, depth) = (self.rows(), self.columns, K * STEPS);
        let recipe = format!(
            "grid=(2) a_desc=f16[{rows},{depth}] b_desc=f16[{depth},{}] c_desc=f16[{rows},{}]:nan steps={STEPS}",
            2 * columns,
            2 * columns
        );
        Generated { text: text.finish(), recipe }
    }

    /// The barrier of an operand's slot.
    fn full(&self, operand: &str, slot: &str) -> String {
        if self.apart { format!("full_{operand}.index({slot})") } else { format!("full.index({slot})") }
    }

    /// The barriers that say that a slot is full.
    fn fulls(&self) -> Vec<&'static str> {
        if self.apart { vec!["full_a", "full_b"] } else { vec!["full"] }
    }

    fn loader(&self, text: &mut Text, slip: Option<Slip>) {
        let cursor = Cursor::new("out", self.walks[0], self.depth, false);
        let slot = cursor.slot();
        text.line("@gluon.jit");
        text.block(format!("def loader(a_desc, b_desc, a, b, {}, empty, steps):", self.fulls().join(", ")), |text| {
            text.lines(cursor.before());
            text.block("for n in range(steps):", |text| {
                text.lines(cursor.step());
                if !is(slip, SlipKind::NoEmptyWait, 0) {
                    let phase = cursor.phase(true, is(slip, SlipKind::WriterPhase, 0));
                    text.line(format!("mbarrier.wait(empty.index({slot}), {phase})"));
                }
                let bytes = |operand: &str| format!("{operand}_desc.nbytes_per_cta");
                let short = is(slip, SlipKind::ShortBytes, 0);
                if self.apart {
                    let a = if short { format!("{} // 2", bytes("a")) } else { bytes("a") };
                    text.line(format!("mbarrier.expect({}, {a})", self.full("a", &slot)));
                    text.line(format!("mbarrier.expect({}, {})", self.full("b", &slot), bytes("b")));
                } else {
                    let all = if short { bytes("a") } else { format!("{} + {}", bytes("a"), bytes("b")) };
                    text.line(format!("mbarrier.expect({}, {all})", self.full("a", &slot)));
                }
                let column = format!("gl.program_id(0) * {}", self.columns);
                for (operand, at) in [("a", format!("0, n * {K}")), ("b", format!("n * {K}, {column}"))] {
                    let full = self.full(operand, &slot);
                    text.line(format!("tma.async_load({operand}_desc, [{at}], {full}, {operand}.index({slot}))"));
                }
                text.lines(cursor.after());
            });
        });
        text.lines([String::new(), String::new()]);
    }

    fn wait_full(&self, text: &mut Text, cursor: &Cursor, slip: Option<Slip>) {
        let (slot, phase) = (cursor.slot(), cursor.phase(false, is(slip, SlipKind::ReaderPhase, 0)));
        let skipped = usize::from(is(slip, SlipKind::NoFullWait, 0));
        for full in self.fulls().into_iter().skip(skipped) {
            text.line(format!("mbarrier.wait({full}.index({slot}), {phase})"));
        }
    }

    fn reader(&self, slip: Option<Slip>) -> (Cursor, String) {
        let cursor = Cursor::new("in", self.walks[1], self.depth, is(slip, SlipKind::PhaseEachStep, 0));
        let read = if is(slip, SlipKind::NextSlot, 0) { cursor.slot_after() } else { cursor.slot() };
        (cursor, read)
    }

    fn wgmma(&self, text: &mut Text, pending: usize, slip: Option<Slip>) {
        let (cursor, read) = self.reader(slip);
        let slot = cursor.slot();
        text.line("@gluon.jit");
        text.block(format!("def multiply(c_desc, a, b, c, {}, empty, steps):", self.fulls().join(", ")), |text| {
            text.line(format!(
                "acc_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, {}, 16])",
                self.columns
            ));
            text.line(format!("acc = gl.zeros([{M}, {}], gl.float32, acc_layout)", self.columns));
            text.lines(cursor.before());
            text.block("for n in range(steps):", |text| {
                text.lines(cursor.step());
                self.wait_full(text, &cursor, slip);
                text.line(format!("acc = warpgroup_mma(a.index({read}), b.index({read}), acc, is_async=True)"));
                let early = is(slip, SlipKind::EarlyRelease, 0);
                if early {
                    text.line(format!("mbarrier.arrive(empty.index({slot}), count=1)"));
                }
                text.line(format!("acc = warpgroup_mma_wait({pending}, deps=[acc])"));
                if early || is(slip, SlipKind::NoRelease, 0) {
                } else if pending == 0 {
                    text.line(format!("mbarrier.arrive(empty.index({slot}), count=1)"));
                } else {
                    let before = cursor.slot_before();
                    text.line(format!("mbarrier.arrive(empty.index({before}), count=1, pred=n > 0)"));
                }
                text.lines(cursor.after());
            });
            text.line("acc = warpgroup_mma_wait(0, deps=[acc])");
            Self::epilogue(text, "acc", self.columns);
        });
        text.lines([String::new(), String::new()]);
    }

    fn epilogue(text: &mut Text, value: &str, columns: usize) {
        text.line(format!("c.store({value}.to(gl.float16))"));
        text.line("fence_async_shared()");
        text.line(format!("tma.async_store(c_desc, [0, gl.program_id(0) * {columns}], c)"));
        text.line("tma.store_wait(0)");
    }

    fn tcgen05(&self, text: &mut Text, commit: bool, slip: Option<Slip>) {
        let (cursor, read) = self.reader(slip);
        let slot = cursor.slot();
        text.line("@gluon.jit");
        text.block(format!("def multiply(a, b, acc, {}, empty, ready, steps):", self.fulls().join(", ")), |text| {
            text.lines(cursor.before());
            text.block("for n in range(steps):", |text| {
                text.lines(cursor.step());
                self.wait_full(text, &cursor, slip);
                let early = is(slip, SlipKind::EarlyRelease, 0);
                let silent = early || is(slip, SlipKind::NoRelease, 0);
                let own = if commit || silent { String::new() } else { format!(", mbarriers=[empty.index({slot})]") };
                text.line(format!("tcgen05_mma(a.index({read}), b.index({read}), acc, use_acc=n > 0{own})"));
                if early {
                    text.line(format!("mbarrier.arrive(empty.index({slot}), count=1)"));
                } else if commit && !silent {
                    text.line(format!("tcgen05_commit(empty.index({slot}))"));
                }
                text.lines(cursor.after());
            });
            text.line("tcgen05_commit(ready)");
        });
        text.lines([String::new(), String::new()]);
    }

    fn store(&self, text: &mut Text) {
        text.line("@gluon.jit");
        text.block("def store(c_desc, acc, c, ready):", |text| {
            text.line("mbarrier.wait(ready, 0)");
            Self::epilogue(text, "acc.load()", self.columns);
        });
        text.lines([String::new(), String::new()]);
    }

    fn kernel(&self, text: &mut Text, slip: Option<Slip>) {
        let (rows, columns, depth) = (self.rows(), self.columns, self.depth);
        let target = if self.is_blackwell() { "sm_100" } else { "sm_90" };
        text.line(format!(
            "# fencepost: a_desc=fp16[{rows}, {K}], b_desc=fp16[{K}, {columns}], c_desc=fp16[{rows}, {columns}], target={target}"
        ));
        text.line("@gluon.jit");
        text.block("def product(a_desc, b_desc, c_desc, steps):", |text| {
            text.line(format!("a = gl.allocate_shared_memory(gl.float16, [{depth}, {rows}, {K}], a_desc.layout)"));
            text.line(format!("b = gl.allocate_shared_memory(gl.float16, [{depth}, {K}, {columns}], b_desc.layout)"));
            text.line(format!("c = gl.allocate_shared_memory(gl.float16, [{rows}, {columns}], c_desc.layout)"));
            for barrier in self.fulls().into_iter().chain(["empty"]) {
                text.line(format!("{barrier} = mbarrier.allocate_mbarrier(batch={depth})"));
            }
            let more = |kind| 1 + usize::from(is(slip, kind, 0));
            text.block(format!("for s in gl.static_range({depth}):"), |text| {
                for (at, full) in self.fulls().into_iter().enumerate() {
                    // A slip is one of the first barrier.
                    let count = if at == 0 { more(SlipKind::FullCountsMore) } else { 1 };
                    let init = format!("mbarrier.init({full}.index(s), count={count})");
                    if at == 0 && is(slip, SlipKind::LastFullMissing, 0) {
                        text.block(format!("if s < {}:", depth - 1), |text| text.line(init));
                    } else {
                        text.line(init);
                    }
                }
                text.line(format!("mbarrier.init(empty.index(s), count={})", more(SlipKind::EmptyCountsMore)));
            });
            let fulls = self.fulls().join(", ");
            if self.is_blackwell() {
                text.line("ready = mbarrier.allocate_mbarrier()");
                text.line("mbarrier.init(ready, count=1)");
                text.line(format!(
                    "acc = allocate_tensor_memory(gl.float32, [{rows}, {columns}], TensorMemoryLayout([{rows}, {columns}], col_stride=1))"
                ));
                text.line("steps = gl.maximum(steps, 1)");
            }
            text.block("gl.warp_specialize([", |text| {
                if self.is_blackwell() {
                    text.line("(store, (c_desc, acc, c, ready)),");
                } else {
                    text.line(format!("(multiply, (c_desc, a, b, c, {fulls}, empty, steps)),"));
                }
                text.line(format!("(loader, (a_desc, b_desc, a, b, {fulls}, empty, steps)),"));
                if self.is_blackwell() {
                    text.line(format!("(multiply, (a, b, acc, {fulls}, empty, ready, steps)),"));
                }
            });
            text.line(if self.is_blackwell() { "], [1, 1], [24, 24])" } else { "], [1], [24])" });
        });
    }
}
