//! How an op is written, as people read forms, and which part of it a place is in.

use base::TextRange;
use dialects::{Arity, FormPiece, FormStep, GroupRef, OpCode, OpForm, OpSyntax, TypeRule};
use ttgir::Document;
use ttgir::queries::spot::Spot;

use super::form::{Next, follow, syntax};
use super::item::{Signature, SignaturePart};
use super::line::{head, typed};

/// The form of the op that is typed at a place, and the part of it that the place is in.
pub fn signature(document: &Document, offset: u32) -> Option<Signature> {
    let spot = Spot::at(document, offset)?;
    let text = spot.tree().text();
    let typed = typed(text, spot.offset)?;
    if typed.inert.is_some() {
        return None;
    }
    let head = head(&typed.pieces)?;
    let op = syntax(head.op?.text.trim_matches('"'))?;
    let progress = follow(op, head.rest);
    let mut writer = Writer::of(op);
    let active = progress.next.iter().chain(&progress.last).find_map(|next| writer.part(*next));
    let label = std::mem::take(&mut writer.label);
    let parts = writer.parts.into_iter().map(|(range, part)| SignaturePart { range, doc: said(op, part) }).collect();
    Some(Signature { label, doc: op.decl.doc.trim().to_owned(), parts, active })
}

/// How an op is written.
pub(super) fn label_of(code: OpCode) -> Option<String> {
    syntax(code.decl().name).map(|op| Writer::of(op).label)
}

/// What is said of a part of a form.
fn said(op: &OpSyntax, part: Next) -> String {
    let Next::Operand(at) = part else { return String::new() };
    let Some(group) = op.operands.get(at as usize) else { return String::new() };
    let mut said = match group.rule {
        TypeRule::Fixed(ty) => format!("`{ty}`"),
        TypeRule::Same(GroupRef::Operand(other)) => {
            op.operands.get(other as usize).map_or(String::new(), |other| format!("of the type of `{}`", other.name))
        }
        TypeRule::Same(GroupRef::Result(_)) => "of the type of the result".to_owned(),
        _ => String::new(),
    };
    if let Some(barrier) = op.decl.barrier.filter(|barrier| barrier.group == group.name) {
        let sep = if said.is_empty() { "" } else { ", " };
        let when = if barrier.when.is_empty() { String::new() } else { format!(" {}", barrier.when) };
        said = format!("{said}{sep}the barrier: {}{when}", barrier.verb.word());
    }
    match group.arity {
        Arity::One => said,
        Arity::Maybe => format!("optional{}{said}", if said.is_empty() { "" } else { ", " }),
        Arity::Many => format!("any number{}{said}", if said.is_empty() { "" } else { ", " }),
    }
}

/// Writes a form and notes where its parts stand.
struct Writer {
    label: String,
    parts: Vec<(TextRange, Next)>,
    /// Whether the next word follows without a blank.
    tight: bool,
}

impl Writer {
    fn of(op: &OpSyntax) -> Writer {
        let mut writer = Writer { label: String::new(), parts: Vec::new(), tight: true };
        if !op.results.is_empty() {
            let names: Vec<String> = op.results.iter().map(|group| format!("%{}", group.name)).collect();
            writer.label = format!("{} = ", names.join(", "));
        }
        writer.label.push_str(op.name);
        writer.tight = false;
        match &op.form {
            OpForm::Steps(steps) => writer.steps(op, steps),
            OpForm::HandWritten(_) | OpForm::Skimmed | OpForm::Generic => {
                for at in 0..op.operands.len() {
                    if at > 0 {
                        writer.mark(",");
                    }
                    writer.operands(op, at as u8);
                }
            }
        }
        writer
    }

    /// The number of the part that is this.
    fn part(&self, next: Next) -> Option<usize> {
        let same = |(_, part): &(TextRange, Next)| match (part, next) {
            (Next::Key, Next::Value(_)) => true,
            (Next::Type(a), Next::Type(b)) => *a == b,
            (part, next) => *part == next,
        };
        let exact = self.parts.iter().position(same);
        let loose = match next {
            Next::AnyType => self.parts.iter().position(|(_, part)| matches!(part, Next::Type(_) | Next::AnyType)),
            Next::AnyOperand => self.parts.iter().position(|(_, part)| matches!(part, Next::Operand(_))),
            _ => None,
        };
        exact.or(loose)
    }

