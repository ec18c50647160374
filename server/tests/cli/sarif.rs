//! The SARIF log: against the standard's schema where a package here ships it, and against what readers of it rely on.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::skip::skip;
use crate::support::{Folder, fencepost, fencepost_with, kernel, root};
use serde_json::{Value, json};

/// Logs of all sorts, each with its name.
fn logs() -> Vec<(&'static str, Value)> {
    let folder = Folder::new(&format!("sarif-{:?}", std::thread::current().id()).replace(['(', ')'], ""));
    let ring = std::fs::read_to_string(kernel("ring_not_waited.ttgir")).expect("the kernel can be read");
    let gluon = |name: &str| {
        let path = root().join("tests/kernels/gluon").join(name);
        std::fs::read_to_string(path).expect("the kernel can be read")
    };
    let wait = "        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n";
    let python = folder.write("sum_rows.py", gluon("sum_rows.py").replace(wait, "").as_bytes());
    folder.write("ring_tools.py", gluon("ring_tools.py").as_bytes());
    let comment = "// fencepost: ignore[missing-forward-barrier] the host waits\n  tt.func public";
    let suppressed = folder.write("suppressed.ttgir", ring.replacen("tt.func public", comment, 1).as_bytes());
    let dump =
        format!("// -----// IR Dump After A (a) //----- //\n{ring}// -----// IR Dump After B (b) //----- //\n{ring}");
    let dump = folder.write("a b/dump.ttgir", dump.as_bytes());
    let broken = folder.write("broken.ttgir", b"module {\n  tt.func public @f( {\n}\n");
    let unreadable = folder.write("unreadable.ttgir", b"module {\n \xff");
    let baseline = format!("{}/known.json", folder.path());
    assert_eq!(fencepost(&["check", "--baseline", &baseline, "--update-baseline", &dump]).code, 0);
    let log = |args: &[&str]| -> Value {
        let out = fencepost(&[&["check", "--format", "sarif"], args].concat());
        serde_json::from_str(&out.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", out.stdout, out.stderr))
    };
    let (flagged, clean) = (kernel("ring_not_waited.ttgir"), kernel("ring.ttgir"));
    let stdin = fencepost_with(&["check", "--format", "sarif", "-"], &ring.as_bytes()[..ring.len() - 40]);
    vec![
        ("flagged", log(&[&flagged])),
        ("clean", log(&[&clean])),
        ("python", log(&[&python])),
        ("suppressed", log(&[&suppressed])),
        ("dump", log(&[&dump])),
        ("broken", log(&[&broken, &unreadable, "no/such/file"])),
        ("baseline", log(&["--baseline", &baseline, &dump, &flagged])),
        ("stale", log(&["--baseline", &baseline, &clean])),
        ("cut", serde_json::from_str(&stdin.stdout).expect("the log is JSON")),
    ]
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The schema in the sources of the crate `serde-sarif`, or in a file that `FENCEPOST_SARIF_SCHEMA` names.
fn schema() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("FENCEPOST_SARIF_SCHEMA") {
        return Some(named.into());
    }
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from).or(home)?;
    let registries = std::fs::read_dir(cargo.join("registry/src")).ok()?.flatten();
    let mut crates: Vec<PathBuf> =
        registries.filter_map(|it| std::fs::read_dir(it.path()).ok()).flatten().flatten().map(|it| it.path()).collect();
    crates.retain(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("serde-sarif-"))
            && path.join("src/schema.json").is_file()
    });
    crates.sort();
    Some(crates.pop()?.join("src/schema.json"))
}

#[test]
fn logs_are_as_the_schema_of_the_standard_says() {
    let Some(path) = schema() else {
        skip("SARIF's schema", "there is no crate serde-sarif here (`cargo info serde-sarif` fetches it)");
        return;
    };
    let text = std::fs::read_to_string(&path).expect("the schema can be read");
    let mut schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    // A pattern of it has a bracket too many, and is none.
    for of in ["run", "toolComponent"] {
        let language = schema.pointer_mut(&format!("/definitions/{of}/properties/language"));
        language.and_then(Value::as_object_mut).and_then(|language| language.remove("pattern"));
    }
    let schema = jsonschema::validator_for(&schema).expect("the schema is one");
    for (name, log) in logs() {
        let wrong: Vec<String> =
            schema.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert_eq!(wrong, [""; 0], "{name}");
    }
    // It does say something.
    assert!(!schema.is_valid(&json!({ "version": "2.1.0", "runs": [{ "tool": {}, "results": [{}] }] })));
}

