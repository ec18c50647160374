//! `fencepost explain`: the page of a kind of finding, or of another code that is printed.

use std::io::{self, Write};

use findings::Code;

use super::process::Exit;
use settings::nearest;

/// Prints the page of `kind`, or the list of all.
pub(crate) fn run(kind: Option<&str>) -> io::Result<Exit> {
    let mut out = io::stdout().lock();
    let Some(name) = kind else {
        let width = Code::all().map(|code| code.name.len()).max().unwrap_or(0);
        for code in Code::all() {
            writeln!(out, "{:width$}  {:11}  {}", code.name, code.severity.name(), code.summary())?;
        }
        return Ok(Exit::Clean);
    };
    match Code::from_name(name) {
        Some(code) => {
            writeln!(out, "{}", code.page.trim_end())?;
            Ok(Exit::Clean)
        }
        None => {
            let hint = match nearest(name, Code::all().map(|code| code.name)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`fencepost explain` lists them".to_owned(),
            };
            writeln!(io::stderr(), "fencepost: there is no kind `{name}`; {hint}")?;
            Ok(Exit::Trouble)
        }
    }
}
