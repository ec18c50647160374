//! Tiles that are loaded by one partition, changed by others and stored by the last.

use base::rng::SplitMix64;

use super::choice::one_of;
use super::cursor::{Cursor, Walk};
use super::slip::{Slip, SlipKind, is};
use super::text::{Generated, Text};
use crate::runs::{Given, Numbers};

/// Rows of a tile.
const ROWS: usize = 32;
/// Tiles of the launch, as rounds and steps of each.
const TILES: [usize; 2] = [2, 4];

/// Who fills the first ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Tma,
    /// `cp.async`, with the count of `full` incremented for it or not.
    CpAsync {
        increment: bool,
    },
    Registers,
}

/// Who reads the last ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sink {
    /// A store by TMA; so many may be under way when a slot is handed back.
    Tma {
        lag: usize,
    },
    Registers,
}

/// A design.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Slots of each ring.
    depths: Vec<usize>,
    source: Source,
    sinks: Vec<Sink>,
    /// A factor and a summand for each partition between two rings.
    arithmetic: Vec<(u32, u32)>,
    /// How each partition walks, by its place: source, those between, sinks.
    walks: Vec<Walk>,
    columns: usize,
    /// Whether each partition has two loops, one inside the other.
    nested: bool,
    /// Which partition is the default one, among those of four warps.
    default: usize,
    /// Whether a fence stands before the arrival or right behind the access.
    fence_late: bool,
}

/// A partition that is written.
struct Part {
    name: String,
    params: Vec<String>,
    warps: usize,
}

impl Stream {
    pub(super) fn random(rng: &mut SplitMix64) -> Stream {
        let between = rng.below(3);
        let walks = (0..between + 3).map(|_| one_of(rng, &[Walk::Divided, Walk::Carried])).collect();
        let depths: Vec<usize> = (0..=between).map(|_| 1 + rng.below(4)).collect();
        let sinks: Vec<Sink> = (0..1 + usize::from(rng.one_in(3)))
            .map(|_| match rng.below(3) {
                0 => Sink::Registers,
                1 => Sink::Tma { lag: 0 },
                _ => Sink::Tma { lag: usize::from(depths.last().is_some_and(|depth| *depth > 1)) },
            })
            .collect();
        let to_tma = between == 0 && sinks.iter().any(|sink| *sink != Sink::Registers);
        let source = match rng.below(4) {
            0 | 1 => Source::Tma,
            // What cp.async writes would have to be fenced by who waits for it.
            2 if !to_tma => Source::CpAsync { increment: rng.one_in(2) },
            _ => Source::Registers,
        };
        Stream {
            depths,
            source,
            sinks,
            arithmetic: (0..between).map(|_| (2 + rng.below(3) as u32, rng.below(5) as u32)).collect(),
            walks,
            columns: one_of(rng, &[32, 64]),
            nested: rng.one_in(3),
            default: rng.below(4),
            fence_late: rng.one_in(2),
        }
    }

    fn last(&self) -> usize {
        self.depths.len() - 1
    }

    /// Whether TMA writes a ring.
    fn is_filled_by_tma(&self, ring: usize) -> bool {
        ring == 0 && self.source == Source::Tma
    }

    /// Whether TMA reads a ring.
    fn is_read_by_tma(&self, ring: usize) -> bool {
        ring == self.last() && self.sinks.iter().any(|sink| *sink != Sink::Registers)
    }

    /// Whether registers are stored to a ring.
    fn is_filled_by_registers(&self, ring: usize) -> bool {
        ring > 0 || self.source == Source::Registers
    }

    fn readers(&self, ring: usize) -> usize {
        if ring == self.last() { self.sinks.len() } else { 1 }
    }

