//! Asserts that a device made, replayed over the texts that they are about.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use asserts::{AssertClass, AssertLog, PathMap, classes};
use base::{Cancel, Limits};
use engine::Engine;
use findings::Finding;
use runtime::launch::{LaunchOrigin, LaunchSpec};
use runtime::replay::Replay;
use runtime::run::{Instrument, KernelChecker, RunBackend, RunEnd, RunLimits, RunRequest};
use ttgir::Document;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// The analysis with its default limits.
fn checker() -> KernelChecker {
    let mut engine = Engine::new(Limits::default());
    Box::new(move |lowered, cancel| engine.check_kernel(lowered, cancel))
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests")
}

/// The findings that one line of a log makes of a file of the corpus.
fn replay(file: &str, line: &str) -> (Vec<Finding>, String) {
    let path = tests().join("corpus").join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let log = std::env::temp_dir().join(format!(
        "fencepost-asserts-{}-{}.log",
        std::process::id(),
        NUMBER.fetch_add(1, Ordering::Relaxed)
    ));
    fs::write(&log, format!("some words\n[rank0]: {line}\r\nmore words\n")).expect("a log");
    let request = RunRequest {
        path,
        text: text.as_str().into(),
        compiled: None,
        launch: LaunchSpec {
            kernel: None,
            grid: [1, 1, 1],
            arguments: Vec::new(),
            entry: None,
            origin: LaunchOrigin::Chosen,
        },
        instrument: Instrument::ConSan,
        bounds: RunLimits::default(),
        inputs: 0,
        seed: 0,
    };
    let mut backend = Replay { log: log.clone(), paths: PathMap::default(), check: checker() };
    let report = backend.run(&request, &mut |_| {}, &Cancel::never()).expect("it is read");
    fs::remove_file(&log).expect("the log is ours");
    assert_eq!(report.end, RunEnd::Asserted, "{file}: {line}");
    assert!(report.elsewhere.is_empty(), "{file}: {:?}", report.elsewhere);
    (report.kernels.into_iter().flat_map(|kernel| kernel.findings).collect(), text)
}

/// The place in the source of the op that a finding is drawn at.
fn place(finding: &Finding, text: &str) -> Option<String> {
    let document = Document::new(text);
    let tree = document.sections().first()?.tree();
    let loc = tree.loc(tree.op_at(finding.range.start)?).into_iter().next()?;
    Some(format!("{}:{}:{}", loc.file, loc.line, loc.col))
}

fn several(finding: &Finding) -> bool {
    finding.sites.iter().any(|site| site.text.starts_with("or here"))
}

fn rows(name: &str) -> Vec<Vec<String>> {
    let path = tests().join("asserts").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn a_line_of_the_ir_is_one_op() {
    for row in rows("own-lines.txt") {
        let [file, expected, line] = row.as_slice() else { panic!("{row:?}") };
        let (findings, text) = replay(file, line);
        let [finding] = findings.as_slice() else { panic!("{file}: {findings:?}") };
        assert!(!several(finding), "{file}: {line}");
        assert_eq!(place(finding, &text).as_ref(), Some(expected), "{file}: {line}");
    }
}

#[test]
fn a_line_of_the_source_is_one_op_or_all_that_it_may_be() {
    for row in rows("source-lines.txt") {
        let [file, expected, how, line] = row.as_slice() else { panic!("{row:?}") };
        let (findings, text) = replay(file, line);
        let [finding] = findings.as_slice() else { panic!("{file}: {findings:?}") };
        assert_eq!(several(finding), how == "several", "{file}: {line}");
        assert_eq!(place(finding, &text).as_ref(), Some(expected), "{file}: {line}");
    }
}

#[test]
fn the_suites_asserts_are_all_known() {
    let path = tests().join("asserts/suite-lines.txt");
    let text = fs::read_to_string(&path).expect("the suite's asserts");
    let log = AssertLog::read(&text);
    assert_eq!(log.total() as usize, text.lines().count());
    for counted in &log.asserts {
        let message = &counted.first.message;
        assert_ne!(message.class(), AssertClass::Other, "{message:?}");
        assert!(classes(message.kind()).contains(&message.class()), "{message:?}");
    }
}
