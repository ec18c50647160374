//! The forms that are written by hand: control flow with regions, and a few with rules of their
//! own.

use super::op::Draft;
use super::region::Arg;
use super::{Parsed, Parser, SyntaxError};
use crate::ids::{Slice, TypeId};
use base::TextRange;
use dialects::HandWrittenForm;

/// Address spaces of `ttg.barrier`.
const ADDR_SPACES: &[&str] = &["none", "local", "global_read", "global_write", "tensor_read", "tensor_write", "all"];

impl<'t> Parser<'t> {
    pub(super) fn coded(&mut self, d: &mut Draft, code: HandWrittenForm) -> Parsed {
        match code {
            HandWrittenForm::Func => self.func(d),
            HandWrittenForm::Module => self.module(d),
            HandWrittenForm::For => self.scf_for(d),
            HandWrittenForm::If => self.scf_if(d),
            HandWrittenForm::While => self.scf_while(d),
            HandWrittenForm::ExecuteRegion => self.execute_region(d),
            HandWrittenForm::IndexSwitch => self.index_switch(d),
            HandWrittenForm::WarpSpecialize => self.warp_specialize(d),
            HandWrittenForm::Barrier => self.barrier(d),
            HandWrittenForm::WarpGroup => self.warp_group(d),
            HandWrittenForm::SubtiledRegion => self.subtiled_region(d),
            HandWrittenForm::Constant => self.constant(d),
            HandWrittenForm::Select => self.select(d),
            HandWrittenForm::Branch => self.branch(d),
            HandWrittenForm::CondBranch => self.cond_branch(d),
            HandWrittenForm::Switch => self.switch(d),
        }
    }

    /// A region of the operation in hand.
    fn body(&mut self, d: &mut Draft, isolated: bool, args: &[Arg]) -> Parsed {
        self.end_header(d);
        let region = self.region(d.op, isolated, args)?;
        d.regions.push(region);
        Ok(())
    }

    fn optional_dict(&mut self, d: &mut Draft) -> Parsed {
        if self.peek() == b'{' { self.dict(&mut d.attrs) } else { Ok(()) }
    }

    /// The operand that fills a group by itself.
    fn single(&mut self, d: &mut Draft, group: u8) -> Parsed {
        let first = d.uses.len();
        self.operand(d)?;
        d.fill(group, first);
        Ok(())
    }

    /// `module [@name] [attributes {…}] { … }`.
    fn module(&mut self, d: &mut Draft) -> Parsed {
        if self.peek() == b'@' {
            let start = self.pos;
            self.symbol()?;
            let name = self.attr_since(start);
            self.name_attr(&mut d.attrs, "sym_name", name);
        }
        if self.eat_word("attributes") {
            self.dict(&mut d.attrs)?;
        }
        self.body(d, true, &[])
    }

    /// `(%a = %b, …)` behind a keyword: block arguments and the values they start with.
    fn assigned(&mut self, d: &mut Draft, args: &mut Vec<Arg>, group: u8) -> Parsed {
        self.expect(b'(')?;
        let first = d.uses.len();
        while self.peek() != b')' {
            args.push(self.block_arg_name()?);
            self.expect(b'=')?;
            self.operand(d)?;
            if !self.eat(b',') {
                break;
            }
        }
        d.fill(group, first);
        self.expect(b')')
    }

    /// `scf.for [unsigned] %i = %a to %b step %c [iter_args(…) -> (…)] [: type] { … }`.
    fn scf_for(&mut self, d: &mut Draft) -> Parsed {
        let start = self.pos;
        if self.eat_word("unsigned") {
            let attr = self.attr_since(start);
            self.name_attr(&mut d.attrs, "unsignedCmp", attr);
        }
        let mut args = vec![self.block_arg_name()?];
        self.expect(b'=')?;
        self.single(d, 0)?;
        self.expect_word("to")?;
        self.single(d, 1)?;
        self.expect_word("step")?;
        self.single(d, 2)?;
        let mut types = Vec::new();
        if self.eat_word("iter_args") {
            self.assigned(d, &mut args, 3)?;
            if !self.eat_arrow() {
                return Err(self.expected("`->`"));
            }
            let at = self.pos;
            types = if self.peek() == b'(' { self.paren_types()? } else { vec![self.ty()?] };
            self.same_number(at, args.len() - 1, types.len());
        }
        let counter = if self.eat(b':') { self.ty()? } else { self.make_type("index") };
        for used in &mut d.uses[..3] {
            used.ty = counter;
        }
        d.uses[3..].iter_mut().zip(&types).for_each(|(used, &ty)| used.ty = ty);
        args[0].ty = counter;
        args[1..].iter_mut().zip(&types).for_each(|(arg, &ty)| arg.ty = ty);
        d.all_results = Some(types);
        self.body(d, false, &args)?;
        self.optional_dict(d)
    }