    fn push(&mut self, text: &str, part: Option<Next>) {
        if !self.tight && !self.label.is_empty() {
            self.label.push(' ');
        }
        let start = self.label.len() as u32;
        self.label.push_str(text);
        if let Some(part) = part {
            self.parts.push((TextRange::new(start, self.label.len() as u32), part));
        }
        self.tight = false;
    }

    fn mark(&mut self, mark: &str) {
        match mark {
            "," | ")" | "]" => {
                self.label.push_str(mark);
                self.tight = false;
            }
            "(" | "[" => {
                self.label.push_str(mark);
                self.tight = true;
            }
            _ => self.push(mark, None),
        }
    }

    fn operands(&mut self, op: &OpSyntax, at: u8) {
        let Some(group) = op.operands.get(at as usize) else { return };
        let more = if group.arity == Arity::Many { "…" } else { "" };
        self.push(&format!("%{}{more}", group.name), Some(Next::Operand(at)));
    }

    fn types(&mut self, op: &OpSyntax, group: GroupRef) {
        let of = match group {
            GroupRef::Operand(at) => op.operands.get(at as usize),
            GroupRef::Result(at) => op.results.get(at as usize),
        };
        let name = of.map_or("", |group| group.name);
        self.push(&format!("type(%{name})"), Some(Next::Type(group)));
    }

    fn steps(&mut self, op: &OpSyntax, steps: &[FormStep]) {
        for step in steps {
            match step {
                FormStep::Punct(mark) => self.mark(mark),
                FormStep::Word(word) => self.push(word, Some(Next::Word(word))),
                FormStep::Operands(at) => self.operands(op, *at),
                FormStep::Attr(name) => self.push(&format!("<{name}>"), Some(Next::Attr(name))),
                FormStep::Unit(_) => {}
                FormStep::Dict(word) => {
                    let lead = word.map_or(String::new(), |word| format!("{word} "));
                    self.push(&format!("{lead}{{…}}"), Some(Next::Key));
                }
                FormStep::Types(group, _) => self.types(op, *group),
                FormStep::AllOperands => self.push("type(operands)", Some(Next::AnyType)),
                FormStep::AllResults => self.push("type(results)", Some(Next::AnyType)),
                FormStep::Function => self.push("(type(operands)) -> type(results)", Some(Next::AnyType)),
                FormStep::Maybe(then, other) => {
                    self.optional(op, then);
                    if !other.is_empty() {
                        self.push("|", None);
                        self.steps(op, other);
                    }
                }
                FormStep::AnyOrder(clauses) => clauses.iter().for_each(|clause| self.optional(op, clause)),
                FormStep::Piece(piece) => self.piece(op, *piece),
            }
        }
    }

    fn optional(&mut self, op: &OpSyntax, steps: &[FormStep]) {
        self.push("[", None);
        self.tight = true;
        self.steps(op, steps);
        self.label.push_str("]?");
        self.tight = false;
    }

    fn piece(&mut self, op: &OpSyntax, piece: FormPiece) {
        match piece {
            FormPiece::Token(at) => {
                self.mark("[");
                self.operands(op, at);
                self.mark("]");
            }
            FormPiece::Barriers(barriers, predicates) => {
                self.mark(",");
                self.operands(op, barriers);
                self.mark("[");
                self.operands(op, predicates);
                self.mark("]");
            }
            FormPiece::Tokens(tokens, indices) => {
                self.push("nvws_token", None);
                self.operands(op, tokens);
                self.mark("[");
                self.operands(op, indices);
                self.mark("]");
            }
            FormPiece::Offsets(name) => self.push(&format!("<{name}>"), Some(Next::Attr(name))),
            FormPiece::Pointer(_) | FormPiece::Named => {}
        }
    }
}
