//! `fencepost.toml` on the command line, its schema, and what VS Code says of it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{BINARY, Output, fencepost, kernel, root};

struct Project(PathBuf);

impl Project {
    fn new(name: &str) -> Project {
        let path = std::env::temp_dir().join(format!("fencepost-settings-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("gen")).expect("the folder can be made");
        let project = Project(path);
        project.copy("ring_not_waited.ttgir", "ring.ttgir");
        project
    }

    fn copy(&self, from: &str, to: &str) {
        fs::copy(kernel(from), self.0.join(to)).expect("the file can be copied");
    }

    fn set(&self, text: &str) {
        fs::write(self.0.join("fencepost.toml"), text).expect("the file can be written");
    }

    fn check(&self, args: &[&str]) -> Output {
        let path = self.0.to_string_lossy().into_owned();
        fencepost(&[&["check", &path], args].concat())
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The kinds of a check's findings.
fn kinds(out: &Output) -> Vec<String> {
    let document: Value = serde_json::from_str(&out.stdout).expect("it is JSON");
    let findings = document["files"][0]["findings"].as_array().cloned().unwrap_or_default();
    findings.iter().filter_map(|it| it["kind"].as_str().map(str::to_owned)).collect()
}

#[test]
fn severities_of_a_project_decide_the_exit_code() {
    let project = Project::new("severities");
    let before = project.check(&["--format", "json"]);
    assert_eq!(before.code, 1, "{}", before.stderr);
    let found = kinds(&before);
    assert!(!found.is_empty());
    let all = |level: &str| {
        let rows: Vec<String> = found.iter().map(|kind| format!("{kind} = \"{level}\"\n")).collect();
        let mut rows = rows;
        rows.sort();
        rows.dedup();
        format!("[kinds]\n{}", rows.concat())
    };
    project.set(&all("hint"));
    assert_eq!(project.check(&[]).code, 0);
    project.set(&all("off"));
    let off = project.check(&["--format", "json"]);
    assert_eq!((off.code, kinds(&off).len()), (0, 0), "{}", off.stdout);
    let document: Value = serde_json::from_str(&off.stdout).expect("it is JSON");
    let verdict = &document["files"][0]["kernels"][0]["verdict"];
    assert_eq!(verdict, "found", "what is switched off is no proof: {}", off.stdout);
    let human = project.check(&["-v"]).stdout;
    assert!(human.starts_with("found ") && human.contains(" suppressed"), "{human}");
}

#[test]
fn a_limit_of_a_project_holds_and_is_said() {
    let project = Project::new("limits");
    let persistent = root().join("tests/corpus/ttgir/sm_90/persistent_ws_gemm.ttgir");
    fs::copy(persistent, project.0.join("ring.ttgir")).expect("the file can be copied");
    assert_eq!(project.check(&[]).code, 0);
    project.set("[limits]\ntotal_steps = 1000\nrun_steps = 1000\nstates = 1\nvaluations = 1\n");
    let out = project.check(&["-v"]);
    assert!(out.stdout.starts_with("clean ") && out.stdout.contains("not finished"), "{}", out.stdout);
}

#[test]
fn what_a_project_leaves_out_is_left_out_unless_it_is_named() {
    let project = Project::new("exclude");
    project.copy("ring_not_waited.ttgir", "gen/ring.ttgir");
    project.copy("ring.ttgir", "ring.ttgir");
    assert_eq!(project.check(&[]).code, 1);
    project.set("exclude = \"gen/**\"\n");
    assert_eq!(project.check(&[]).code, 0);
    let named = project.0.join("gen/ring.ttgir").to_string_lossy().into_owned();
    assert_eq!(fencepost(&["check", &named]).code, 1);
}

#[test]
fn a_file_that_is_named_is_checked_although_its_folder_excludes_it() {
    let project = Project::new("named");
    project.copy("ring_not_waited.ttgir", "gen/made.ttgir");
    project.set("exclude = \"gen/**\"\n");
    let named = project.0.join("gen/made.ttgir").to_string_lossy().into_owned();
    assert_eq!(fencepost(&["check", &named]).code, 1);
    let hook = fencepost(&["check", "--quiet", "--force-exclude", &named]);
    assert_eq!((hook.code, hook.stdout.as_str()), (0, ""), "{}", hook.stderr);
}

#[test]
fn patterns_of_the_command_are_left_out_beside_those_of_the_project() {
    let project = Project::new("flag");
    project.copy("ring.ttgir", "ring.ttgir");
    for made in ["gen/ring.ttgir", "old_ring.ttgir", "kept.ttgir"] {
        project.copy("ring_not_waited.ttgir", made);
    }
    project.set("exclude = \"gen/**\"\n");
    let files = |out: &Output| -> Vec<String> {
        let document: Value = serde_json::from_str(&out.stdout).expect("it is JSON");
        let files = document["files"].as_array().cloned().unwrap_or_default();
        let paths = files.iter().filter_map(|file| file["path"].as_str());
        paths.filter_map(|path| Some(path.rsplit('/').next()?.to_owned())).collect()
    };
    // A folder that is not below the current one is the one from which the patterns count.
    let json = ["--format", "json"];
    assert_eq!(files(&project.check(&json)), ["kept.ttgir", "old_ring.ttgir", "ring.ttgir"]);
    let one = project.check(&[&json[..], &["--exclude", "old_*.ttgir"]].concat());
    assert_eq!(files(&one), ["kept.ttgir", "ring.ttgir"]);
    let rooted =
        project.check(&[&json[..], &["--exclude", "/kept.ttgir", "--exclude", "nowhere/old_ring.ttgir"]].concat());
    assert_eq!(files(&rooted), ["old_ring.ttgir", "ring.ttgir"]);
    let all = project.check(&["--exclude", "*.ttgir"]);
    assert_eq!((all.code, all.stdout.as_str()), (0, "nothing to check\n"));
    assert!(
        all.stderr.contains("4 files are left out, by --exclude or `exclude` in `fencepost.toml`"),
        "{}",
        all.stderr
    );
    // What is named itself is looked at, but for a hook; `races` searches as `check` does.
    let named = project.0.join("kept.ttgir").to_string_lossy().into_owned();
    assert_eq!(fencepost(&["check", "--exclude", "kept.ttgir", &named]).code, 1);
    assert_eq!(fencepost(&["check", "--exclude", "kept.ttgir", "--force-exclude", &named]).code, 0);
    let races = fencepost(&["races", "--exclude", "*.ttgir", &project.0.to_string_lossy()]);
    assert_eq!((races.code, races.stdout.as_str()), (0, "nothing to check\n"));
    // From the current folder on, where it is searched.
    let mut inside = Command::new(BINARY);
    inside.current_dir(&project.0).args(["check", "--exclude", "gen", "--exclude", "./old_ring.ttgir"]);
    let out = inside.args(["--format", "json"]).output().expect("it starts");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("kept.ttgir") && !text.contains("old_ring.ttgir"), "{text}");
}

#[test]
fn settings_that_cannot_be_read_are_said_once() {
    let project = Project::new("unreadable");
    project.copy("ring.ttgir", "ring.ttgir");
    project.copy("ring.ttgir", "gen/other.ttgir");
    let said = |out: &Output, what: &str| out.stdout.matches(what).count();
    project.set("strange = 1\n");
    let wrong = project.check(&[]);
    assert_eq!((wrong.code, said(&wrong, "there is no setting `strange`")), (1, 1), "{}", wrong.stdout);
    let file = project.0.join("fencepost.toml");
    fs::write(&file, b"# caf\xe9\n").expect("the file can be written");
    let encoded = project.check(&[]);
    let count = said(&encoded, "fencepost.toml cannot be read, and nothing of it holds: it is not UTF-8");
    assert_eq!((encoded.code, count), (wrong.code, 1), "{}", encoded.stdout);
    fs::remove_file(&file).expect("the file can be removed");
    fs::create_dir(&file).expect("a folder can be made");
    let folder = project.check(&["--format", "json"]);
    assert_eq!((folder.code, said(&folder, "it is a directory")), (wrong.code, 1), "{}", folder.stdout);
}

#[test]
fn wrong_settings_are_said_of_ttgir_too() {
    let project = Project::new("wrong");
    project.copy("ring.ttgir", "ring.ttgir");
    project.set("[kinds]\ndeadlok = \"off\"\n");
    let out = project.check(&[]);
    assert!(
        out.stdout.contains("fencepost.toml:2:1") && out.stdout.contains("did you mean `deadlock`"),
        "{}",
        out.stdout
    );
}

#[test]
fn the_schema_is_that_of_the_table() {
    let out = fencepost(&["settings", "--schema"]);
    let path = root().join("docs/fencepost.schema.json");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &out.stdout).expect("the schema can be written");
    }
    let published = fs::read_to_string(path).expect("there is a schema");
    assert_eq!(
        out.stdout, published,
        "another schema than `fencepost settings --schema` (`cargo xtask fixtures` writes it)"
    );
    let schema: Value = serde_json::from_str(&published).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let good = serde_json::json!({ "target": "sm_100", "kinds": { "deadlock": "off" }, "limits": { "states": 5 },
        "values": { "n": [1, "fp16[64]"] }, "exclude": ["a"] });
    assert!(validator.is_valid(&good));
    for bad in [
        serde_json::json!({ "tritn": "3.9" }),
        serde_json::json!({ "kinds": { "deadlok": "off" } }),
        serde_json::json!({ "kinds": { "deadlock": "of" } }),
        serde_json::json!({ "limits": { "states": 0 } }),
    ] {
        assert!(!validator.is_valid(&bad), "{bad}");
    }
    let list = fencepost(&["settings"]).stdout;
    assert!(list.contains("limits.total_steps: a number") && list.contains("fencepost.compileOnSave"), "{list}");
}

/// The settings as VS Code's manifest has them: one that an editor alone may say, or that lets files be read, is not taken
/// from a workspace that nobody trusts.
fn manifest_settings() -> String {
    let local = ["fencepost.compileOnSave", "fencepost.python", "fencepost.watch"];
    let mut out = String::new();
    for (name, mut schema) in settings::editor_properties() {
        let row = schema.as_object_mut().expect("a schema is an object");
        let documentation = row.remove("description").unwrap_or_default();
        row.insert("markdownDescription".to_owned(), documentation);
        let scope = if local.contains(&name.as_str()) { "machine-overridable" } else { "window" };
        row.insert("scope".to_owned(), scope.into());
        let text = serde_json::to_string_pretty(&schema).expect("JSON can be written");
        out.push_str(&format!("        \"{name}\": {},\n", text.replace('\n', "\n        ")));
    }
    out
}

/// A manifest with these settings in the place of those that it has.
fn with_settings(manifest: &str, settings: &str) -> String {
    let first = manifest.find("        \"fencepost.compileOnSave\": {").expect("the first of the table");
    let behind = manifest.find("        \"fencepost.trace.server\": {").expect("the one that the client reads");
    format!("{}{settings}{}", &manifest[..first], &manifest[behind..])
}

#[test]
fn vs_code_offers_the_settings_that_there_are() {
    let path = root().join("editors/vscode/package.json");
    let text = fs::read_to_string(&path).expect("there is an extension");
    let wanted = with_settings(&text, &manifest_settings());
    let is_kind = |kind: &str| wanted.contains(&format!("            \"{kind}\": {{"));
    assert!(settings::table::kinds().all(is_kind), "a kind is missing");
    let package: Value = serde_json::from_str(&wanted).expect("it is JSON");
    let offered = package["contributes"]["configuration"]["properties"].as_object().expect("settings");
    let known = settings::editor_properties();
    let ours = ["fencepost.server.path", "fencepost.server.extraEnv", "fencepost.trace.server"];
    for name in offered.keys() {
        assert!(known.contains_key(name) || ours.contains(&name.as_str()), "nobody reads {name}");
    }
    if wanted != text && std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, wanted).expect("the manifest can be written");
        return;
    }
    assert!(
        wanted == text,
        "package.json has other settings than the table (`cargo xtask fixtures` writes them there)"
    );
}
