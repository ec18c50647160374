//! A function, class or method of Gluon's and Triton's: how it is called, since when, what it emits.

use super::place::Place;
use super::{layout, value};
use crate::{Hover, effects};
use dialects::{OpDecl, table};
use engine::instances::ElaboratedInstance;
use gluon::catalog::TLX;
use gluon::{Form, Version, canonical, forms, methods};
use specialize::imported;
use ttgir::{OpId, Tree};

/// Ops whose effects are told of one call.
const OPS: usize = 4;

/// The hover of the builtin whose name is at the place.
pub(super) fn hover(place: &Place<'_>) -> Option<Hover> {
    let (forms, plain) = known(place)?;
    let form = *forms.first()?;
    let name = called(place, &form);
    let params = |form: &Form| match plain.is_some() {
        true => without_layout(form.params),
        // A method is called on its object.
        false => form.params.strip_prefix("self").unwrap_or(form.params).trim_start_matches(", ").to_owned(),
    };
    let mut hover = Hover { range: place.word, title: format!("{name}({})", params(&form)), ..Hover::default() };
    hover.words.push(format!("`{}`, {}.", plain.as_deref().unwrap_or(form.path), releases(&form)));
    for other in forms.iter().skip(1).filter(|other| other.path == form.path).take(3) {
        hover.words.push(format!("Triton {}: `({})`.", span(other), params(other)));
    }
    // Names of modules and attributes stand in calls that are not their own.
    let own_call = place.of.and_then(|of| value::call(of, place.offset)).filter(|(elaborated, call, _)| {
        let source = elaborated.module().slice(*call);
        let begins =
            place.dotted.as_ref().is_none_or(|dotted| call.start as usize + dotted.len() == place.word.end as usize);
        let end = place.word.end.saturating_sub(call.start) as usize;
        !form.class
            && begins
            && source.get(end..).is_some_and(|rest| rest.trim_start().starts_with('('))
            && is_callee(source, end)
    });
    match (own_call, place.of) {
        (Some((elaborated, _, ops)), Some(of)) => {
            let tree = elaborated.tree()?;
            emitted(elaborated, tree, &ops, &mut hover);
            // What is done with its barrier or buffer stands below.
            if let Some((op, subject)) = value::about(elaborated, &ops)
                && ttgir::queries::memory::is_memory(tree, subject)
                && let Some(about) = crate::hover_of(elaborated.document(), op, subject)
                && let Some(about) = value::said(of, elaborated, hover.range, about, Some(subject))
            {
                hover.subject = about.title;
                hover.words.extend(about.words);
                hover = Hover {
                    rows: about.rows,
                    more: about.more,
                    cadence: about.cadence,
                    carried: about.carried,
                    kernel: about.kernel,
                    picture: about.picture,
                    ..hover
                };
            }
        }
        _ => declared(&form, &mut hover),
    }
    if let Some(described) = layout::of_call(place) {
        hover.words.extend(described.words);
        hover.picture = described.picture;
    }
    Some(hover)
}

/// Whether the name that ends at `end` is what the call calls, and no argument of it.
fn is_callee(source: &str, end: usize) -> bool {
    source.get(..end).is_some_and(|callee| {
        let open = callee.bytes().fold(0i32, |open, byte| open + i32::from(byte == b'(') - i32::from(byte == b')'));
        open == 0
    })
}

/// Parameters as plain Triton has them, whose tensors have no layouts that a kernel could name.
fn without_layout(params: &'static str) -> String {
    let is_layout = |part: &&str| part.split('=').next().is_some_and(|name| name.trim() == "layout");
    python::library::parts(params).filter(|part| !is_layout(part)).collect::<Vec<_>>().join(", ")
}

/// The forms of what the name means, and its full name where it is one of plain Triton.
fn known(place: &Place<'_>) -> Option<(Vec<Form>, Option<String>)> {
    let version = place.version;
    if let Some(dotted) = &place.dotted {
        let (root, rest) = dotted.split_once('.').map_or((dotted.as_str(), ""), |(root, rest)| (root, rest));
        if let Some(full) = imported(place.module, place.sources, root) {
            let full = if rest.is_empty() { full } else { format!("{full}.{rest}") };
            let full = canonical(&full);
            let found = forms(&full, version);
            let plain = full.starts_with("tl.").then(|| full.into_owned());
            return (!found.is_empty() && is_triton(&found)).then_some((found, plain));
        }
        if rest.is_empty() {
            return None;
        }
    }
    // A method of a value: which class's, an instance may say, and else all that have it are candidates.
    let found = methods(place.name(), version);
    let call = place.of.and_then(|of| value::call(of, place.offset));
    let emitted: Vec<&str> = call
        .map(|(elaborated, _, ops)| {
            let tree = elaborated.tree();
            ops.iter().filter_map(|op| tree.map(|tree| tree.op_name(*op))).collect()
        })
        .unwrap_or_default();
    let fits = |form: &&Form| declarations(form).iter().any(|decl| emitted.contains(&decl.name));
    let best = found.iter().find(fits).copied();
    let is_call = place.module.text().get(place.word.end as usize..).is_some_and(|rest| rest.starts_with('('));
    let best =
        best.or_else(|| found.first().copied().filter(|_| is_call && found.iter().all(|it| same_owner(it, &found))))?;
    Some((std::iter::once(best).chain(found.into_iter().filter(|other| *other != best)).collect(), None))
}

