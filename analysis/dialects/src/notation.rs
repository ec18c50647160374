//! Reads the `syntax` field of a declaration. It has four cells:
//!
//! ```text
//! operands | results | form | flags
//! ```
//!
//! - An operand or result is a group name, then `:type` if its type is fixed or `=rule` if it
//!   follows from another group (`=src`, `=i1(ptr)`, `=pointee(ptr)`, `=elem(src)`, `=i32(src)`),
//!   then `?` for an optional and `*` for a variadic group.
//! - In a form, `%g` is the operands of a group, `!g` their types (`!<g` if the dialect's name may be
//!   left out), `!operands`, `!results` and `!fn` are the types of all, `$a` is an attribute written
//!   in place, `$!a` a unit attribute that its optional group stands for, `@` the attribute
//!   dictionary (`@attributes` after that keyword), `?{…}:{…}` an optional group with its
//!   alternative, `*{… | …}` clauses in any order, `~x` one of the few hand-written pieces, anything
//!   else is literal. `=name` is a hand-written parser, `-` means that the op has only the generic
//!   form, `...` that the form is skimmed and not checked.
//! - Flags: `term` a terminator, `isolated` sees nothing from above, `sized` stores its group
//!   sizes, `shape` and `elem` say that operands and results agree in that, `a!i32` that the
//!   attribute `a` is a must and `a?i32` that it is not, `graph` has regions without order, `bare`
//!   has regions whose terminator may be left out.
//!
//! The declarations are part of the program, so a syntax that does not read is a mistake of ours: the
//! op is left out of the table, and a test that counts them fails.

use crate::code::OpCode;
use crate::syntax::{
    Arity, AttrRule, FormPiece, FormStep, GroupRef, HandWrittenForm, OpForm, OpSyntax, OperandGroup, TypeRule,
};

/// Reads the syntax of an op; none if it is not in the notation.
pub(crate) fn read(code: OpCode) -> Option<OpSyntax> {
    let decl = code.decl();
    let line = decl.syntax;
    let mut cells = line.split('|');
    let operand_words: Vec<&str> = cells.next()?.split_whitespace().collect();
    let result_words: Vec<&str> = cells.next()?.split_whitespace().collect();
    let first = cells.next()?;
    // A form may have bars of its own.
    let flags = cells.next_back()?;
    let form_text = line.get(offset(line, first)..offset(line, flags) - 1)?;
    let names = Names {
        operands: operand_words.iter().map(|w| group_name(w)).collect(),
        results: result_words.iter().map(|w| group_name(w)).collect(),
    };
    let operands: Vec<OperandGroup> = operand_words.iter().map(|w| names.group(w)).collect::<Option<_>>()?;
    let results: Vec<OperandGroup> = result_words.iter().map(|w| names.group(w)).collect::<Option<_>>()?;
    let form = form(form_text.trim(), &names)?;
    let flag = |word: &str| flags.split_whitespace().any(|f| f == word);
    let order = match &form {
        OpForm::Steps(steps) => operand_order(steps),
        _ => Vec::new(),
    };
    Some(OpSyntax {
        code,
        decl,
        name: decl.name,
        fixed: operands.iter().all(|g| g.arity == Arity::One),
        shuffled: order.windows(2).any(|w| w[0] > w[1]),
        terminator: flag("term"),
        isolated: flag("isolated"),
        graph: flag("graph"),
        bare: flag("bare"),
        same_shape: flag("shape"),
        same_element: flag("elem"),
        attrs: flags.split_whitespace().filter_map(attr_rule).collect(),
        operands,
        results,
        form,
    })
}

/// `name!type` or `name?type`.
fn attr_rule(word: &'static str) -> Option<AttrRule> {
    let (name, ty) = word.split_once(['!', '?'])?;
    Some(AttrRule { name, required: word.as_bytes()[name.len()] == b'!', ty })
}

/// Where `part`, a slice of `line`, starts in it.
fn offset(line: &str, part: &str) -> usize {
    part.as_ptr() as usize - line.as_ptr() as usize
}

