//! What findings rest on. A value that nobody gives is chosen; a finding that is there with one such value and not
//! with another is a hint, which says with which. What launches, defaults, directives, the configuration or the
//! command line say is no choice of ours, and a finding on that is what its kind says.
//!
//! It is decided by variation. Instances that differ in chosen values alone are compared first. Of a chosen value
//! that they all share, neighbours are tried: a switch the other way, a number twice or half as large, half a
//! block, one that is split over the CTAs of a cluster; of a number of which they have several, one more. One that
//! Triton would refuse, or that is not followed, says nothing.
//!
//! Sizes that the host computes from each other are chosen without its formulas: one tile too few along an axis of the
//! grid, groups of heads where there is none. So a race in global memory is looked at with more numbers, see
//! [`race_variations`].
//!
//! Missed: values that make a difference only together, but for switches.

use super::blame::cause;
use super::budget::LEFT_OUT;
use super::{ElaboratedInstance, KernelInstances};
pub(super) use crate::limits::premises::{RACE_TEXT, RACE_VARIATIONS, TEXT, VARIATIONS};
use base::{Quantity, TextRange};
use dialects::{Arith, OpCode};
use findings::{Finding, KernelReport, Kind, Severity, Verdict};
use gluon::{Argument, Given, Spec, ValueSource};
use python::specialization::{ArgumentFacts, LaunchFacts};
use specialize::{is_any_integer, neighbours, shown, written};
use ttgir::queries::spot::walk;
use ttgir::{Def, Tree, ValueId};

/// What tells a finding from others of its kernel: what and where, whatever the instance.
pub(super) type Key = (Kind, TextRange, Vec<TextRange>, Severity);

pub(super) fn key(finding: &Finding) -> Key {
    // What is missing at a call is one thing, whichever accesses behind it an instance has.
    let sites = finding.sites.iter().map(|site| site.range);
    let sites = if cause(finding).is_some() { vec![finding.range] } else { sites.collect() };
    (finding.kind, finding.range, sites, finding.severity)
}

/// Whether a kernel is blamed for it.
pub(super) fn blames(finding: &Finding) -> bool {
    finding.severity <= Severity::Warning
}

/// Instances by what is given to them: those that differ in chosen values alone have one number.
pub(super) fn groups(kernel: &KernelInstances) -> Vec<usize> {
    let given: Vec<Spec> = kernel.instances.iter().map(|elaborated| given(elaborated)).collect();
    let first = |spec: &Spec| given.iter().position(|other| other == spec).unwrap_or(0);
    given.iter().map(first).collect()
}

/// A specialisation without what was chosen. What a heuristic computes of the numbers of a launch is no choice.
fn given(of: &ElaboratedInstance) -> Spec {
    let mut spec = of.instance.spec.clone();
    let computed = of.computed();
    spec.arguments.retain(|argument| argument.source != ValueSource::Chosen || computed.contains(&argument.name));
    spec
}

/// Whether what is found in the instances `found` is found with some chosen values only: each of them has a sibling
/// without it that `tells`, given that sibling and the instance.
pub(super) fn depends(groups: &[usize], found: &[usize], tells: &dyn Fn(usize, usize) -> bool) -> bool {
    let lacks = |at: usize, group: usize| {
        let mut siblings =
            groups.iter().enumerate().filter(|(sibling, own)| **own == group && !found.contains(sibling));
        siblings.any(|(sibling, _)| tells(sibling, at))
    };
    !found.is_empty() && found.iter().all(|at| groups.get(*at).is_some_and(|group| lacks(*at, *group)))
}

/// Whether a report without a finding tells that the finding rests on what the two differ in: it is decided, and all
/// that it blames the kernel for the other one does too. Else it may be the same mistake in another form.
pub(super) fn tells(without: &KernelReport, with: &KernelReport) -> bool {
    let has = |finding: &Finding| with.findings.iter().any(|it| (it.kind, it.range) == (finding.kind, finding.range));
    is_decided(without) && without.findings.iter().filter(|it| blames(it)).all(has)
}

/// Whether a report says of each place of its kernel what there is to say.
fn is_decided(report: &KernelReport) -> bool {
    match &report.verdict {
        Verdict::Undecided(_) => false,
        Verdict::Clean(how) => how != LEFT_OUT,
        Verdict::Proved(_) | Verdict::Found => true,
    }
}

