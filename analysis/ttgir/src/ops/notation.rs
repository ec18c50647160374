//! Reads the rows of the op table. The notation is described beside the table.
//!
//! The rows are part of the program, so a row that does not read is a mistake of ours: it is left
//! out here and caught by the test that counts them.

use super::table::{Arity, AttrRule, Code, Form, Group, Operand, Piece, Rule, Spec, Step};

/// Adds the rows of `text`.
pub fn read(text: &'static str, rows: &mut Vec<Spec>) {
    for line in text.lines() {
        if !line.is_empty() && !line.starts_with('#') {
            rows.extend(row(line));
        }
    }
}

fn row(line: &'static str) -> Option<Spec> {
    let mut cells = line.split(" |");
    let name = cells.next()?.trim();
    let operand_words: Vec<&str> = cells.next()?.split_whitespace().collect();
    let result_words: Vec<&str> = cells.next()?.split_whitespace().collect();
    let mut rest: Vec<&'static str> = cells.collect();
    let flags = rest.pop()?;
    let form_text = if rest.is_empty() { flags } else { &line[offset(line, rest[0])..offset(line, flags) - 2] };
    let names = Names {
        operands: operand_words.iter().map(|w| group_name(w)).collect(),
        results: result_words.iter().map(|w| group_name(w)).collect(),
    };
    let operands: Vec<Operand> = operand_words.iter().map(|w| names.group(w)).collect::<Option<_>>()?;
    let results: Vec<Operand> = result_words.iter().map(|w| names.group(w)).collect::<Option<_>>()?;
    let form = form(form_text.trim(), &names)?;
    let flag = |word: &str| flags.split_whitespace().any(|f| f == word);
    let order = match &form {
        Form::Steps(steps) => operand_order(steps),
        _ => Vec::new(),
    };
    Some(Spec {
        name,
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
    fn find(&self, name: &str) -> Option<Group> {
        let position = |list: &[&str]| list.iter().position(|n| *n == name).map(|at| at as u8);
        position(&self.operands).map(Group::Operand).or_else(|| position(&self.results).map(Group::Result))
    }

    fn operand(&self, name: &str) -> Option<u8> {
        self.operands.iter().position(|n| *n == name).map(|at| at as u8)
    }

    fn group(&self, word: &'static str) -> Option<Operand> {
        let (word, arity) = match word.as_bytes().last()? {
            b'?' => (&word[..word.len() - 1], Arity::Maybe),
            b'*' => (&word[..word.len() - 1], Arity::Many),
            _ => (word, Arity::One),
        };
        let name = group_name(word);
        let rule = match word[name.len()..].split_at_checked(1) {
            None | Some(("", _)) => Rule::Spelt,
            Some((":", ty)) => Rule::Fixed(ty),
            Some((_, rule)) => match rule.split_once('(') {
                None => Rule::Same(self.find(rule)?),
                Some((f, of)) => {
                    let of = self.find(of.trim_end_matches(')'))?;
                    match f {
                        "i1" => Rule::Bool(of),
                        "i32" => Rule::Int(of),
                        "pointee" => Rule::Pointee(of),
                        "elem" => Rule::Element(of),
                        _ => return None,
                    }
                }
            },
        };
        Some(Operand { name, arity, rule })
    }
}

fn form(text: &'static str, names: &Names) -> Option<Form> {
    Some(match text {
        "-" => Form::Generic,
        "..." => Form::Skimmed,
        _ if text.starts_with('=') => Form::Code(code(&text[1..])?),
        _ => {
            let (steps, rest) = steps(text, names)?;
            if !rest.is_empty() {
                return None;
            }
            Form::Steps(steps)
        }
    })
}

fn code(name: &str) -> Option<Code> {
    Some(match name {
        "func" => Code::Func,
        "module" => Code::Module,
        "for" => Code::For,
        "if" => Code::If,
        "while" => Code::While,
        "execute_region" => Code::ExecuteRegion,
        "index_switch" => Code::IndexSwitch,
        "warp_specialize" => Code::WarpSpecialize,
        "barrier" => Code::Barrier,
        "warp_group" => Code::WarpGroup,
        "subtiled_region" => Code::SubtiledRegion,
        "constant" => Code::Constant,
        "br" => Code::Branch,
        "cond_br" => Code::CondBranch,
        "switch" => Code::Switch,
        "select" => Code::Select,
        _ => return None,
    })
}

/// Steps up to the end, a `}` or a `|`; what follows is given back.
fn steps(mut text: &'static str, names: &Names) -> Option<(Vec<Step>, &'static str)> {
    let mut out = Vec::new();
    loop {
        text = text.trim_start();
        let Some(first) = text.chars().next() else { return Some((out, text)) };
        let word_end =
            text[1..].find(|c: char| !(c.is_alphanumeric() || "_!.".contains(c))).map_or(text.len(), |n| n + 1);
        let word = &text[1..word_end];
        match first {
            '}' | '|' => return Some((out, text)),
            '%' => out.push(Step::Operands(names.operand(word)?)),
            '!' if text[1..].starts_with('<') => {
                let end = text[2..].find(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(text.len(), |n| n + 2);
                out.push(Step::Types(names.find(&text[2..end])?, true));
                text = &text[end..];
                continue;
            }
            '!' => out.push(match word {
                "operands" if names.find(word).is_none() => Step::AllOperands,
                "results" if names.find(word).is_none() => Step::AllResults,
                "fn" => Step::Function,
                _ => Step::Types(names.find(word)?, false),
            }),
            '$' => out.push(match word.strip_prefix('!') {
                Some(unit) => Step::Unit(unit),
                None => Step::Attr(word),
            }),
            '@' => out.push(Step::Dict((!word.is_empty()).then_some(word))),
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
                    out.push(Step::AnyOrder(alternatives));
                } else {
                    let mut other = Vec::new();
                    if let Some(inner) = rest.strip_prefix(":{") {
                        let (steps, tail) = steps(inner, names)?;
                        other = steps;
                        rest = tail.get(1..)?;
                    }
                    out.push(Step::Maybe(alternatives.pop()?, other));
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
                out.push(Step::Piece(match piece {
                    "token" => Piece::Token(names.operand(a)?),
                    "barriers" => Piece::Barriers(names.operand(a)?, names.operand(b?)?),
                    "tokens" => Piece::Tokens(names.operand(a)?, names.operand(b?)?),
                    "offsets" => Piece::Offsets(a),
                    "pointer" => Piece::Pointer(names.operand(a)?),
                    "named" => Piece::Named,
                    _ => return None,
                }));
                text = &text[end..];
                continue;
            }
            '-' if text.starts_with("->") => {
                out.push(Step::Punct("->"));
                text = &text[2..];
                continue;
            }
            c if c.is_alphabetic() => out.push(Step::Word(&text[..word_end])),
            _ => {
                out.push(Step::Punct(&text[..1]));
                text = &text[1..];
                continue;
            }
        }
        text = &text[word_end..];
    }
}

/// The operand groups in the order in which the form writes them.
fn operand_order(steps: &[Step]) -> Vec<u8> {
    let mut order = Vec::new();
    for step in steps {
        match step {
            Step::Operands(g) => order.push(*g),
            Step::Maybe(a, b) => {
                order.extend(operand_order(a));
                order.extend(operand_order(b));
            }
            Step::AnyOrder(clauses) => clauses.iter().for_each(|c| order.extend(operand_order(c))),
            Step::Piece(Piece::Token(g)) => order.push(*g),
            Step::Piece(Piece::Barriers(a, b) | Piece::Tokens(a, b)) => {
                // Written in pairs, so they always need sorting.
                order.extend([*b, *a]);
            }
            _ => {}
        }
    }
    order
}
