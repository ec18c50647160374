//! Names: those of Python for the values of an elaborated instance, and its words in those of Python.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use dialects::OpCode;
use gluon::OriginId;

/// Which name of the elaborated instance is which of Python.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names(FxHashMap<String, String>);

impl Names {
    /// The Python name of a value, by its name in the elaborated instance without `%`.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// What the arguments of partitions are called: what is captured there.
pub(super) fn captured(ir: &str, names: &mut Vec<Option<Rc<str>>>) {
    let numbers = |line: &str| -> Vec<usize> {
        let all = line.split('%').skip(1).map(|part| part.bytes().take_while(u8::is_ascii_digit).count());
        let parts = line.split('%').skip(1).zip(all);
        parts.filter_map(|(part, digits)| part.get(..digits)?.parse().ok()).collect()
    };
    described(ir, names);
    let mut outer: Vec<usize> = Vec::new();
    for line in ir.lines() {
        if let Some(rest) =
            line.strip_prefix("ttg.warp_specialize(").or_else(|| Some(line.split_once(" = ttg.warp_specialize(")?.1))
        {
            outer = numbers(rest.split(')').next().unwrap_or(""));
        } else if line.strip_prefix("partition").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            for (&from, to) in outer.iter().zip(numbers(line)) {
                let name = names.get(from).cloned().flatten();
                if names.len() <= to {
                    names.resize(to + 1, None);
                }
                if let Some(slot @ None) = names.get_mut(to) {
                    *slot = name;
                }
            }
        }
    }
}

/// What an entry receives of a tensor descriptor: its shape and strides stand behind it.
fn described(ir: &str, names: &mut Vec<Option<Rc<str>>>) {
    let entry = ir.lines().find_map(|line| line.strip_prefix("tt.func public @"));
    let mut of: Option<(Rc<str>, [usize; 2])> = None;
    for part in entry.unwrap_or("").split('%').skip(1) {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let Some(number) = part.get(..digits).and_then(|digits| digits.parse::<usize>().ok()) else { continue };
        let ty = part.get(digits..).unwrap_or("").trim_start_matches(':').trim_start();
        let known = names.get(number).cloned().flatten();
        match (known, &mut of) {
            (Some(name), _) => of = ty.starts_with("!tt.tensordesc").then_some((name, [0, 0])),
            (None, Some((desc, counts))) => {
                let (at, what) = if ty.starts_with("i64") { (1, "strides") } else { (0, "shape") };
                let name = format!("{desc}.{what}[{}]", counts[at]);
                counts[at] += 1;
                if names.len() <= number {
                    names.resize(number + 1, None);
                }
                if let Some(slot) = names.get_mut(number) {
                    *slot = Some(name.into());
                }
            }
            (None, None) => {}
        }
    }
}

/// Names the values of `ir` after their Python variables, as far as `names` has them by number, and moves
/// the starts of its ops.
pub(super) fn rename(ir: &str, names: &[Option<Rc<str>>], ops: &mut [(u32, OriginId)]) -> (String, Names) {
    let mut out = String::with_capacity(ir.len() + ir.len() / 8);
    let (mut made, mut taken) = (FxHashMap::<u32, Option<String>>::default(), FxHashSet::<String>::default());
    let mut shown = Names::default();
    let (mut from, mut moved) = (0, 0);
    for at in memchr::memchr_iter(b'%', ir.as_bytes()) {
        let rest = ir.get(at + 1..).unwrap_or("");
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Some(number) = rest.get(..digits).and_then(|digits| digits.parse::<u32>().ok()) else { continue };
        let name = made.entry(number).or_insert_with(|| {
            let python = names.get(number as usize)?.as_deref()?;
            let name = free(&word(python)?, number, &mut taken);
            shown.0.insert(name.clone(), python.to_owned());
            Some(name)
        });
        let Some(name) = name else { continue };
        out.push_str(ir.get(from..=at).unwrap_or(""));
        while let Some(op) = ops.get_mut(moved).filter(|op| op.0 as usize <= at) {
            op.0 = (op.0 as usize + out.len() - 1 - at) as u32;
            moved += 1;
        }
        out.push_str(name);
        from = at + 1 + digits;
    }
    let shift = out.len() as i64 - from as i64;
    out.push_str(ir.get(from..).unwrap_or(""));
    for op in ops.iter_mut().skip(moved) {
        op.0 = (i64::from(op.0) + shift) as u32;
    }
    (out, shown)
}

