//! Kernel to text.

use std::fmt::{self, Write};

use super::ops::{self, word};
use crate::{
    Access, Block, Completion, CtaSet, Effect, EffectKind, Instr, JumpTarget, Kernel, LoopInfo, Pure, Recipients,
    Shape, Terminator, Var, VarKind, ViewOp, Width, WordAccess,
};

/// Prints a kernel.
pub fn print(kernel: &Kernel) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let _ = Printer { kernel, out: &mut out }.kernel();
    out
}

struct Printer<'a> {
    kernel: &'a Kernel,
    out: &'a mut String,
}

impl Printer<'_> {
    fn kernel(&mut self) -> fmt::Result {
        let kernel = self.kernel;
        writeln!(self.out, "kernel ctas={} entry=b{}", kernel.ctas, kernel.entry.0)?;
        for partition in &kernel.partitions {
            match partition.warps {
                Some(warps) => writeln!(self.out, "partition warps={warps}")?,
                None => writeln!(self.out, "partition")?,
            }
        }
        for (at, buffer) in kernel.buffers.iter().enumerate() {
            let space = word(ops::SPACES, buffer.space);
            write!(self.out, "buffer ${at} {space} bits={} slot={}", buffer.bits, buffer.slot_bits)?;
            if let Some(start) = buffer.start {
                write!(self.out, " start={start}")?;
            }
            writeln!(self.out, "{}", if buffer.barriers { " barriers" } else { "" })?;
        }
        for (at, shape) in kernel.shapes.iter().enumerate() {
            self.shape(at, shape)?;
        }
        for (at, input) in kernel.inputs.iter().enumerate() {
            let (kind, number) = ops::input_words(input.kind);
            write!(self.out, "input i{at} {kind}")?;
            if let Some(number) = number {
                write!(self.out, " {number}")?;
            }
            writeln!(self.out, " width={} divisor={}", input.width, input.divisor)?;
        }
        for (at, block) in kernel.blocks.iter().enumerate() {
            self.block(at, block)?;
        }
        for (at, info) in kernel.loops.iter().enumerate() {
            self.loop_info(at, info)?;
        }
        Ok(())
    }

    fn shape(&mut self, at: usize, shape: &Shape) -> fmt::Result {
        write!(self.out, "shape s{at} element={} dims=", shape.element)?;
        for (number, dim) in shape.dims.iter().enumerate() {
            write!(self.out, "{}{}:{}", if number == 0 { "" } else { "," }, dim.size, dim.stride)?;
        }
        writeln!(self.out, "{}", if shape.exact { "" } else { " inexact" })
    }

    fn loop_info(&mut self, at: usize, info: &LoopInfo) -> fmt::Result {
        write!(self.out, "loop l{at} @{} head=b{}", info.site.0, info.head.0)?;
        if let Some((iv, lower, upper, step)) = info.counted {
            write!(self.out, " counted=%{},%{},%{},%{}", iv.0, lower.0, upper.0, step.0)?;
        }
        if let Some(parent) = info.parent {
            write!(self.out, " parent=l{}", parent.0)?;
        }
        writeln!(self.out)
    }

    fn block(&mut self, at: usize, block: &Block) -> fmt::Result {
        write!(self.out, "block b{at}(")?;
        for (number, param) in block.params.iter().enumerate() {
            self.out.push_str(if number == 0 { "" } else { ", " });
            self.definition(*param)?;
        }
        writeln!(self.out, ")")?;
        for instr in &block.instrs {
            self.out.push_str("  ");
            self.instr(instr)?;
            self.out.push('\n');
        }
        self.out.push_str("  ");
        self.terminator(&block.terminator)?;
        self.out.push('\n');
        Ok(())
    }

    fn definition(&mut self, var: Var) -> fmt::Result {
        write!(self.out, "%{}", var.0)?;
        match self.kernel.vars.get(var.index()).map(|info| info.kind) {
            Some(VarKind::View(shape)) => write!(self.out, ":s{}", shape.0),
            _ => Ok(()),
        }
    }

    fn instr(&mut self, instr: &Instr) -> fmt::Result {
        match instr {
            Instr::Let(dst, pure) => {
                self.definition(*dst)?;
                self.out.push_str(" = ");
                self.pure(pure)
            }
            Instr::Base(dst, buffer) => {
                self.definition(*dst)?;
                write!(self.out, " = base ${}", buffer.0)
            }
            Instr::View { dst, src, op } => {
                self.definition(*dst)?;
                match op {
                    ViewOp::Index { index, stride, count } => {
                        write!(self.out, " = index %{} at=%{} stride={stride} count={count}", src.0, index.0)
                    }
                    ViewOp::Shift(bits) => write!(self.out, " = shift %{} bits={bits}", src.0),
                    ViewOp::Remote(cta) => write!(self.out, " = remote %{} cta=%{}", src.0, cta.0),
                }
            }
            Instr::Word(WordAccess::Write { view, value }) => write!(self.out, "word %{} = %{}", view.0, value.0),
            Instr::Word(WordAccess::Read { dst, view, otherwise }) => {
                self.definition(*dst)?;
                write!(self.out, " = word %{} %{}", view.0, otherwise.0)
            }
            Instr::Word(WordAccess::Claim { dst, otherwise, by }) => {
                self.definition(*dst)?;
                write!(self.out, " = claim %{} %{}", otherwise.0, by.0)
            }
            Instr::Effect(id) => match self.kernel.effects.get(id.index()) {
                Some(effect) => self.effect(effect),
                None => Ok(()),
            },
            // The text form is of kernels to be decided, which have none.
            Instr::Host(id) => write!(self.out, "host {}", id.0),
        }
    }

    fn pure(&mut self, pure: &Pure<Var>) -> fmt::Result {
        let width = |Width(bits)| format!("w{bits}");
        if let Some((name, w, a, b)) = ops::binary_word(pure) {
            return write!(self.out, "{name} {} %{} %{}", width(w), a.0, b.0);
        }
        match *pure {
            Pure::Const(value) => write!(self.out, "const {value}"),
            Pure::Input(id) => write!(self.out, "input i{}", id.0),
            Pure::Copy(a) => write!(self.out, "copy %{}", a.0),
            Pure::Cmp(op, w, a, b) => {
                write!(self.out, "cmp {} {} %{} %{}", word(ops::COMPARES, op), width(w), a.0, b.0)
            }
            Pure::Select(c, a, b) => write!(self.out, "select %{} %{} %{}", c.0, a.0, b.0),
            Pure::ExtS(from, to, a) => write!(self.out, "ext_s {} {} %{}", width(from), width(to), a.0),
            Pure::ExtU(from, to, a) => write!(self.out, "ext_u {} {} %{}", width(from), width(to), a.0),
            Pure::Trunc(w, a) => write!(self.out, "trunc {} %{}", width(w), a.0),
            Pure::Load(id, a) => write!(self.out, "load i{} %{}", id.0, a.0),
            _ => Ok(()),
        }
    }

    fn effect(&mut self, effect: &Effect) -> fmt::Result {
        if let Some(dst) = effect.kind.defines() {
            self.definition(dst)?;
            self.out.push_str(" = ");
        }
        write!(self.out, "@{} ", effect.site.0)?;
        match &effect.kind {
            EffectKind::Allocate(buffer) => write!(self.out, "alloc ${}", buffer.0),
            EffectKind::Operation { issuer, accesses, completion } => {
                write!(self.out, "op {}", word(ops::ISSUERS, *issuer))?;
                for access in accesses {
                    self.access(access)?;
                }
                self.completion(completion)
            }
            EffectKind::Init { barrier, count } => write!(self.out, "init %{} count={count}", barrier.0),
            EffectKind::Invalidate { barrier } => write!(self.out, "invalidate %{}", barrier.0),
            EffectKind::Expect { barrier, bytes, to } => {
                write!(self.out, "expect %{} bytes={bytes}", barrier.0)?;
                self.recipients(to)
            }
            EffectKind::Arrive { barrier, count, to } => {
                write!(self.out, "arrive %{} count={count}", barrier.0)?;
                self.recipients(to)
            }
            EffectKind::Wait { barrier, phase } => write!(self.out, "wait %{} phase=%{}", barrier.0, phase.0),
            EffectKind::ReadPhase { barrier, .. } => write!(self.out, "read_phase %{}", barrier.0),
            EffectKind::TensorCoreCommit { barrier, to } => {
                write!(self.out, "tensor_core_commit %{}", barrier.0)?;
                self.recipients(to)
            }
            EffectKind::AsyncCopyArrive { barrier, increments, to } => {
                write!(self.out, "async_copy_arrive %{}", barrier.0)?;
                self.out.push_str(if *increments { " increments" } else { "" });
                self.recipients(to)
            }
            EffectKind::Commit(kind) => write!(self.out, "commit {}", word(ops::COMMITS, *kind)),
            EffectKind::WaitGroup { kind, pending } => {
                write!(self.out, "wait_group {} pending={pending}", word(ops::COMMITS, *kind))
            }
            EffectKind::Use { of } => write!(self.out, "use %{}", of.0),
            EffectKind::ProxyFence => write!(self.out, "proxy_fence"),
            EffectKind::ClusterArrive { relaxed } => {
                write!(self.out, "cluster_arrive{}", if *relaxed { " relaxed" } else { "" })
            }
            EffectKind::ClusterWait => write!(self.out, "cluster_wait"),
            EffectKind::NamedArrive { id, threads } => {
                write!(self.out, "named_arrive %{} threads=%{}", id.0, threads.0)
            }
            EffectKind::NamedWait { id } => write!(self.out, "named_wait %{}", id.0),
            EffectKind::ClcLoad { source, .. } => {
                write!(self.out, "clc_load")?;
                self.access(source)
            }
            EffectKind::Unmodelled => write!(self.out, "unmodelled"),
        }?;
        if let Some(predicate) = effect.predicate {
            write!(self.out, " if %{}", predicate.0)?;
        }
        match effect.leaders {
            0 => Ok(()),
            leaders => write!(self.out, " leaders={leaders}"),
        }
    }

    fn access(&mut self, access: &Access) -> fmt::Result {
        let name = if access.operand.is_empty() { "-" } else { access.operand };
        let (mode, proxy) = (word(ops::MODES, access.mode), word(ops::PROXIES, access.proxy));
        write!(self.out, " {name}={mode}:{proxy}:%{}", access.view.0)?;
        self.out.push_str(if access.clears { ":clears" } else { "" });
        if access.ctas != CtaSet::OWN {
            write!(self.out, ":ctas={}:{}", access.ctas.clear, access.ctas.spread)?;
        }
        Ok(())
    }

    fn recipients(&mut self, to: &Recipients) -> fmt::Result {
        if *to == Recipients::own() {
            return Ok(());
        }
        for (at, set) in to.0.iter().enumerate() {
            write!(self.out, "{}{}:{}", if at == 0 { " to=" } else { "," }, set.clear, set.spread)?;
        }
        Ok(())
    }

    fn completion(&mut self, completion: &Completion) -> fmt::Result {
        let arrivals = match completion {
            Completion::InOrder => return write!(self.out, " in_order"),
            Completion::Commit { kind, implicit, awaited, result } => {
                write!(self.out, " commit {}", word(ops::COMMITS, *kind))?;
                self.out.push_str(if *implicit { " implicit" } else { "" });
                self.out.push_str(if *awaited { " awaited" } else { "" });
                return if *result > 0 { write!(self.out, " result={result}") } else { Ok(()) };
            }
            Completion::Transaction(arrivals) => {
                self.out.push_str(" transaction");
                arrivals
            }
            Completion::Frontier(arrivals) => {
                self.out.push_str(" frontier");
                arrivals
            }
            Completion::InTurn(arrivals) => {
                self.out.push_str(" in_turn");
                arrivals
            }
        };
        for arrival in arrivals {
            write!(self.out, " [%{} count={} bytes={}", arrival.barrier.0, arrival.count, arrival.bytes)?;
            self.recipients(&arrival.to)?;
            if let Some(predicate) = arrival.predicate {
                write!(self.out, " if %{}", predicate.0)?;
            }
            self.out.push(']');
        }
        Ok(())
    }

    fn target(&mut self, target: &JumpTarget) -> fmt::Result {
        write!(self.out, "b{}(", target.block.0)?;
        for (at, arg) in target.args.iter().enumerate() {
            write!(self.out, "{}%{}", if at == 0 { "" } else { ", " }, arg.0)?;
        }
        self.out.push(')');
        Ok(())
    }

    fn terminator(&mut self, terminator: &Terminator) -> fmt::Result {
        match terminator {
            Terminator::Jump(target) => {
                self.out.push_str("jump ");
                self.target(target)
            }
            Terminator::Branch(condition, yes, no) => {
                write!(self.out, "branch %{} ", condition.0)?;
                self.target(yes)?;
                self.out.push(' ');
                self.target(no)
            }
            Terminator::Fork(fork) => {
                write!(self.out, "@{} fork ", fork.site.0)?;
                self.target(&fork.default)?;
                for (number, target) in &fork.partitions {
                    write!(self.out, " {number}:")?;
                    self.target(target)?;
                }
                Ok(())
            }
            Terminator::Join(site, target) => {
                write!(self.out, "@{} join ", site.0)?;
                self.target(target)
            }
            Terminator::Exit(site) => write!(self.out, "@{} exit", site.0),
            Terminator::Return(site) => write!(self.out, "@{} return", site.0),
        }
    }
}
