//! `fencepost explain`: the page of a kind of finding, or of another code that is printed.

use std::io;

use findings::PrintedCode;

use super::answer::Answer;
use super::process::Exit;
use settings::nearest;

/// Prints the page of `kind`, or the list of all.
pub(crate) fn run(kind: Option<&str>) -> io::Result<Exit> {
    answer(kind).print(None)
}

/// The page of `kind`, or the list of all.
pub(crate) fn answer(kind: Option<&str>) -> Answer {
    let said = |document| Answer { documents: vec![document], ..Answer::default() };
    let Some(name) = kind else {
        let width = PrintedCode::all().map(|code| code.name.len()).max().unwrap_or(0);
        let lines = PrintedCode::all()
            .map(|code| format!("{:width$}  {:11}  {}\n", code.name, code.severity.name(), code.summary()));
        return said(lines.collect());
    };
    match PrintedCode::from_name(name) {
        Some(code) => said(format!("{}\n", code.page.trim_end())),
        None => {
            let hint = match nearest(name, PrintedCode::all().map(|code| code.name)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`fencepost explain` lists them".to_owned(),
            };
            Answer::trouble(format!("there is no kind `{name}`; {hint}"))
        }
    }
}