    pub(super) fn slips(&self) -> Vec<Slip> {
        let mut slips = Vec::new();
        for (ring, depth) in self.depths.iter().enumerate() {
            let by_registers = self.is_filled_by_registers(ring);
            // Of several readers the first one slips.
            let stores = ring == self.last() && matches!(self.sinks.first(), Some(Sink::Tma { .. }));
            let kinds = SlipKind::HAND_OVER.iter().copied().filter(|kind| match kind {
                SlipKind::PhaseEachStep | SlipKind::NextSlot => *depth > 1,
                SlipKind::ShortBytes => self.is_filled_by_tma(ring),
                SlipKind::NoFence => by_registers && self.is_read_by_tma(ring),
                SlipKind::StoreNotWaited => stores,
                SlipKind::EarlyRelease => !stores,
                SlipKind::EarlyAnnounce => by_registers,
                _ => true,
            });
            slips.extend(kinds.map(|kind| Slip { kind, ring }));
        }
        slips
    }

    pub(super) fn write(&self, slip: Option<Slip>) -> Generated {
        let mut text = Text::default();
        for line in [
            "from triton.experimental import gluon",
            "from triton.experimental.gluon import language as gl",
            "from triton.experimental.gluon.language.nvidia.ampere import async_copy",
            "from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma",
            "",
            "TILE: gl.constexpr = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))",
            "",
            "",
        ] {
            text.line(line);
        }
        let mut parts = vec![self.source(&mut text, slip)];
        for stage in 0..self.arithmetic.len() {
            parts.push(self.stage(&mut text, stage, slip));
        }
        for sink in 0..self.sinks.len() {
            parts.push(self.sink(&mut text, sink, slip));
        }
        let mut order: Vec<usize> = (0..parts.len()).collect();
        let wide: Vec<usize> = order.iter().copied().filter(|at| parts[*at].warps == 4).collect();
        let default = wide.get(self.default % wide.len().max(1)).copied().unwrap_or(0);
        order.retain(|at| *at != default);
        order.insert(0, default);
        self.kernel(&mut text, &parts, &order, slip);
        let rows = ROWS * TILES[0] * TILES[1];
        let width = 2 * self.columns;
        let mut recipe = String::from("grid=(2)");
        let name = if self.source == Source::Tma { "x_desc" } else { "x" };
        recipe.push_str(&format!(" {name}=f32[{rows},{width}]"));
        for (at, sink) in self.sinks.iter().enumerate() {
            let desc = if *sink == Sink::Registers { "" } else { "_desc" };
            recipe.push_str(&format!(" y{at}{desc}=f32[{rows},{width}]:nan"));
        }
        recipe.push_str(&match self.nested {
            true => format!(" rounds={} steps={}", TILES[0], TILES[1]),
            false => format!(" steps={}", TILES[0] * TILES[1]),
        });
        if self.uses_pointers() {
            recipe.push_str(&format!(" stride={width}"));
        }
        Generated { text: text.finish(), recipe }
    }

    fn uses_pointers(&self) -> bool {
        self.source != Source::Tma || self.sinks.contains(&Sink::Registers)
    }

    pub(super) fn expected(&self, given: &Given) -> Vec<(String, Numbers)> {
        let x = given.tensor(if self.source == Source::Tma { "x_desc" } else { "x" });
        let change = |value: &f64| {
            let through = |value: f32, (factor, summand): &(u32, u32)| value * *factor as f32 + *summand as f32;
            f64::from(self.arithmetic.iter().fold(*value as f32, through))
        };
        let y = Numbers { shape: x.shape.clone(), values: x.values.iter().map(change).collect() };
        let name = |(at, sink): (usize, &Sink)| match sink {
            Sink::Registers => format!("y{at}"),
            Sink::Tma { .. } => format!("y{at}_desc"),
        };
        self.sinks.iter().enumerate().map(|named| (name(named), y.clone())).collect()
    }

    fn trips(&self) -> Vec<String> {
        if self.nested { vec!["rounds".to_owned(), "steps".to_owned()] } else { vec!["steps".to_owned()] }
    }

    /// The loops of a partition; `n` is the number of the step.
    fn loops(&self, text: &mut Text, cursors: &[&Cursor], body: impl FnOnce(&mut Text)) {
        cursors.iter().for_each(|cursor| text.lines(cursor.before()));
        let step = |text: &mut Text| {
            cursors.iter().for_each(|cursor| text.lines(cursor.step()));
            body(text);
            cursors.iter().for_each(|cursor| text.lines(cursor.after()));
        };
        if self.nested {
            text.block("for outer in range(rounds):", |text| {
                text.block("for inner in range(steps):", |text| {
                    text.line("n = outer * steps + inner");
                    step(text);
                });
            });
        } else {
            text.block("for n in range(steps):", step);
        }
    }

