//! Long Gluon files, made of the corpus: kernels one after the other, each with a directive that says what it
//! is compiled with, and names that do not clash.

use crate::corpus::{manifest, specs};
use crate::sources::root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A file of at least this many lines. Every kernel in it is for Hopper and clean.
pub fn long(lines: usize) -> Result<String, String> {
    let folder = root().join("corpus");
    let (rows, specs) = (manifest(&folder)?, specs(&folder)?);
    let clean = rows.iter().filter(|row| row.bug.is_none() && row.stage == "ttgir" && row.arch == "sm_90");
    let sources: BTreeSet<(&str, &str, &str)> =
        clean.map(|row| (row.source.as_str(), row.kernel.as_str(), row.spec.as_str())).collect();
    let mut text = String::new();
    let mut round = 0;
    while text.lines().count() < lines {
        for (source, kernel, spec) in &sources {
            let code = std::fs::read_to_string(folder.join(source)).map_err(|error| format!("{source}: {error}"))?;
            text.push_str(&piece(&code, kernel, specs.get(spec).unwrap_or(&Value::Null), round));
            round += 1;
            if text.lines().count() >= lines {
                break;
            }
        }
    }
    Ok(text)
}

/// A file of the corpus with a directive above its kernel that says what it is compiled with.
pub fn directed(code: &str, kernel: &str, spec: &Value, arch: &str) -> String {
    written(code, kernel, spec, arch, &|line| line.to_owned())
}

fn piece(code: &str, kernel: &str, spec: &Value, round: usize) -> String {
    let code = code.split("\nCORPUS = [").next().unwrap_or(code);
    let params = |key: &str| spec.get(key).and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name);
    let params: Vec<&String> = params("types").chain(params("values")).collect();
    let own: Vec<&str> = code.lines().filter_map(defined).collect();
    let own: Vec<&str> = own.into_iter().filter(|name| !params.iter().any(|param| param == name)).collect();
    written(code, kernel, spec, "sm_90", &|line| renamed(line, &own, round))
}

fn written(code: &str, kernel: &str, spec: &Value, arch: &str, write: &dyn Fn(&str) -> String) -> String {
    let given = |key: &str| spec.get(key).and_then(Value::as_object).into_iter().flatten();
    let values = given("types").chain(given("values"));
    let values: Vec<(&str, &str)> = values.map(|(name, value)| (name.as_str(), value.as_str().unwrap_or(""))).collect();
    let mut text = String::new();
    let lines: Vec<&str> = code.lines().filter(|line| !line.starts_with("from declare import")).collect();
    let entry = lines.iter().position(|line| line.starts_with(&format!("def {kernel}("))).unwrap_or(0);
    let decorator = (0..entry).rev().take_while(|&at| lines[at].starts_with('@')).last().unwrap_or(entry);
    for (at, line) in lines.iter().enumerate() {
        if at == decorator {
            let list: String = values.iter().map(|(name, value)| format!("{name}={value}, ")).collect();
            let number = |key: &str| spec.get(key).and_then(Value::as_u64).unwrap_or(1);
            let (warps, ctas) = (number("num_warps"), number("num_ctas"));
            let _ = writeln!(text, "# fencepost: {list}BUG='', num_warps={warps}, num_ctas={ctas}, target={arch}");
        }
        text.push_str(&write(line));
        text.push('\n');
    }
    text.push('\n');
    text
}

/// The name that a line in column 0 defines.
fn defined(line: &str) -> Option<&str> {
    let after = line.strip_prefix("def ").or_else(|| line.strip_prefix("class ")).unwrap_or(line);
    let end = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let (name, rest) = after.split_at(end);
    let defines = after.len() < line.len() || rest.starts_with(": gl.constexpr") || rest.starts_with(" = ");
    (defines && !name.is_empty()).then_some(name)
}

/// The line with a number behind each of these names.
fn renamed(line: &str, names: &[&str], round: usize) -> String {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(word) {
        let end = rest[start..].find(|c: char| !word(c)).map_or(rest.len(), |end| start + end);
        let free = !out.ends_with('.') && !rest[..start].ends_with('.');
        out.push_str(&rest[..end]);
        if free && names.contains(&&rest[start..end]) {
            let _ = write!(out, "_{round}");
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}
