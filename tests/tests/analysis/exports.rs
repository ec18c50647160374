//! The table of builtins beside the Triton that is installed: every name that Gluon's modules export is known, with
//! its parameters.
//!
//! Runs where `FENCEPOST_PYTHON` (or `python3`) has Triton, and says so where it has not.

use std::ffi::OsString;
use std::io::Write;
use std::process::Command;

use gluon::{Version, parameters};

/// Prints the release, then a line for each name: its path in ours, a tab, its parameters or `-`.
const WALK: &str = r#"
import inspect
import triton
import triton.experimental.gluon.language as gl

HOME = gl.__name__

def parameters(value):
    try:
        signature = inspect.signature(getattr(value, "fn", value))
    except (TypeError, ValueError):
        return "-"
    own = ("_semantic", "_generator", "_builder", "self")
    plain = ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY")
    return ",".join(p.name for p in signature.parameters.values() if p.kind.name in plain and p.name not in own) or "-"

def walk(module, path):
    listed = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    for name in sorted(set(listed)):
        value = getattr(module, name, None)
        if inspect.ismodule(value):
            parts = value.__name__.split(".")
            if value.__name__.startswith(HOME + ".") and not any(part.startswith("_") for part in parts):
                walk(value, path + "." + name)
        elif not name.startswith("_"):
            print(f"{path}.{name}\t{parameters(value) if callable(value) else '-'}")

print(triton.__version__)
walk(gl, "gl")
"#;

/// Names that no kernel calls, and why the table has none of them.
const LEFT_OUT: &[(&str, &str)] = &[
    ("builtin", "a decorator of Triton's own sources"),
    ("dtype", "reached by another module"),
    ("tensor", "reached by another module"),
];

/// Parameters that the compiler alone gives.
const OWN_PARAMETERS: &[&str] = &["_type_name", "_mangle_prefix", "type", "values", "handle"];

fn walked() -> Result<String, String> {
    let python = std::env::var_os("FENCEPOST_PYTHON").unwrap_or_else(|| OsString::from("python3"));
    let run = Command::new(&python).args(["-c", WALK]).output().map_err(|error| error.to_string())?;
    if !run.status.success() {
        let said = String::from_utf8_lossy(&run.stderr);
        return Err(said.lines().last().unwrap_or("it fails").to_owned());
    }
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}

#[test]
fn every_name_that_the_installed_triton_exports_is_known() {
    let text = match walked() {
        Ok(text) => text,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "skipped: names of the installed Triton: {why}");
            return;
        }
    };
    let mut lines = text.lines();
    let release = lines.next().unwrap_or_default();
    let minor = release.split('.').nth(1).and_then(|minor| minor.parse().ok());
    let version = Version(3, minor.unwrap_or_else(|| panic!("`{release}` is no release")));
    let mut missing = Vec::new();
    let mut names = 0;
    for line in lines {
        let Some((path, theirs)) = line.split_once('\t') else { continue };
        names += 1;
        let last = path.rsplit('.').next().unwrap_or(path);
        let Some(ours) = parameters(path, version) else {
            if !LEFT_OUT.iter().any(|(name, _)| *name == last) {
                missing.push(format!("{path} is not known"));
            }
            continue;
        };
        // What is no function is not called in a kernel; `**` takes all.
        if ours.is_empty() || theirs == "-" || ours.iter().any(|name| name.starts_with("**")) {
            continue;
        }
        let lacks = theirs.split(',').filter(|name| !ours.contains(name) && !OWN_PARAMETERS.contains(name));
        missing.extend(lacks.map(|name| format!("{path} has no parameter {name}")));
    }
    assert!(names > 200, "the walk of Triton {release} found {names} names");
    assert!(missing.is_empty(), "of Triton {release}:\n{}", missing.join("\n"));
}
