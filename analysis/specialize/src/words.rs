//! How instances are told apart, shown and pinned.

use std::sync::Arc;

use super::directive::{OPEN, pieces};
use super::entries::Entry;
use super::given::{plain, plain_given};
use super::instance::{Instance, Instances};
use super::{Given, Spec, ValueSource};
use gluon::default_swizzle;
use python::value::DType;
use rustc_hash::{FxHashMap, FxHashSet};

/// How a directive starts.
const HEAD: &str = "# fencepost: ";

/// The text that is given, as a directive writes it.
pub fn written(given: &Given) -> String {
    match given {
        Given::Value(value) => value.clone(),
        Given::Type(ty) => short(ty).unwrap_or_else(|| ty.clone()),
    }
}

/// A descriptor in the shortest words that give the same: `fp16[128,64]` where its layout is the one that its block has by
/// default, else the layout without what it has by default.
fn short(ty: &str) -> Option<String> {
    let inner = ty.strip_prefix("tensordesc<")?.strip_suffix('>')?;
    let (element, rest) = inner.split_once('[')?;
    let (block, layout) = rest.split_once(']')?;
    let sizes: Vec<i64> = block.split(',').map(|size| size.trim().parse().ok()).collect::<Option<_>>()?;
    let block: String = block.split_whitespace().collect();
    let Some(layout) = layout.strip_prefix(',').map(str::trim) else {
        return layout.is_empty().then(|| format!("{element}[{block}]"));
    };
    let fields = layout.strip_prefix("NVMMASharedLayout(")?.strip_suffix(')')?;
    let usual = ["rank=2", "transposed=False", "fp4_padded=False", "cga_layout=[]"];
    let parts = pieces(fields).into_iter().map(|(_, part)| part.trim());
    let kept: Vec<&str> = parts.filter(|part| !part.is_empty() && !usual.contains(part)).collect();
    let bits = DType::named(element)?.bits();
    let default = default_swizzle(&sizes, bits, false, false).map(|swizzle| {
        let mut parts = vec![format!("swizzle_byte_width={swizzle}"), format!("element_bitwidth={bits}")];
        if sizes.len() != 2 {
            parts.push(format!("rank={}", sizes.len()));
        }
        parts
    });
    if default.is_some_and(|default| default == kept) {
        return Some(format!("{element}[{block}]"));
    }
    Some(format!("tensordesc<{element}[{block}],NVMMASharedLayout({})>", kept.join(", ")))
}

/// An expression in which Triton's own names are those of `tl`, where one for Gluon has them of `gl`.
pub(super) fn of_triton(text: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("gl.") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        out.push_str(if out.ends_with(is_name) { "gl." } else { "tl." });
        rest = from.get(3..).unwrap_or("");
    }
    out + rest
}

/// For a person: a descriptor by its shape alone, long values cut.
pub fn shown(given: &Given) -> String {
    let whole = match given {
        Given::Value(value) => value.clone(),
        Given::Type(ty) => {
            let plain = plain(ty);
            short(&plain).unwrap_or(plain)
        }
    };
    if whole.chars().count() <= 40 {
        return whole;
    }
    format!("{}…", whole.chars().take(39).collect::<String>())
}

fn word(source: ValueSource) -> &'static str {
    match source {
        ValueSource::Command => "command line",
        ValueSource::Directive => "directive",
        ValueSource::Cache => "compiled before",
        ValueSource::Launch => "launch",
        ValueSource::Default => "default",
        ValueSource::Configuration => "configuration",
        ValueSource::Chosen => "chosen",
    }
}

/// Characters of a value that is written in full to tell an instance from others.
const IN_FULL: usize = 60;

/// Values by which an instance is told from others that are shown alike.
const PARTS: usize = 3;

/// All that shapes a kernel, by name, shown and in full.
struct Facts(Vec<(String, String, String, ValueSource)>);

impl Facts {
    fn of(entry: &Entry, spec: &Spec) -> Facts {
        let mut facts = Vec::new();
        for param in &entry.params {
            match spec.arguments.iter().find(|argument| argument.name == param.name) {
                Some(argument) => {
                    facts.push((param.name.clone(), shown(&argument.given), written(&argument.given), argument.source));
                }
                None => {
                    let Some(default) = &param.default else { continue };
                    facts.push((param.name.clone(), default.clone(), default.clone(), ValueSource::Default));
                }
            }
        }
        if let Some(host) = &spec.host {
            for (name, value) in &host.arguments {
                if !facts.iter().any(|(known, ..)| known == name) {
                    facts.push((name.clone(), value.clone(), value.clone(), ValueSource::Launch));
                }
            }
        }
        let known =
            |facts: &[(String, String, String, ValueSource)], name: &str| facts.iter().any(|(known, ..)| known == name);
        let (target, source) = spec.target;
        facts.push(("target".to_owned(), target.name(), target.name(), source));
        for (name, (value, source)) in [("num_warps", spec.num_warps), ("num_ctas", spec.num_ctas)] {
            facts.retain(|(known, ..)| known != name);
            if !known(&facts, name) {
                facts.push((name.to_owned(), value.to_string(), value.to_string(), source));
            }
        }
        Facts(facts)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, ..)| known == name).map(|(_, shown, ..)| shown.as_str())
    }

    /// What differs from `others` once it is written in full, as far as it is short: `n=i32:16` where others have any
    /// number.
    fn in_full<'f>(&self, others: impl Iterator<Item = &'f Facts> + Clone) -> String {
        let differs = |(name, _, text, _): &&(String, String, String, ValueSource)| {
            let mut theirs = others.clone().filter_map(|other| other.0.iter().find(|(known, ..)| known == name));
            text.chars().count() <= IN_FULL && theirs.any(|(_, _, other, _)| other != text)
        };
        let parts = self.0.iter().filter(differs).map(|(name, _, text, _)| format!("{name}={text}"));
        parts.take(PARTS).collect::<Vec<_>>().join(", ")
    }
}

