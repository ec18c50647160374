//! Tiles that one group of warps copies ahead of itself and counts: by `cp.async` in commit groups, or by AMD's tensor
//! data mover, whose operations end in the order of issue. No barrier says that a tile has come.

use base::rng::SplitMix64;

use super::choice::one_of;
use super::slip::{Slip, SlipKind, is};
use super::text::{Generated, Text};
use crate::runs::{Given, Numbers};

/// Rows of a tile.
const ROWS: usize = 32;

/// Who copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mover {
    /// `cp.async`.
    Groups,
    /// The data mover.
    Tdm,
}

/// A design.
#[derive(Clone, Debug)]
pub struct Groups {
    mover: Mover,
    depth: usize,
    /// Slots that are filled ahead of the one that is read; below the depth.
    ahead: usize,
    columns: usize,
    steps: usize,
    factor: u32,
    /// Operands that are copied in each step.
    operands: usize,
    /// Whether a slot is refilled before the values that were read are used, or after.
    refills_late: bool,
}

impl Groups {
    pub(super) fn random(rng: &mut SplitMix64) -> Groups {
        let depth = 2 + rng.below(4);
        Groups {
            mover: one_of(rng, &[Mover::Groups, Mover::Tdm]),
            depth,
            ahead: 1 + rng.below(depth - 1),
            columns: one_of(rng, &[32, 64]),
            steps: 5 + rng.below(5),
            factor: 2 + rng.below(3) as u32,
            operands: 1 + rng.below(2),
            refills_late: rng.one_in(2),
        }
    }

    /// What sort of design it is.
    pub(super) fn sort(&self) -> &'static str {
        if self.mover == Mover::Tdm { "data mover" } else { "groups" }
    }

    pub(super) fn slips(&self) -> Vec<Slip> {
        let kinds = SlipKind::ALL.iter().copied().filter(|kind| match kind {
            SlipKind::OneTooFewAwaited | SlipKind::NothingAwaited | SlipKind::NextSlot => true,
            SlipKind::NoCommit => self.mover == Mover::Groups,
            _ => false,
        });
        kinds.map(|kind| Slip { kind, ring: 0 }).collect()
    }

    /// Copies into the slot of a step.
    fn copy(&self, text: &mut Text, step: &str, slip: Option<Slip>) {
        for operand in 0..self.operands {
            match self.mover {
                Mover::Groups => {
                    text.line(format!(
                        "async_copy.async_load(ring{operand}.index(({step}) % {}), x{operand} + (({step}) * {ROWS} + lines)[:, None] * \
                         stride + columns[None, :], mask=({step}) < steps)",
                        self.depth
                    ));
                }
                Mover::Tdm => text.line(format!(
                    "tdm.async_load(x{operand}_desc, [({step}) * {ROWS}, 0], ring{operand}.index(({step}) % {}))",
                    self.depth
                )),
            }
        }
        if self.mover == Mover::Groups && !is(slip, SlipKind::NoCommit, 0) {
            text.line("async_copy.commit_group()");
        }
    }

    /// How many groups or operations may be open when the slot of a step is read.
    fn open(&self) -> usize {
        let each = if self.mover == Mover::Groups { 1 } else { self.operands };
        (self.ahead - 1) * each
    }

    pub(super) fn write(&self, slip: Option<Slip>) -> Generated {
        let mut text = Text::default();
        let tdm = self.mover == Mover::Tdm;
        let (depth, columns) = (self.depth, self.columns);
        text.line("from triton.experimental import gluon");
        text.line("from triton.experimental.gluon import language as gl");
        if tdm {
            text.line("from triton.experimental.gluon.language.amd.cdna5 import tdm");
        } else {
            text.line("from triton.experimental.gluon.language.nvidia.ampere import async_copy");
        }
        let threads = if tdm { "[1, 32]" } else { "[4, 8]" };
        text.lines([String::new(), String::new()]);
        text.line(format!("TILE: gl.constexpr = gl.constexpr(gl.BlockedLayout([1, 4], {threads}, [4, 1], [1, 0]))"));
        text.lines([String::new(), String::new()]);
        let names: Vec<String> = (0..self.operands).map(|operand| format!("x{operand}")).collect();
        let target = if tdm { "gfx1250" } else { "sm_80" };
        let types: Vec<String> = names.iter().map(|name| format!("{name}=*fp32:16")).collect();
        text.line(format!("# fencepost: {}, y=*fp32:16, stride=i32:16, target={target}", types.join(", ")));
        text.line("@gluon.jit");
        text.block(format!("def groups({}, y, stride, steps):", names.join(", ")), |text| {
            text.line("layout: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])");
            text.line(format!("lines = gl.arange(0, {ROWS}, gl.SliceLayout(1, TILE))"));
            text.line(format!("columns = gl.arange(0, {columns}, gl.SliceLayout(0, TILE))"));
            for (operand, name) in names.iter().enumerate() {
                if tdm {
                    text.line(format!(
                        "{name}_desc = tdm.make_tensor_descriptor({name}, (steps * {ROWS}, {columns}), ({columns}, 1), ({ROWS}, \
                         {columns}), layout)"
                    ));
                }
                text.line(format!(
                    "ring{operand} = gl.allocate_shared_memory(gl.float32, [{depth}, {ROWS}, {columns}], layout)"
                ));
            }
            text.block(format!("for s in gl.static_range({}):", self.ahead), |text| self.copy(text, "s", slip));
            text.block("for n in range(steps):", |text| {
                let more = usize::from(is(slip, SlipKind::OneTooFewAwaited, 0));
                if !is(slip, SlipKind::NothingAwaited, 0) {
                    let wait = if tdm { "tdm.async_wait" } else { "async_copy.wait_group" };
                    text.line(format!("{wait}({})", self.open() + more));
                }
                let read = if is(slip, SlipKind::NextSlot, 0) { "(n + 1)" } else { "n" };
                for operand in 0..self.operands {
                    text.line(format!("value{operand} = ring{operand}.index({read} % {depth}).load(TILE)"));
                }
                let refill = format!("n + {}", self.ahead);
                if !self.refills_late {
                    self.copy(text, &refill, slip);
                }
                let sum: Vec<String> = (0..self.operands).map(|operand| format!("value{operand}")).collect();
                text.line(format!("value = ({}) * {}", sum.join(" + "), self.factor));
                text.line(format!("gl.store(y + (n * {ROWS} + lines)[:, None] * stride + columns[None, :], value)"));
                if self.refills_late {
                    self.copy(text, &refill, slip);
                }
            });
            text.line(if tdm { "tdm.async_wait(0)" } else { "async_copy.wait_group(0)" });
        });
        let rows = ROWS * self.steps;
        let given: Vec<String> = names.iter().map(|name| format!("{name}=f32[{rows},{columns}]")).collect();
        let recipe =
            format!("grid=(1) {} y=f32[{rows},{columns}]:nan stride={columns} steps={}", given.join(" "), self.steps);
        Generated { text: text.finish(), recipe }
    }

    pub(super) fn expected(&self, given: &Given) -> Numbers {
        let x = given.tensor("x0");
        let sum = |row, column| {
            let all = (0..self.operands).map(|operand| given.tensor(&format!("x{operand}")).at(row, column) as f32);
            f64::from(all.sum::<f32>() * self.factor as f32)
        };
        Numbers::matrix(x.values.len() / x.width(), x.width(), sum)
    }
}