fn group_name(word: &'static str) -> &'static str {
    word.split([':', '=', '?', '*']).next().unwrap_or(word)
}

struct Names {
    operands: Vec<&'static str>,
    results: Vec<&'static str>,
}

impl Names {
    fn find(&self, name: &str) -> Option<GroupRef> {
        let position = |list: &[&str]| list.iter().position(|n| *n == name).map(|at| at as u8);
        position(&self.operands).map(GroupRef::Operand).or_else(|| position(&self.results).map(GroupRef::Result))
    }

    fn operand(&self, name: &str) -> Option<u8> {
        self.operands.iter().position(|n| *n == name).map(|at| at as u8)
    }

    fn group(&self, word: &'static str) -> Option<OperandGroup> {
        let (word, arity) = match word.as_bytes().last()? {
            b'?' => (&word[..word.len() - 1], Arity::Maybe),
            b'*' => (&word[..word.len() - 1], Arity::Many),
            _ => (word, Arity::One),
        };
        let name = group_name(word);
        let rule = match word[name.len()..].split_at_checked(1) {
            None | Some(("", _)) => TypeRule::Spelt,
            Some((":", ty)) => TypeRule::Fixed(ty),
            Some((_, rule)) => match rule.split_once('(') {
                None => TypeRule::Same(self.find(rule)?),
                Some((f, of)) => {
                    let of = self.find(of.trim_end_matches(')'))?;
                    match f {
                        "i1" => TypeRule::Bool(of),
                        "i32" => TypeRule::Int(of),
                        "pointee" => TypeRule::Pointee(of),
                        "elem" => TypeRule::Element(of),
                        _ => return None,
                    }
                }
            },
        };
        Some(OperandGroup { name, arity, rule })
    }
}

fn form(text: &'static str, names: &Names) -> Option<OpForm> {
    Some(match text {
        "-" => OpForm::Generic,
        "..." => OpForm::Skimmed,
        _ if text.starts_with('=') => OpForm::HandWritten(code(&text[1..])?),
        _ => {
            let (steps, rest) = steps(text, names)?;
            if !rest.is_empty() {
                return None;
            }
            OpForm::Steps(steps)
        }
    })
}

fn code(name: &str) -> Option<HandWrittenForm> {
    Some(match name {
        "func" => HandWrittenForm::Func,
        "module" => HandWrittenForm::Module,
        "for" => HandWrittenForm::For,
        "if" => HandWrittenForm::If,
        "while" => HandWrittenForm::While,
        "execute_region" => HandWrittenForm::ExecuteRegion,
        "index_switch" => HandWrittenForm::IndexSwitch,
        "warp_specialize" => HandWrittenForm::WarpSpecialize,
        "barrier" => HandWrittenForm::Barrier,
        "warp_group" => HandWrittenForm::WarpGroup,
        "subtiled_region" => HandWrittenForm::SubtiledRegion,
        "constant" => HandWrittenForm::Constant,
        "br" => HandWrittenForm::Branch,
        "cond_br" => HandWrittenForm::CondBranch,
        "switch" => HandWrittenForm::Switch,
        "select" => HandWrittenForm::Select,
        _ => return None,
    })
}

/// Steps up to the end, a `}` or a `|`; what follows is given back.
fn steps(mut text: &'static str, names: &Names) -> Option<(Vec<FormStep>, &'static str)> {
    let mut out = Vec::new();
    loop {
        text = text.trim_start();
        let Some(first) = text.chars().next() else { return Some((out, text)) };
        let word_end =
            text[1..].find(|c: char| !(c.is_alphanumeric() || "_!.".contains(c))).map_or(text.len(), |n| n + 1);
        let word = &text[1..word_end];
        match first {
            '}' | '|' => return Some((out, text)),
            '%' => out.push(FormStep::Operands(names.operand(word)?)),
            '!' if text[1..].starts_with('<') => {
                let end = text[2..].find(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(text.len(), |n| n + 2);
                out.push(FormStep::Types(names.find(&text[2..end])?, true));
                text = &text[end..];
                continue;
            }
            '!' => out.push(match word {
                "operands" if names.find(word).is_none() => FormStep::AllOperands,
                "results" if names.find(word).is_none() => FormStep::AllResults,
                "fn" => FormStep::Function,
                _ => FormStep::Types(names.find(word)?, false),
            }),
            '$' => out.push(match word.strip_prefix('!') {
                Some(unit) => FormStep::Unit(unit),
                None => FormStep::Attr(word),
            }),
            '@' => out.push(FormStep::Dict((!word.is_empty()).then_some(word))),
            '?' | '*' if text[1..].starts_with('{') => {
                let (mut alternatives, mut rest) = (Vec::new(), &text[2..]);
                loop {
                    let (steps, tail) = steps(rest, names)?;
                    alternatives.push(steps);
                    rest = tail.get(1..)?;
                    if tail.starts_with('}') {
                        break;
                    }
                }
                if first == '*' {
                    out.push(FormStep::AnyOrder(alternatives));
                } else {
                    let mut other = Vec::new();
                    if let Some(inner) = rest.strip_prefix(":{") {
                        let (steps, tail) = steps(inner, names)?;
                        other = steps;
                        rest = tail.get(1..)?;
                    }
                    out.push(FormStep::Maybe(alternatives.pop()?, other));
                }
                text = rest;
                continue;
            }
            '~' => {
                let end = text.find(')')? + 1;
                let (piece, inside) = text[1..end - 1].split_once('(')?;
                let mut inside = inside.split(' ');
                let a = inside.next()?;
                let b = inside.next();
                out.push(FormStep::Piece(match piece {
                    "token" => FormPiece::Token(names.operand(a)?),
                    "barriers" => FormPiece::Barriers(names.operand(a)?, names.operand(b?)?),
                    "tokens" => FormPiece::Tokens(names.operand(a)?, names.operand(b?)?),
                    "offsets" => FormPiece::Offsets(a),
                    "pointer" => FormPiece::Pointer(names.operand(a)?),
                    "named" => FormPiece::Named,
                    _ => return None,
                }));
                text = &text[end..];
                continue;
            }
            '-' if text.starts_with("->") => {
                out.push(FormStep::Punct("->"));
                text = &text[2..];
                continue;
            }
            c if c.is_alphabetic() => out.push(FormStep::Word(&text[..word_end])),
            _ => {
                out.push(FormStep::Punct(&text[..1]));
                text = &text[1..];
                continue;
            }
        }
        text = &text[word_end..];
    }
}

/// The operand groups in the order in which the form writes them.
fn operand_order(steps: &[FormStep]) -> Vec<u8> {
    let mut order = Vec::new();
    for step in steps {
        match step {
            FormStep::Operands(g) => order.push(*g),
            FormStep::Maybe(a, b) => {
                order.extend(operand_order(a));
                order.extend(operand_order(b));
            }
            FormStep::AnyOrder(clauses) => clauses.iter().for_each(|c| order.extend(operand_order(c))),
            FormStep::Piece(FormPiece::Token(g)) => order.push(*g),
            FormStep::Piece(FormPiece::Barriers(a, b) | FormPiece::Tokens(a, b)) => {
                // Written in pairs, so they always need sorting.
                order.extend([*b, *a]);
            }
            _ => {}
        }
    }
    order
}