    fn same_number(&mut self, at: usize, values: usize, types: usize) {
        if values != types {
            let range = TextRange::new(at as u32, self.last_end as u32);
            let message = format!("{values} values are carried, but there are {types} types");
            self.errors.push(SyntaxError::new(range, "operand-count", message));
        }
    }

    /// `scf.if %c [-> (types)] { … } [else { … }]`.
    fn scf_if(&mut self, d: &mut Draft) -> Parsed {
        self.single(d, 0)?;
        let bool_type = self.make_type("i1");
        d.uses[0].ty = bool_type;
        let mut types = Vec::new();
        if self.eat_arrow() {
            types = if self.peek() == b'(' { self.paren_types()? } else { vec![self.ty()?] };
        }
        d.all_results = Some(types);
        self.body(d, false, &[])?;
        if self.eat_word("else") {
            self.body(d, false, &[])?;
        }
        self.optional_dict(d)
    }

    /// `scf.while (%a = %b, …) : (types) -> types { … } do { … }`.
    fn scf_while(&mut self, d: &mut Draft) -> Parsed {
        let mut args = Vec::new();
        if self.peek() == b'(' {
            self.assigned(d, &mut args, 0)?;
        }
        self.expect(b':')?;
        let at = self.pos;
        let (inputs, results) = self.function_type()?;
        self.same_number(at, args.len(), inputs.len());
        d.uses.iter_mut().zip(&inputs).for_each(|(used, &ty)| used.ty = ty);
        args.iter_mut().zip(&inputs).for_each(|(arg, &ty)| arg.ty = ty);
        d.all_results = Some(results);
        self.body(d, false, &args)?;
        self.expect_word("do")?;
        self.body(d, false, &[])?;
        if self.eat_word("attributes") { self.dict(&mut d.attrs) } else { self.optional_dict(d) }
    }

    /// `scf.execute_region [-> types] [no_inline] { … }`.
    fn execute_region(&mut self, d: &mut Draft) -> Parsed {
        let mut types = Vec::new();
        if self.eat_arrow() {
            types = if self.peek() == b'(' { self.paren_types()? } else { vec![self.ty()?] };
        }
        d.all_results = Some(types);
        let start = self.pos;
        if self.eat_word("no_inline") {
            let attr = self.attr_since(start);
            self.name_attr(&mut d.attrs, "no_inline", attr);
        }
        self.body(d, false, &[])?;
        self.optional_dict(d)
    }

    /// `scf.index_switch %i [{…}] [-> types] case 0 { … } … default { … }`.
    fn index_switch(&mut self, d: &mut Draft) -> Parsed {
        self.single(d, 0)?;
        let index = self.make_type("index");
        d.uses[0].ty = index;
        self.optional_dict(d)?;
        let mut types = Vec::new();
        if self.eat_arrow() {
            types = if self.peek() == b'(' { self.paren_types()? } else { vec![self.ty()?] };
        }
        d.all_results = Some(types);
        while self.eat_word("case") {
            let end = self.number_end(self.pos);
            self.bump(end - self.pos);
            self.body(d, false, &[])?;
        }
        self.expect_word("default")?;
        self.body(d, false, &[])
    }

