//! What a kernel is analysed with: what is known of each parameter, the surest source first.

use std::sync::Arc;

use super::chosen;
use super::directive::{self, Directive, directives};
use super::discover::Found;
use super::entries::Param;
use super::instance::{Base, Instances, Note};
use super::memo::{self, Memo};
use super::partly;
use super::survey::Survey;
use super::words;
use super::{Config, Entry, Given, Source, Spec};
use base::{Cancel, Cancelled, TextRange};
use python::syntax::{Module, Sources};

/// The instances of each of `entries`, in their order.
///
/// # Errors
///
/// When `cancel` says so.
pub fn instances(
    module: &Arc<Module>,
    sources: &dyn Sources,
    entries: &[Entry],
    config: &Config,
    memo: &mut Memo,
    cancel: &Cancel<'_>,
) -> Result<Vec<Instances>, Cancelled> {
    let survey = Survey::of(module, sources);
    let found = memo::launches(module, sources, &survey, entries, config, memo, cancel)?;
    let mut all = Vec::with_capacity(entries.len());
    for (entry, found) in entries.iter().zip(found) {
        cancel.check()?;
        all.push(of_entry(module, &survey, entry, config, found));
    }
    Ok(all)
}

/// Lines of directives that stand above none of `entries`.
pub fn stray(module: &Module, entries: &[Entry]) -> Vec<Note> {
    let used: Vec<TextRange> =
        entries.iter().flat_map(|entry| directives(module, entry.range)).map(|line| line.range).collect();
    let all = directive::all(module.text());
    let stray = all.into_iter().filter(|range| !used.contains(range)).map(|range| Note {
        range,
        message: "this line stands above no kernel, so nothing is analysed with it".to_owned(),
        error: true,
    });
    stray.collect()
}

fn of_entry(module: &Module, survey: &Survey<'_>, entry: &Entry, config: &Config, found: Found) -> Instances {
    let said = |message| Note { range: entry.name_range, message, error: false };
    let mut notes: Vec<Note> = found.notes.into_iter().map(said).collect();
    let mut bases = if found.launches.is_empty() { vec![Base::default()] } else { found.launches };
    compiled(module, entry, config, &mut bases);
    let lines = directives(module, entry.range);
    for line in &lines {
        let errors = line.errors.iter().cloned().chain(unknown_names(survey, entry, line));
        notes.extend(errors.map(|(range, message)| Note { range, message, error: true }));
    }
    if !lines.is_empty() {
        let with = lines.iter().flat_map(|line| bases.iter().map(move |base| directed(survey, entry, base, line)));
        bases = distinct(with.collect());
    }
    for (name, value) in &config.set {
        let Ok(given) = directive::given(value) else { continue };
        if entry.params.iter().any(|param| param.name == *name) {
            bases.iter_mut().for_each(|base| base.give(name, given.clone(), Source::Command));
        }
    }
    let (bases, note) = filled(survey, entry, config, distinct(bases));
    notes.extend(note.map(|message| Note { range: entry.name_range, message, error: false }));
    let target = config.target.map(|target| (target, Source::Configuration));
    let chosen = (chosen::target(survey, entry), Source::Chosen);
    let specs = bases.into_iter().map(|mut base| {
        let place = |name: &str| entry.params.iter().position(|param| param.name == name);
        base.arguments.sort_by_key(|argument| place(&argument.name));
        Spec {
            def: entry.def,
            arguments: base.arguments,
            host: base.host,
            target: base.target.or(target).unwrap_or(chosen),
            version: base.version.unwrap_or(config.version),
            num_warps: base.num_warps.unwrap_or((4, Source::Default)),
            num_ctas: base.num_ctas.unwrap_or((1, Source::Default)),
        }
    });
    let specs: Vec<Spec> = specs.collect();
    let (specs, note) = words::fewer(specs);
    notes.extend(note.map(|message| Note { range: entry.name_range, message, error: false }));
    Instances { list: words::instances(entry, specs), notes, sites: found.sites }
}

/// Overlays what was compiled before: types and settings of a kernel whose `def` is in this line.
fn compiled(module: &Module, entry: &Entry, config: &Config, bases: &mut Vec<Base>) {
    let before = module.source().get(..entry.name_range.start as usize).unwrap_or("");
    let line = before.bytes().filter(|byte| *byte == b'\n').count() as u32 + 1;
    let first = line
        - module
            .slice(entry.range)
            .get(..(entry.name_range.start - entry.def) as usize)
            .map_or(0, |text| text.bytes().filter(|byte| *byte == b'\n').count() as u32);
    let here = config
        .recipes
        .iter()
        .filter(|recipe| (first..=line).contains(&recipe.line) && same_file(&recipe.file, module.path()));
    for recipe in here {
        let agrees = |base: &Base| {
            recipe.types.iter().all(|(name, ty)| {
                let argument = base.arguments.iter().find(|argument| argument.name == *name);
                argument.is_none_or(|argument| matches!(&argument.given, Given::Type(own) if words::plain(own) == *ty))
            })
        };
        let at = bases.iter().position(agrees).unwrap_or_else(|| {
            bases.push(bases.first().cloned().unwrap_or_default());
            bases.len() - 1
        });
        let base = &mut bases[at];
        for (name, ty) in &recipe.types {
            let known = base
                .arguments
                .iter()
                .any(|argument| argument.name == *name && words::plain_given(&argument.given) == *ty);
            if !known {
                base.give(name, Given::Type(ty.clone()), Source::Cache);
            }
        }
        base.target = recipe.target.map(|target| (target, Source::Cache)).or(base.target);
        base.num_warps = recipe.num_warps.map(|warps| (warps, Source::Cache)).or(base.num_warps);
        base.num_ctas = recipe.num_ctas.map(|ctas| (ctas, Source::Cache)).or(base.num_ctas);
    }
}