    fn part(
        &self,
        text: &mut Text,
        name: &str,
        params: Vec<String>,
        warps: usize,
        body: impl FnOnce(&mut Text),
    ) -> Part {
        text.line("@gluon.jit");
        text.block(format!("def {name}({}):", params.join(", ")), body);
        text.line("");
        text.line("");
        Part { name: name.to_owned(), params, warps }
    }

    fn ring_params(ring: usize) -> Vec<String> {
        ["ring", "full", "empty"].iter().map(|name| format!("{name}{ring}")).collect()
    }

    /// The places of a tile in a matrix behind a pointer.
    fn places(&self, text: &mut Text) {
        text.line(format!("lines = gl.arange(0, {ROWS}, gl.SliceLayout(1, TILE))"));
        text.line(format!(
            "columns = gl.program_id(0) * {0} + gl.arange(0, {0}, gl.SliceLayout(0, TILE))",
            self.columns
        ));
    }

    fn source(&self, text: &mut Text, slip: Option<Slip>) -> Part {
        let cursor = Cursor::new("out", self.walks[0], self.depths[0], is(slip, SlipKind::PhaseEachStep, 0));
        let tma = self.source == Source::Tma;
        let mut params = vec![if tma { "x_desc" } else { "x" }.to_owned()];
        params.extend(if tma { None } else { Some("stride".to_owned()) });
        params.extend(Self::ring_params(0).into_iter().chain(self.trips()));
        let slot = cursor.slot();
        self.part(text, "source", params, if tma { 1 } else { 4 }, |text| {
            if !tma {
                self.places(text);
            }
            self.loops(text, &[&cursor], |text| {
                if !is(slip, SlipKind::NoEmptyWait, 0) {
                    let phase = cursor.phase(true, is(slip, SlipKind::WriterPhase, 0));
                    text.line(format!("mbarrier.wait(empty0.index({slot}), {phase})"));
                }
                match self.source {
                    Source::Tma => {
                        let half = if is(slip, SlipKind::ShortBytes, 0) { " // 2" } else { "" };
                        text.line(format!("mbarrier.expect(full0.index({slot}), x_desc.nbytes_per_cta{half})"));
                        text.line(format!(
                            "tma.async_load(x_desc, [n * {ROWS}, gl.program_id(0) * {}], full0.index({slot}), ring0.index({slot}))",
                            self.columns
                        ));
                    }
                    Source::CpAsync { increment } => {
                        text.line(format!("rows = n * {ROWS} + lines"));
                        text.line(format!(
                            "async_copy.async_load(ring0.index({slot}), x + rows[:, None] * stride + columns[None, :])"
                        ));
                        if increment {
                            text.line(format!("async_copy.mbarrier_arrive(full0.index({slot}))"));
                            text.line(format!("mbarrier.arrive(full0.index({slot}), count=1)"));
                        } else {
                            text.line(format!("async_copy.mbarrier_arrive(full0.index({slot}), increment_count=False)"));
                        }
                    }
                    Source::Registers => {
                        text.line(format!("rows = n * {ROWS} + lines"));
                        text.line("value = gl.load(x + rows[:, None] * stride + columns[None, :])");
                        self.fill(text, 0, &slot, slip);
                    }
                }
            });
        })
    }

    /// Stores `value` to a slot and announces it.
    fn fill(&self, text: &mut Text, ring: usize, slot: &str, slip: Option<Slip>) {
        let announce = format!("mbarrier.arrive(full{ring}.index({slot}), count=1)");
        let early = is(slip, SlipKind::EarlyAnnounce, ring);
        if early {
            text.line(&announce);
        }
        text.line(format!("ring{ring}.index({slot}).store(value)"));
        if self.is_read_by_tma(ring) && !is(slip, SlipKind::NoFence, ring) {
            text.line("fence_async_shared()");
        }
        if !early {
            text.line(&announce);
        }
    }