/// A chosen value in place of another.
pub(super) struct Variation {
    /// `BLOCK=128`.
    pub(super) was: String,
    /// `BLOCK=64`.
    pub(super) is: String,
    /// With it.
    pub(super) spec: Spec,
}

impl Variation {
    /// Takes those of the findings `open` out that a report on it does not have, each with the words for that.
    pub(super) fn takes_away(&self, open: &mut Vec<Key>, report: &KernelReport) -> Vec<(Key, String)> {
        let stays = |wanted: &Key| report.findings.iter().any(|it| (it.kind, it.range) == (wanted.0, wanted.1));
        let (kept, gone): (Vec<Key>, Vec<Key>) = std::mem::take(open).into_iter().partition(stays);
        *open = kept;
        let Variation { was, is, .. } = self;
        let words = format!("with {was}, which was chosen; with {is} it is not there");
        gone.into_iter().map(|gone| (gone, words.clone())).collect()
    }
}

/// Other values in place of each chosen one of an instance, the likeliest of each first: its neighbours where all
/// siblings share it, and one more than the largest where each has another number, such as the slots of a ring.
pub(super) fn variations(kernel: &KernelInstances, of: &ElaboratedInstance) -> Vec<Variation> {
    let spec = &of.instance.spec;
    let computed = of.computed();
    let chosen = spec.arguments.iter().enumerate().filter(|(_, it)| it.source == ValueSource::Chosen);
    let chosen = chosen.filter(|(_, it)| !computed.contains(&it.name));
    let without = given(of);
    let siblings: Vec<&Spec> =
        kernel.instances.iter().filter(|other| given(other) == without).map(|other| &other.instance.spec).collect();
    let mut out: Vec<(usize, Variation)> = Vec::new();
    for (at, argument) in chosen {
        for (round, given) in others(&siblings, argument, spec.num_ctas.0).into_iter().enumerate() {
            let mut spec = spec.clone();
            let Some(varied) = spec.arguments.get_mut(at) else { continue };
            let (was, is) = (shown(&argument.given), shown(&given));
            let is = if was == is { written(&given) } else { is };
            let said = |value: String| format!("{}={value}", argument.name);
            let (was, is) = (said(was), said(is));
            varied.given = given;
            out.push((round, Variation { was, is, spec }));
        }
    }
    out.extend(other_elements(spec).into_iter().map(|variation| (0, variation)));
    out.retain(|(_, variation)| of.instance.may_be_launched_with(&variation.spec.arguments));
    out.sort_by_key(|(round, _)| *round);
    out.into_iter().map(|(_, variation)| variation).collect()
}

/// Half as wide elements where all chosen pointers are to `fp32`: bytes that a kernel counts by itself are for one type.
fn other_elements(spec: &Spec) -> Option<Variation> {
    let (wide, narrow) = ("*fp32", "*fp16");
    let is = |it: &&mut Argument| it.source == ValueSource::Chosen && it.given == Given::Type(wide.to_owned());
    let mut spec = spec.clone();
    let mut names = Vec::new();
    for argument in spec.arguments.iter_mut().filter(is) {
        argument.given = Given::Type(narrow.to_owned());
        names.push(argument.name.clone());
    }
    let names = names.join(", ");
    (!names.is_empty()).then(|| Variation { was: format!("{names}={wide}"), is: format!("{names}={narrow}"), spec })
}

/// Values in place of a chosen one that no sibling has, in clusters of so many CTAs.
fn others(siblings: &[&Spec], argument: &Argument, num_ctas: u32) -> Vec<Given> {
    let arguments = siblings.iter().flat_map(|sibling| &sibling.arguments);
    let mut all: Vec<&Given> = Vec::new();
    for own in arguments.filter(|own| own.name == argument.name) {
        if !all.contains(&&own.given) {
            all.push(&own.given);
        }
    }
    if all.len() < 2 {
        return neighbours(&argument.given, num_ctas);
    }
    let number = |given: &&Given| match given {
        Given::Value(text) => text.parse::<i64>().ok(),
        Given::Type(_) => None,
    };
    let numbers: Option<Vec<i64>> = all.iter().map(number).collect();
    let next = numbers.and_then(|numbers| numbers.into_iter().max()).and_then(|most| most.checked_add(1));
    next.map(|next| Given::Value(next.to_string())).into_iter().collect()
}

