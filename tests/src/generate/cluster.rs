//! Clusters: tiles that every CTA copies for itself, tiles that one CTA sends to all of them, and work that a cluster
//! asks the launch for. What goes through registers is not run on the CPU: the elaborated IR does not tell how they are
//! cut among the CTAs.

use base::rng::SplitMix64;

use super::choice::one_of;
use super::slip::{Slip, SlipKind, is};
use super::text::{Generated, Text};
use crate::runs::{Given, Numbers};

/// Columns of a tile.
const COLUMNS: usize = 32;

/// What the CTAs share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shared {
    /// Tiles that one CTA sends to all, and that are copied out of their memory.
    Tiles,
    /// Factors that one CTA sends to all, each of which multiplies its own tile with them.
    Factors,
    /// The number of the next tile, which the launch gives to all.
    Launch,
}

/// A design.
#[derive(Clone, Debug)]
pub struct Cluster {
    shared: Shared,
    ctas: usize,
    /// Rows of a tile in one CTA.
    rows: usize,
    /// Slots of the ring.
    depth: usize,
    /// Steps, or tiles of the launch.
    steps: usize,
    /// Whether each CTA has tiles of its own beside those that are shared.
    own: bool,
}

impl Cluster {
    pub(super) fn random(rng: &mut SplitMix64) -> Cluster {
        let shared = one_of(rng, &[Shared::Tiles, Shared::Factors, Shared::Launch]);
        Cluster {
            shared,
            ctas: one_of(rng, &[2, 2, 4]),
            rows: one_of(rng, &[32, 64]),
            depth: if shared == Shared::Launch { 1 } else { 1 + rng.below(3) },
            steps: 3 + rng.below(3),
            own: rng.one_in(2) || shared == Shared::Factors,
        }
    }

