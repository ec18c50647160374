//! Hints behind the calls of a Python file that wait, arrive or expect: slot, phase and bytes.

use crate::{Inlay, friendly, inlay_of};
use base::TextRange;
use engine::instances::{ElaboratedInstance, Elaboration};
use gluon::Given;
use ttgir::OpId;
use ttgir::queries::spot::walk;

/// What one place may say in different iterations or instances.
const WAYS: usize = 3;

/// What the instances say of a place: the instance, its name, and what it says in its iterations.
type Said<'e> = Vec<(&'e ElaboratedInstance, String, Vec<String>)>;

/// The hints of a range of a file: what all instances say. Where they differ, in names of the kernel's parameters, or
/// not at all.
pub fn inlays(of: &Elaboration, range: TextRange) -> Vec<Inlay> {
    let mut found: Vec<(TextRange, Said<'_>)> = Vec::new();
    for kernel in &of.kernels {
        for known in &kernel.instances {
            let mut here: Vec<(TextRange, Vec<String>)> = Vec::new();
            collect(known, range, &mut here);
            let name = match (of.kernels.len(), known.instance.label.as_str()) {
                (1, label) => label.to_owned(),
                (_, "") => kernel.entry.name.clone(),
                (_, label) => format!("{}, {label}", kernel.entry.name),
            };
            for (place, said) in here {
                let own = (&**known, name.clone(), said);
                match found.iter_mut().find(|(other, _)| *other == place) {
                    Some((_, all)) => all.push(own),
                    None => found.push((place, vec![own])),
                }
            }
        }
    }
    found.sort_by_key(|(place, _)| (place.end, place.start));
    let text = of.module.text();
    found.into_iter().filter_map(|(place, said)| hint(place, place.of(text), &said)).collect()
}

fn hint(place: TextRange, written: &str, said: &Said<'_>) -> Option<Inlay> {
    let (_, _, first) = said.first()?;
    let same = said.iter().all(|(_, _, other)| other == first);
    let all = if same { first.clone() } else { common(said) };
    let more = if all.len() > WAYS { " | …" } else { "" };
    let label = all.iter().take(WAYS).cloned().collect::<Vec<_>>().join(" | ") + more;
    let instances = if same { String::new() } else { each(said) };
    (!label.is_empty() && !is_written(written, &label)).then_some(Inlay { offset: place.end, label, instances })
}

/// What each instance says, a line each.
fn each(said: &Said<'_>) -> String {
    let line = |(_, name, said): &(&ElaboratedInstance, String, Vec<String>)| format!("{name}: {}", said.join(" | "));
    said.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What holds of all instances: parts that are alike, or that are once numbers are said as parameters.
fn common(said: &Said<'_>) -> Vec<String> {
    let Some((_, _, first)) = said.first() else { return Vec::new() };
    if said.iter().any(|(_, _, other)| other.len() != first.len()) {
        return Vec::new();
    }
    let mut out: Vec<String> = Vec::new();
    for at in 0..first.len() {
        let ways: Vec<Vec<&str>> =
            said.iter().filter_map(|(_, _, all)| Some(all.get(at)?.split(", ").collect())).collect();
        let parts = ways.iter().map(Vec::len).min().unwrap_or(0);
        if ways.iter().any(|way| way.len() != parts) {
            continue;
        }
        let part = |number: usize| {
            let texts: Vec<&str> = ways.iter().filter_map(|way| way.get(number).copied()).collect();
            in_parameters(&texts, &|name, instance| value(said.get(instance)?.0, name), &names(said))
        };
        let label = (0..parts).filter_map(part).collect::<Vec<_>>().join(", ");
        if !label.is_empty() && !out.contains(&label) {
            out.push(label);
        }
    }
    out
}

/// The parameters that have a value in every instance.
fn names(said: &Said<'_>) -> Vec<String> {
    let Some((first, ..)) = said.first() else { return Vec::new() };
    let all = first.instance.spec.arguments.iter().map(|argument| argument.name.clone());
    all.filter(|name| said.iter().all(|(instance, ..)| value(instance, name).is_some())).collect()
}

fn value(instance: &ElaboratedInstance, name: &str) -> Option<String> {
    let argument = instance.instance.spec.arguments.iter().find(|argument| argument.name == name)?;
    match &argument.given {
        Given::Value(text) => Some(text.clone()),
        Given::Type(_) => None,
    }
}

/// The one text that several are once numbers in which they differ are said as the parameter that has these values;
/// `None` where there is no such parameter, or more than one.
fn in_parameters(texts: &[&str], value: &dyn Fn(&str, usize) -> Option<String>, names: &[String]) -> Option<String> {
    let all: Vec<Vec<&str>> = texts.iter().map(|text| tokens(text)).collect();
    let first = all.first()?;
    if all.iter().any(|other| other.len() != first.len()) {
        return None;
    }
    let mut out = String::new();
    for (at, token) in first.iter().enumerate() {
        let column: Vec<&str> = all.iter().filter_map(|tokens| tokens.get(at).copied()).collect();
        if column.iter().all(|other| other == token) {
            out.push_str(token);
            continue;
        }
        let is = |name: &&String| {
            column.iter().enumerate().all(|(instance, token)| value(name, instance).as_deref() == Some(*token))
        };
        let mut fitting = names.iter().filter(is);
        let name = fitting.next().filter(|_| fitting.next().is_none())?;
        out.push_str(name);
    }
    Some(out)
}

/// Words and numbers, and what stands between them.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (token, behind) = rest.split_at(end);
        out.push(token);
        rest = behind;
    }
    out
}