/// Other numbers in place of each chosen one, for a race: its neighbours, the largest that was chosen for another
/// argument, and 1; and before them switches the other way. A constexpr that may be any number is tried with the last two; with 1 not where it is a size
/// of the host, unless the kernel divides it: of one row there is one program, and that has no race whatever is wrong with more,
/// but of heads there may be as many as of others.
pub(super) fn race_variations(of: &ElaboratedInstance) -> Vec<Variation> {
    let spec = &of.instance.spec;
    let number = |argument: &Argument| match &argument.given {
        Given::Value(text) if argument.source == ValueSource::Chosen => text.parse::<i64>().ok(),
        _ => None,
    };
    let numbers: Vec<(usize, i64)> =
        spec.arguments.iter().enumerate().filter_map(|(at, it)| Some((at, number(it)?))).collect();
    let is_open = |it: &Argument| it.source == ValueSource::Chosen && is_any_integer(&it.given);
    let open = spec.arguments.iter().enumerate().filter(|(_, it)| is_open(it));
    let open: Vec<usize> = open.map(|(at, _)| at).collect();
    let most = numbers.iter().map(|(_, number)| *number).max().unwrap_or(1);
    // What the host computes of sizes, such as whether they are multiples of blocks, is no choice beside them.
    let mut out = switched(spec, &of.computed());
    out.extend(of_a_dense_tensor(spec, most));
    let choices: [&dyn Fn(i64) -> Option<i64>; 4] =
        [&|now| (now % 2 == 0).then_some(now / 2), &|_| Some(most), &|_| Some(1), &|now| now.checked_mul(2)];
    let vary = |at: usize, was: &dyn Fn(&str) -> String, is: i64| {
        let mut spec = spec.clone();
        let varied = spec.arguments.get_mut(at)?;
        varied.given = Given::Value(is.to_string());
        let (was, is) = (was(&varied.name), format!("{}={is}", varied.name));
        Some(Variation { was, is, spec })
    };
    let is_computed = |at: &usize| {
        let Some(name) = spec.arguments.get(*at).map(|argument| argument.name.as_str()) else { return false };
        let is_size = |of: &ArgumentFacts| of.name == name && matches!(of.quantity, Some(Quantity::Unknown { .. }));
        let given = |facts: &LaunchFacts| facts.arguments.iter().any(is_size);
        let launches = &of.instance.launches;
        !launches.is_empty() && launches.iter().all(given) && of.tree().is_some_and(|tree| !is_divided(tree, name))
    };
    for instead in [most, 1] {
        let tried = open.iter().filter(|at| instead != 1 || !is_computed(at));
        let is = |at: usize| spec.arguments.get(at).map_or_else(String::new, |it| shown(&it.given));
        out.extend(tried.filter_map(|at| vary(*at, &|name| format!("{name}={}", is(*at)), instead)));
    }
    for (choice, instead) in choices.iter().enumerate() {
        for (at, now) in &numbers {
            let earlier = choices.iter().take(choice).any(|earlier| earlier(*now) == instead(*now));
            let Some(other) = instead(*now).filter(|other| *other > 0 && other != now && !earlier) else { continue };
            out.extend(vary(*at, &|name| format!("{name}={now}"), other));
        }
    }
    out.retain(|variation| of.instance.may_be_launched_with(&variation.spec.arguments));
    out
}

/// Each chosen switch the other way, and all of them that way: a heuristic of the kernel, or its host, may compute them of
/// sizes, and several of one size. Where the formula is known, its value is no choice.
fn switched(spec: &Spec, computed: &[String]) -> Vec<Variation> {
    let value = |argument: &Argument| match &argument.given {
        Given::Value(_) if computed.contains(&argument.name) => None,
        Given::Value(text) if argument.source == ValueSource::Chosen => match text.as_str() {
            "True" => Some(true),
            "False" => Some(false),
            _ => None,
        },
        _ => None,
    };
    let switches: Vec<(usize, bool)> =
        spec.arguments.iter().enumerate().filter_map(|(at, argument)| Some((at, value(argument)?))).collect();
    let text = |on: bool| if on { "True" } else { "False" };
    let turned = |of: &[(usize, bool)]| {
        let mut varied = spec.clone();
        let (mut was, mut is) = (Vec::new(), Vec::new());
        for (at, on) in of {
            let Some(argument) = varied.arguments.get_mut(*at) else { continue };
            was.push(format!("{}={}", argument.name, text(*on)));
            is.push(format!("{}={}", argument.name, text(!*on)));
            argument.given = Given::Value(text(!*on).to_owned());
        }
        Variation { was: was.join(", "), is: is.join(", "), spec: varied }
    };
    let mut out: Vec<Variation> = switches.iter().map(|one| turned(std::slice::from_ref(one))).collect();
    for on in [true, false] {
        let all: Vec<(usize, bool)> = switches.iter().copied().filter(|(_, now)| *now == on).collect();
        if all.len() > 1 {
            out.push(turned(&all));
        }
    }
    out
}