    /// Waits for a slot, loads `value` from it and hands it back.
    fn take(&self, text: &mut Text, ring: usize, cursor: &Cursor, slip: Option<Slip>) {
        let slot = cursor.slot();
        if !is(slip, SlipKind::NoFullWait, ring) {
            let phase = cursor.phase(false, is(slip, SlipKind::ReaderPhase, ring));
            text.line(format!("mbarrier.wait(full{ring}.index({slot}), {phase})"));
        }
        let read = if is(slip, SlipKind::NextSlot, ring) { cursor.slot_after() } else { slot.clone() };
        let load = format!("value = ring{ring}.index({read}).load(TILE)");
        let release = format!("mbarrier.arrive(empty{ring}.index({slot}), count=1)");
        let fence = self.is_filled_by_tma(ring);
        if is(slip, SlipKind::EarlyRelease, ring) {
            text.lines([release, load]);
        } else if is(slip, SlipKind::NoRelease, ring) {
            text.line(load);
        } else if self.fence_late && fence {
            text.lines([load, "value = value * 1.0".to_owned(), "fence_async_shared()".to_owned(), release]);
        } else {
            text.line(load);
            text.lines(fence.then(|| "fence_async_shared()".to_owned()));
            text.line(release);
        }
    }

    fn stage(&self, text: &mut Text, stage: usize, slip: Option<Slip>) -> Part {
        let (from, to) = (stage, stage + 1);
        let wrong = |ring| is(slip, SlipKind::PhaseEachStep, ring);
        let walk = self.walks[1 + stage];
        let input = Cursor::new("in", walk, self.depths[from], wrong(from));
        // The slip is in one partition of a ring: in the one that reads it, or in the source.
        let output = Cursor::new("out", walk, self.depths[to], false);
        let mut params = Self::ring_params(from);
        params.extend(Self::ring_params(to).into_iter().chain(self.trips()));
        let (factor, summand) = self.arithmetic[stage];
        self.part(text, &format!("stage{stage}"), params, 4, |text| {
            self.loops(text, &[&input, &output], |text| {
                self.take(text, from, &input, slip);
                text.line(format!("value = value * {factor}.0 + {summand}.0"));
                let slot = output.slot();
                if !is(slip, SlipKind::NoEmptyWait, to) {
                    let phase = output.phase(true, is(slip, SlipKind::WriterPhase, to));
                    text.line(format!("mbarrier.wait(empty{to}.index({slot}), {phase})"));
                }
                self.fill(text, to, &slot, slip);
            });
        })
    }

    fn sink(&self, text: &mut Text, number: usize, slip: Option<Slip>) -> Part {
        let ring = self.last();
        // A slip is one of the first sink.
        let slip = slip.filter(|slip| number == 0 || slip.ring != ring);
        let each_step = is(slip, SlipKind::PhaseEachStep, ring) && (ring > 0 || number == 0);
        let cursor = Cursor::new("in", self.walks[2 + self.arithmetic.len()], self.depths[ring], each_step);
        let slot = cursor.slot();
        let sink = self.sinks[number];
        let mut params = match sink {
            Sink::Registers => vec![format!("y{number}"), "stride".to_owned()],
            Sink::Tma { .. } => vec![format!("y{number}_desc")],
        };
        params.extend(Self::ring_params(ring).into_iter().chain(self.trips()));
        let warps = if sink == Sink::Registers { 4 } else { 1 };
        self.part(text, &format!("sink{number}"), params, warps, |text| {
            if sink == Sink::Registers {
                self.places(text);
            }
            self.loops(text, &[&cursor], |text| match sink {
                Sink::Registers => {
                    self.take(text, ring, &cursor, slip);
                    text.line(format!("rows = n * {ROWS} + lines"));
                    text.line(format!("gl.store(y{number} + rows[:, None] * stride + columns[None, :], value)"));
                }
                Sink::Tma { lag } => {
                    if !is(slip, SlipKind::NoFullWait, ring) {
                        let phase = cursor.phase(false, is(slip, SlipKind::ReaderPhase, ring));
                        text.line(format!("mbarrier.wait(full{ring}.index({slot}), {phase})"));
                    }
                    let read = if is(slip, SlipKind::NextSlot, ring) { cursor.slot_after() } else { slot.clone() };
                    text.line(format!(
                        "tma.async_store(y{number}_desc, [n * {ROWS}, gl.program_id(0) * {}], ring{ring}.index({read}))",
                        self.columns
                    ));
                    let early = is(slip, SlipKind::StoreNotWaited, ring);
                    if !early {
                        text.line(format!("tma.store_wait({lag})"));
                    }
                    if is(slip, SlipKind::NoRelease, ring) {
                    } else if lag == 0 || early {
                        text.line(format!("mbarrier.arrive(empty{ring}.index({slot}), count=1)"));
                    } else {
                        let before = cursor.slot_before();
                        text.line(format!("mbarrier.arrive(empty{ring}.index({before}), count=1, pred=n > 0)"));
                    }
                }
            });
            if sink != Sink::Registers {
                text.line("tma.store_wait(0)");
            }
        })
    }

