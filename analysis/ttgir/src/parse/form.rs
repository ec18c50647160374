//! Custom forms, step by step, and the generic form.

use super::op::Draft;
use super::{Parsed, Parser};
use crate::ids::{AttrId, Slice};
use dialects::{Arity, Cf, FormPiece, FormStep, GroupRef, OpCode, OpSyntax};

impl Parser<'_> {
    /// Follows the steps of a form.
    pub(super) fn steps(&mut self, d: &mut Draft, steps: &'static [FormStep]) -> Parsed {
        for (at, step) in steps.iter().enumerate() {
            match step {
                FormStep::Maybe(then, other) => {
                    if self.begins(d, then, &steps[at + 1..]) {
                        self.steps(d, then)?;
                    } else {
                        self.steps(d, other)?;
                    }
                }
                FormStep::AnyOrder(clauses) => {
                    let mut done = 0u32;
                    while let Some(n) = (0..clauses.len())
                        .find(|&n| done & (1 << n) == 0 && self.begins(d, &clauses[n], &steps[at + 1..]))
                    {
                        done |= 1 << n;
                        self.steps(d, &clauses[n])?;
                    }
                }
                _ => self.step(d, step)?,
            }
        }
        Ok(())
    }

    /// Whether the text goes on with these steps.
    fn begins(&self, d: &Draft, steps: &'static [FormStep], rest: &[FormStep]) -> bool {
        match steps {
            [FormStep::Punct(p), FormStep::Types(GroupRef::Operand(g), _), ..] => {
                // A variadic group without operands has no types, so the comma is another's.
                let many = d.spec.is_some_and(|spec| spec.operands[*g as usize].arity == Arity::Many);
                self.at_punct(p) && !(many && d.groups[*g as usize].len == 0)
            }
            [FormStep::Punct(p), FormStep::Word(w), ..] => {
                let after = self.skip_trivia(self.pos + p.len());
                self.at_punct(p) && self.slice(after, self.word_end(after)) == *w
            }
            [FormStep::Punct(p), ..] => self.at_punct(p),
            [FormStep::Word(w), ..] => self.peek_word() == *w,
            [FormStep::Operands(_), ..] => self.peek() == b'%' && !(self.newline && self.at_op_start()),
            [FormStep::Attr(_), ..] => {
                let word = self.peek_word();
                let taken = rest.iter().any(|step| match step {
                    FormStep::Maybe(then, _) => matches!(then.first(), Some(FormStep::Word(w)) if *w == word),
                    FormStep::Word(w) => *w == word,
                    _ => false,
                });
                !word.is_empty() && !taken && word != "loc" && !self.newline
            }
            [FormStep::Dict(None), ..] => self.peek() == b'{',
            _ => false,
        }
    }

    pub(super) fn at_punct(&self, p: &str) -> bool {
        self.src[self.pos..].starts_with(p.as_bytes())
    }

    fn step(&mut self, d: &mut Draft, step: &'static FormStep) -> Parsed {
        match step {
            FormStep::Punct(p) => {
                if !self.at_punct(p) {
                    return Err(self.expected(&format!("`{p}`")));
                }
                self.bump(p.len());
            }
            FormStep::Word(w) => self.expect_word(w)?,
            FormStep::Operands(g) => {
                let first = d.uses.len();
                match d.spec.map(|spec| spec.operands[*g as usize].arity) {
                    Some(Arity::Many) => self.operands(d)?,
                    // MLIR takes `%a, :` where an optional operand may follow the comma.
                    Some(Arity::Maybe) if self.peek() != b'%' => {}
                    _ => self.operand(d)?,
                }
                d.fill(*g, first);
            }
            FormStep::Attr(name) => {
                let attr = self.inline_attr()?;
                self.name_attr(&mut d.attrs, name, attr);
            }
            FormStep::Unit(name) => {
                let attr = self.attr_since(self.last_token_start());
                self.name_attr(&mut d.attrs, name, attr);
            }
            FormStep::Dict(None) => {
                if self.peek() == b'{' {
                    self.dict(&mut d.attrs)?;
                }
            }
            FormStep::Dict(Some(word)) => {
                if self.eat_word(word) {
                    self.dict(&mut d.attrs)?;
                }
            }
            FormStep::Types(group, stripped) => self.group_types(d, *group, *stripped)?,
            FormStep::AllOperands => {
                d.all_operands = Some(self.type_list()?);
            }
            FormStep::AllResults => {
                d.all_results = Some(self.type_list()?);
            }
            FormStep::Function => {
                let (inputs, results) = self.function_type()?;
                d.all_operands = Some(inputs);
                d.all_results = Some(results);
            }
            FormStep::Piece(piece) => self.piece(d, *piece)?,
            FormStep::Maybe(..) | FormStep::AnyOrder(_) => {}
        }
        Ok(())
    }

    /// Start of the word that was just taken.
    fn last_token_start(&self) -> usize {
        let mut at = self.last_end;
        while at > 0 && super::cursor::is_word(self.byte(at - 1)) {
            at -= 1;
        }
        at
    }

    fn group_types(&mut self, d: &mut Draft, group: GroupRef, stripped: bool) -> Parsed {
        let Some(spec) = d.spec else { return Ok(()) };
        match group {
            GroupRef::Operand(g) => {
                let count = d.groups[g as usize].len;
                match spec.operands[g as usize].arity {
                    Arity::One => {
                        let ty = self.maybe_stripped(stripped)?;
                        d.operand_types.push((g, ty));
                    }
                    // MLIR takes the type of an optional operand that is not there.
                    Arity::Maybe if count == 0 && self.at_type() => {
                        self.maybe_stripped(stripped)?;
                    }
                    _ => {
                        for n in 0..count {
                            if n > 0 {
                                self.expect(b',')?;
                            }
                            let ty = self.maybe_stripped(stripped)?;
                            d.operand_types.push((g, ty));
                        }
                    }
                }
            }
            GroupRef::Result(g) => {
                if spec.results[g as usize].arity != Arity::Many || self.at_type() {
                    let ty = self.maybe_stripped(stripped)?;
                    d.result_types.push((g, ty));
                    while spec.results[g as usize].arity == Arity::Many && self.eat(b',') {
                        let ty = self.maybe_stripped(stripped)?;
                        d.result_types.push((g, ty));
                    }
                }
            }
        }
        Ok(())
    }

    fn maybe_stripped(&mut self, stripped: bool) -> Parsed<super::TypeId> {
        if stripped { self.trailer_type() } else { self.ty() }
    }

    /// `a, b`, or nothing.
    pub(super) fn type_list(&mut self) -> Parsed<Vec<super::TypeId>> {
        let mut types = Vec::new();
        if self.at_type() && !(self.newline && self.at_op_start()) {
            types.push(self.ty()?);
            while self.eat(b',') {
                types.push(self.ty()?);
            }
        }
        Ok(types)
    }

    fn piece(&mut self, d: &mut Draft, piece: FormPiece) -> Parsed {
        match piece {
            FormPiece::Token(g) => {
                let first = d.uses.len();
                if self.eat(b'[') {
                    d.token = true;
                    if self.peek() == b'%' {
                        self.operand(d)?;
                    }
                    self.expect(b']')?;
                }
                d.fill(g, first);
                Ok(())
            }
            FormPiece::Barriers(values, preds) => self.pairs(d, values, preds, |p| p.eat(b',')),
            FormPiece::Tokens(values, preds) => self.pairs(d, values, preds, |p| p.eat_word("nvws_token")),
            FormPiece::Pointer(g) => {
                if self.at_punct("!tt.ptr") {
                    let ty = self.ty()?;
                    d.operand_types.push((g, ty));
                    if !self.at_punct("->") {
                        return Err(self.expected("`->`"));
                    }
                    self.bump(2);
                }
                Ok(())
            }
            FormPiece::Named => {
                d.token = !d.names.is_empty();
                Ok(())
            }
            FormPiece::Offsets(name) => {
                let start = self.pos;
                while self.peek() != b']' {
                    let end = self.number_end(self.pos);
                    if end == self.pos {
                        return Err(self.expected("an offset"));
                    }
                    self.bump(end - self.pos);
                    if !self.eat(b',') {
                        break;
                    }
                }
                let list = format!("array<i32: {}>", self.slice(start, self.last_end.max(start)));
                let attr = self.store.make(&list);
                self.name_attr(&mut d.attrs, name, attr);
                Ok(())
            }
        }
    }

    /// `value[pred]` behind each lead-in; all values come first in the definition's order.
    fn pairs(&mut self, d: &mut Draft, values: u8, preds: u8, lead: impl Fn(&mut Self) -> bool) -> Parsed {
        let first = d.uses.len();
        while lead(self) {
            self.operand(d)?;
            self.expect(b'[')?;
            self.operand(d)?;
            self.expect(b']')?;
        }
        let written = d.uses[first..].to_vec();
        let half = written.len() / 2;
        for (at, used) in written.into_iter().enumerate() {
            d.uses[first + at / 2 + half * (at % 2)] = used;
        }
        d.groups[values as usize] = Slice::since(first, first + half);
        d.groups[preds as usize] = Slice::since(first + half, first + 2 * half);
        d.grouped = true;
        Ok(())
    }

    /// `(operands)[successors] <{properties}> ({regions}) {attributes} : (types) -> types`.
    pub(super) fn generic_form(&mut self, d: &mut Draft) -> Parsed {
        self.expect(b'(')?;
        self.operands(d)?;
        self.expect(b')')?;
        if self.eat(b'[') {
            loop {
                self.successor(d)?;
                if !self.eat(b',') {
                    break;
                }
            }
            self.expect(b']')?;
        }
        if self.peek() == b'<' && self.byte(self.pos + 1) == b'{' {
            self.bump(1);
            self.dict(&mut d.attrs)?;
            self.expect(b'>')?;
        }
        if self.peek() == b'(' {
            self.bump(1);
            self.end_header(d);
            let isolated = d.spec.is_some_and(|spec| spec.isolated);
            loop {
                let region = self.region(d.op, isolated, &[])?;
                self.drop_empty_block(region);
                d.regions.push(region);
                if !self.eat(b',') {
                    break;
                }
            }
            self.expect(b')')?;
        }
        if self.peek() == b'{' {
            self.dict(&mut d.attrs)?;
        }
        self.expect(b':')?;
        let (inputs, results) = self.function_type()?;
        if let Some(spec) = d.spec {
            self.group_by_sizes(d, spec);
            give_targets(d, spec);
        } else if inputs.len() == d.uses.len() {
            d.uses.iter_mut().zip(&inputs).for_each(|(used, &ty)| used.ty = ty);
        } else {
            let range = self.here();
            let message =
                format!("the operands and their types differ in number: {} and {}", d.uses.len(), inputs.len());
            self.errors.push(super::SyntaxError::new(range, "operand-count", message));
        }
        d.all_operands = Some(inputs);
        d.all_results = Some(results);
        Ok(())
    }

    /// Splits the operands of a generic form into groups.
    fn group_by_sizes(&mut self, d: &mut Draft, spec: &'static OpSyntax) {
        let total = d.uses.len();
        let sizes: Vec<usize> = match self.segment_sizes(d) {
            Some(sizes) => sizes,
            None => {
                let ones = spec.operands.iter().filter(|g| g.arity == Arity::One).count();
                let mut spare = total.saturating_sub(ones);
                let size = |arity: Arity| match arity {
                    Arity::One => 1,
                    Arity::Maybe => std::mem::take(&mut spare).min(1),
                    Arity::Many => std::mem::take(&mut spare),
                };
                spec.operands.iter().map(|g| g.arity).map(size).collect()
            }
        };
        if sizes.len() != spec.operands.len() || sizes.iter().sum::<usize>() != total {
            return;
        }
        let mut first = 0;
        for (g, size) in sizes.into_iter().enumerate() {
            d.groups[g] = Slice::since(first, first + size);
            first += size;
        }
        d.grouped = true;
    }

    fn segment_sizes(&self, d: &Draft) -> Option<Vec<usize>> {
        let names = ["operandSegmentSizes", "operand_segment_sizes"];
        let is_sizes = |attr: &&super::super::store::Named| names.contains(&self.store.names.get(attr.name));
        let attr: AttrId = d.attrs.iter().find(is_sizes)?.attr;
        let (_, list) = self.attr_source(attr).split_once(':')?;
        list.trim_end_matches('>').split(',').map(|n| n.trim().parse().ok()).collect()
    }
}

/// The generic form lists operands before the labels; says which of them each target gets.
fn give_targets(d: &mut Draft, spec: &'static OpSyntax) {
    let first = match spec.code {
        OpCode::Cf(Cf::Br) => 0,
        OpCode::Cf(Cf::CondBr) => 1,
        _ => return,
    };
    for (succ, uses) in d.succs.iter_mut().zip(d.groups.iter().skip(first)) {
        succ.uses = *uses;
    }
}
