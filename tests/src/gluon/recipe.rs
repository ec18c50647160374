//! What a kernel is compiled with, from JSON: a specialisation of the corpus's manifest, or the recipe of
//! a launch that was captured elsewhere.

use gluon::{Argument, Given, Host, Spec, Target, ValueSource, Version};
use python::syntax::Module;
use serde_json::Value;

const SAID: ValueSource = ValueSource::Launch;

/// Where the statement that starts in a line (from 1) starts.
pub fn offset(module: &Module, line: usize) -> Option<u32> {
    let mut start = 0;
    for (at, text) in module.source().split_inclusive('\n').enumerate() {
        if at + 1 == line {
            return Some((start + text.len() - text.trim_start().len()) as u32);
        }
        start += text.len();
    }
    None
}

/// Where the statement of the function with this name starts, its decorators included.
pub fn statement(module: &Module, name: &str) -> Option<u32> {
    module.body().iter().find_map(|statement| {
        let def = statement.as_function_def_stmt()?;
        (def.name.as_str() == name).then(|| def.range.start().to_u32())
    })
}

/// A specialisation of the manifest: `{"types": {…}, "values": {…}, "num_warps": 4, "num_ctas": 1}`.
pub fn of_manifest(module: &Module, kernel: &str, arch: &str, json: &Value, bug: &str) -> Option<Spec> {
    let pairs = |key: &str| json.get(key).and_then(Value::as_object).into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let types = pairs("types").map(|(name, value)| (name.clone(), Given::Type(text(value))));
    let values = pairs("values").map(|(name, value)| (name.clone(), Given::Value(text(value))));
    let bug = ("BUG".to_owned(), Given::Value(format!("'{bug}'")));
    let given = types.chain(values).chain([bug]);
    let arguments = given.map(|(name, given)| Argument { name, given, source: SAID }).collect();
    Some(Spec {
        def: statement(module, kernel)?,
        language: gluon::Language::Gluon,
        arguments,
        host: None,
        target: (Target::named(arch)?, SAID),
        version: Version::default(),
        num_warps: (number(json, "num_warps")?, SAID),
        num_ctas: (number(json, "num_ctas")?, SAID),
    })
}

/// A captured launch: `args` with a `type` or a `value` each, `first_line`, `target`, and for a kernel
/// inside a function `host`.
pub fn of_launch(module: &Module, json: &Value) -> Option<Spec> {
    let list = json.get("args").and_then(Value::as_array)?;
    let arguments = list.iter().filter_map(|arg| {
        let name = arg.get("name")?.as_str()?.to_owned();
        let ty = arg.get("type").and_then(Value::as_str).map(|ty| Given::Type(ty.to_owned()));
        let given = ty.or_else(|| Some(Given::Value(arg.get("value")?.as_str()?.to_owned())))?;
        Some(Argument { name, given, source: SAID })
    });
    let version = json.get("version").and_then(Value::as_str).and_then(|text| {
        let (major, minor) = text.split_once('.')?;
        Some(Version(major.parse().ok()?, minor.parse().ok()?))
    });
    Some(Spec {
        def: offset(module, number(json, "first_line")? as usize)?,
        language: gluon::Language::Gluon,
        arguments: arguments.collect(),
        host: json.get("host").and_then(|host| of_host(module, host)),
        target: (Target::named(json.get("target")?.as_str()?)?, SAID),
        version: version.unwrap_or_default(),
        num_warps: (number(json, "num_warps")?, SAID),
        num_ctas: (number(json, "num_ctas")?, SAID),
    })
}

fn of_host(module: &Module, json: &Value) -> Option<Host> {
    let pairs = json.get("args")?.as_object()?;
    let arguments = pairs.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    let line = number(json, "first_line").or_else(|| number(json, "def_line"))?;
    Some(Host {
        file: None,
        def: offset(module, line as usize)?,
        case: None,
        ways: Vec::new(),
        assumed: false,
        arguments: arguments.collect(),
        launch: number(json, "launch").unwrap_or(0),
    })
}

fn number(json: &Value, key: &str) -> Option<u32> {
    json.get(key)?.as_u64()?.try_into().ok()
}
