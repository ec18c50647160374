//! What people expect of a command line: what it searches, how it fails, what it offers a shell.

use std::process::{Command, Stdio};

use crate::support::{BINARY, Folder, fencepost, kernel, root};

/// Names of the files that a check of these paths has looked at, below the folder.
fn looked_at(folder: &Folder, more: &[&str]) -> Vec<String> {
    let path = folder.path();
    let mut args = vec!["check", "--format", "json", path.as_str()];
    args.extend(more);
    let out = fencepost(&args);
    let document: serde_json::Value = serde_json::from_str(&out.stdout).expect("JSON");
    let files = document["files"].as_array().expect("files").iter();
    files.filter_map(|file| file["path"].as_str()?.strip_prefix(&path).map(str::to_owned)).collect()
}

#[test]
fn what_is_hidden_or_ignored_is_left_out_unless_it_is_named() {
    let folder = Folder::new("ignored");
    let module = b"module {\n}\n";
    for name in [
        "a.ttgir",
        ".cache/b.ttgir",
        "node_modules/c.ttgir",
        "dump/d.ttgir",
        "e/f.ttgir",
        "e/g.ttgir",
        "e/.git/h.ttgir",
    ] {
        folder.write(name, module);
    }
    folder.write(".gitignore", b"dump/\n");
    folder.write("e/.gitignore", b"g.*\n");
    assert_eq!(looked_at(&folder, &[]), ["/a.ttgir", "/e/f.ttgir"]);
    let all = ["/.cache/b.ttgir", "/a.ttgir", "/dump/d.ttgir", "/e/f.ttgir", "/e/g.ttgir", "/node_modules/c.ttgir"];
    assert_eq!(looked_at(&folder, &["--no-ignore"]), all);
    // Named, each is looked at.
    for (name, file) in [(".cache", "b"), ("node_modules", "c"), ("dump", "d"), ("e/g.ttgir", "")] {
        let path = format!("{}/{name}", folder.path());
        let found = looked_at(&folder, &[&path]);
        let wanted = if file.is_empty() { format!("/{name}") } else { format!("/{name}/{file}.ttgir") };
        assert!(found.contains(&wanted), "{name}: {found:?}");
    }
}

#[test]
fn without_a_path_the_folder_is_checked_where_the_command_is_given() {
    let folder = Folder::new("here");
    folder.write("a.ttgir", b"module {\n}\n");
    let out = Command::new(BINARY).arg("check").current_dir(folder.path()).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&out.stdout), "1 file: no kernel\n");
    assert_eq!(out.status.code(), Some(0));
}

/// Two kernels in plain Triton: programs of the first race, and of the second it depends on data where it stores.
const RACES: &str = "\
import triton
import triton.language as tl