/// Whether two spellings can be of one file: one ends in the other.
fn same_file(a: &str, b: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']) || short.starts_with('/'))
    };
    ends(a, b) || ends(b, a)
}

/// Names of a directive that no parameter has.
fn unknown_names(survey: &Survey<'_>, entry: &Entry, line: &Directive) -> Vec<(TextRange, String)> {
    let around = host_params(survey, entry);
    let unknown = line
        .values
        .iter()
        .filter(|(name, ..)| !entry.params.iter().any(|param| param.name == *name) && !around.contains(&name.as_str()));
    let said = unknown.map(|(name, _, range)| {
        let near = entry.params.iter().find(|param| words::near(&param.name, name));
        let hint = near.map_or(String::new(), |param| format!("; there is `{}`", param.name));
        (*range, format!("`{}` has no parameter `{name}`{hint}", entry.name))
    });
    said.collect()
}

/// Parameters of the function around a nested kernel.
fn host_params<'m>(survey: &Survey<'m>, entry: &Entry) -> Vec<&'m str> {
    let kernel = survey.functions.iter().find(|func| func.start() == entry.def);
    let outermost = kernel.and_then(|func| survey.functions.get(*func.inside.first()?));
    let params = outermost.into_iter().flat_map(|func| func.def.parameters.iter_non_variadic_params());
    params.map(|param| param.name().as_str()).collect()
}

/// A way to launch it as a directive wants it.
fn directed(survey: &Survey<'_>, entry: &Entry, base: &Base, line: &Directive) -> Base {
    let mut base = base.clone();
    let around = host_params(survey, entry);
    for (name, given, _) in &line.values {
        let param = entry.params.iter().find(|param| param.name == *name);
        if param.is_some() {
            base.give(name, fitting(param, given.clone()), Source::Directive);
        }
        if let (Given::Value(value), Some(host)) = (given, &mut base.host)
            && around.contains(&name.as_str())
        {
            host.arguments.retain(|(known, _)| known != name);
            host.arguments.push((name.clone(), value.clone()));
        }
    }
    base.target = line.target.map(|target| (target, Source::Directive)).or(base.target);
    base.version = line.version.or(base.version);
    base.num_warps = line.num_warps.map(|warps| (warps, Source::Directive)).or(base.num_warps);
    base.num_ctas = line.num_ctas.map(|ctas| (ctas, Source::Directive)).or(base.num_ctas);
    base
}

/// `dtype=fp16` gives a constexpr a type as its value.
fn fitting(param: Option<&Param>, given: Given) -> Given {
    match given {
        Given::Type(ty) if param.is_some_and(|param| param.constexpr) && !ty.contains(['*', '<', '(', ':']) => {
            Given::Value(ty)
        }
        given => given,
    }
}

/// Gives the parameters that nobody gives anything: configuration, then choices; all combinations, and
/// what is to be said if those were too many.
fn filled(survey: &Survey<'_>, entry: &Entry, config: &Config, bases: Vec<Base>) -> (Vec<Base>, Option<String>) {
    let mut note = None;
    let mut out = Vec::new();
    for base in bases {
        let mut all = vec![base];
        let mut fixed = Vec::new();
        let mut combinations = 1usize;
        for param in &entry.params {
            let partly = all[0].partly.iter().find(|(name, _)| *name == param.name).map(|(_, partly)| partly.clone());
            if all[0].has(&param.name)
                || all[0].held.contains(&param.name)
                || (param.default.is_some() && partly.is_none())
            {
                continue;
            }
            let named = config.values.iter().filter(|(name, _)| *name == param.name);
            let configured: Vec<Given> = named.filter_map(|(_, value)| directive::given(value).ok()).collect();
            let (source, mut choices) = match configured.is_empty() {
                true => {
                    let free = chosen::choices(survey, param);
                    let choices = match &partly {
                        Some(partly) => partly::choices(partly, param, free),
                        None => free,
                    };
                    (Source::Chosen, choices)
                }
                false => (Source::Configuration, configured),
            };
            combinations = combinations.saturating_mul(choices.len().max(1));
            if all.len() * choices.len() > Instances::MOST {
                fixed.push(format!("`{}`", param.name));
                choices.truncate(1);
            }
            if choices.is_empty() {
                continue;
            }
            let given = |base: &Base, given: &Given| {
                let mut base = base.clone();
                base.give(&param.name, fitting(Some(param), given.clone()), source);
                base
            };
            all = all.iter().flat_map(|base| choices.iter().map(move |choice| given(base, choice))).collect();
        }
        if !fixed.is_empty() {
            note = Some(format!(
                "{combinations} combinations of chosen values would have to be analysed; {} of them are, with one value each for {}",
                all.len(),
                fixed.join(", ")
            ));
        }
        out.extend(all);
    }
    (out, note)
}

fn distinct(bases: Vec<Base>) -> Vec<Base> {
    let mut out: Vec<Base> = Vec::with_capacity(bases.len());
    for base in bases {
        if !out.contains(&base) {
            out.push(base);
        }
    }
    out
}