/// Whether a kernel divides an argument by something, or something by it.
fn is_divided(tree: &Tree, name: &str) -> bool {
    // The argument, and the same in other widths.
    let mut same: Vec<ValueId> = Vec::new();
    let mut divided = false;
    walk(tree, tree.top(), &mut |op| {
        let takes = tree.operands(op).iter().any(|value| {
            same.contains(value)
                || (matches!(tree.value_def(*value), Def::BlockArg(..))
                    && tree.value_name(*value).trim_start_matches('%') == name)
        });
        if takes {
            divided |= matches!(
                tree.code(op),
                Some(OpCode::Arith(
                    Arith::Divsi
                        | Arith::Divui
                        | Arith::Ceildivsi
                        | Arith::Ceildivui
                        | Arith::Floordivsi
                        | Arith::Remsi
                        | Arith::Remui
                ))
            );
            if matches!(tree.code(op), Some(OpCode::Arith(Arith::Extsi | Arith::Extui | Arith::Trunci))) {
                same.extend(tree.results(op));
            }
        }
    });
    divided
}

/// All chosen tuples of numbers at once as the sizes of a dense tensor, and those that are called so as its strides.
fn of_a_dense_tensor(spec: &Spec, most: i64) -> Option<Variation> {
    let mut varied = spec.clone();
    let (mut was, mut is) = (Vec::new(), Vec::new());
    for argument in varied.arguments.iter_mut().filter(|argument| argument.source == ValueSource::Chosen) {
        let Given::Value(text) = &argument.given else { continue };
        let Some(inner) = text.trim().strip_prefix('(').and_then(|text| text.strip_suffix(')')) else { continue };
        let parts = inner.split(',').map(str::trim).filter(|part| !part.is_empty());
        let Some(numbers) = parts.map(|part| part.parse::<i64>().ok()).collect::<Option<Vec<i64>>>() else { continue };
        let is_stride = argument.name.to_ascii_lowercase().contains("stride");
        let size = |at: usize| {
            let behind = u32::try_from(numbers.len() - 1 - at).unwrap_or(u32::MAX);
            if is_stride { most.saturating_pow(behind) } else { most }
        };
        let made: String = (0..numbers.len()).map(|at| format!("{}, ", size(at))).collect();
        let given = Given::Value(format!("({made})"));
        was.push(format!("{}={}", argument.name, shown(&argument.given)));
        is.push(format!("{}={}", argument.name, shown(&given)));
        argument.given = given;
    }
    (!was.is_empty() && was != is).then(|| Variation { was: was.join(", "), is: is.join(", "), spec: varied })
}

/// Whether a variation of an instance is as well followed as that one is.
pub(super) fn is_followed(varied: &ElaboratedInstance, of: &ElaboratedInstance) -> bool {
    varied.lowered().is_some()
        && varied.unmodelled().len() <= of.unmodelled().len()
        && varied.problems().len() <= of.problems().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_depends_where_each_instance_has_a_sibling_without_it() {
        // Two launches, each with two chosen depths.
        let groups = [0, 0, 2, 2];
        assert!(depends(&groups, &[1], &|_, _| true));
        assert!(depends(&groups, &[1, 3], &|_, _| true));
        assert!(!depends(&groups, &[0, 1], &|_, _| true), "the first launch has it whatever is chosen");
        assert!(!depends(&groups, &[1], &|sibling, _| sibling != 0), "nothing is known of the sibling");
        assert!(!depends(&[0], &[0], &|_, _| true));
    }
}
