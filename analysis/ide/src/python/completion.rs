//! Completion in Python, where we know more than others: Triton's builtins by module, methods of memory and
//! descriptors, keywords of calls and what they take, directives.

use base::TextRange;
use gluon::Target;
use gluon::catalog::{self, Builtin, BuiltinKind};
use python::syntax::range;
use specialize::Imports;

use super::FileContext;
use super::callee::Callee;
use super::cursor::{Cursor, OpenCall, Where};
use super::navigate::{expression, offered};
use super::scene::Scene;
use super::signature::{active, with_scene};
use super::tensors;
use super::things::{Thing, taken};
use crate::completion::item::{CodeCompletion, CompletionKind, Completions, DocKey, matching};
use crate::directive;
use engine::instances::PythonFile;

/// What may stand at an offset; `None` where others know better.
pub fn completions(file: &PythonFile, setting: &FileContext<'_>, offset: u32) -> Option<Completions> {
    if !file.mentions_kernels() {
        return None;
    }
    let cursor = Cursor::at(file.text(), offset)?;
    let items = match cursor.at {
        Where::Str => return None,
        Where::Comment => return comment(file, setting, offset),
        Where::Code => code(file, setting, &cursor, offset)?,
    };
    // The word at the place is a name of the tree too.
    let own = cursor.word.of(file.text());
    let items = items.into_iter().filter(|item| item.kind != CompletionKind::Value || item.label != own).collect();
    let (items, incomplete) = matching(items, cursor.prefix);
    if items.is_empty() && !incomplete {
        return None;
    }
    let insert = base::TextRange::new(cursor.word.start.min(offset), offset);
    Some(Completions { insert, replace: insert.cover(cursor.word), items, incomplete })
}

fn code(file: &PythonFile, setting: &FileContext<'_>, cursor: &Cursor<'_>, offset: u32) -> Option<Vec<CodeCompletion>> {
    if let Some(module) = &cursor.import_from {
        let names = Imports::of(file.module(), setting.sources);
        return Some(members(&names.path(module)?, setting));
    }
    with_scene(file, setting, |scene| {
        let of_object = || cursor.object.and_then(|at| of_object(scene, at, offset)).filter(|found| !found.is_empty());
        if cursor.object.is_some() && cursor.receiver.is_none() {
            return of_object();
        }
        if let Some((receiver, called)) = &cursor.receiver {
            if let Some(class) = scene.class_of(receiver, offset) {
                return Some(members(class, setting));
            }
            let module = scene.names.path(receiver).filter(|_| !called);
            let found = module.map_or_else(Vec::new, |module| members(&module, setting));
            return if found.is_empty() { of_object() } else { Some(found) };
        }
        let call = cursor.calls.first()?;
        let callee = tensors::callee(scene, call, offset)?;
        Some(arguments(scene, &callee, call, offset))
    })
}

/// What the object offers that an expression at a place gives: by its class at hand, or as a tensor or descriptor.
fn of_object(scene: &Scene<'_>, at: TextRange, offset: u32) -> Option<Vec<CodeCompletion>> {
    let module = scene.file.module();
    if let Some(found) = offered(module, at, scene.setting.sources) {
        let shown = found.into_iter().map(|one| {
            let kind = if one.method { CompletionKind::Function } else { CompletionKind::Property };
            CodeCompletion::new(one.name, kind, one.detail)
        });
        return Some(shown.collect());
    }
    let expr = expression(module, at)?;
    let mut found: Vec<CodeCompletion> = Vec::new();
    for class in tensors::classes(scene, &expr, offset) {
        for member in members(class, scene.setting) {
            if !found.iter().any(|known| known.label == member.label) {
                found.push(member);
            }
        }
    }
    Some(found)
}

/// What a module or class offers.
fn members(path: &str, setting: &FileContext<'_>) -> Vec<CodeCompletion> {
    let mut found = catalog::members(path, setting.version);
    if path.starts_with("gl.") {
        let own = catalog::members("gl", setting.version);
        found.retain(|member| !is_type(member) || !own.iter().any(|other| other.name == member.name));
    }
    // Classes that others are made from, and a module for which nothing is known: no kernel writes them.
    found.retain(|member| !["block_pointer", "intel", "SharedLayout", "DistributedLayout"].contains(&member.name));
    let mut items: Vec<CodeCompletion> = found.iter().map(item).collect();
    let more = match path {
        "tl" | "triton.language" => TYPES,
        "triton" => HOST,
        "gluon" | "triton.experimental.gluon" => GLUON,
        _ => &[],
    };
    let more = more.iter().filter(|(name, ..)| !found.iter().any(|member| member.name == *name));
    items.extend(more.map(|(name, kind, detail)| CodeCompletion::new(*name, *kind, *detail)));
    items
}

