//! Text to kernel, with a source map into the text.

use rustc_hash::FxHashMap;

use super::cursor::{Cursor, Line, TextError, split};
use super::lex::{Kind, Token};
use super::ops;
use crate::{
    Block, BlockId, Buffer, BufferId, Dim, Input, InputId, Instr, JumpTarget, Kernel, LoopId, LoopInfo, Lowered,
    Partition, Shape, ShapeId, Site, SiteId, SourceMap, Terminator, Var, VarInfo, VarKind,
};
use base::TextRange;

/// Reads a kernel; the source map points into `text`, a site an effect line.
pub fn parse(text: &str) -> Result<Lowered, TextError> {
    let mut parser = Parser::new();
    let lines = split(text)?;
    parser.declare(&lines);
    for line in &lines {
        let mut cursor = Cursor { tokens: &line.tokens, at: 0, line };
        parser.line(&mut cursor)?;
        cursor.end()?;
    }
    parser.finish(&lines)
}

pub(super) struct Parser<'a> {
    pub(super) kernel: Kernel,
    pub(super) map: SourceMap,
    names: FxHashMap<(Class, &'a str), u32>,
    kinds: Vec<Option<VarKind>>,
    open: Option<Block>,
    next_site: u32,
    entry: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Class {
    Var,
    Buffer,
    Shape,
    Input,
    Block,
    Loop,
}

impl<'a> Parser<'a> {
    fn new() -> Parser<'a> {
        let kernel = Kernel::empty();
        Parser {
            kernel,
            map: SourceMap { kernel: "kernel".to_owned(), ..SourceMap::default() },
            names: FxHashMap::default(),
            kinds: Vec::new(),
            open: None,
            next_site: 0,
            entry: None,
        }
    }

    /// Numbers every declared name, so that jumps may go forward.
    fn declare(&mut self, lines: &[Line<'a>]) {
        let mut counts = [0u32; 5];
        let mut vars: Vec<&'a str> = Vec::new();
        for line in lines {
            let [first, rest @ ..] = line.tokens.as_slice() else { continue };
            let class = match (first.kind, first.text) {
                (Kind::Word, "buffer") => Some((Class::Buffer, 0)),
                (Kind::Word, "shape") => Some((Class::Shape, 1)),
                (Kind::Word, "input") => Some((Class::Input, 2)),
                (Kind::Word, "block") => Some((Class::Block, 3)),
                (Kind::Word, "loop") => Some((Class::Loop, 4)),
                _ => None,
            };
            if let (Some((class, slot)), Some(name)) = (class, rest.first()) {
                self.names.entry((class, name.text)).or_insert(counts[slot]);
                counts[slot] += 1;
            }
            match (first.kind, first.text) {
                (Kind::Var, name) => vars.push(name),
                (Kind::Word, "block") => {
                    vars.extend(rest.iter().filter(|token| token.kind == Kind::Var).map(|token| token.text));
                }
                (Kind::Site, number) => {
                    self.next_site = self.next_site.max(number.parse::<u32>().map_or(0, |site| site.saturating_add(1)));
                }
                (Kind::Word, "loop") => {
                    let site =
                        rest.iter().find(|token| token.kind == Kind::Site).and_then(|site| site.text.parse().ok());
                    self.next_site = self.next_site.max(site.map_or(0, |site: u32| site.saturating_add(1)));
                }
                _ => {}
            }
        }
        let literal = vars.iter().all(|name| name.parse::<u16>().is_ok());
        for (at, name) in vars.iter().enumerate() {
            let number = if literal { name.parse().unwrap_or(at as u32) } else { at as u32 };
            self.names.entry((Class::Var, name)).or_insert(number);
        }
    }

    fn lookup(&self, cursor: &Cursor<'a, '_>, class: Class, name: &str) -> Result<u32, TextError> {
        match self.names.get(&(class, name)) {
            Some(&number) => Ok(number),
            None => cursor.error(format!("no such {}: `{name}`", format!("{class:?}").to_lowercase())),
        }
    }

    fn named(&self, cursor: &mut Cursor<'a, '_>, class: Class) -> Result<(u32, Token<'a>), TextError> {
        let kind = match class {
            Class::Var => Kind::Var,
            Class::Buffer => Kind::Buffer,
            _ => Kind::Word,
        };
        let what = format!("a {}", format!("{class:?}").to_lowercase());
        let Some(token) = cursor.peek().filter(|token| token.kind == kind) else {
            return cursor.error(format!("expected {what}"));
        };
        let number = self.lookup(cursor, class, token.text)?;
        cursor.at += 1;
        Ok((number, token))
    }

    pub(super) fn var(&self, cursor: &mut Cursor<'a, '_>) -> Result<Var, TextError> {
        Ok(Var(self.named(cursor, Class::Var)?.0))
    }

    pub(super) fn var_at(&self, cursor: &mut Cursor<'a, '_>) -> Result<(Var, TextRange), TextError> {
        let (number, token) = self.named(cursor, Class::Var)?;
        Ok((Var(number), token.range))
    }

    pub(super) fn buffer(&self, cursor: &mut Cursor<'a, '_>) -> Result<BufferId, TextError> {
        Ok(BufferId(self.named(cursor, Class::Buffer)?.0))
    }

    pub(super) fn input(&self, cursor: &mut Cursor<'a, '_>) -> Result<InputId, TextError> {
        Ok(InputId(self.named(cursor, Class::Input)?.0))
    }

    /// `%a` or `%a:s0` where it is defined.
    fn definition(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<Var, TextError> {
        let (var, token) = self.named(cursor, Class::Var)?;
        let kind = if cursor.accept(":") {
            VarKind::View(ShapeId(self.named(cursor, Class::Shape)?.0))
        } else {
            VarKind::Scalar
        };
        let at = var as usize;
        if self.kinds.len() <= at {
            self.kinds.resize(at + 1, None);
            self.map.vars.resize(at + 1, None);
        }
        if self.kinds[at].replace(kind).is_some() {
            return cursor.error(format!("`%{}` is defined twice", token.text));
        }
        self.map.vars[at] = Some(format!("%{}", token.text));
        Ok(Var(var))
    }

    fn line(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<(), TextError> {
        let Some(first) = cursor.peek() else { return Ok(()) };
        match (first.kind, first.text) {
            (Kind::Word, "kernel") => self.kernel_line(cursor),
            (Kind::Word, "partition") => {
                cursor.at += 1;
                let number = self.kernel.partitions.len();
                let label = if number == 0 { "default".to_owned() } else { format!("partition{}", number - 1) };
                self.map.partitions.push((label, first.range));
                let warps = if cursor.peek().is_some() { Some(cursor.field("warps")?) } else { None };
                self.kernel.partitions.push(Partition { warps });
                Ok(())
            }
            (Kind::Word, "buffer") => self.buffer_line(cursor),
            (Kind::Word, "shape") => self.shape_line(cursor),
            (Kind::Word, "input") => self.input_line(cursor),
            (Kind::Word, "loop") => self.loop_line(cursor),
            (Kind::Word, "block") => self.block_line(cursor),
            _ => self.body_line(cursor),
        }
    }

    fn kernel_line(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<(), TextError> {
        cursor.at += 1;
        self.map.kernel_range = cursor.line.range;
        self.kernel.ctas = cursor.field("ctas")?;
        if cursor.accept("entry") {
            cursor.expect("=")?;
            self.entry = Some(self.named(cursor, Class::Block)?.0);
        }
        Ok(())
    }

    fn buffer_line(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<(), TextError> {
        cursor.at += 1;
        let name = cursor.token(Kind::Buffer, "`$name`")?;
        let space = cursor.word(ops::SPACES)?;
        let bits = cursor.field("bits")?;
        let slot_bits =
            if cursor.peek().is_some_and(|token| token.text == "slot") { cursor.field("slot")? } else { bits };
        let start =
            if cursor.peek().is_some_and(|token| token.text == "start") { Some(cursor.field("start")?) } else { None };
        let barriers = cursor.accept("barriers");
        self.map.buffers.push((format!("%{}", name.text), name.range));
        self.kernel.buffers.push(Buffer { space, bits, start, barriers, slot_bits });
        Ok(())
    }

    fn shape_line(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<(), TextError> {
        cursor.at += 1;
        cursor.token(Kind::Word, "a name")?;
        let element = cursor.field("element")?;
        cursor.expect("dims")?;
        cursor.expect("=")?;
        let mut dims = Vec::new();
        while cursor.peek().is_some_and(|token| token.text != "inexact") {
            let size = cursor.number()?;
            cursor.expect(":")?;
            dims.push(Dim { size, stride: cursor.number()? });
            if !cursor.accept(",") {
                break;
            }
        }
        let exact = !cursor.accept("inexact");
        self.kernel.shapes.push(Shape { dims, element, exact });
        Ok(())
    }

    fn input_line(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<(), TextError> {
        cursor.at += 1;
        let name = cursor.token(Kind::Word, "a name")?;
        let word = cursor.token(Kind::Word, "an input kind")?;
        let number =
            if cursor.peek().is_some_and(|token| token.text != "width") { Some(cursor.number()?) } else { None };
        let Some(kind) = ops::input_kind(word.text, number) else { return cursor.error("unknown input kind") };
        let (width, divisor) = (cursor.field("width")?, cursor.field("divisor")?);
        self.map.inputs.push(name.text.to_owned());
        self.kernel.inputs.push(Input { kind, width, divisor });
        Ok(())
    }

    fn loop_line(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<(), TextError> {
        cursor.at += 1;
        cursor.token(Kind::Word, "a name")?;
        let site = self.site(cursor)?;
        cursor.expect("head")?;
        cursor.expect("=")?;
        let head = BlockId(self.named(cursor, Class::Block)?.0);
        let mut counted = None;
        if cursor.accept("counted") {
            cursor.expect("=")?;
            let mut vars = [Var(0); 4];
            for (at, var) in vars.iter_mut().enumerate() {
                if at > 0 {
                    cursor.expect(",")?;
                }
                *var = self.var(cursor)?;
            }
            counted = Some((vars[0], vars[1], vars[2], vars[3]));
        }
        let mut parent = None;
        if cursor.accept("parent") {
            cursor.expect("=")?;
            parent = Some(LoopId(self.named(cursor, Class::Loop)?.0));
        }
        self.kernel.loops.push(LoopInfo { site, head, counted, parent });
        Ok(())
    }

    fn block_line(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<(), TextError> {
        if self.open.is_some() {
            return cursor.error("the block before has no end");
        }
        cursor.at += 1;
        cursor.token(Kind::Word, "a name")?;
        let mut params = Vec::new();
        if cursor.accept("(") {
            while cursor.peek().is_some_and(|token| token.kind == Kind::Var) {
                params.push(self.definition(cursor)?);
                cursor.accept(",");
            }
            cursor.expect(")")?;
        }
        self.open = Some(Block { params, instrs: Vec::new(), terminator: Terminator::Return(SiteId(0)) });
        Ok(())
    }

    fn body_line(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<(), TextError> {
        let Some(mut block) = self.open.take() else { return cursor.error("expected a declaration or a block") };
        if cursor.peek().is_some_and(|token| token.kind == Kind::Var) {
            let dst = self.definition(cursor)?;
            cursor.expect("=")?;
            block.instrs.push(self.value(cursor, dst)?);
            self.open = Some(block);
            return Ok(());
        }
        if cursor.words().next() == Some("word") {
            block.instrs.push(self.stored_word(cursor)?);
            self.open = Some(block);
            return Ok(());
        }
        match self.terminator(cursor)? {
            Some(terminator) => {
                block.terminator = terminator;
                self.kernel.blocks.push(block);
            }
            None => {
                block.instrs.push(Instr::Effect(self.effect(cursor)?));
                self.open = Some(block);
            }
        }
        Ok(())
    }

    /// `@3`, or the next free site, with an entry in the map.
    pub(super) fn site(&mut self, cursor: &mut Cursor<'a, '_>) -> Result<SiteId, TextError> {
        let site = match cursor.peek().filter(|token| token.kind == Kind::Site) {
            Some(token) => match token.text.parse::<u16>() {
                Ok(number) => {
                    cursor.at += 1;
                    SiteId(u32::from(number))
                }
                Err(_) => return cursor.error("expected a site number"),
            },
            None => {
                self.next_site += 1;
                SiteId(self.next_site - 1)
            }
        };
        if self.map.sites.len() <= site.index() {
            self.map.sites.resize(site.index() + 1, Site::default());
        }
        let entry = &mut self.map.sites[site.index()];
        if entry.op.is_empty() {
            let name = cursor.peek();
            entry.op = name.map_or_else(String::new, |token| token.text.to_owned());
            entry.name = name.map_or(cursor.line.range, |token| token.range);
            entry.range = cursor.line.range;
        }
        Ok(site)
    }

    pub(super) fn target(&self, cursor: &mut Cursor<'a, '_>) -> Result<JumpTarget, TextError> {
        let block = BlockId(self.named(cursor, Class::Block)?.0);
        let mut args = Vec::new();
        if cursor.accept("(") {
            while cursor.peek().is_some_and(|token| token.kind == Kind::Var) {
                args.push(self.var(cursor)?);
                cursor.accept(",");
            }
            cursor.expect(")")?;
        }
        Ok(JumpTarget { block, args })
    }

    fn finish(mut self, lines: &[Line<'a>]) -> Result<Lowered, TextError> {
        let line = lines.last().map_or((1, TextRange::default()), |line| (line.number, line.range));
        let error = |message: &str| Err(TextError { line: line.0, range: line.1, message: message.to_owned() });
        if self.open.is_some() || self.kernel.blocks.is_empty() {
            return error("the last block has no end");
        }
        self.kernel.entry = BlockId(self.entry.unwrap_or(0));
        if self.kernel.partitions.is_empty() {
            self.kernel.partitions.push(Partition { warps: Some(4) });
            self.map.partitions.push(("default".to_owned(), TextRange::default()));
        }
        let kinds = self.kinds.iter().map(|kind| VarInfo { kind: kind.unwrap_or(VarKind::Scalar) });
        self.kernel.vars = kinds.collect();
        for block in &self.kernel.blocks {
            for target in block.terminator.targets() {
                let params = self.kernel.blocks[target.block.index()].params.len();
                if params != target.args.len() {
                    return error(&format!(
                        "a jump to block {} has {} of {params} arguments",
                        target.block.0,
                        target.args.len()
                    ));
                }
            }
        }
        Ok(Lowered { kernel: self.kernel, map: self.map, unmodelled: Vec::new() })
    }
}