    /// What sort of design it is.
    pub(super) fn sort(&self) -> &'static str {
        if self.shared == Shared::Launch { "launch control" } else { "multicast" }
    }

    /// Whether the CPU can run it.
    pub fn is_run(&self) -> bool {
        self.shared != Shared::Factors
    }

    pub(super) fn slips(&self) -> Vec<Slip> {
        let kinds = SlipKind::ALL.iter().copied().filter(|kind| match kind {
            SlipKind::NoFullWait
            | SlipKind::ReaderPhase
            | SlipKind::ShortBytes
            | SlipKind::FullCountsMore
            | SlipKind::NoMeeting => true,
            // What all CTAs hold alike one of them copies out.
            SlipKind::EarlyMeeting => self.shared != Shared::Tiles,
            SlipKind::PhaseEachStep | SlipKind::NextSlot => self.depth > 1,
            SlipKind::StoreNotWaited => true,
            _ => false,
        });
        kinds.map(|kind| Slip { kind, ring: 0 }).collect()
    }

    /// How a tensor is cut among the CTAs, in Python: by rows, or not at all.
    fn cut(&self, whole: bool, rank: usize) -> String {
        let bits = (0..self.ctas.trailing_zeros()).map(|bit| match (whole, rank) {
            (true, 1) => "(0,)".to_owned(),
            (true, _) => "(0, 0)".to_owned(),
            (false, _) => format!("({}, 0)", 1 << bit),
        });
        format!("({},)", bits.collect::<Vec<_>>().join(", "))
    }

    /// The type of a descriptor.
    fn desc(&self, whole: bool) -> String {
        let rows = if whole && self.shared == Shared::Tiles { self.rows } else { self.rows * self.ctas };
        format!(
            "tensordesc<fp32[{rows},{COLUMNS}],NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=32, rank=2, \
             transposed=False, fp4_padded=False, cga_layout={})>",
            self.cut(whole, 2)
        )
    }

    pub(super) fn write(&self, slip: Option<Slip>) -> Generated {
        match self.shared {
            Shared::Tiles | Shared::Factors => self.multicast(slip),
            Shared::Launch => self.launched(slip),
        }
    }

    fn head(text: &mut Text, vendor: &str, names: &str) {
        text.line("from triton.experimental import gluon");
        text.line("from triton.experimental.gluon import language as gl");
        text.line(format!("from triton.experimental.gluon.language.nvidia.{vendor} import {names}"));
        if vendor != "hopper" {
            text.line("from triton.experimental.gluon.language.nvidia.hopper import cluster");
        }
        text.lines([String::new(), String::new()]);
    }

    fn multicast(&self, slip: Option<Slip>) -> Generated {
        let mut text = Text::default();
        let (depth, ctas) = (self.depth, self.ctas);
        Self::head(&mut text, "hopper", "cluster, fence_async_shared, mbarrier, tma");
        let factors = self.shared == Shared::Factors;
        let own = |names: &[&str]| {
            if self.own { names.iter().map(|name| format!("{name}, ")).collect() } else { String::new() }
        };
        let typed = format!("x_desc={0}", self.desc(false));
        text.line(format!(
            "# fencepost: {}f_desc={1}, g_desc={1}, num_ctas={ctas}, target=sm_90",
            own(&[&typed, &typed.replacen('x', "y", 1)]),
            self.desc(true)
        ));
        text.line("@gluon.jit");
        text.block(format!("def shared({}f_desc, g_desc, steps):", own(&["x_desc", "y_desc"])), |text| {
            let rings: &[&str] = if self.own { &["x", "f"] } else { &["f"] };
            for name in rings {
                text.line(format!(
                    "{name} = gl.allocate_shared_memory({name}_desc.dtype, [{depth}] + {name}_desc.block_shape, {name}_desc.layout)"
                ));
                text.line(format!("{name}_row = gl.program_id(0) * {name}_desc.block_shape[0]"));
            }
            if factors {
                let cut = self.cut(false, 2);
                text.line(format!("REGS: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout={cut})"));
                text.line("y = gl.allocate_shared_memory(y_desc.dtype, y_desc.block_shape, y_desc.layout)");
            }
            text.line(format!("ready = mbarrier.allocate_mbarrier(batch={depth})"));
            let count = 1 + usize::from(is(slip, SlipKind::FullCountsMore, 0));
            text.block(format!("for s in gl.static_range({depth}):"), |text| {
                text.line(format!("mbarrier.init(ready.index(s), count={count})"));
            });
            let load = |text: &mut Text, step: &str, slot: &str| {
                let half = if is(slip, SlipKind::ShortBytes, 0) { " // 2" } else { "" };
                let bytes: Vec<String> = rings.iter().map(|name| format!("{name}_desc.nbytes_per_cta")).collect();
                text.line(format!("mbarrier.expect(ready.index({slot}), ({}){half}, pred={step} < steps)", bytes.join(" + ")));
                for name in rings {
                    let to_all = if *name == "f" { ", multicast=True" } else { "" };
                    text.line(format!(
                        "tma.async_load({name}_desc, [{name}_row, ({step}) * {COLUMNS}], ready.index({slot}), {name}.index({slot}), \
                         pred={step} < steps{to_all})"
                    ));
                }
            };
            text.block(format!("for s in gl.static_range({depth}):"), |text| load(text, "s", "s"));
            text.block("for n in range(steps):", |text| {
                text.line(format!("slot = n % {depth}"));
                let lap = if is(slip, SlipKind::PhaseEachStep, 0) { "n".to_owned() } else { format!("(n // {depth})") };
                let other = if is(slip, SlipKind::ReaderPhase, 0) { " ^ 1" } else { "" };
                if !is(slip, SlipKind::NoFullWait, 0) {
                    text.line(format!("mbarrier.wait(ready.index(slot), ({lap} & 1){other})"));
                }
                if is(slip, SlipKind::EarlyMeeting, 0) {
                    text.line("cluster.barrier()");
                }
                let read = if is(slip, SlipKind::NextSlot, 0) { format!("(n + 1) % {depth}") } else { "slot".to_owned() };
                let waits = !is(slip, SlipKind::StoreNotWaited, 0);
                if factors {
                    text.line(format!("value = x.index({read}).load(REGS) * f.index({read}).load(REGS)"));
                    text.lines(waits.then(|| "tma.store_wait(0)".to_owned()));
                    text.line("y.store(value)");
                    text.line("fence_async_shared()");
                    text.line(format!("tma.async_store(y_desc, [x_row, n * {COLUMNS}], y)"));
                } else {
                    for (name, to) in rings.iter().zip(if self.own { &["y", "g"][..] } else { &["g"][..] }) {
                        text.line(format!("tma.async_store({to}_desc, [{name}_row, n * {COLUMNS}], {name}.index({read}))"));
                    }
                    text.lines(waits.then(|| "tma.store_wait(0)".to_owned()));
                }
                if !is(slip, SlipKind::NoMeeting, 0) && !is(slip, SlipKind::EarlyMeeting, 0) {
                    text.line("cluster.barrier()");
                }
                load(text, &format!("n + {depth}"), "slot");
            });
            text.line("tma.store_wait(0)");
        });
        let (height, width) = (2 * self.rows, COLUMNS * self.steps);
        let own = match self.own {
            true => format!("x_desc=f32[{0},{width}] y_desc=f32[{0},{width}]:nan ", height * ctas),
            false => String::new(),
        };
        let shared = format!("f_desc=f32[{height},{width}] g_desc=f32[{height},{width}]:nan");
        Generated { text: text.finish(), recipe: format!("grid=(2) {own}{shared} steps={}", self.steps) }
    }

    fn launched(&self, slip: Option<Slip>) -> Generated {
        let mut text = Text::default();
        Self::head(&mut text, "blackwell", "clc, fence_async_shared, mbarrier, tma");
        text.line(format!(
            "# fencepost: x_desc={0}, y_desc={0}, num_ctas={1}, target=sm_100",
            self.desc(false),
            self.ctas
        ));
        text.line("@gluon.jit");
        text.block("def launched(x_desc, y_desc):", |text| {
            text.line("x = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_shape, x_desc.layout)");
            text.line(format!(
                "answer = gl.allocate_shared_memory(gl.int64, [2], gl.SwizzledSharedLayout(1, 1, 1, [0], cga_layout={}))",
                self.cut(true, 1)
            ));
            let count = 1 + usize::from(is(slip, SlipKind::FullCountsMore, 0));
            text.line("ready = mbarrier.allocate_mbarrier()");
            text.line("asked = mbarrier.allocate_mbarrier()");
            text.line("mbarrier.init(ready, count=1)");
            text.line(format!("mbarrier.init(asked, count={count})"));
            text.line("tile = gl.program_id(0)");
            text.line("more = gl.to_tensor(True)");
            text.line("phase = 0");
            text.block("while more:", |text| {
                text.line(format!("mbarrier.expect(asked, {})", if is(slip, SlipKind::ShortBytes, 0) { 8 } else { 16 }));
                text.line("clc.try_cancel(answer, asked)");
                text.line("mbarrier.expect(ready, x_desc.nbytes_per_cta)");
                text.line("tma.async_load(x_desc, [tile * x_desc.block_shape[0], 0], ready, x)");
                text.line("mbarrier.wait(ready, phase)");
                text.line("tma.async_store(y_desc, [tile * x_desc.block_shape[0], 0], x)");
                let meet = |text: &mut Text| {
                    text.line("cluster.barrier()");
                    text.line("fence_async_shared(cluster=True)");
                };
                let other = if is(slip, SlipKind::ReaderPhase, 0) { " ^ 1" } else { "" };
                if !is(slip, SlipKind::NoFullWait, 0) {
                    text.line(format!("mbarrier.wait(asked, phase{other})"));
                }
                if is(slip, SlipKind::EarlyMeeting, 0) {
                    meet(text);
                }
                text.line("got = clc.load_result(answer)");
                text.line("more = got.is_canceled()");
                text.line("tile = got.program_id(0)");
                text.line("phase ^= 1");
                if !is(slip, SlipKind::NoMeeting, 0) && !is(slip, SlipKind::EarlyMeeting, 0) {
                    meet(text);
                }
                if !is(slip, SlipKind::StoreNotWaited, 0) {
                    text.line("tma.store_wait(0)");
                }
            });
            text.line("tma.store_wait(0)");
        });
        let rows = self.steps * self.rows * self.ctas;
        let recipe = format!("grid=({}) x_desc=f32[{rows},{COLUMNS}] y_desc=f32[{rows},{COLUMNS}]:nan", self.steps);
        Generated { text: text.finish(), recipe }
    }

    pub(super) fn expected(&self, given: &Given) -> Vec<(String, Numbers)> {
        let copies: &[(&str, &str)] = match (self.shared, self.own) {
            (Shared::Launch, _) => &[("x_desc", "y_desc")],
            // Nobody asks: it is not run.
            (Shared::Factors, _) => &[],
            (Shared::Tiles, true) => &[("x_desc", "y_desc"), ("f_desc", "g_desc")],
            (Shared::Tiles, false) => &[("f_desc", "g_desc")],
        };
        copies.iter().map(|(from, to)| ((*to).to_owned(), given.tensor(from).clone())).collect()
    }
}