/// Whether all forms are of one class.
fn same_owner(form: &Form, all: &[Form]) -> bool {
    let owner = |form: &Form| form.path.rsplit_once('.').map(|(owner, _)| owner);
    all.first().is_some_and(|first| owner(first) == owner(form))
}

/// Python's own functions are better known elsewhere.
fn is_triton(forms: &[Form]) -> bool {
    forms.iter().all(|form| {
        ["gl", "tl", "triton", "gluon"]
            .iter()
            .any(|root| form.path.strip_prefix(root).is_some_and(|rest| rest.starts_with('.')))
    })
}

/// The name as it is called here.
fn called(place: &Place<'_>, form: &Form) -> String {
    match &place.dotted {
        Some(dotted) => dotted.clone(),
        None => form.path.rsplit('.').next().unwrap_or(form.path).to_owned(),
    }
}

fn span(form: &Form) -> String {
    let Version(major, since) = form.since;
    match form.until {
        Some(Version(_, until)) if until == since => format!("{major}.{since}"),
        Some(Version(_, until)) => format!("{major}.{since} to {major}.{until}"),
        None => format!("{major}.{since} and later"),
    }
}

fn releases(form: &Form) -> String {
    if form.path.starts_with(TLX) {
        return "in facebookexperimental's release of Triton".to_owned();
    }
    // The table begins there.
    if form.since <= Version(3, 4) && form.until.is_none() {
        return "in all releases of Triton that are known here".to_owned();
    }
    format!("Triton {}", span(form))
}

/// Ops of a call, each once: what they do, and what the call gives.
fn emitted(elaborated: &ElaboratedInstance, tree: &Tree, ops: &[OpId], hover: &mut Hover) {
    let mut told: Vec<&str> = Vec::new();
    for op in ops {
        let name = tree.op_name(*op);
        if told.contains(&name) || name.starts_with("arith.constant") {
            continue;
        }
        told.push(name);
        let Some(code) = tree.code(*op).filter(|_| told.len() <= OPS) else { continue };
        let decl = code.decl();
        hover.words.push(format!("Emits `{}`: {}", decl.name, decl.doc.trim()));
        let said = effects::effects(decl, &|group| effects::operand(tree, *op, group));
        hover.words.extend(said.iter().filter(|sentence| !sentence.is_empty()).map(|it| elaborated.say(it)));
    }
    if told.len() > OPS {
        hover.words.push(format!("And {} more ops.", told.len() - OPS));
    }
    let result = ops.iter().rev().find_map(|op| tree.results(*op).first()).and_then(|value| tree.value_type(*value));
    let described = result.map(|ty| crate::value_type(tree, ty)).unwrap_or_default();
    if let Some(what) = described.words.into_iter().next() {
        hover.words.push(format!(
            "The result here: {}{}",
            what.get(..1).unwrap_or("").to_lowercase(),
            what.get(1..).unwrap_or("")
        ));
    }
}

/// What the declarations of ops say that Python calls so, where no instance has the call.
fn declared(form: &Form, hover: &mut Hover) {
    let all = declarations(form);
    for decl in all.iter().take(OPS) {
        hover.words.push(format!("Emits `{}`: {}", decl.name, decl.doc.trim()));
    }
    if let [only] = all.as_slice() {
        let said = effects::effects(only, &|group| Some(format!("`{group}`")));
        hover.words.extend(said.into_iter().filter(|sentence| !sentence.is_empty()));
    } else if all.is_empty() && form.effect {
        hover.words.push("Touches shared or tensor memory, or synchronises.".to_owned());
    }
}

/// The ops that Python calls by the name of a form.
fn declarations(form: &Form) -> Vec<&'static OpDecl> {
    let (owner, name) = form.path.rsplit_once('.').unwrap_or(("", form.path));
    let named = |python: &str| match python.rsplit_once('.') {
        Some(_) => form.path.ends_with(python) && form.path.len() > python.len(),
        None => python == name,
    };
    let fits = |decl: &OpDecl| match owner {
        "shared_memory_descriptor" => !decl.name.contains("tmem"),
        "tensor_memory_descriptor" => decl.name.contains("tmem"),
        "tensor" | "gl" | "tl" => !matches!(name, "load" | "store"),
        _ if owner.starts_with("gl.amd") => decl.name.starts_with("amdg"),
        _ => !decl.name.starts_with("amdg"),
    };
    let rows = table().rows().iter().map(|row| row.decl);
    rows.filter(|decl| decl.python.is_some_and(|python| named(python.name)) && fits(decl)).collect()
}