/// A name that MLIR can take; none where it would be a number.
fn word(python: &str) -> Option<String> {
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    let word: String = python.chars().map(legal).collect();
    (!word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit())).then_some(word)
}

/// The name, or where another value has it, the name with the value's number.
fn free(name: &str, number: u32, taken: &mut FxHashSet<String>) -> String {
    let mut free = name.to_owned();
    while !taken.insert(free.clone()) {
        free = format!("{name}_{number}");
        if taken.contains(&free) {
            free.push('_');
        }
    }
    free
}

/// A sentence about an elaborated instance, said of the Python: `value` knows what `%x` is, `partition` what a partition
/// is called.
pub(super) fn say(
    text: &str,
    value: &dyn Fn(&str) -> Option<String>,
    partition: &dyn Fn(usize) -> Option<String>,
) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let sigil = first == '%';
        let body = if sigil { &rest[1..] } else { rest };
        let starts = body.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if !starts || is_name(before) {
            out.push(first);
            before = first;
            rest = rest.get(first.len_utf8()..).unwrap_or("");
            continue;
        }
        let end = body.find(|c| !is_name(c)).unwrap_or(body.len());
        let whole = body.get(..end).unwrap_or("");
        // A full stop ends the sentence, not the name.
        let name = whole.trim_end_matches('.');
        let said = if sigil {
            value(name)
        } else {
            let number = name.strip_prefix("partition").and_then(|number| number.parse().ok());
            number.and_then(partition).or_else(|| python_name(name))
        };
        match said {
            Some(said) => out.push_str(&said),
            None => {
                if sigil {
                    out.push('%');
                }
                out.push_str(name);
            }
        }
        before = name.chars().next_back().unwrap_or(before);
        rest = body.get(name.len()..).unwrap_or("");
    }
    out
}

/// What Python calls an op.
fn python_name(op: &str) -> Option<String> {
    OpCode::of_name(op)?.decl().python.map(|python| python.name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_get_the_names_of_their_variables() {
        let names: Vec<Option<Rc<str>>> = vec![Some("bars".into()), None, Some("bars".into()), Some("a.b".into())];
        let ir = "%0 = x\n%1 = y %0\n%2, %3 = z %1, %2#0\n";
        let mut ops = vec![(0, OriginId(0)), (7, OriginId(1)), (17, OriginId(2))];
        let (text, shown) = rename(ir, &names, &mut ops);
        assert_eq!(text, "%bars = x\n%1 = y %bars\n%bars_2, %a.b = z %1, %bars_2#0\n");
        let starts: Vec<&str> = ops.iter().map(|(at, _)| &text[*at as usize..][..2]).collect();
        assert_eq!(starts, ["%b", "%1", "%b"]);
        assert_eq!(text[ops[2].0 as usize..].find('z'), Some(16));
        assert_eq!((shown.get("bars_2"), shown.get("a.b"), shown.get("1")), (Some("bars"), Some("a.b"), None));
    }

    #[test]
    fn what_has_no_variable_is_named_after_what_it_belongs_to() {
        let mut names: Vec<Option<Rc<str>>> = vec![Some("d".into()), None, None, Some("n".into()), None];
        let ir = "tt.func public @f(%0: !tt.tensordesc<8xf16>, %1: i32, %2: i64, %3: i32, %4: i32) {\n\
                  ttg.warp_specialize(%3) attributes {}\npartition0(%5: i32) num_warps(1) {\n";
        captured(ir, &mut names);
        let shown: Vec<&str> = names.iter().map(|name| name.as_deref().unwrap_or("?")).collect();
        assert_eq!(shown, ["d", "d.shape[0]", "d.strides[0]", "n", "?", "n"]);
    }

    #[test]
    fn sentences_speak_python() {
        let value = |name: &str| (name == "full_3").then(|| "full".to_owned());
        let partition = |at: usize| (at == 1).then(|| "mma_partition".to_owned());
        let say = |text: &str| say(text, &value, &partition);
        assert_eq!(say("`%full_3[1]` is %full_3."), "`full[1]` is full.");
        assert_eq!(say("partition1 waits (`ttng.wait_barrier`)"), "mma_partition waits (`mbarrier.wait`)");
        assert_eq!(say("100% of %i % 2, partition12, tt.unknown"), "100% of %i % 2, partition12, tt.unknown");
    }
}