@triton.jit
def overlaps(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * (BLOCK - 1) + tl.arange(0, BLOCK)
    tl.store(x + at, at, mask=at < n)


@triton.jit
def counts(x, counts, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(counts + tl.load(x + at) // 2, at)
";

#[test]
fn a_line_a_finding_has_its_place_and_kind() {
    let folder = Folder::new("concise");
    let path = folder.write("k.py", RACES.as_bytes());
    let out = fencepost(&["check", "--format", "concise", &path]);
    let line = |start: &str| out.stdout.lines().any(|line| line.starts_with(&format!("{path}:{start}")));
    assert!(line("8:5: error[global-race] program 0 and program 1 both write"), "{}", out.stdout);
    assert!(line("12:5: warning[undecided] @counts is not decided"), "{}", out.stdout);
    // What is open stands at its line.
    assert!(line("14:5: information[unmodelled] global memory: "), "{}", out.stdout);
    assert_eq!(out.code, 2);
    let quiet = fencepost(&["check", "-q", "--format", "concise", &path]);
    assert_eq!(quiet.stdout.lines().count(), 2, "{}", quiet.stdout);
}

#[test]
fn every_command_says_the_same_of_a_race_in_global_memory() {
    let folder = Folder::new("same");
    let path = folder.write("k.py", RACES.as_bytes());
    let report = fencepost(&["report", &path, "--kernel", "overlaps"]);
    assert!(report.stdout.contains("verdict  found: 1 error") && report.code == 1, "{}", report.stdout);
    let trace = fencepost(&["trace", &path, "--kernel", "overlaps"]);
    assert!(trace.stdout.contains("programs of a launch are not drawn") && trace.code == 1, "{}", trace.stdout);
    // It runs as many programs as it takes.
    let run = fencepost(&["run", &path, "--kernel", "overlaps"]);
    assert!(run.stdout.contains("the run asserted, the analysis says the same of it"), "{}", run.stdout);
    assert_eq!(run.code, 1);
}

#[test]
fn nothing_to_check_is_no_failure_and_is_said() {
    let folder = Folder::new("nothing");
    let init = folder.write("package/__init__.py", b"");
    let out = fencepost(&["check", &init]);
    assert_eq!((out.stdout.as_str(), out.code), ("1 file: no kernel\n", 0));
    let out = fencepost(&["check", &folder.path()]);
    assert_eq!((out.stdout.as_str(), out.code), ("nothing to check\n", 0));
    assert!(out.stderr.starts_with("note: ") && out.stderr.contains("--no-ignore"), "{}", out.stderr);
    // What the project's own settings leave out is said to be that.
    folder.write("vendor/two_loads.py", &std::fs::read(kernel("two_loads.py")).expect("a kernel"));
    folder.write("fencepost.toml", b"exclude = [\"vendor\"]\n");
    let out = fencepost(&["check", &format!("{}/vendor", folder.path())]);
    assert_eq!((out.stdout.as_str(), out.code), ("nothing to check\n", 0));
    assert!(out.stderr.contains("1 file is left out, by `exclude` in `fencepost.toml`"), "{}", out.stderr);
    // A path that is wrong is one.
    assert_eq!(fencepost(&["check", &format!("{}/kernles", folder.path())]).code, 2);
}

#[test]
fn a_source_in_latin_1_is_read_where_it_says_so() {
    let folder = Folder::new("latin");
    let text = std::fs::read(kernel("two_loads.py")).expect("a kernel");
    let with = |head: &[u8]| [head, text.as_slice()].concat();
    let said = folder.write("said.py", &with(b"# vim: fileencoding=latin-1\n# caf\xe9\n"));
    let out = fencepost(&["check", &said]);
    assert!(out.code == 1 && out.stdout.contains("missing-forward-barrier"), "{}", out.stdout);
    let not = folder.write("not.py", &with(b"# caf\xe9\n"));
    let out = fencepost(&["check", &not]);
    assert!(out.code == 2 && out.stdout.contains("not.py:1:6: is not UTF-8"), "{}", out.stdout);
    assert!(out.stdout.contains("`coding: latin-1`"), "{}", out.stdout);
    let other = folder.write("other.py", &with(b"# coding: shift_jis\n# \x83\x65\n"));
    let out = fencepost(&["check", &other]);
    assert!(out.code == 2 && out.stdout.contains("is encoded as shift_jis"), "{}", out.stdout);
    // What another file imports is read in the same way.
    let helper: &[u8] = b"# coding: latin-1\n# \xe9\nfrom triton.experimental import gluon\nDEPTH = 2\n";
    folder.write("helper.py", helper);
    let out = fencepost(&["check", &format!("{}/helper.py", folder.path())]);
    assert_eq!(out.code, 0, "{}", out.stdout);
}

#[test]
fn whatever_fails_says_error_first() {
    let ring = kernel("ring.ttgir");
    let folder = Folder::new("prefix");
    let python = folder.write("empty.py", b"");
    let failing: &[&[&str]] = &[
        &["chekc"],
        &["explain", "deadlok"],
        &["trace", "no/such/file"],
        &["report", "no/such/file"],
        &["run", "no/such/file"],
        &["ir", &ring],
        &["compare", &ring],
        &["ir", &python],
        &["report", &ring, "--kernel", "x"],
        &["check", &ring, "--set", "n=1"],
        &["report", &ring, "-o", "/no/such/folder/x"],
    ];
    for args in failing {
        let out = fencepost(args);
        assert!(out.code == 2 && out.stderr.starts_with("error: "), "{args:?}: {}", out.stderr);
        assert!(!out.stderr.contains("os error"), "{args:?}: {}", out.stderr);
    }
    // On its output the same word stands before what could not be checked.
    assert!(fencepost(&["check", "no/such/file"]).stdout.starts_with("error: "));
}

#[test]
fn a_kernel_that_is_not_there_leads_to_those_that_are() {
    let (ir, python) = (kernel("ring.ttgir"), kernel("two_loads.py"));
    for (file, name) in [(&ir, "there is @ws_gemm"), (&python, "there are @first, @second")] {
        for command in ["report", "trace", "run"] {
            let out = fencepost(&[command, file, "--kernel", "nosuch"]);
            assert!(out.stderr.contains(&format!("there is no kernel @nosuch; {name}")), "{command}: {}", out.stderr);
            assert_eq!(out.code, 2, "{command} {file}");
        }
    }
    let out = fencepost(&["ir", &python, "--kernel", "nosuch"]);
    assert!(out.code == 2 && out.stderr.contains("there is no kernel @nosuch; there "), "{}", out.stderr);
}

#[test]
fn of_many_findings_the_pages_are_named_once() {
    let race = root().join("tests/corpus/ttgir/sm_90/ws_gemm.released_too_early.ttgir").display().to_string();
    let ring = kernel("ring_not_waited.ttgir");
    let out = fencepost(&["check", &ring, &ring.replace("ring_not", "./ring_not"), &race]);
    assert_eq!(out.stdout.matches("fencepost explain").count(), 1, "{}", out.stdout);
    let last = out.stdout.lines().rev().nth(1).expect("two lines");
    assert!(last.starts_with("help: `fencepost explain KIND` says more of missing-forward-barrier, pending-access"));
}

#[test]
fn seeds_share_their_heading() {
    let out = fencepost(&["run", &kernel("ring.ttgir"), "--seeds", "3"]);
    assert_eq!(out.stdout.matches("instrumentation").count(), 1, "{}", out.stdout);
    assert!(out.stdout.contains("seeds 0 to 2"), "{}", out.stdout);
    // One whose tensors are filled with NaN, too, which is no number and not equal to itself.
    let softmax = root().join("tests/runs/ttgir/sm_100/softmax.ttgir").display().to_string();
    let out = fencepost(&["run", &softmax, "--seeds", "3"]);
    assert!(out.stdout.contains("value(NaN)"), "{}", out.stdout);
    assert_eq!(out.stdout.matches("instrumentation").count(), 1, "{}", out.stdout);
}

#[test]
fn shells_and_man_know_every_command() {
    let bash = fencepost(&["completions", "bash"]);
    let page = fencepost(&["man"]);
    let help = fencepost(&["--help"]);
    let commands: Vec<&str> = help
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("Commands"))
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next().filter(|_| !line.starts_with("   ")))
        .filter(|name| name.chars().all(|c| c.is_ascii_lowercase()))
        .collect();
    assert!(commands.len() > 10, "{commands:?}");
    let folder = Folder::new("man");
    assert_eq!(fencepost(&["man", &folder.path()]).code, 0);
    for command in commands {
        assert!(
            bash.stdout.contains(&format!("fencepost__subcmd__{command}"))
                || bash.stdout.contains(&format!("fencepost__{command}")),
            "{command}"
        );
        assert!(page.stdout.contains(&format!("fencepost\\-{command}")), "{command}");
        let own = std::fs::read_to_string(format!("{}/fencepost-{command}.1", folder.path()));
        assert!(command == "help" || own.is_ok_and(|own| own.contains(".SH NAME")), "{command}");
    }
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        assert!(fencepost(&["completions", shell]).stdout.contains("no-ignore"), "{shell}");
    }
}

