//! What the README and the guides show is what the program prints; `UPDATE_EXPECT=1` writes it there.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{BINARY, fencepost_at_root, root};

#[test]
fn the_finding_on_the_first_screen_is_real() {
    let path = root().join("README.md");
    let page = std::fs::read_to_string(&path).expect("there is a README");
    let (_, rest) = page.split_once("-p fencepost -- ").expect("it shows a command");
    let (command, rest) = rest.split_once('\n').expect("a line");
    let (_, rest) = rest.split_once("```text\n").expect("it shows the output");
    let (shown, _) = rest.split_once("```").expect("the block ends");
    let out = fencepost_at_root(&command.split_whitespace().collect::<Vec<_>>());
    assert_eq!(out.code, 1);
    if shown != out.stdout && std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, page.replacen(shown, &out.stdout, 1)).expect("the README can be written");
        return;
    }
    assert!(
        shown == out.stdout,
        "README.md shows another output than this (UPDATE_EXPECT=1 writes it):\n{}",
        out.stdout
    );
}

#[test]
fn the_picture_on_the_first_screen_is_real() {
    let path = root().join("docs/trace.svg");
    let shown = std::fs::read_to_string(&path).unwrap_or_default();
    let out =
        fencepost_at_root(&["trace", "--format", "svg", "tests/corpus/ttgir/sm_90/ws_gemm.released_too_early.ttgir"]);
    assert_eq!(out.code, 1);
    if shown != out.stdout && std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &out.stdout).expect("the picture can be written");
        return;
    }
    assert!(shown == out.stdout, "docs/trace.svg is another picture than is drawn (UPDATE_EXPECT=1 writes it)");
}

/// Pages of which each `sh` block is run, all of a page in one shell; a `text` block behind one is what it prints.
#[cfg(unix)]
const GUIDES: [&str; 2] = ["docs/first-kernel.md", "docs/report.md"];

#[cfg(unix)]
#[test]
fn the_commands_of_the_guides_print_what_is_shown() {
    for page in GUIDES {
        let path = root().join(page);
        let text = std::fs::read_to_string(&path).expect(page);
        let blocks = commands(&text);
        let printed = run_in_a_copy(&blocks.iter().map(|(command, _)| *command).collect::<Vec<_>>());
        assert!(blocks.len() > 1 && printed.len() == blocks.len(), "{page}: {printed:?}");
        let mut updated = text.clone();
        for ((command, shown), printed) in blocks.iter().zip(&printed) {
            let Some(shown) = shown else {
                assert!(printed.is_empty(), "{page}: `{command}` prints what is not shown:\n{printed}");
                continue;
            };
            if without_times(shown) != without_times(printed) {
                let old = format!("{command}```\n\n```text\n{shown}```");
                updated = updated.replacen(&old, &format!("{command}```\n\n```text\n{printed}```"), 1);
            }
        }
        if updated != text && std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, updated).expect("the page can be written");
            continue;
        }
        assert!(updated == text, "{page} shows another output than this (UPDATE_EXPECT=1 writes it):\n{updated}");
    }
}

/// The `sh` blocks of a page, each with the `text` block that stands right behind it.
#[cfg(unix)]
fn commands(text: &str) -> Vec<(&str, Option<&str>)> {
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```\n"));
    let shown = |rest: &str| -> Option<usize> { rest.strip_prefix("\n```text\n").map(|_| "\n```text\n".len()) };
    blocks
        .map(|(command, rest)| {
            (command, shown(rest).and_then(|at| rest[at..].split_once("```").map(|(output, _)| output)))
        })
        .collect()
}

/// What each command prints, in a folder of its own that holds the kernels of `tests/kernels/gluon/`.
#[cfg(unix)]
fn run_in_a_copy(commands: &[&str]) -> Vec<String> {
    const END: &str = "-- end of a block --";
    let folder = std::env::temp_dir().join(format!("fencepost-guide-{}", std::process::id()));
    let kernels = folder.join("tests/kernels/gluon");
    std::fs::create_dir_all(&kernels).expect("the folder can be made");
    for name in ["sum_rows.py", "ring_tools.py"] {
        std::fs::copy(root().join("tests/kernels/gluon").join(name), kernels.join(name)).expect(name);
    }
    let programs = Path::new(BINARY).parent().expect("a folder").display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
    let script: String = commands.iter().map(|command| format!("{command}echo '{END}'\n")).collect();
    let out = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{script}")])
        .current_dir(&folder)
        .env("PATH", path)
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let _ = std::fs::remove_dir_all(&folder);
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    let end = format!("{END}\n");
    said.split_terminator(end.as_str()).map(str::to_owned).collect()
}

/// Seconds differ from run to run.
#[cfg(unix)]
fn without_times(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let time = word.trim_start_matches('(');
        if time.contains('.') && time.parse::<f64>().is_ok() { "0.0" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}
