//! Follows the form of an op through the tokens that are typed of it, and says what may come next.

use dialects::{Arity, FormPiece, FormStep, GroupRef, OpForm, OpSyntax, table};
use ttgir::TokenKind;

use super::line::Piece;

/// The syntax of a name; that of the builtin and function dialects also without them in front.
pub(super) fn syntax(name: &str) -> Option<&'static OpSyntax> {
    let row = table().find(name).or_else(|| table().find(&format!("builtin.{name}")));
    row.map(|row| table().row(row))
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// An operand of a group.
    Operand(u8),
    /// An operand of no group in particular.
    AnyOperand,
    /// An attribute that is written in place.
    Attr(&'static str),
    /// A keyword.
    Word(&'static str),
    /// The name of an attribute in the dictionary.
    Key,
    /// The value of an attribute in the dictionary; the number of the token that names it.
    Value(usize),
    /// A type of a group.
    Type(GroupRef),
    /// Any type, or part of one.
    AnyType,
}

/// How far a form was followed.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// What may come next, the likeliest first.
    pub next: Vec<Next>,
    /// The operands that are typed: their group and the number of their token.
    pub operands: Vec<(u8, usize)>,
    /// The part that the last token belongs to.
    pub last: Option<Next>,
}

/// How following a run of steps ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flow {
    /// All of it is there.
    Done,
    /// The tokens end in it.
    End,
    /// It goes on otherwise than the form says.
    Lost,
}

/// Follows the form of `op` through the tokens behind its name.
pub(super) fn follow(op: &'static OpSyntax, pieces: &[Piece<'_>]) -> Progress {
    let mut walk = Walk { op, pieces, at: 0, progress: Progress::default() };
    let flow = match &op.form {
        OpForm::Steps(steps) => walk.steps(steps),
        OpForm::HandWritten(_) | OpForm::Skimmed | OpForm::Generic => Flow::Lost,
    };
    if flow == Flow::Lost {
        walk.progress.next.clear();
        walk.loosely();
    }
    walk.progress
}

struct Walk<'t, 'p> {
    op: &'static OpSyntax,
    pieces: &'p [Piece<'t>],
    at: usize,
    progress: Progress,
}

