//! Emacs and Helix with the configuration of this repository, where they are installed; the extension for Zed as far as
//! a machine without Zed can look at it.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::skip::skip;
use crate::support::{binary, root};

/// The program that a variable names, or that of the `PATH`; says why a test is left out where it does not start.
fn program(test: &str, variable: &str, name: &str) -> Option<PathBuf> {
    let program = std::env::var_os(variable).map_or_else(|| PathBuf::from(name), PathBuf::from);
    let starts = Command::new(&program).arg("--version").stdin(Stdio::null()).output().is_ok();
    if !starts {
        skip(test, &format!("there is no {name} ({variable} names one)"));
    }
    starts.then_some(program)
}

fn said(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

#[test]
fn emacs_shows_findings_hovers_runs_and_reports() {
    let test = "the package in Emacs";
    let Some(emacs) = program(test, "FENCEPOST_EMACS", "emacs") else { return };
    let version = Command::new(&emacs).arg("--version").output().expect("Emacs starts");
    let number = said(&version).split("Emacs ").nth(1).and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
    if number.is_none_or(|number| number < 29) {
        skip(test, "Emacs older than 29 has no Eglot");
        return;
    }
    let out = Command::new(emacs)
        .args(["-Q", "--batch", "-l"])
        .arg(root().join("editors/emacs/tests/run.el"))
        .arg(binary())
        .arg(root().join("tests/kernels/ring_not_waited.ttgir"))
        .stdin(Stdio::null())
        .output()
        .expect("Emacs starts");
    let said = said(&out);
    assert!(out.status.success() && said.contains(" results as expected, 0 unexpected"), "{said}");
}

#[test]
fn helix_shows_findings_hovers_and_actions() {
    let test = "the configuration in Helix";
    let Some(helix) = program(test, "FENCEPOST_HELIX", "hx") else { return };
    let python = std::env::var("FENCEPOST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let out = Command::new(&python)
        .arg(root().join("editors/helix/tests/run.py"))
        .arg(helix)
        .arg(binary())
        .arg(root().join("tests/kernels"))
        .stdin(Stdio::null())
        .output();
    let Ok(out) = out else {
        skip(test, &format!("there is no {python}"));
        return;
    };
    let said = said(&out);
    if out.status.code() == Some(77) {
        skip(test, said.trim());
        return;
    }
    assert!(out.status.success() && said.ends_with("PASS\n"), "{said}");
}

/// The folder of the extension for Zed.
fn zed(name: &str) -> String {
    std::fs::read_to_string(root().join("editors/zed").join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_extension_for_zed_says_what_zed_reads() {
    skip(
        "the extension in Zed",
        "Zed needs a screen and a GPU; its files are read here, and `--editors` calls it as Zed does",
    );
    let manifest: toml::Table = zed("extension.toml").parse().expect("extension.toml is TOML");
    for key in ["id", "name", "version", "schema_version", "authors", "description"] {
        assert!(manifest.contains_key(key), "extension.toml has no {key}");
    }
    let language: toml::Table = zed("languages/ttgir/config.toml").parse().expect("config.toml is TOML");
    let name = language["name"].as_str().expect("the language has a name");
    let served = manifest["language_servers"]["fencepost"]["languages"].as_array().expect("languages");
    assert!(served.iter().any(|it| it.as_str() == Some(name)), "the server is not for {name}");
    assert!(served.iter().any(|it| it.as_str() == Some("Python")));
    let grammar = language["grammar"].as_str().expect("a grammar");
    assert!(manifest["grammars"][grammar]["commit"].as_str().is_some_and(|it| it.len() == 40), "{grammar}");
    let suffixes = language["path_suffixes"].as_array().expect("suffixes");
    assert!(["ttgir", "ttir"].iter().all(|it| suffixes.iter().any(|suffix| suffix.as_str() == Some(it))));

    // The settings that the page shows are JSON, and name the server by the name that the manifest gives it.
    let page = zed("README.md");
    let blocks: Vec<&str> = page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty(), "the page shows no settings");
    for block in blocks {
        let settings: serde_json::Value = serde_json::from_str(block).expect(block);
        assert!(settings.pointer("/lsp/fencepost").is_some(), "{block}");
    }
    // The adapter is a crate of its own, which Zed compiles for WebAssembly.
    let crate_of: toml::Table = zed("Cargo.toml").parse().expect("Cargo.toml is TOML");
    assert_eq!(crate_of["lib"]["crate-type"].as_array().and_then(|kinds| kinds[0].as_str()), Some("cdylib"));
    assert!(crate_of.contains_key("workspace"), "the crate is not of the repository's workspace");
}
