//! `fencepost.toml` on the command line, its schema, and what VS Code says of it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Output, fencepost, kernel, root};

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
    project.copy("ring.ttgir", "ring.ttgir");
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
fn wrong_settings_are_said_of_ttgir_too() {
    let project = Project::new("wrong");
    project.copy("ring.ttgir", "ring.ttgir");
    project.set("[kinds]\ndeadlok = \"off\"\n");
    let out = project.check(&[]);
    assert!(out.stdout.contains("line 2") && out.stdout.contains("did you mean `deadlock`"), "{}", out.stdout);
}

#[test]
fn the_schema_is_that_of_the_table() {
    let out = fencepost(&["settings", "--schema"]);
    let published = fs::read_to_string(root().join("docs/fencepost.schema.json")).expect("there is a schema");
    assert_eq!(out.stdout, published, "write `fencepost settings --schema` to docs/fencepost.schema.json");
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

#[test]
fn vs_code_offers_the_settings_that_there_are() {
    let text = fs::read_to_string(root().join("editors/vscode/package.json")).expect("there is an extension");
    let package: Value = serde_json::from_str(&text).expect("it is JSON");
    let offered = &package["contributes"]["configuration"]["properties"];
    for (name, schema) in settings::editor_properties() {
        let own = &offered[&name];
        assert!(own.is_object(), "{name} is missing in package.json");
        for part in ["type", "enum", "minimum", "maximum", "properties", "additionalProperties"] {
            let (own, wanted) = (&own[part], schema.get(part).unwrap_or(&Value::Null));
            assert!(name == "fencepost.python" || own == wanted, "{name}: {part} is {own}, and {wanted} in the table");
        }
    }
    let known: Vec<String> = settings::editor_properties().keys().cloned().collect();
    let ours = ["fencepost.server.path", "fencepost.server.extraEnv", "fencepost.trace.server"];
    for name in offered.as_object().expect("settings").keys() {
        assert!(known.contains(name) || ours.contains(&name.as_str()), "nobody reads {name}");
    }
}
