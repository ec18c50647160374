//! Values, effects and terminators of a block.

use super::cursor::Cursor;
use super::cursor::TextError;
use super::lex::Kind;
use super::ops;
use super::parse::Parser;
use crate::{
    Access, Arrival, Completion, CtaSet, Effect, EffectId, EffectKind, Fork, Instr, Pure, Recipients, SiteId,
    Terminator, Var, ViewOp, Width, WordAccess,
};
use base::TextRange;

impl<'a> Parser<'a> {
    pub(super) fn value(&mut self, cursor: &mut Cursor<'a, '_>, dst: Var) -> Result<Instr, TextError> {
        let word = cursor.words().next();
        match word {
            Some("clc_load") => return Ok(Instr::Effect(self.clc_load(cursor, dst)?)),
            Some("read_phase") => return Ok(Instr::Effect(self.read_phase(cursor, dst)?)),
            _ => {}
        }
        let op = cursor.token(Kind::Word, "an operation")?;
        if let Some((_, make)) = ops::BINARY.iter().find(|(word, _)| *word == op.text) {
            let width = width(cursor)?;
            return Ok(Instr::Let(dst, make(width, self.var(cursor)?, self.var(cursor)?)));
        }
        let pure = match op.text {
            "base" => return Ok(Instr::Base(dst, self.buffer(cursor)?)),
            "index" => {
                let src = self.var(cursor)?;
                cursor.expect("at")?;
                cursor.expect("=")?;
                let index = self.var(cursor)?;
                let (stride, count) = (cursor.field("stride")?, cursor.field("count")?);
                return Ok(Instr::View { dst, src, op: ViewOp::Index { index, stride, count } });
            }
            "shift" => {
                let src = self.var(cursor)?;
                return Ok(Instr::View { dst, src, op: ViewOp::Shift(cursor.field("bits")?) });
            }
            "remote" => {
                let src = self.var(cursor)?;
                cursor.expect("cta")?;
                cursor.expect("=")?;
                return Ok(Instr::View { dst, src, op: ViewOp::Remote(self.var(cursor)?) });
            }
            "word" => {
                let (view, otherwise) = (self.var(cursor)?, self.var(cursor)?);
                return Ok(Instr::Word(WordAccess::Read { dst, view, otherwise }));
            }
            "claim" => {
                let (otherwise, by) = (self.var(cursor)?, self.var(cursor)?);
                return Ok(Instr::Word(WordAccess::Claim { dst, otherwise, by }));
            }
            "const" => Pure::Const(cursor.number()?),
            "input" => Pure::Input(self.input(cursor)?),
            "copy" => Pure::Copy(self.var(cursor)?),
            "cmp" => {
                let (op, width) = (cursor.word(ops::COMPARES)?, width(cursor)?);
                Pure::Cmp(op, width, self.var(cursor)?, self.var(cursor)?)
            }
            "select" => Pure::Select(self.var(cursor)?, self.var(cursor)?, self.var(cursor)?),
            "ext_s" => Pure::ExtS(width(cursor)?, width(cursor)?, self.var(cursor)?),
            "ext_u" => Pure::ExtU(width(cursor)?, width(cursor)?, self.var(cursor)?),
            "trunc" => Pure::Trunc(width(cursor)?, self.var(cursor)?),
            "load" => Pure::Load(self.input(cursor)?, self.var(cursor)?),
            other => return cursor.error(format!("unknown operation `{other}`")),
        };
        Ok(Instr::Let(dst, pure))
    }

