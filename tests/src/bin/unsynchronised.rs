//! What becomes of kernels without their waits: `unsynchronised FILE…`, a line a file of TTGIR.
//!
//! Columns: the verdict, the verdict after all waits were taken out, how many there were, milliseconds of each, the
//! file. A line that says `clean` twice is an answer that looked at nothing, unless an argument says why not; it is
//! counted at the end, and ends the program with 1.

use fencepost_tests::mutate::judge::{Verdict, judge};
use fencepost_tests::mutate::unsynchronised::without_waits;
use std::process::ExitCode;
use std::time::Instant;
use ttgir::Document;

fn main() -> ExitCode {
    let mut vacuous = 0;
    for path in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::from(2);
            }
        };
        let (before, took) = timed(&text);
        let document = Document::new(text.as_str());
        let removed = document.sections().first().and_then(|section| without_waits(section.tree()));
        let (waits, (after, again)) = match removed {
            Some((waits, text)) => (waits, timed(&text)),
            None => (0, ("-".to_owned(), 0)),
        };
        vacuous += usize::from(before == "clean" && after.starts_with("clean"));
        println!("{before}\t{after}\t{waits}\t{took}\t{again}\t{path}");
    }
    println!("{vacuous} stay clean without their waits");
    ExitCode::from(u8::from(vacuous > 0))
}

/// The verdict in a word, with kinds or reasons, and how many milliseconds it took.
fn timed(text: &str) -> (String, u128) {
    let start = Instant::now();
    let verdict = match judge(text) {
        Verdict::Rejected(why) => format!("rejected: {why}"),
        Verdict::Found(kinds) => format!("found: {}", kinds.join(" ")),
        Verdict::Undecided(why) => format!("undecided: {}", why.join(" / ")),
        Verdict::Survived(hints) if hints.is_empty() => "clean".to_owned(),
        Verdict::Survived(hints) => format!("clean: {}", hints.join(" ")),
    };
    (verdict.replace(['\n', '\t'], " "), start.elapsed().as_millis())
}