/// Instances with their words.
pub(super) fn instances(entry: &Entry, specs: Vec<Spec>) -> Vec<Instance> {
    let facts: Vec<Facts> = specs.iter().map(|spec| Facts::of(entry, spec)).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, ..) in facts.iter().flat_map(|facts| &facts.0) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let varied: Vec<&str> = names
        .into_iter()
        .filter(|name| facts.iter().any(|one| one.get(name) != facts.first().and_then(|first| first.get(name))))
        .collect();
    let mut labels: Vec<String> = facts
        .iter()
        .map(|facts| {
            let parts = varied.iter().filter_map(|name| Some(format!("{name}={}", facts.get(name)?)));
            parts.collect::<Vec<_>>().join(", ")
        })
        .collect();
    tell_apart(&mut labels, |at, group| facts[at].in_full(group.iter().map(|other| &facts[*other])));
    tell_apart(&mut labels, |at, _| format!("#{}", at + 1));
    let list = specs.into_iter().zip(facts).zip(labels).map(|((spec, facts), label)| {
        let hint = hint(&facts);
        let directive = directive(&spec, &facts);
        Instance { spec, label, hint, directive, launches: Arc::default() }
    });
    list.collect()
}

/// Adds what `more` says of each label that others are equal to, given the numbers of all that are.
fn tell_apart(labels: &mut [String], more: impl Fn(usize, &[usize]) -> String) {
    let before = labels.to_vec();
    for (at, label) in labels.iter_mut().enumerate() {
        let group: Vec<usize> = (0..before.len()).filter(|other| before[*other] == before[at]).collect();
        let more = if group.len() > 1 { more(at, &group) } else { String::new() };
        if !more.is_empty() {
            *label = if label.is_empty() { more } else { format!("{label}, {more}") };
        }
    }
}

/// `num_buffers=2 (launch) · BLOCK_M=128 (chosen)`: by source, the surest first.
fn hint(facts: &Facts) -> String {
    let mut sources: Vec<ValueSource> = facts.0.iter().map(|(.., source)| *source).collect();
    sources.sort_unstable();
    sources.dedup();
    let groups = sources.into_iter().map(|source| {
        let of = facts.0.iter().filter(|(.., own)| *own == source);
        let values: Vec<String> = of
            .map(|(name, shown, ..)| if name == "target" { shown.clone() } else { format!("{name}={shown}") })
            .collect();
        format!("{} ({})", values.join(", "), word(source))
    });
    groups.collect::<Vec<_>>().join(" · ")
}

fn directive(spec: &Spec, facts: &Facts) -> String {
    let default = |name: &str, source: ValueSource| source == ValueSource::Default && name != "target";
    let values = facts.0.iter().filter(|(name, .., source)| !default(name, *source));
    let mut parts: Vec<String> = values.map(|(name, _, text, _)| format!("{name}={text}")).collect();
    if spec.version != super::Version::default() {
        parts.push(format!("triton={}.{}", spec.version.0, spec.version.1));
    }
    format!("{HEAD}{}", parts.join(", "))
}

impl Instance {
    /// The line that pins it, with a `?` for each of these parameters, which come first.
    pub fn line_with_open(&self, open: &[String]) -> String {
        let body = self.directive.strip_prefix(HEAD).unwrap_or("");
        let known = pieces(body).into_iter().map(|(_, piece)| piece.trim());
        let kept = known.filter(|piece| {
            let name = piece.split('=').next().unwrap_or(piece);
            !piece.is_empty() && !open.iter().any(|open| open == name)
        });
        let blanks = open.iter().map(|name| format!("{name}={OPEN}"));
        let parts: Vec<String> = blanks.chain(kept.map(str::to_owned)).collect();
        format!("{HEAD}{}", parts.join(", "))
    }
}