fn collect(elaborated: &ElaboratedInstance, range: TextRange, found: &mut Vec<(TextRange, Vec<String>)>) {
    let Some(tree) = elaborated.tree() else { return };
    let mut ops: Vec<OpId> = Vec::new();
    walk(tree, tree.top(), &mut |op| {
        if tree.code(op).is_some_and(|code| code.decl().barrier.is_some()) {
            ops.push(op);
        }
    });
    for op in ops {
        let place = elaborated.place(tree.op_name_range(op));
        // What stands in another file is no hint of the call that leads there.
        let inside = range.start <= place.range.end && place.range.end <= range.end;
        if place.stale || place.source.is_some() || !inside {
            continue;
        }
        let Some(label) = inlay_of(tree, op).map(|label| friendly(&elaborated.say(&label))) else { continue };
        match found.iter_mut().find(|(known, _)| *known == place.range) {
            Some((_, said)) if said.contains(&label) => {}
            Some((_, said)) => said.push(label),
            None => found.push((place.range, vec![label])),
        }
    }
}

/// Whether a call says the same by itself: every part of the label stands in it, but for blanks and brackets around it.
fn is_written(call: &str, label: &str) -> bool {
    let bare = |text: &str| text.replace("//", "/").replace(char::is_whitespace, "");
    let call = bare(call);
    label.split(", ").all(|part| {
        let value = part.strip_prefix("slot ").or_else(|| part.strip_prefix("phase ")).unwrap_or(part);
        let value = bare(value);
        // A single number may be a part of another one.
        value.len() > 1 && call.contains(&value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_not_said_again() {
        assert!(is_written("mbarrier.wait(ready.index(i % 2), (i // 2) & 1)", "slot i % 2, phase (i / 2) & 1"));
        assert!(!is_written("mbarrier.wait(ready.index(slot), phase)", "slot i % 2, phase (i / 2) & 1"));
        assert!(!is_written("mbarrier.wait(bar, 0)", "phase 0"));
    }

    #[test]
    fn numbers_that_differ_are_said_as_the_parameter_that_has_them() {
        let names = ["depth".to_owned(), "other".to_owned()];
        let value = |name: &str, at: usize| {
            let numbers = if name == "depth" { ["2", "3"] } else { ["8", "8"] };
            numbers.get(at).map(|number| (*number).to_owned())
        };
        let said = |texts: &[&str]| in_parameters(texts, &value, &names);
        assert_eq!(said(&["slot i % 2", "slot i % 3"]), Some("slot i % depth".to_owned()));
        assert_eq!(said(&["phase (i / 2) & 1", "phase (i / 3) & 1"]), Some("phase (i / depth) & 1".to_owned()));
        assert_eq!(said(&["16 KiB", "32 KiB"]), None);
        assert_eq!(said(&["phase 0", "phase i & 1"]), None);
    }
}
