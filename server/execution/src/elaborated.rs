//! The IR of a launch as the kernel is elaborated here: a run of a Python file needs no Triton.

use std::fmt::Write as _;
use std::sync::Arc;

use base::TextRange;
use engine::instances::{ElaboratedInstance, Given as Has, KernelInstances};
use render::SourceText;
use runtime::run::RunError;
use runtime::sidecar::KernelRequest;

/// The IR of the kernel with what is asked of the compiler, each op with its place in `text`, the file at `path`.
///
/// # Errors
///
/// Where no instance was analysed with these constants and types, or it is not followed whole.
pub(crate) fn compiled(
    kernel: &KernelInstances,
    request: &KernelRequest,
    path: &str,
    text: &str,
) -> Result<Arc<str>, RunError> {
    let fits = |instance: &&Arc<ElaboratedInstance>| differs(instance, request).is_none();
    let Some(instance) = kernel.instances.iter().find(fits) else {
        let name = kernel.instances.last().and_then(|instance| differs(instance, request));
        let more = name.map_or_else(String::new, |(name, value)| format!(" (--set {name}={value} would do)"));
        return Err(RunError(format!("`{}` was not analysed with what the recipe gives{more}", request.name)));
    };
    if let Some((_, range, why)) = instance.unmodelled().first() {
        let line = SourceText::new(text).line(range.start);
        return Err(RunError(format!("line {line} is not followed: {why}")));
    }
    if let Some(problem) = instance.problems().iter().find(|problem| !problem.hint) {
        return Err(RunError(format!("Triton would refuse it: {}", problem.message)));
    }
    Ok(with_places(instance, path, &SourceText::new(text)).into())
}

/// What the instance has other than what is asked for: a parameter and what it should be.
fn differs<'r>(instance: &ElaboratedInstance, request: &'r KernelRequest) -> Option<(&'r str, &'r str)> {
    let has = |name: &str| instance.instance.spec.arguments.iter().find(|argument| argument.name == name);
    let plain = |ty: &str| ty.split(':').next().unwrap_or(ty).to_owned();
    for (name, value) in &request.constexprs {
        // A default is not given.
        let same = has(name).is_none_or(|argument| matches!(&argument.given, Has::Value(text) if text == value));
        if !same {
            return Some((name, value));
        }
    }
    for (name, ty) in &request.signature {
        let same = has(name).is_some_and(|argument| match &argument.given {
            Has::Type(own) => own.starts_with("tensordesc") || plain(own) == plain(ty),
            Has::Value(_) => false,
        });
        if !same {
            return Some((name, ty));
        }
    }
    None
}

/// The text of an instance with a location behind each op; that of an op with regions is behind the last of them.
fn with_places(instance: &ElaboratedInstance, path: &str, places: &SourceText<'_>) -> String {
    let path = path.replace('\\', "\\\\").replace('"', "\\\"");
    let (mut out, mut at) = (String::new(), 0u32);
    // The places of ops whose regions are open.
    let mut open: Vec<Option<String>> = Vec::new();
    let mut lines = instance.document().text().split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let code = line.trim_end();
        let trimmed = code.trim();
        let place = instance.place(TextRange::empty(at + (code.len() - code.trim_start().len()) as u32));
        at += line.len() as u32;
        let next = lines.peek().map_or("", |line| line.trim());
        let further = continues(next);
        let is_op = !trimmed.is_empty() && !trimmed.starts_with(['#', '^', '/', '}', '!']) && !continues(trimmed);
        let mut here = None;
        if is_op {
            let (line, column) = places.line_column(place.range.start);
            here = (!place.range.is_empty()).then(|| format!(" loc(\"{path}\":{line}:{column})"));
        } else if trimmed.starts_with('}') || continues(trimmed) {
            here = open.pop().flatten();
        }
        if trimmed.ends_with('{') || further {
            open.push(here.take());
        }
        let _ = writeln!(out, "{code}{}", here.unwrap_or_default());
    }
    out
}

/// Whether a line goes on with an op of a line before: with another region, or with its type behind the last.
fn continues(line: &str) -> bool {
    let region = line.ends_with('{') && (line.starts_with("default") || line.starts_with("partition"));
    region || line.starts_with(": ")
}