/// A folder with a program that stands for the browser: it writes down what it is given.
#[cfg(target_os = "linux")]
fn opened(args: &[&str], folder: &Folder) -> (String, String) {
    use std::os::unix::fs::PermissionsExt;

    let log = format!("{}/opened", folder.path());
    let _ = std::fs::remove_file(&log);
    assert!(Command::new("mkfifo").arg(&log).status().expect("mkfifo starts").success());
    let browser = folder.write("bin/xdg-open", format!("#!/bin/sh\nprintf %s \"$1\" > '{log}'\n").as_bytes());
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || send.send(std::fs::read_to_string(log).unwrap_or_default()));
    let path = format!("{}/bin:{}", folder.path(), std::env::var("PATH").unwrap_or_default());
    let out = Command::new(BINARY)
        .args(args)
        .env("PATH", path)
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts");
    let shown = receive.recv_timeout(std::time::Duration::from_secs(60)).expect("a browser is started");
    (shown, String::from_utf8_lossy(&out.stderr).into_owned())
}

#[test]
#[cfg(target_os = "linux")]
fn runs_and_reports_are_opened_in_the_browser() {
    let folder = Folder::new("open");
    let ring = kernel("ring_not_waited.ttgir");
    for (command, start) in [("trace", "<!DOCTYPE html>"), ("report", "<!DOCTYPE html>")] {
        let (shown, said) = opened(&[command, "--open", &ring], &folder);
        assert!(shown.ends_with(&format!("{command}.html")) && said.contains(&shown), "{command}: {shown}: {said}");
        let page = std::fs::read_to_string(&shown).expect("the page");
        assert!(page.starts_with(start) && page.contains("ring"), "{command}");
    }
    let file = format!("{}/run.svg", folder.path());
    let (shown, _) = opened(&["trace", "--open", "--format", "svg", "-o", &file, &ring], &folder);
    assert!(shown.ends_with("/run.svg"), "{shown}");
    assert!(std::fs::read_to_string(&file).expect("the picture").starts_with("<svg"));
}