/// Names of plain Triton's language that annotations and arguments mention, and no kernel calls.
const TYPES: &[(&str, CompletionKind, &str)] = &[
    ("constexpr", CompletionKind::Class, "a value that is known when the kernel is compiled"),
    ("const", CompletionKind::Class, "a pointer that nothing is written through"),
    ("dtype", CompletionKind::Class, "the class of element types"),
    ("tensor", CompletionKind::Class, "a tensor or scalar of a kernel"),
    ("tensor_descriptor", CompletionKind::Class, "a tensor descriptor of a kernel"),
    ("PropagateNan", CompletionKind::Class, "whether minima and maxima keep NaN"),
];

/// Names of `triton` that decorate kernels and surround them.
const HOST: &[(&str, CompletionKind, &str)] = &[
    ("jit", CompletionKind::Function, "makes a function a kernel or a helper of kernels"),
    ("autotune", CompletionKind::Function, "(configs, key, …): tries configurations and keeps the fastest"),
    ("heuristics", CompletionKind::Function, "(values): computes parameters from the others"),
    ("Config", CompletionKind::Class, "(kwargs, num_warps=4, num_stages=3, num_ctas=1, …): one configuration"),
    ("language", CompletionKind::Module, "module"),
    ("testing", CompletionKind::Module, "module"),
    ("runtime", CompletionKind::Module, "module"),
    ("compiler", CompletionKind::Module, "module"),
    ("compile", CompletionKind::Function, "compiles a kernel without launching it"),
    ("set_allocator", CompletionKind::Function, "(allocator): memory that kernels need for descriptors"),
];

/// Names of `gluon` that decorate functions and classes, and its modules.
const GLUON: &[(&str, CompletionKind, &str)] = &[
    ("jit", CompletionKind::Function, "makes a function a kernel or a helper of kernels"),
    ("constexpr_function", CompletionKind::Function, "makes a function run while kernels are compiled"),
    ("aggregate", CompletionKind::Function, "makes a class one of objects of kernels"),
    ("language", CompletionKind::Module, "module"),
    ("nvidia", CompletionKind::Module, "module"),
    ("amd", CompletionKind::Module, "module"),
];

/// Whether a member is a layout or a type, which modules below take from the language itself.
fn is_type(member: &Builtin) -> bool {
    member.kind == BuiltinKind::Class && (member.name.ends_with("Layout") || member.name.ends_with("_type"))
}

fn item(builtin: &Builtin) -> CodeCompletion {
    let (kind, detail) = match builtin.kind {
        BuiltinKind::Module => (CompletionKind::Module, "module".to_owned()),
        BuiltinKind::Function => (CompletionKind::Function, signature(builtin)),
        BuiltinKind::Class => (CompletionKind::Class, signature(builtin)),
        BuiltinKind::Attribute => (CompletionKind::Property, String::new()),
        BuiltinKind::ElementType => (CompletionKind::Type, "element type".to_owned()),
        BuiltinKind::Constant => (CompletionKind::Constant, String::new()),
    };
    CodeCompletion::new(builtin.name, kind, detail).documented(DocKey::Builtin(builtin.path.clone()))
}

fn signature(builtin: &Builtin) -> String {
    let shown = builtin.params.iter().map(|param| match param.default {
        Some(default) => format!("{}{}={default}", param.stars, param.name),
        None => format!("{}{}", param.stars, param.name),
    });
    format!("({})", shown.collect::<Vec<_>>().join(", "))
}

/// What an argument of a call may be: a keyword that is not given, a value that the parameter takes.
fn arguments(scene: &Scene<'_>, callee: &Callee, call: &OpenCall, offset: u32) -> Vec<CodeCompletion> {
    let mut items = Vec::new();
    let at = active(callee, call);
    if let Some(param) = at.and_then(|at| callee.params.get(at)) {
        items.extend(values(scene, callee, &param.name, &param.text, offset));
    }
    if call.fresh && call.keyword.is_none() {
        for (at, param) in callee.params.iter().enumerate() {
            let by_place = at < call.positional && !param.keyword_only;
            let passed = by_place || call.keywords.contains(&param.name);
            if param.collects || passed {
                continue;
            }
            let detail = param.text.strip_prefix(&param.name).unwrap_or("").trim_start_matches([':', '=']).trim();
            items.push(CodeCompletion::new(format!("{}=", param.name), CompletionKind::Parameter, detail));
        }
        // What launches take besides.
        for (option, what) in LAUNCH.iter().filter(|_| call.launched) {
            let own = callee.params.iter().any(|param| param.name == *option);
            if !own && !call.keywords.iter().any(|keyword| keyword == option) {
                items.push(CodeCompletion::new(format!("{option}="), CompletionKind::Parameter, *what));
            }
        }
    }
    items
}