    pub(super) fn stored_word(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<Instr, TextError> {
        cursor.expect("word")?;
        let view = self.var(cursor)?;
        cursor.expect("=")?;
        Ok(Instr::Word(WordAccess::Write { view, value: self.var(cursor)? }))
    }

    /// `None` where the line is an effect; then nothing is consumed.
    pub(super) fn terminator(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<Option<Terminator>, TextError> {
        let word = cursor.words().next().unwrap_or("");
        Ok(Some(match word {
            "jump" => {
                cursor.expect("jump")?;
                Terminator::Jump(self.target(cursor)?)
            }
            "branch" => {
                cursor.expect("branch")?;
                Terminator::Branch(self.var(cursor)?, self.target(cursor)?, self.target(cursor)?)
            }
            "fork" => {
                let site = self.site(cursor)?;
                cursor.expect("fork")?;
                let default = self.target(cursor)?;
                let mut partitions = Vec::new();
                while cursor.peek().is_some() {
                    let number = cursor.number()?;
                    cursor.expect(":")?;
                    partitions.push((number, self.target(cursor)?));
                }
                Terminator::Fork(Fork { site, default, partitions })
            }
            "join" => {
                let site = self.site(cursor)?;
                cursor.expect("join")?;
                Terminator::Join(site, self.target(cursor)?)
            }
            "exit" => {
                let site = self.site(cursor)?;
                cursor.expect("exit")?;
                Terminator::Exit(site)
            }
            "return" => {
                let site = self.site(cursor)?;
                cursor.expect("return")?;
                Terminator::Return(site)
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn effect(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<EffectId, TextError> {
        let site = self.site(cursor)?;
        let kind = self.effect_kind(cursor, site)?;
        self.effect_end(cursor, site, kind)
    }

    fn clc_load(&mut self, cursor: &mut Cursor<'a, '_>, dst: Var) -> Result<EffectId, TextError> {
        let site = self.site(cursor)?;
        cursor.expect("clc_load")?;
        let source = self.access(cursor, site)?;
        self.effect_end(cursor, site, EffectKind::ClcLoad { source, dst })
    }

    fn read_phase(&mut self, cursor: &mut Cursor<'a, '_>, dst: Var) -> Result<EffectId, TextError> {
        let site = self.site(cursor)?;
        cursor.expect("read_phase")?;
        let barrier = self.barrier(cursor, site)?;
        self.effect_end(cursor, site, EffectKind::ReadPhase { barrier, dst })
    }

    /// The predicate and the leaders, which end every effect.
    fn effect_end(
        &mut self,
        cursor: &mut Cursor<'a, '_>,
        site: SiteId,
        kind: EffectKind,
    ) -> Result<EffectId, TextError> {
        let predicate = if cursor.accept("if") { Some(self.var(cursor)?) } else { None };
        let leaders = if cursor.words().next() == Some("leaders") { cursor.field("leaders")? } else { 0 };
        let id = EffectId(self.kernel.effects.len() as u32);
        self.kernel.effects.push(Effect { site, predicate, leaders, kind });
        Ok(id)
    }

    fn effect_kind(&mut self, cursor: &mut Cursor<'a, '_>, site: SiteId) -> Result<EffectKind, TextError> {
        let op = cursor.token(Kind::Word, "an effect")?;
        Ok(match op.text {
            "alloc" => EffectKind::Allocate(self.buffer(cursor)?),
            "op" => self.operation(cursor, site)?,
            "init" => EffectKind::Init { barrier: self.barrier(cursor, site)?, count: cursor.field("count")? },
            "invalidate" => EffectKind::Invalidate { barrier: self.barrier(cursor, site)? },
            "expect" => EffectKind::Expect {
                barrier: self.barrier(cursor, site)?,
                bytes: cursor.field("bytes")?,
                to: self.recipients(cursor)?,
            },
            "arrive" => EffectKind::Arrive {
                barrier: self.barrier(cursor, site)?,
                count: cursor.field("count")?,
                to: self.recipients(cursor)?,
            },
            "wait" => {
                let barrier = self.barrier(cursor, site)?;
                cursor.expect("phase")?;
                cursor.expect("=")?;
                EffectKind::Wait { barrier, phase: self.var(cursor)? }
            }
            "tensor_core_commit" => {
                EffectKind::TensorCoreCommit { barrier: self.barrier(cursor, site)?, to: self.recipients(cursor)? }
            }
            "async_copy_arrive" => EffectKind::AsyncCopyArrive {
                barrier: self.barrier(cursor, site)?,
                increments: cursor.accept("increments"),
                to: self.recipients(cursor)?,
            },
            "commit" => EffectKind::Commit(cursor.word(ops::COMMITS)?),
            "wait_group" => {
                EffectKind::WaitGroup { kind: cursor.word(ops::COMMITS)?, pending: cursor.field("pending")? }
            }
            "use" => EffectKind::Use { of: self.var(cursor)? },
            "proxy_fence" => EffectKind::ProxyFence,
            "cluster_arrive" => EffectKind::ClusterArrive { relaxed: cursor.accept("relaxed") },
            "cluster_wait" => EffectKind::ClusterWait,
            "named_arrive" => {
                let id = self.var(cursor)?;
                cursor.expect("threads")?;
                cursor.expect("=")?;
                EffectKind::NamedArrive { id, threads: self.var(cursor)? }
            }
            "named_wait" => EffectKind::NamedWait { id: self.var(cursor)? },
            "unmodelled" => EffectKind::Unmodelled,
            other => return cursor.error(format!("unknown effect `{other}`")),
        })
    }

    fn operation(&mut self, cursor: &mut Cursor<'a, '_>, site: SiteId) -> Result<EffectKind, TextError> {
        let issuer = cursor.word(ops::ISSUERS)?;
        let mut accesses = Vec::new();
        while cursor.words().nth(1) == Some("=") {
            accesses.push(self.access(cursor, site)?);
        }
        let completion = self.completion(cursor, site)?;
        Ok(EffectKind::Operation { issuer, accesses, completion })
    }

    fn access(&mut self, cursor: &mut Cursor<'a, '_>, site: SiteId) -> Result<Access, TextError> {
        let operand = cursor.word(ops::OPERANDS)?;
        cursor.expect("=")?;
        let mode = cursor.word(ops::MODES)?;
        cursor.expect(":")?;
        let proxy = cursor.word(ops::PROXIES)?;
        cursor.expect(":")?;
        let (view, range) = self.var_at(cursor)?;
        self.role(site, operand, range);
        let (mut clears, mut ctas) = (false, CtaSet::OWN);
        while cursor.accept(":") {
            if cursor.accept("clears") {
                clears = true;
            } else {
                cursor.expect("ctas")?;
                cursor.expect("=")?;
                ctas = cta_set(cursor)?;
            }
        }
        Ok(Access { view, mode, proxy, operand, clears, ctas })
    }

    fn recipients(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<Recipients, TextError> {
        if !cursor.accept("to") {
            return Ok(Recipients::own());
        }
        cursor.expect("=")?;
        let mut to = Recipients::one(cta_set(cursor)?);
        while cursor.accept(",") {
            to.0.push(cta_set(cursor)?);
        }
        Ok(to)
    }

    fn completion(&mut self, cursor: &mut Cursor<'a, '_>, site: SiteId) -> Result<Completion, TextError> {
        let op = cursor.token(Kind::Word, "a completion")?;
        Ok(match op.text {
            "in_order" => Completion::InOrder,
            "commit" => Completion::Commit {
                kind: cursor.word(ops::COMMITS)?,
                implicit: cursor.accept("implicit"),
                awaited: cursor.accept("awaited"),
                result: if cursor.accept("result") {
                    cursor.expect("=")?;
                    cursor.number()?
                } else {
                    0
                },
            },
            "transaction" => Completion::Transaction(self.arrivals(cursor, site)?),
            "frontier" => Completion::Frontier(self.arrivals(cursor, site)?),
            "in_turn" => Completion::InTurn(self.arrivals(cursor, site)?),
            other => return cursor.error(format!("unknown completion `{other}`")),
        })
    }

    fn arrivals(&mut self, cursor: &mut Cursor<'a, '_>, site: SiteId) -> Result<Vec<Arrival>, TextError> {
        let mut arrivals = Vec::new();
        while cursor.accept("[") {
            let barrier = self.barrier(cursor, site)?;
            let (count, bytes) = (cursor.field("count")?, cursor.field("bytes")?);
            let to = self.recipients(cursor)?;
            let predicate = if cursor.accept("if") { Some(self.var(cursor)?) } else { None };
            cursor.expect("]")?;
            arrivals.push(Arrival { barrier, predicate, count, bytes, to });
        }
        Ok(arrivals)
    }

    fn barrier(&mut self, cursor: &mut Cursor<'a, '_>, site: SiteId) -> Result<Var, TextError> {
        let (var, range) = self.var_at(cursor)?;
        self.role(site, "barrier", range);
        Ok(var)
    }

    fn role(&mut self, site: SiteId, role: &str, range: TextRange) {
        if let Some(site) = self.map.sites.get_mut(site.index()) {
            site.operands.push((role.to_owned(), range));
        }
    }
}

/// `CLEAR:SPREAD`
fn cta_set(cursor: &mut Cursor<'_, '_>) -> Result<CtaSet, TextError> {
    let clear = cursor.number()?;
    cursor.expect(":")?;
    Ok(CtaSet { clear, spread: cursor.number()? })
}

fn width(cursor: &mut Cursor<'_, '_>) -> Result<Width, TextError> {
    let bits = cursor.peek().and_then(|token| token.text.strip_prefix('w')?.parse::<u8>().ok());
    match bits.filter(|bits| (1..=64).contains(bits)) {
        Some(bits) => {
            cursor.skip();
            Ok(Width(bits))
        }
        None => cursor.error("expected a width, `w1` to `w64`"),
    }
}
