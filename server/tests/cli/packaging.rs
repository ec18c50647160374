//! What packages, workflows and their page say: each command is one that there is, each file lies where it is said.

use std::process::{Command, Stdio};

use crate::skip::skip;
use crate::support::{fencepost, root};

/// Files with commands in them.
const FILES: [&str; 8] = [
    ".github/workflows/ci.yml",
    ".github/workflows/release.yml",
    ".pre-commit-hooks.yaml",
    "action.yml",
    "Dockerfile",
    "docs/ci.md",
    "docs/packaging.md",
    "README.md",
];

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The commands in a file: their program by its name alone, and what stands behind it.
fn commands(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches(['-', '\\', '(', ' ', '`']);
        let line = ["run: ", "entry: ", "RUN ", "ENTRYPOINT "]
            .iter()
            .fold(line, |line, word| line.strip_prefix(word).unwrap_or(line));
        for part in line.split(['`', '|', ';', '(', ')', '>']).flat_map(|part| part.split("&&")) {
            let part = part.split(" #").next().unwrap_or(part);
            let mut words = part.split_whitespace().skip_while(|word| word.contains('=') && !word.starts_with('-'));
            let Some(program) = words.next() else { continue };
            let mut program = program.rsplit('/').next().unwrap_or(program).trim_matches('"');
            let mut rest: Vec<&str> = words.collect();
            if program == "python" && rest.first() == Some(&"-m") && rest.len() > 1 {
                (program, rest) = (rest[1], rest.split_off(2));
            }
            let rest = rest.iter().map(|word| word.trim_matches(['"', '\'', ',', ':', '.']).to_owned()).collect();
            found.push((program.to_owned(), rest));
        }
    }
    found
}

/// Says what is wrong with a command of ours, or of cargo's with names of ours.
fn check(program: &str, args: &[String]) -> Result<(), String> {
    let word = |at: usize| args.get(at).map_or("", String::as_str);
    let after = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    match program {
        "fencepost" if word(0).chars().all(|c| c.is_ascii_lowercase()) && !args.is_empty() => {
            let help = fencepost(&[word(0), "--help"]);
            if help.code != 0 {
                return Err(format!("there is no command {}", word(0)));
            }
            let options = args.iter().filter(|arg| arg.starts_with('-') && arg.len() > 1 && *arg != "--");
            match options.into_iter().find(|option| !help.stdout.contains(option.split('=').next().unwrap_or(option))) {
                Some(unknown) => Err(format!("{} has no {unknown}", word(0))),
                None => Ok(()),
            }
        }
        "cargo" if word(0) == "xtask" => {
            let main = read("xtask/src/main.rs");
            let mut names =
                args.iter().skip(1).take_while(|arg| arg.starts_with(|c: char| c.is_ascii_lowercase() || c == '-'));
            let known = names.all(|name| main.contains(&format!("\"{name}\"")));
            if known { Ok(()) } else { Err("xtask has no such command".to_owned()) }
        }
        "cargo" => {
            let profile =
                after("--profile").is_none_or(|name| read("Cargo.toml").contains(&format!("[profile.{name}]")));
            let package = after("--package").or(after("-p"));
            let package = package.is_none_or(|name| read("Cargo.lock").contains(&format!("name = \"{name}\"")));
            let path = after("--path").is_none_or(|path| root().join(path).join("Cargo.toml").is_file());
            if profile && package && path { Ok(()) } else { Err("a profile, package or path is not there".to_owned()) }
        }
        "npm" if word(0) == "run" => {
            let known = read("editors/vscode/package.json").contains(&format!("\"{}\":", word(1)));
            if known { Ok(()) } else { Err("the extension has no such script".to_owned()) }
        }
        _ => Ok(()),
    }
}

#[test]
fn every_command_that_is_named_is_there() {
    let mut seen = 0;
    for file in FILES {
        for (program, args) in commands(&read(file)) {
            seen += usize::from(matches!(program.as_str(), "fencepost" | "cargo"));
            if let Err(why) = check(&program, &args) {
                panic!("{file}: {program} {}: {why}", args.join(" "));
            }
        }
    }
    assert!(seen > 60, "only {seen} commands were found");
    // The check itself can fail.
    for (program, line) in [
        ("fencepost", "chekc ."),
        ("fencepost", "check --fixx ."),
        ("cargo", "xtask dits"),
        ("cargo", "build --profile no"),
    ] {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        assert!(check(program, &args).is_err(), "{program} {line}");
    }
}

#[test]
fn the_wheel_is_made_of_what_there_is() {
    let project: toml::Table = read("pyproject.toml").parse().expect("TOML");
    let maturin = &project["tool"]["maturin"];
    let said = |key: &str| maturin[key].as_str().expect("text").to_owned();
    assert!(root().join(said("manifest-path")).is_file());
    let module = root().join(said("python-source")).join(said("module-name"));
    assert!(module.join("__main__.py").is_file() && module.join("__init__.py").is_file());
    let cargo: toml::Table = read("Cargo.toml").parse().expect("TOML");
    assert!(cargo["profile"].get(said("profile")).is_some());
    for file in project["project"]["license-files"].as_array().expect("files") {
        assert!(root().join(file.as_str().expect("a name")).is_file(), "{file:?}");
    }
    let extension: serde_json::Value = serde_json::from_str(&read("editors/vscode/package.json")).expect("JSON");
    assert_eq!(extension["version"].as_str(), cargo["workspace"]["package"]["version"].as_str(), "one version for all");
}

#[test]
fn the_entry_for_helix_can_be_read() {
    let page = read("docs/packaging.md");
    let block = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    let entry: toml::Table = block.parse().expect("TOML");
    assert_eq!(entry["language-server"]["fencepost"]["args"][0].as_str(), Some("lsp"));
}

#[test]
fn workflows_and_action_hold_their_schemas() {
    let program = "check-jsonschema";
    let started = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    if !started.is_ok_and(|out| out.status.success()) {
        return skip(
            "workflows and action beside their schemas",
            "check-jsonschema is not installed (pip install check-jsonschema)",
        );
    }
    let workflows = [".github/workflows/ci.yml", ".github/workflows/release.yml"];
    for (schema, files) in [("vendor.github-workflows", &workflows[..]), ("vendor.github-actions", &["action.yml"])] {
        let out = Command::new(program).args(["--builtin-schema", schema]).args(files).current_dir(root()).output();
        let out = out.expect("it starts");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
    }
}