#[test]
fn logs_are_what_readers_rely_on() {
    for (name, log) in logs() {
        let run = &log["runs"][0];
        let rules = array(&run["tool"]["driver"]["rules"]);
        let ids: BTreeSet<&str> = rules.iter().filter_map(|rule| rule["id"].as_str()).collect();
        assert_eq!(ids.len(), rules.len(), "{name}: a rule stands once");
        for rule in rules {
            assert!(rule["help"]["text"].as_str().is_some_and(|text| text.len() > 80), "{name}: {rule}");
        }
        let mut prints: BTreeSet<(String, String)> = BTreeSet::new();
        for result in array(&run["results"]) {
            let rule = &rules[result["ruleIndex"].as_u64().expect("a rule") as usize];
            assert_eq!(rule["id"], result["ruleId"], "{name}");
            let place = &result["locations"][0]["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().expect("a URI");
            assert!(!uri.contains(' ') && (uri.starts_with("file:///") || !uri.starts_with('/')), "{name}: {uri}");
            walk(result, &mut |value| {
                if let Some(region) = value.get("region").or_else(|| value.get("deletedRegion")) {
                    let of = |key: &str| region[key].as_u64().unwrap_or(0);
                    let (start, end) = ((of("startLine"), of("startColumn")), (of("endLine"), of("endColumn")));
                    assert!(start.0 > 0 && start.1 > 0 && start <= end, "{name}: {region}");
                }
            });
            if let Some(print) = result["partialFingerprints"]["fencepost/v1"].as_str() {
                assert!(prints.insert((uri.to_owned(), print.to_owned())), "{name}: {print} twice");
            }
            let related: BTreeSet<u64> =
                array(&result["relatedLocations"]).iter().filter_map(|it| it["id"].as_u64()).collect();
            assert_eq!(related, (1..=related.len() as u64).collect(), "{name}");
            for flow in array(&result["codeFlows"]) {
                let threads = array(&flow["threadFlows"]);
                let partitions: BTreeSet<&str> = threads.iter().filter_map(|thread| thread["id"].as_str()).collect();
                assert!(!threads.is_empty() && partitions.len() == threads.len(), "{name}");
                let mut orders: Vec<u64> = Vec::new();
                for thread in threads {
                    let own: Vec<u64> =
                        array(&thread["locations"]).iter().filter_map(|it| it["executionOrder"].as_u64()).collect();
                    assert!(!own.is_empty() && own.is_sorted(), "{name}: {own:?}");
                    orders.extend(own);
                }
                orders.sort_unstable();
                assert_eq!(orders, (1..=orders.len() as u64).collect::<Vec<_>>(), "{name}");
            }
        }
        assert!(run["invocations"][0]["executionSuccessful"].is_boolean(), "{name}");
    }
}

/// Visits a value and all in it.
fn walk(value: &Value, each: &mut impl FnMut(&Value)) {
    each(value);
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, each)),
        Value::Object(members) => members.values().for_each(|member| walk(member, each)),
        _ => {}
    }
}

#[test]
fn logs_hold_what_they_are_about() {
    let logs = logs();
    let of = |name: &str| &logs.iter().find(|(it, _)| *it == name).expect("a log").1["runs"][0];
    let failing = |name: &str| -> Vec<&Value> {
        array(&of(name)["results"]).iter().filter(|it| it["level"] == json!("error")).collect()
    };
    assert!(failing("clean").is_empty());
    // The run of a race has a flow for each of the two partitions.
    let race = failing("flagged").into_iter().find(|it| it["ruleId"] == json!("missing-forward-barrier"));
    let race = race.expect("the race");
    assert_eq!(array(&race["codeFlows"][0]["threadFlows"]).len(), 2);
    assert_eq!(array(&race["relatedLocations"]).len(), 2);
    assert!(race["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"].is_string());
    // In Python the calls that lead there are related too.
    let python = failing("python");
    assert!(python.iter().any(|it| {
        array(&it["relatedLocations"])
            .iter()
            .any(|place| place["message"]["text"].as_str().is_some_and(|text| text.contains("`producer`")))
    }));
    // Findings of two sections that look alike have fingerprints of their own.
    assert!(failing("dump").len() >= 2);
    let suppressed = failing("suppressed");
    assert!(!suppressed.is_empty() && suppressed.iter().all(|it| it["suppressions"][0]["kind"] == json!("inSource")));
    let states: BTreeSet<&str> = failing("baseline").iter().filter_map(|it| it["baselineState"].as_str()).collect();
    assert_eq!(states, BTreeSet::from(["new", "unchanged"]));
    assert_eq!(of("broken")["invocations"][0]["executionSuccessful"], json!(false));
    assert!(failing("broken").iter().any(|it| it["ruleId"] == json!("syntax")));
    assert!(
        array(&of("cut")["results"]).iter().any(|it| it["kind"] == json!("open") || it["ruleId"] == json!("syntax"))
    );
}