    /// `ttg.warp_specialize(captures) [attributes {…}] default { … }
    /// partition0(args) num_warps(n) { … } … : (types) -> types`.
    fn warp_specialize(&mut self, d: &mut Draft) -> Parsed {
        self.expect(b'(')?;
        self.operands(d)?;
        d.fill(0, 0);
        self.expect(b')')?;
        if self.eat_word("attributes") {
            self.dict(&mut d.attrs)?;
        }
        self.expect_word("default")?;
        self.body(d, false, &[])?;
        let warps = self.partitions(d, true)?;
        self.name_warps(d, "partitionNumWarps", &warps);
        self.expect(b':')?;
        let (inputs, results) = self.function_type()?;
        d.all_operands = Some(inputs);
        d.all_results = Some(results);
        Ok(())
    }

    /// `nvws.warp_group [attributes {…}] partition0 num_warps(n) { … } … [-> (types)]`.
    fn warp_group(&mut self, d: &mut Draft) -> Parsed {
        if self.eat_word("attributes") {
            self.dict(&mut d.attrs)?;
        }
        let warps = self.partitions(d, false)?;
        self.name_warps(d, "numWarps", &warps);
        if self.at_punct("->") {
            // As from 3.9 on.
            self.bump(2);
            let bracketed = self.eat(b'(');
            d.all_results = Some(self.type_list()?);
            return if bracketed { self.expect(b')') } else { Ok(()) };
        }
        // Before, the results' types are not printed, and MLIR cannot read such an op
        // back: they are what the first region yields.
        let named: u32 = d.names.iter().map(|name| name.count).sum();
        let mut types = self.yielded(d);
        types.resize(named as usize, TypeId::NONE);
        d.all_results = Some(types);
        Ok(())
    }

    /// The types of what the last operation of the first region hands on.
    fn yielded(&self, d: &Draft) -> Vec<TypeId> {
        let store = &self.store;
        let block =
            d.regions.first().and_then(|region| store.regions[region.index()].blocks.of(&store.block_ids).last());
        let last = block.and_then(|block| store.blocks[block.index()].ops.of(&store.op_ids).last());
        let uses = last.map_or(&[][..], |op| store.ops[op.index()].uses.of(&store.uses));
        uses.iter().map(|used| used.ty).collect()
    }