impl<'t> Walk<'t, '_> {
    fn peek(&self) -> Option<Piece<'t>> {
        self.pieces.get(self.at).copied()
    }

    fn is(&self, text: &str) -> bool {
        self.peek().is_some_and(|piece| piece.text == text)
    }

    fn at_end(&self) -> bool {
        self.at >= self.pieces.len()
    }

    fn expect(&mut self, next: Next) {
        if !self.progress.next.contains(&next) {
            self.progress.next.push(next);
        }
    }

    fn passed(&mut self, part: Next) {
        self.progress.last = Some(part);
    }

    fn steps(&mut self, steps: &'static [FormStep]) -> Flow {
        for (at, step) in steps.iter().enumerate() {
            let rest = steps.get(at + 1..).unwrap_or(&[]);
            let flow = match step {
                FormStep::Maybe(then, other) => self.maybe(then, other, rest),
                FormStep::AnyOrder(clauses) => self.any_order(clauses),
                _ => self.step(step),
            };
            if flow != Flow::Done {
                return flow;
            }
        }
        Flow::Done
    }

    fn maybe(&mut self, then: &'static [FormStep], other: &'static [FormStep], rest: &'static [FormStep]) -> Flow {
        if self.at_end() {
            self.first_of(then);
            self.first_of(other);
            return if other.is_empty() { Flow::Done } else { Flow::End };
        }
        if !self.begins(then) {
            return self.steps(other);
        }
        // `, ` may go on with any of the groups that a comma begins.
        if let [FormStep::Punct(mark), inner @ ..] = then
            && self.at + 1 == self.pieces.len()
        {
            self.at += 1;
            self.first_of(inner);
            for step in rest {
                match step {
                    FormStep::Maybe(then, _) => {
                        if let [FormStep::Punct(other), inner @ ..] = &then[..]
                            && other == mark
                        {
                            self.first_of(inner);
                        }
                    }
                    _ => break,
                }
            }
            if let Some(at) = rest.iter().position(|step| !matches!(step, FormStep::Maybe(..)))
                && let [FormStep::Punct(other), inner @ ..] = rest.get(at..).unwrap_or(&[])
                && other == mark
            {
                self.first_of(inner);
            }
            return Flow::End;
        }
        self.steps(then)
    }

    fn any_order(&mut self, clauses: &'static [Vec<FormStep>]) -> Flow {
        let mut done = 0u32;
        loop {
            if self.at_end() {
                for (at, clause) in clauses.iter().enumerate() {
                    if done & (1 << at) == 0 {
                        self.first_of(clause);
                    }
                }
                return Flow::Done;
            }
            let open = clauses.iter().enumerate().find(|(at, clause)| done & (1 << at) == 0 && self.begins(clause));
            let Some((at, clause)) = open else { return Flow::Done };
            done |= 1 << at;
            match self.steps(clause) {
                Flow::Done => {}
                flow => return flow,
            }
        }
    }

    /// Notes how a run of steps begins.
    fn first_of(&mut self, steps: &'static [FormStep]) {
        match steps.first() {
            Some(FormStep::Operands(group)) => self.expect(Next::Operand(*group)),
            Some(FormStep::Attr(name)) => self.expect(Next::Attr(name)),
            Some(FormStep::Word(word)) => self.expect(Next::Word(word)),
            Some(FormStep::Types(group, _)) => self.expect(Next::Type(*group)),
            Some(FormStep::AllOperands | FormStep::AllResults) => self.expect(Next::AnyType),
            Some(FormStep::Maybe(then, _)) => self.first_of(then),
            Some(FormStep::Dict(Some(word))) => self.expect(Next::Word(word)),
            _ => {}
        }
    }

    /// Whether the tokens go on as a run of steps begins.
    fn begins(&self, steps: &[FormStep]) -> bool {
        let Some(piece) = self.peek() else { return false };
        let behind = self.pieces.get(self.at + 1);
        match steps {
            [FormStep::Punct(mark), FormStep::Word(word), ..] => {
                piece.text == *mark && behind.is_none_or(|behind| behind.text == *word)
            }
            [FormStep::Punct(mark), FormStep::Operands(_), ..] => {
                piece.text == *mark && behind.is_none_or(|behind| behind.kind == TokenKind::Value)
            }
            [FormStep::Punct(mark), ..] => piece.text == *mark,
            [FormStep::Word(word), ..] => piece.text == *word,
            [FormStep::Operands(_), ..] => piece.kind == TokenKind::Value,
            [FormStep::Attr(_), ..] => piece.kind == TokenKind::Word && piece.text != "loc",
            [FormStep::Dict(None), ..] => piece.text == "{",
            _ => false,
        }
    }

    fn step(&mut self, step: &'static FormStep) -> Flow {
        match step {
            FormStep::Punct(mark) => self.literal(mark),
            FormStep::Word(word) => {
                if self.at_end() {
                    self.expect(Next::Word(word));
                    return Flow::End;
                }
                self.literal(word)
            }
            FormStep::Operands(group) => self.operands(*group),
            FormStep::Attr(name) => {
                if self.at_end() {
                    self.expect(Next::Attr(name));
                    return Flow::End;
                }
                self.passed(Next::Attr(name));
                self.attribute()
            }
            FormStep::Unit(_) => Flow::Done,
            FormStep::Dict(word) => self.dictionary(*word),
            FormStep::Types(group, _) => self.types(*group),
            FormStep::AllOperands | FormStep::AllResults => self.type_list(Next::AnyType),
            FormStep::Function => self.function(),
            FormStep::Piece(piece) => self.piece(*piece),
            FormStep::Maybe(..) | FormStep::AnyOrder(_) => Flow::Lost,
        }
    }

    fn literal(&mut self, text: &str) -> Flow {
        match self.peek() {
            None => Flow::End,
            Some(piece) if piece.text == text => {
                self.at += 1;
                Flow::Done
            }
            Some(_) => Flow::Lost,
        }
    }

    /// `%a[%b]`: an operand of each group.
    fn indexed(&mut self, of: u8, index: u8) -> Flow {
        for (group, mark) in [(of, "["), (index, "]")] {
            let flow = match self.operand(group) {
                Flow::Done => self.literal(mark),
                flow => flow,
            };
            if flow != Flow::Done {
                return flow;
            }
        }
        Flow::Done
    }

    fn operand(&mut self, group: u8) -> Flow {
        match self.peek() {
            None => {
                self.expect(Next::Operand(group));
                Flow::End
            }
            Some(piece) if piece.kind == TokenKind::Value => {
                self.progress.operands.push((group, self.at));
                self.passed(Next::Operand(group));
                self.at += 1;
                Flow::Done
            }
            Some(_) => Flow::Lost,
        }
    }

    fn operands(&mut self, group: u8) -> Flow {
        let arity = self.op.operands.get(group as usize).map_or(Arity::One, |group| group.arity);
        if arity == Arity::One {
            return self.operand(group);
        }
        match self.peek() {
            None => {
                self.expect(Next::Operand(group));
                return Flow::Done;
            }
            Some(piece) if piece.kind != TokenKind::Value => return Flow::Done,
            Some(_) => {}
        }
        loop {
            let flow = self.operand(group);
            if flow != Flow::Done || arity == Arity::Maybe {
                return flow;
            }
            let more =
                self.is(",") && self.pieces.get(self.at + 1).is_none_or(|behind| behind.kind == TokenKind::Value);
            if !more {
                return Flow::Done;
            }
            self.at += 1;
        }
    }

    /// Passes one attribute.
    fn attribute(&mut self) -> Flow {
        if matches!(self.peek().map(|piece| piece.text), Some("[" | "{" | "(")) {
            return self.brackets(None);
        }
        self.at += 1;
        if self.is("<") { self.brackets(None) } else { Flow::Done }
    }

    /// Passes what stands in brackets; `inside` may come next where they are open.
    fn brackets(&mut self, inside: Option<Next>) -> Flow {
        let mut depth = 0;
        while let Some(piece) = self.peek() {
            self.at += 1;
            match piece.text {
                "(" | "[" | "{" | "<" => depth += 1,
                ")" | "]" | "}" | ">" => depth -= 1,
                _ => {}
            }
            if depth <= 0 {
                return Flow::Done;
            }
        }
        if let Some(next) = inside {
            self.expect(next);
        }
        Flow::End
    }

    fn dictionary(&mut self, word: Option<&'static str>) -> Flow {
        if let Some(word) = word {
            if self.at_end() {
                self.expect(Next::Word(word));
                return Flow::Done;
            }
            if !self.is(word) {
                return Flow::Done;
            }
            self.at += 1;
        }
        if !self.is("{") {
            return Flow::Done;
        }
        self.passed(Next::Key);
        let (mut depth, mut key) = (0, None);
        while let Some(piece) = self.peek() {
            match piece.text {
                "(" | "[" | "{" | "<" => depth += 1,
                ")" | "]" | "}" | ">" => depth -= 1,
                "," if depth == 1 => key = None,
                "=" if depth == 1 => key = key.or(self.at.checked_sub(1)),
                _ => {}
            }
            self.at += 1;
            if depth <= 0 {
                return Flow::Done;
            }
        }
        match key {
            Some(key) => self.expect(Next::Value(key)),
            None if depth == 1 => self.expect(Next::Key),
            None => {}
        }
        Flow::End
    }

    fn types(&mut self, group: GroupRef) -> Flow {
        let groups = match group {
            GroupRef::Operand(at) => self.op.operands.get(at as usize),
            GroupRef::Result(at) => self.op.results.get(at as usize),
        };
        match groups.map(|group| group.arity) {
            Some(Arity::One) | None => self.one_type(Next::Type(group)),
            Some(Arity::Maybe | Arity::Many) => self.type_list(Next::Type(group)),
        }
    }

    fn type_list(&mut self, next: Next) -> Flow {
        if self.is("(") {
            return self.brackets(Some(next));
        }
        loop {
            let flow = self.one_type(next);
            if flow != Flow::Done || !self.is(",") {
                return flow;
            }
            self.at += 1;
        }
    }

    fn one_type(&mut self, next: Next) -> Flow {
        let Some(piece) = self.peek() else {
            self.expect(next);
            return Flow::End;
        };
        match (piece.kind, piece.text) {
            (_, "(") => self.brackets(Some(next)),
            (TokenKind::Type | TokenKind::Word, _) => {
                self.passed(next);
                self.at += 1;
                if self.is("<") { self.brackets(Some(Next::AnyType)) } else { Flow::Done }
            }
            _ => Flow::Lost,
        }
    }

    /// `(operands) -> results`.
    fn function(&mut self) -> Flow {
        if self.is("(") {
            let flow = self.brackets(Some(Next::AnyType));
            if flow != Flow::Done {
                return flow;
            }
        }
        match self.literal("->") {
            Flow::Done => self.type_list(Next::AnyType),
            flow => flow,
        }
    }

    fn piece(&mut self, piece: FormPiece) -> Flow {
        match piece {
            FormPiece::Token(group) => {
                if !self.is("[") {
                    return Flow::Done;
                }
                self.at += 1;
                if self.is("]") {
                    self.at += 1;
                    return Flow::Done;
                }
                match self.operand(group) {
                    Flow::Done => self.literal("]"),
                    flow => flow,
                }
            }
            FormPiece::Barriers(barriers, predicates) => {
                while self.is(",") {
                    self.at += 1;
                    let flow = self.indexed(barriers, predicates);
                    if flow != Flow::Done {
                        return flow;
                    }
                }
                Flow::Done
            }
            FormPiece::Tokens(tokens, indices) => {
                while self.peek().is_some_and(|piece| piece.text.ends_with("token")) {
                    self.at += 1;
                    let flow = self.indexed(tokens, indices);
                    if flow != Flow::Done {
                        return flow;
                    }
                }
                Flow::Done
            }
            FormPiece::Offsets(name) => {
                self.passed(Next::Attr(name));
                while self.peek().is_some_and(|piece| piece.kind == TokenKind::Number || piece.text == ",") {
                    self.at += 1;
                }
                if self.at_end() { Flow::End } else { Flow::Done }
            }
            FormPiece::Pointer(_) => {
                if self.peek().is_some_and(|piece| piece.text == "!tt.ptr") {
                    self.at += 1;
                    let flow = self.brackets(Some(Next::AnyType));
                    return if flow == Flow::Done { self.literal("->") } else { flow };
                }
                Flow::Done
            }
            FormPiece::Named => Flow::Done,
        }
    }

    /// What may come next in a form of which only this is known: operands in front, types behind a colon or an arrow,
    /// attributes in braces.
    fn loosely(&mut self) {
        let mut types = false;
        let mut open: Vec<(&str, Option<usize>)> = Vec::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece.text {
                "(" | "[" | "<" => open.push((piece.text, None)),
                "{" => open.push(("{", None)),
                ")" | "]" | "}" | ">" => {
                    open.pop();
                }
                "," => {
                    if let Some((_, key)) = open.last_mut() {
                        *key = None;
                    }
                }
                "=" => {
                    if let Some((_, key)) = open.last_mut() {
                        *key = at.checked_sub(1);
                    }
                    types = false;
                }
                ":" | "->" => types = true,
                _ => {}
            }
        }
        match open.last() {
            Some(("{", Some(key))) => self.expect(Next::Value(*key)),
            Some(("{", None)) => self.expect(Next::Key),
            Some(("<", _)) => self.expect(Next::AnyType),
            _ if types => self.expect(Next::AnyType),
            _ => {
                self.expect(Next::AnyOperand);
                words(self.op).iter().for_each(|word| self.expect(Next::Word(word)));
            }
        }
        let last_value = self.pieces.iter().rposition(|piece| piece.kind == TokenKind::Value);
        if last_value.is_some() {
            self.progress.last = self.progress.last.or(Some(Next::AnyOperand));
        }
    }
}

/// The keywords of forms that are written by hand.
fn words(op: &OpSyntax) -> &'static [&'static str] {
    use dialects::HandWrittenForm as Form;
    match op.form {
        OpForm::HandWritten(Form::For) => &["to", "step", "iter_args"],
        OpForm::HandWritten(Form::If) => &["else"],
        OpForm::HandWritten(Form::Func) => &["public", "private", "attributes"],
        OpForm::HandWritten(Form::Module) => &["attributes"],
        OpForm::HandWritten(Form::While) => &["do"],
        OpForm::HandWritten(Form::IndexSwitch) => &["case", "default"],
        OpForm::HandWritten(Form::WarpSpecialize) => &["attributes", "default", "partition0", "num_warps"],
        _ => &[],
    }
}