/// Keywords that every launch takes.
const LAUNCH: &[(&str, &str)] = &[
    ("num_warps", "warps of a program"),
    ("num_stages", "stages that loops are pipelined into"),
    ("num_ctas", "CTAs of a cluster"),
];

/// Words that parameters of builtins take, with their quotes.
fn words(param: &str) -> &'static [&'static str] {
    match param {
        "cache_modifier" | "cache" => &["\"\"", "\".ca\"", "\".cg\"", "\".cv\"", "\".wb\"", "\".cs\"", "\".wt\""],
        "eviction_policy" => &["\"\"", "\"evict_first\"", "\"evict_last\""],
        "sem" => &["\"acquire\"", "\"release\"", "\"acq_rel\"", "\"relaxed\""],
        "scope" => &["\"gpu\"", "\"cta\"", "\"sys\""],
        "input_precision" => &["\"tf32\"", "\"tf32x3\"", "\"ieee\""],
        "padding_option" => &["\"zero\"", "\"nan\""],
        "fp_downcast_rounding" => &["\"rtne\"", "\"rtz\""],
        _ => &[],
    }
}

/// What a parameter takes, as far as it is known.
fn values(scene: &Scene<'_>, callee: &Callee, param: &str, text: &str, offset: u32) -> Vec<CodeCompletion> {
    let mut items = Vec::new();
    let Some(builtin) = &callee.builtin else {
        return of_thing(scene, helper_takes(scene, callee, param), offset);
    };
    items.extend(of_thing(scene, taken(builtin, param), offset));
    items.extend(words(param).iter().map(|word| CodeCompletion::new(*word, CompletionKind::Word, param)));
    if text.ends_with("=True") || text.ends_with("=False") {
        items.extend(["True", "False"].map(|word| CodeCompletion::new(word, CompletionKind::Word, param)));
    }
    let wanted = match param {
        "dtype" | "element_ty" => BuiltinKind::ElementType,
        "layout" => BuiltinKind::Class,
        _ => return items,
    };
    // By the name that the file has for the module.
    let modules = scene.names.names().filter_map(|name| Some((name, scene.names.full(name)?)));
    let mut modules: Vec<(&str, String)> = modules.filter(|(_, full)| full == "gl" || full == "tl").collect();
    let own = callee.name.split('.').next().unwrap_or("");
    modules.sort_by(|a, b| (a.0 != own, &a.1, a.0).cmp(&(b.0 != own, &b.1, b.0)));
    for (name, full) in modules.iter().take(1) {
        let fitting = catalog::members(full, scene.setting.version);
        let fitting = fitting.iter().filter(|member| member.kind == wanted);
        let layouts = fitting.filter(|member| wanted != BuiltinKind::Class || member.name.ends_with("Layout"));
        items.extend(layouts.map(|member| {
            let mut item = item(member);
            item.label = format!("{name}.{}", member.name);
            item
        }));
    }
    items
}

/// What a helper of the file takes at a parameter.
fn helper_takes(scene: &Scene<'_>, callee: &Callee, param: &str) -> Option<Thing> {
    let (function, _) = scene.definitions.device(&callee.name)?;
    scene.things.variable(function, param).filter(|thing| *thing != Thing::Constexpr)
}

/// The variables around an offset that are a thing.
fn of_thing(scene: &Scene<'_>, thing: Option<Thing>, offset: u32) -> Vec<CodeCompletion> {
    let (Some(thing), Some((function, _))) = (thing, scene.definitions.around(offset)) else { return Vec::new() };
    let detail = match thing {
        Thing::Barrier => "barrier",
        Thing::Memory => "shared memory",
        Thing::TensorMemory => "tensor memory",
        Thing::Descriptor => "tensor descriptor",
        Thing::Constexpr => "constexpr",
    };
    let names = scene.things.all(function, thing).into_iter();
    names.map(|name| CodeCompletion::new(name, CompletionKind::Value, detail)).collect()
}