    fn kernel(&self, text: &mut Text, parts: &[Part], order: &[usize], slip: Option<Slip>) {
        let tma = self.source == Source::Tma;
        let mut params = vec![if tma { "x_desc" } else { "x" }.to_owned()];
        let mut given = Vec::new();
        let desc = |name: &str| format!("{name}=fp32[{ROWS}, {}]", self.columns);
        given.push(if tma { desc("x_desc") } else { "x=*fp32".to_owned() });
        for (at, sink) in self.sinks.iter().enumerate() {
            let (name, is) = match sink {
                Sink::Registers => (format!("y{at}"), format!("y{at}=*fp32")),
                Sink::Tma { .. } => (format!("y{at}_desc"), desc(&format!("y{at}_desc"))),
            };
            params.push(name);
            given.push(is);
        }
        params.extend(self.trips());
        if self.uses_pointers() {
            params.push("stride".to_owned());
        }
        text.line(format!("# fencepost: {}, target=sm_90", given.join(", ")));
        text.line("@gluon.jit");
        text.block(format!("def stream({}):", params.join(", ")), |text| {
            for (ring, depth) in self.depths.iter().enumerate() {
                let layout = if self.is_filled_by_tma(ring) || self.is_read_by_tma(ring) {
                    format!("gl.NVMMASharedLayout.get_default_for([{ROWS}, {}], gl.float32)", self.columns)
                } else {
                    "gl.SwizzledSharedLayout(1, 1, 1, [1, 0])".to_owned()
                };
                text.line(format!("layout{ring}: gl.constexpr = {layout}"));
                text.line(format!(
                    "ring{ring} = gl.allocate_shared_memory(gl.float32, [{depth}, {ROWS}, {}], layout{ring})",
                    self.columns
                ));
                text.line(format!("full{ring} = mbarrier.allocate_mbarrier(batch={depth})"));
                text.line(format!("empty{ring} = mbarrier.allocate_mbarrier(batch={depth})"));
                let full = match self.source {
                    Source::CpAsync { increment: false } if ring == 0 => 128,
                    _ => 1,
                } + usize::from(is(slip, SlipKind::FullCountsMore, ring));
                let empty = self.readers(ring) + usize::from(is(slip, SlipKind::EmptyCountsMore, ring));
                let inits = depth - usize::from(is(slip, SlipKind::LastFullMissing, ring));
                text.block(format!("for s in gl.static_range({depth}):"), |text| {
                    if inits == *depth {
                        text.line(format!("mbarrier.init(full{ring}.index(s), count={full})"));
                    } else {
                        text.block(format!("if s < {inits}:"), |text| {
                            text.line(format!("mbarrier.init(full{ring}.index(s), count={full})"));
                        });
                    }
                    text.line(format!("mbarrier.init(empty{ring}.index(s), count={empty})"));
                });
            }
            text.block("gl.warp_specialize([", |text| {
                for at in order {
                    let part = &parts[*at];
                    text.line(format!("({}, ({},)),", part.name, part.params.join(", ")));
                }
            });
            let warps: Vec<String> = order.iter().skip(1).map(|at| parts[*at].warps.to_string()).collect();
            let registers = vec!["64".to_owned(); warps.len()];
            text.line(format!("], [{}], [{}])", warps.join(", "), registers.join(", ")));
        });
    }
}
