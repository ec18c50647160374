//! Project chores: `cargo xtask test`, `cargo xtask tidy`, `cargo xtask fixtures`,
//! `cargo xtask mutate`.

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  test [--fast | --slow]   every check and every test; --fast leaves out clippy, wasm and the editors,
                           --slow adds the tests that are marked as ignored
  tidy                     what must not be in the tree: see ARCHITECTURE.md, \"What is absent\"
  fixtures [--marks]       rewrites the outputs of all pages and of the README, with --marks the carets too
  mutate [...]             slips in the corpus's clean kernels, and which are found; --help says more";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = xtask::root();
    match args.as_slice() {
        ["test"] => xtask::test::run(&root, xtask::test::Scope::Normal),
        ["test", "--fast"] => xtask::test::run(&root, xtask::test::Scope::Fast),
        ["test", "--slow"] => xtask::test::run(&root, xtask::test::Scope::Slow),
        ["tidy"] => tidy(&root),
        ["fixtures"] => xtask::test::update_fixtures(&root, "1"),
        ["fixtures", "--marks"] => xtask::test::update_fixtures(&root, "marks"),
        ["mutate", rest @ ..] => xtask::mutate::run(&root, rest),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
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