/// Keys of directives, their values, parameters of the kernel below, kinds of findings.
fn comment(file: &PythonFile, setting: &FileContext<'_>, offset: u32) -> Option<Completions> {
    let text = file.text();
    let (body, _) = directive::body(text, offset)?;
    let suppression = directive::kinds(text, offset);
    if body.contains('[') && suppression.is_some() {
        return suppression;
    }
    // Of `a=fp16[1, 2], b` only what follows the last comma that stands in no bracket is being typed.
    let mut depth = 0i32;
    let piece = body.rsplit(|c: char| {
        depth += i32::from(matches!(c, ')' | ']' | '}' | '>')) - i32::from(matches!(c, '(' | '[' | '{' | '<'));
        c == ',' && depth == 0
    });
    let piece = piece.map(str::trim_start).next().unwrap_or("");
    if depth != 0 && !piece.contains('=') {
        return None;
    }
    let (typed, items) = match piece.split_once('=') {
        Some((key, value)) => (value.trim_start(), directive_values(key.trim(), setting)),
        None => (piece, keys(file, setting, body, offset)),
    };
    let word = base::TextRange::new(offset - typed.len() as u32, offset);
    let mut all = items;
    if let Some(more) = suppression.filter(|_| !piece.contains('=')) {
        all.extend(more.items);
    }
    let found = directive::answer(text, word, all, typed);
    (!found.items.is_empty()).then_some(found)
}

/// Settings that a directive makes, and what they say.
const SETTINGS: &[(&str, &str)] = &[
    ("target", "the GPU: sm_80, sm_90, sm_100, gfx950, …"),
    ("triton", "the release of Triton, such as 3.9"),
    ("num_warps", "warps of the default partition"),
    ("num_ctas", "CTAs of a cluster"),
];

fn keys(file: &PythonFile, setting: &FileContext<'_>, body: &str, offset: u32) -> Vec<CodeCompletion> {
    let given: Vec<&str> = body.split(',').filter_map(|piece| Some(piece.split_once('=')?.0.trim())).collect();
    let line = file.text().get(offset as usize..).and_then(|rest| rest.lines().next()).unwrap_or("");
    let behind: Vec<&str> = line.split(',').filter_map(|piece| Some(piece.split_once('=')?.0.trim())).collect();
    let fresh = |name: &str| !given.contains(&name) && !behind.contains(&name);
    let mut items = Vec::new();
    let params = with_scene(file, setting, |scene| {
        // The function whose decorators stand below the comment or around it.
        let below = scene.definitions.functions.iter().filter(|function| function.device());
        let below = below.filter(|function| range(&function.def.name).start >= offset);
        let function = below.min_by_key(|function| range(&function.def.name).start)?;
        let params = function.def.parameters.iter_non_variadic_params().map(|param| {
            let annotation = param.annotation().map(range);
            (param.name().to_string(), annotation.map(|range| range.of(file.text()).to_owned()))
        });
        Some(params.collect::<Vec<_>>())
    });
    for (name, annotation) in params.unwrap_or_default().into_iter().filter(|(name, _)| fresh(name)) {
        let mut item =
            CodeCompletion::new(&name, CompletionKind::Parameter, annotation.unwrap_or_else(|| "parameter".to_owned()));
        item.insert = Some(format!("{name}="));
        items.push(item);
    }
    for (name, what) in SETTINGS.iter().filter(|(name, _)| fresh(name)) {
        let mut item = CodeCompletion::new(*name, CompletionKind::Property, *what);
        item.insert = Some(format!("{name}="));
        items.push(item);
    }
    items
}

fn directive_values(key: &str, setting: &FileContext<'_>) -> Vec<CodeCompletion> {
    let word = |word: String| CodeCompletion::new(word, CompletionKind::Word, key);
    match key {
        "target" | "arch" => {
            let cuda = [80, 90, 100, 120].map(|capability| Target::Cuda(capability).name());
            let amd = [Target::Gfx942, Target::Gfx950, Target::Gfx1250].map(Target::name);
            cuda.into_iter().chain(amd).map(word).collect()
        }
        "triton" => (4..=setting.version.1.max(9)).rev().map(|minor| word(format!("3.{minor}"))).collect(),
        "num_warps" => [1, 2, 4, 8, 16].map(|number: u32| word(number.to_string())).into(),
        "num_ctas" => [1, 2, 4, 8].map(|number: u32| word(number.to_string())).into(),
        _ => ["*fp16", "*bf16", "*fp32", "*fp8e4nv", "*i32", "i32", "i64", "fp16[", "bf16["]
            .map(|ty| CodeCompletion::new(ty, CompletionKind::Type, "a type"))
            .into(),
    }
}