    /// `partitionN[(args)] num_warps(n) { … }` as often as they come; gives the numbers of warps.
    fn partitions(&mut self, d: &mut Draft, isolated: bool) -> Parsed<Vec<&'t str>> {
        let mut warps = Vec::new();
        loop {
            let word = self.peek_word();
            if word != format!("partition{}", warps.len()) {
                return Ok(warps);
            }
            self.bump(word.len());
            let mut args = Vec::new();
            if isolated || self.peek() == b'(' {
                self.block_args(&mut args)?;
            }
            self.expect_word("num_warps")?;
            self.expect(b'(')?;
            let start = self.pos;
            self.integer()?;
            warps.push(self.slice(start, self.last_end));
            self.expect(b')')?;
            self.body(d, isolated, &args)?;
        }
    }

    fn name_warps(&mut self, d: &mut Draft, name: &str, warps: &[&str]) {
        let list = if warps.is_empty() { "array<i32>".to_owned() } else { format!("array<i32: {}>", warps.join(", ")) };
        let attr = self.store.make(&list);
        self.name_attr(&mut d.attrs, name, attr);
    }

    /// The memory that a barrier orders: `ttg.barrier local|global_read`.
    fn barrier(&mut self, d: &mut Draft) -> Parsed {
        let start = self.pos;
        loop {
            let word = self.peek_word();
            if !ADDR_SPACES.contains(&word) {
                return Err(self.expected("an address space"));
            }
            self.bump(word.len());
            if !self.eat(b'|') {
                break;
            }
        }
        let attr = self.attr_since(start);
        self.name_attr(&mut d.attrs, "addrSpace", attr);
        d.all_results = Some(Vec::new());
        self.optional_dict(d)
    }

    /// `ttng.subtiled_region [per_tile(…: …)] [shared(…: …)] {…} tile(args) { … } [-> (types)]`,
    /// and as it is printed, `tile{ ^bb0(args): … }`.
    fn subtiled_region(&mut self, d: &mut Draft) -> Parsed {
        for (group, word) in [(0, "per_tile"), (1, "shared")] {
            let first = d.uses.len();
            if self.eat_word(word) {
                self.expect(b'(')?;
                self.operands(d)?;
                self.expect(b':')?;
                let at = self.pos;
                let types = self.type_list()?;
                self.same_number(at, d.uses.len() - first, types.len());
                d.uses[first..].iter_mut().zip(&types).for_each(|(used, &ty)| used.ty = ty);
                self.expect(b')')?;
            }
            d.groups[group] = Slice::since(first, d.uses.len());
        }
        d.grouped = true;
        self.optional_dict(d)?;
        self.expect_word("tile")?;
        let mut args = Vec::new();
        if self.peek() == b'(' {
            self.block_args(&mut args)?;
        }
        self.body(d, true, &args)?;
        d.all_results = Some(if self.eat_arrow() { self.paren_types()? } else { Vec::new() });
        Ok(())
    }

    /// `arith.constant [{…}] value`.
    fn constant(&mut self, d: &mut Draft) -> Parsed {
        self.optional_dict(d)?;
        let start = self.pos;
        let value = self.attr()?;
        self.name_attr(&mut d.attrs, "value", value);
        let ty = self.constant_type(start);
        d.all_results = Some(vec![ty]);
        Ok(())
    }

    /// The type of the value from `start` to the last token.
    fn constant_type(&mut self, start: usize) -> TypeId {
        let text = self.slice(start, self.last_end);
        if text == "true" || text == "false" {
            return self.make_type("i1");
        }
        let mut rest = text;
        if let Some(end) = rest.find('<').and_then(|at| self.balanced_end(start + at)) {
            // `dense<…> : type`; a number has no bracket before its type.
            if text.starts_with("dense") {
                rest = self.slice(end, self.last_end);
            }
        }
        match rest.split_once(':') {
            Some((_, ty)) => self.make_type(ty.trim()),
            None if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                self.make_type(if text.contains('.') { "f64" } else { "i64" })
            }
            None => TypeId::NONE,
        }
    }

    /// `arith.select %c, %a, %b {…} : [condition type,] type`.
    fn select(&mut self, d: &mut Draft) -> Parsed {
        for group in 0..3 {
            if group > 0 {
                self.expect(b',')?;
            }
            self.single(d, group)?;
        }
        self.optional_dict(d)?;
        self.expect(b':')?;
        let mut condition = self.make_type("i1");
        let mut ty = self.ty()?;
        if self.eat(b',') {
            condition = ty;
            ty = self.ty()?;
        }
        d.uses[0].ty = condition;
        d.uses[1].ty = ty;
        d.uses[2].ty = ty;
        d.all_results = Some(vec![ty]);
        Ok(())
    }

    /// A jump with its arguments: `cf.br ^a(…)`.
    fn branch(&mut self, d: &mut Draft) -> Parsed {
        self.successor(d)?;
        d.fill(0, 0);
        d.all_results = Some(Vec::new());
        self.optional_dict(d)
    }

    /// `cf.cond_br %c [weights([…])], ^a(…), ^b(…)`.
    fn cond_branch(&mut self, d: &mut Draft) -> Parsed {
        self.single(d, 0)?;
        let bool_type = self.make_type("i1");
        d.uses[0].ty = bool_type;
        if self.eat_word("weights") {
            self.loose_brackets()?;
        }
        for group in 1..3 {
            self.expect(b',')?;
            let first = d.uses.len();
            self.successor(d)?;
            d.fill(group, first);
        }
        d.all_results = Some(Vec::new());
        self.optional_dict(d)
    }

    /// `cf.switch %f : type, [ default: ^a(…), 1: ^b(…), … ]`.
    fn switch(&mut self, d: &mut Draft) -> Parsed {
        self.single(d, 0)?;
        self.expect(b':')?;
        let ty = self.ty()?;
        d.uses[0].ty = ty;
        self.expect(b',')?;
        self.expect(b'[')?;
        let mut group = 1;
        let mut first = d.uses.len();
        loop {
            if group == 1 {
                self.expect_word("default")?;
            } else {
                let end = self.number_end(self.pos);
                self.bump(end - self.pos);
            }
            self.expect(b':')?;
            self.successor(d)?;
            d.fill(group, first);
            if group == 1 {
                (group, first) = (2, d.uses.len());
            }
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b']')?;
        d.all_results = Some(Vec::new());
        self.optional_dict(d)
    }
}
