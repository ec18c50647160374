//! Whether what a coverage table says orders a row is what orders it: `rows FILE…`, a line a kernel, then all of them,
//! then what is wrong. Rows of buffers that hold several are counted a second time.

use fencepost_tests::mutate::rows::{Tally, rows};
use std::process::ExitCode;
use ttgir::Document;

fn main() -> ExitCode {
    let (mut all, mut siblings) = (Tally::default(), Tally::default());
    let (long, files): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|arg| arg == "--long");
    for path in files {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::from(2);
            }
        };
        let sections = Document::new(text.as_str()).sections().len();
        if sections != 1 {
            println!("{path}: {sections} sections, left out");
            continue;
        }
        let mut one = Tally::default();
        let found = rows(&text, 0);
        one.add(&path, &found);
        all.add(&path, &found);
        let found: Vec<_> = found.into_iter().filter(|row| row.sibling).collect();
        siblings.add(&path, &found);
        if !long.is_empty() {
            found.iter().for_each(|row| println!("  {}: {}: {:?}", row.what, row.order, row.end));
        }
        println!("{path}: {one}");
    }
    println!("{}", all.wrong.join("\n"));
    println!("all: {all}\nof buffers that hold several: {siblings}");
    ExitCode::from(u8::from(!all.wrong.is_empty()))
}
