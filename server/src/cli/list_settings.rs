//! `fencepost settings`: what can be set, from the table of settings.

use std::fmt::Write as _;
use std::io::{self, Write};

use settings::table::{SETTINGS, Said, Setting, Takes};

use super::process::Exit;

/// Prints the settings, or one of their schemas.
pub(crate) fn run(schema: bool, editor: bool) -> io::Result<Exit> {
    let document = match (schema, editor) {
        (true, _) => Some(settings::schema()),
        (_, true) => Some(settings::editor_properties().into()),
        _ => None,
    };
    let text = match document {
        Some(document) => serde_json::to_string_pretty(&document).map_err(io::Error::other)? + "\n",
        None => list(),
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Exit::Clean)
}

fn list() -> String {
    let mut out = String::new();
    for row in SETTINGS {
        one(&mut out, row, "");
        if let Takes::Rows(rows) = row.takes {
            rows.iter().for_each(|inner| one(&mut out, inner, row.name));
        }
    }
    out
}

fn one(out: &mut String, row: &Setting, inside: &str) {
    let (dot, editor) = (if inside.is_empty() { "" } else { "." }, row.said == Said::Editor);
    let usual = row.usual().map_or_else(String::new, |usual| format!("; usually {usual}"));
    let place = if editor { format!(" (editors: fencepost.{})", row.editor_name()) } else { String::new() };
    let _ = writeln!(out, "{inside}{dot}{}{place}: {}{usual}", row.name, row.takes_words().replace('`', ""));
    let _ = writeln!(out, "    {}", row.documentation.replace('`', ""));
}
