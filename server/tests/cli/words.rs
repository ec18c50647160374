//! What the command line says about itself.

use crate::support::fencepost;

#[test]
fn the_version_is_said() {
    let out = fencepost(&["--version"]);
    let (version, commit) = (format!("fencepost {}", env!("CARGO_PKG_VERSION")), out.stdout.trim_end());
    let commit = commit.strip_prefix(version.as_str()).expect("the version");
    // An optimised build knows its commit, where git does.
    assert!(commit.is_empty() || (commit.starts_with(" (") && commit.ends_with(')')), "{}", out.stdout);
}

#[test]
fn help_names_the_exit_codes() {
    let out = fencepost(&["check", "--help"]);
    for said in ["0 without findings", "--allow-undecided", "--format", "UTF-16"] {
        assert!(out.stdout.contains(said), "{said}: {}", out.stdout);
    }
    // What has no effect is nothing to read about.
    assert!(!out.stdout.contains("--strict"), "{}", out.stdout);
}

#[test]
fn help_says_where_to_begin() {
    for flag in ["--help", "-h"] {
        let out = fencepost(&[flag]);
        let said = out.stdout.rsplit("Begin with").next().unwrap_or_default();
        assert!(said.contains("`fencepost check FILE`") && said.contains("`fencepost explain KIND`"), "{}", out.stdout);
    }
}

#[test]
fn every_kind_in_the_list_has_a_page() {
    let list = fencepost(&["explain"]);
    assert_eq!(list.code, 0);
    assert!(list.stdout.lines().count() > 10);
    for line in list.stdout.lines() {
        let kind = line.split_whitespace().next().expect("a kind");
        let page = fencepost(&["explain", kind]);
        assert!(page.stdout.starts_with(&format!("# {kind}\n")), "{kind}: {}", page.stdout);
        assert_eq!(page.code, 0);
    }
}

#[test]
fn codes_beside_the_kinds_have_pages_too() {
    for code in ["undecided", "refused", "removed-name", "register-count", "warp-count", "directive", "configuration"] {
        let page = fencepost(&["explain", code]);
        assert!(page.code == 0 && page.stdout.starts_with(&format!("# {code}\n")), "{code}: {}", page.stdout);
    }
    // A finer code leads to the page of what it is one of.
    assert!(fencepost(&["explain", "operand-count"]).stdout.starts_with("# syntax\n"));
}

#[test]
fn an_unknown_kind_gets_a_guess() {
    let out = fencepost(&["explain", "deadlok"]);
    assert!(out.stderr.contains("did you mean `deadlock`?"), "{}", out.stderr);
    assert_eq!((out.stdout.as_str(), out.code), ("", 2));
}

#[test]
fn wrong_arguments_exit_with_2() {
    assert_eq!(fencepost(&["check", "--format", "prose"]).code, 2);
    assert_eq!(fencepost(&["chekc"]).code, 2);
    assert_eq!(fencepost(&["trace", "no/such/file"]).code, 2);
}
