//! Project chores: `cargo xtask test`, `bench`, `dist`, `tidy`, `docs`, `circles`, `fixtures`, `new-op` and `mutate`.

use std::collections::BTreeMap;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  test [--fast | --slow]   every check and every test; --fast leaves out clippy and the editors,
                           --slow adds the tests that are marked as ignored, and wasm
  test --editors           the extensions of VS Code, in a real window too where one can be had, and of Zed, alone
  dist [--profiled]        binary, wheel and extension for this machine, below target/packages; --profiled builds
                           twice, the second time with a profile of what the first did with the kernels in tests
  tidy                     what must not be in the tree: see ARCHITECTURE.md, \"What is absent\"
  docs                     the documentation as a site, in target/docs/book, by mdbook
  bench [...]              benchmarks beside peers, with instruction counts: JSON, Markdown and plots, below target/bench;
                           --no-suites leaves those of tests/benches out, --accept keeps the counts for the next run
  circles [PATH]           files of a crate that need each other, those whose path holds the word
  fixtures [--marks]       rewrites the outputs of all pages and of the README, the schema and VS Code's settings;
                           with --marks the carets too
  new-op DIALECT.OP        adds a skeleton of the op's declaration and says which further files it may need
  mutate [...]             slips in the corpus's clean kernels, and which are found; --help says more";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = xtask::root();
    match args.as_slice() {
        ["test"] => xtask::test::run(&root, xtask::test::TestScope::Normal),
        ["test", "--fast"] => xtask::test::run(&root, xtask::test::TestScope::Fast),
        ["test", "--slow"] => xtask::test::run(&root, xtask::test::TestScope::Slow),
        ["test", "--editors"] => xtask::test::run(&root, xtask::test::TestScope::Editors),
        ["dist"] => xtask::dist::run(&root, false),
        ["dist", "--profiled"] => xtask::dist::run(&root, true),
        ["tidy"] => tidy(&root),
        ["bench", rest @ ..] => xtask::bench::run(&root, rest),
        ["docs"] => xtask::site::run(&root),
        ["circles"] => circles(&root, ""),
        ["circles", part] => circles(&root, part),
        ["fixtures"] => xtask::test::update_fixtures(&root, "1"),
        ["fixtures", "--marks"] => xtask::test::update_fixtures(&root, "marks"),
        ["new-op", name] => xtask::new_op::run(&root, name),
        ["mutate", rest @ ..] => xtask::mutate::run(&root, rest),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Prints the circles with a file whose path holds `part`, each file with those of its circle that it needs.
fn circles(root: &std::path::Path, part: &str) -> ExitCode {
    let mut circles = xtask::tidy::circles(root);
    circles.retain(|circle| circle.keys().any(|file| file.contains(part)));
    for circle in &circles {
        println!("{} files:", circle.len());
        for (file, needs) in circle {
            let needs: Vec<&str> = needs.iter().map(|need| short(file, need)).collect();
            println!("    {file} needs {}", needs.join(", "));
        }
    }
    println!("{} circles, the largest of {} files", circles.len(), circles.first().map_or(0, BTreeMap::len));
    ExitCode::SUCCESS
}

/// The path without the folders that it shares with another.
fn short<'a>(beside: &str, path: &'a str) -> &'a str {
    let same = beside.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
    &path[path[..same].rfind('/').map_or(0, |at| at + 1)..]
}

fn tidy(root: &std::path::Path) -> ExitCode {
    let problems = xtask::tidy::run(root);
    for problem in &problems {
        eprintln!("{problem}");
    }
    match problems.len() {
        0 => {
            println!("tidy: ok");
            ExitCode::SUCCESS
        }
        count => {
            eprintln!("tidy: {count} problem(s)");
            ExitCode::FAILURE
        }
    }
}
