//! `fencepost limits`: what each part of the program bounds, and what happens when a bound is met. The rows are the
//! definitions that the code itself uses.

use std::fmt::Write as _;
use std::io::{self, Write};

use base::limit::{Limit, Met};
use serde_json::{Value, json};

use super::args::LimitsFormat;
use super::process::Exit;

/// The limits of all crates, in the order of the flow.
const ALL: &[&[Limit]] = &[
    base::LIMITS,
    ttgir::LIMITS,
    lower::LIMITS,
    verify::LIMITS,
    races::LIMITS,
    python::syntax::LIMITS,
    torch::LIMITS,
    python::LIMITS,
    builtins::LIMITS,
    specialize::LIMITS,
    engine::LIMITS,
    findings::LIMITS,
    fixes::LIMITS,
    report::LIMITS,
    ide::LIMITS,
    asserts::LIMITS,
    runtime::LIMITS,
    tensors::LIMITS,
    execution::LIMITS,
    workspace::LIMITS,
    transport::LIMITS,
    mcp::LIMITS,
    crate::limits::LIMITS,
];

fn all() -> impl Iterator<Item = &'static Limit> {
    ALL.iter().flat_map(|limits| limits.iter())
}

/// Prints the limits.
pub(crate) fn run(format: LimitsFormat) -> io::Result<Exit> {
    let text = match format {
        LimitsFormat::Human => human(),
        LimitsFormat::Json => serde_json::to_string_pretty(&document()).map_err(io::Error::other)? + "\n",
        LimitsFormat::Markdown => markdown(),
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Exit::Clean)
}

fn human() -> String {
    let mut out = String::new();
    let names: Vec<(String, &Limit)> = all().map(|limit| (limit.name(), limit)).collect();
    let width = |of: &dyn Fn(&(String, &Limit)) -> usize| names.iter().map(of).max().unwrap_or(0);
    let (name_width, amount) = (width(&|row| row.0.len()), width(&|row| row.1.amount().len()));
    for (name, limit) in &names {
        let setting = limit.setting.map_or_else(String::new, |setting| format!(" (set by {setting})"));
        let (said, met) = (limit.amount(), limit.met.name());
        let what = limit.what.trim().replace('`', "");
        let _ = writeln!(out, "{name:<name_width$}  {said:>amount$}  {met:<10}  {what}{setting}");
    }
    out.push_str("\nWhat happens when one is met:\n");
    for met in Met::ALL {
        let _ = writeln!(out, "{:<10}  {}.", met.name(), met.sentence().replace('`', ""));
    }
    out
}

fn markdown() -> String {
    let mut out =
        "| limit | bounds | default | when it is met | setting |\n| --- | --- | --: | --- | --- |\n".to_owned();
    for limit in all() {
        let setting = limit.setting.map_or_else(String::new, |setting| format!("`{setting}`"));
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {setting} |",
            limit.name(),
            limit.what.trim().replace('|', "\\|"),
            limit.amount(),
            limit.met.name()
        );
    }
    out.push_str("\n| when it is met | what that means |\n| --- | --- |\n");
    for met in Met::ALL {
        let _ = writeln!(out, "| {} | {}. |", met.name(), met.sentence());
    }
    out
}

fn document() -> Value {
    let rows = all().map(|limit| {
        json!({
            "name": limit.name(),
            "what": limit.what.trim(),
            "default": limit.default,
            "unit": limit.unit.name(),
            "met": limit.met.name(),
            "meaning": limit.met.sentence(),
            "setting": limit.setting,
        })
    });
    json!({ "limits": rows.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_has_a_name_of_its_own_and_its_setting_exists() {
        let mut names = std::collections::BTreeSet::new();
        for limit in all() {
            assert!(names.insert(limit.name()), "{} stands twice", limit.name());
            assert!(!limit.what.trim().is_empty() && limit.default > 0, "{}", limit.name());
            let Some(setting) = limit.setting.and_then(|setting| setting.strip_prefix("limits.")) else { continue };
            let row = settings::table::SETTINGS.iter().find(|row| row.name == "limits").map(|row| row.takes);
            let Some(settings::table::Takes::Rows(rows)) = row else { panic!("there is a table of limits") };
            let row = rows.iter().find(|row| row.name == setting);
            let usual = row.and_then(settings::table::Setting::usual).map(|usual| usual.replace('_', ""));
            assert_eq!(usual.as_deref(), Some(limit.default.to_string().as_str()), "{}", limit.name());
        }
    }
}