/// At most [`Instances::MOST`] of them, so that each value of each parameter is in one if that can be, and then as many
/// pairs of values, and what is to be said of it.
pub(super) fn fewer(specs: Vec<Spec>) -> (Vec<Spec>, Option<String>) {
    if specs.len() <= Instances::MOST {
        return (specs, None);
    }
    let values = |spec: &Spec| {
        let arguments = spec.arguments.iter().map(|argument| (argument.name.clone(), plain_given(&argument.given)));
        let host = spec.host.iter().flat_map(|host| host.arguments.clone());
        let settings = [
            ("target".to_owned(), spec.target.0.name()),
            ("num_warps".to_owned(), spec.num_warps.0.to_string()),
            ("num_ctas".to_owned(), spec.num_ctas.0.to_string()),
        ];
        arguments.chain(host).chain(settings).collect::<Vec<_>>()
    };
    // By their numbers: they are compared often.
    let mut numbers: FxHashMap<(String, String), usize> = FxHashMap::default();
    let mut number = |value| {
        let next = numbers.len();
        *numbers.entry(value).or_insert(next)
    };
    let all: Vec<Vec<usize>> = specs.iter().map(|spec| values(spec).into_iter().map(&mut number).collect()).collect();
    let differs = |value: &usize| all.iter().any(|own| !own.contains(value));
    let telling: Vec<usize> = (0..numbers.len()).filter(differs).collect();
    let pairs = |at: usize| {
        let own: Vec<usize> = telling.iter().copied().filter(|value| all[at].contains(value)).collect();
        let of = |place: usize, one: usize| own.iter().skip(place).map(move |other| (one, *other)).collect::<Vec<_>>();
        own.iter().enumerate().flat_map(|(place, one)| of(place, *one)).collect::<Vec<(usize, usize)>>()
    };
    let pairs: Vec<Vec<(usize, usize)>> = (0..all.len()).map(pairs).collect();
    // A value with itself is the value.
    let mut seen: FxHashSet<(usize, usize)> = FxHashSet::default();
    let mut taken: Vec<usize> = Vec::new();
    while taken.len() < Instances::MOST {
        let new = |at: &usize| {
            let new = pairs[*at].iter().filter(|pair| !seen.contains(pair));
            new.fold((0, 0), |(values, pairs), (one, other)| match one == other {
                true => (values + 1, pairs),
                false => (values, pairs + 1),
            })
        };
        let open = (0..all.len()).filter(|at| !taken.contains(at));
        // The first among equals.
        let Some(best) = open.max_by_key(|at| (new(at), std::cmp::Reverse(*at))) else { break };
        seen.extend(&pairs[best]);
        taken.push(best);
    }
    taken.sort_unstable();
    let note = format!("it is launched in {} ways; {} of them are analysed", specs.len(), taken.len());
    let mut at = 0;
    let mut specs = specs;
    specs.retain(|_| {
        at += 1;
        taken.binary_search(&(at - 1)).is_ok()
    });
    (specs, Some(note))
}

#[cfg(test)]
mod tests {
    use super::super::directive::given;
    use super::*;

    #[test]
    fn a_descriptor_is_written_as_short_as_its_layout_allows() {
        let descriptor = |block: &str, layout: &str| format!("tensordesc<{block},NVMMASharedLayout({layout})>");
        let usual = "transposed=False, fp4_padded=False, cga_layout=[]";
        let long = |swizzle: u32, bits: u32, rank: u32| {
            format!("swizzle_byte_width={swizzle}, element_bitwidth={bits}, rank={rank}, {usual}")
        };
        let cases = [
            (descriptor("fp16[128, 64]", &long(128, 16, 2)), "fp16[128,64]".to_owned()),
            (descriptor("fp16[64, 32]", &long(64, 16, 2)), "fp16[64,32]".to_owned()),
            (descriptor("fp32[64]", &long(0, 32, 1)), "fp32[64]".to_owned()),
            (
                descriptor("fp16[128, 64]", &long(32, 16, 2)),
                descriptor("fp16[128,64]", "swizzle_byte_width=32, element_bitwidth=16"),
            ),
            (
                descriptor("fp16[128, 64]", "swizzle_byte_width=128, element_bitwidth=16, rank=2, transposed=True"),
                descriptor("fp16[128,64]", "swizzle_byte_width=128, element_bitwidth=16, transposed=True"),
            ),
            (
                descriptor("fp16[128, 64]", "swizzle_byte_width=128, element_bitwidth=16, cga_layout=[[1, 0]]"),
                descriptor("fp16[128,64]", "swizzle_byte_width=128, element_bitwidth=16, cga_layout=[[1, 0]]"),
            ),
            ("tensordesc<fp16[128, 64]>".to_owned(), "fp16[128,64]".to_owned()),
        ];
        for (ty, expected) in cases {
            let short = written(&Given::Type(ty.clone()));
            assert_eq!(short, expected, "of {ty}");
            // A directive takes it, and writes the same of what it took.
            let taken = given(&short);
            assert!(matches!(taken, Ok(Given::Type(_))), "{short}: {taken:?}");
            assert_eq!(taken.map(|taken| written(&taken)), Ok(short));
        }
    }
}
