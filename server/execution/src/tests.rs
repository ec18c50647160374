//! Plans beside a backend that says what a test wants it to.

use std::path::Path;
use std::sync::Arc;

use base::{Cancel, TextRange};
use findings::{Finding, KernelReport, Kind, Severity, Verdict};
use runtime::launch::{ArgumentValue, LaunchArgument, LaunchSpec, recipe};
use runtime::run::{Instrument, RunBackend, RunCost, RunEnd, RunError, RunEvent, RunLimits, RunReport, RunRequest};
use tensors::array::{Array, ElemType};

use super::recipes::{RecipeOverrides, RecipeSources};
use super::*;
use render::SourceText;

/// Answers with what `act` makes of a request.
struct Fake<F>(F);

impl<F: FnMut(&RunRequest) -> Result<RunReport, RunError>> RunBackend for Fake<F> {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn run(
        &mut self,
        request: &RunRequest,
        say: &mut dyn FnMut(RunEvent),
        _: &Cancel<'_>,
    ) -> Result<RunReport, RunError> {
        say(RunEvent::Progress(0.5));
        (self.0)(request)
    }
}

fn plan(recipes: &[&str], seeds: u32) -> RunPlan {
    let launches: Vec<LaunchSpec> = recipes.iter().map(|text| recipe::parse(text, false, Path::new("")).0).collect();
    RunPlan {
        path: "k.ttgir".into(),
        text: "module {\n}\n".into(),
        launches,
        instrument: Instrument::ConSan,
        bounds: RunLimits::default(),
        seed: 7,
        seeds,
    }
}

fn report(end: RunEnd, findings: Vec<Finding>, output: u8) -> RunReport {
    let verdict = if findings.is_empty() { Verdict::Clean(String::new()) } else { Verdict::Found };
    let kernel = KernelReport {
        name: "k".to_owned(),
        range: TextRange::new(0, 6),
        verdict,
        findings,
        suppressed: Vec::new(),
        runs: 1,
        steps: 1,
        proof: None,
        pin: None,
        global: None,
        broken: false,
    };
    let output = Array { dtype: ElemType::I8, shape: vec![2], bytes: vec![1, output] };
    RunReport {
        backend: "fake",
        instrument: Instrument::ConSan,
        on: Vec::new(),
        end,
        kernels: vec![kernel],
        elsewhere: Vec::new(),
        notes: Vec::new(),
        outputs: vec![("c".to_owned(), output)],
        cost: RunCost::default(),
    }
}

fn finding(kind: Kind, at: u32) -> Finding {
    Finding {
        kind,
        severity: Severity::Error,
        message: format!("{kind:?} at {at}"),
        range: TextRange::new(at, at + 1),
        sites: Vec::new(),
        context: Vec::new(),
        run: Vec::new(),
        witness: None,
        inputs: Vec::new(),
        phases: Vec::new(),
        order: None,
        kernel: "k".to_owned(),
        instance: 0,
        fix: None,
    }
}

fn execute(
    plan: &RunPlan,
    act: impl FnMut(&RunRequest) -> Result<RunReport, RunError>,
    heard: &mut Vec<RunEvent>,
) -> Result<RunResults, RunError> {
    let mut say = |event| heard.push(event);
    super::execute::execute(plan, &mut Fake(act), &mut |_| Ok(None::<Arc<str>>), &mut say, &Cancel::never())
}

#[test]
fn each_launch_runs_once_a_seed_on_the_same_inputs() {
    let (mut asked, mut heard) = (Vec::new(), Vec::new());
    let act = |request: &RunRequest| {
        asked.push((request.launch.grid[0], request.inputs, request.seed));
        Ok(report(RunEnd::Passed, Vec::new(), 0))
    };
    let results = execute(&plan(&["grid=2", "grid=3"], 2), act, &mut heard).unwrap_or_default();
    assert_eq!(asked, [(2, 7, 7), (2, 7, 8), (3, 7, 7), (3, 7, 8)]);
    assert_eq!(heard.first(), Some(&RunEvent::Progress(0.125)));
    assert_eq!((results.status(), results.differ.len(), results.kernels.len()), (RunStatus::Passed, 0, 1));
}

#[test]
fn schedules_that_disagree_are_told() {
    let act = |request: &RunRequest| Ok(report(RunEnd::Passed, Vec::new(), (request.seed == 8).into()));
    let results = execute(&plan(&["grid=2"], 3), act, &mut Vec::new()).unwrap_or_default();
    let [said] = results.differ.as_slice() else { panic!("{:?}", results.differ) };
    assert!(said.contains("`c`") && said.contains("[1] is 0 with seed 7 and 1 with seed 8"), "{said}");
}

#[test]
fn findings_of_several_runs_are_one_each() {
    let act = |request: &RunRequest| {
        let kinds = if request.seed == 7 { vec![5] } else { vec![5, 2] };
        let found = kinds.into_iter().map(|at| finding(Kind::Deadlock, at)).collect();
        Ok(report(RunEnd::Asserted, found, 0))
    };
    let results = execute(&plan(&["grid=2"], 2), act, &mut Vec::new()).unwrap_or_default();
    let places: Vec<u32> = results.kernels.iter().flat_map(|it| &it.findings).map(|it| it.range.start).collect();
    assert_eq!((places, results.status()), (vec![2, 5], RunStatus::Asserted));
}

#[test]
fn a_backend_that_cannot_run_is_an_error() {
    let ran = execute(&plan(&["grid=2"], 2), |_| Err(RunError("no GPU".to_owned())), &mut Vec::new());
    assert_eq!(ran.err(), Some(RunError("no GPU".to_owned())));
}

#[test]
fn a_launch_that_cannot_be_run_keeps_no_other_from_running() {
    let act = |request: &RunRequest| match request.launch.grid[0] {
        2 => Err(RunError("it is refused".to_owned())),
        _ => Ok(report(RunEnd::Passed, Vec::new(), 0)),
    };
    let results = execute(&plan(&["grid=2", "grid=3"], 2), act, &mut Vec::new()).unwrap_or_default();
    let ends: Vec<&RunEnd> = results.runs.iter().map(|ran| &ran.report.end).collect();
    assert_eq!(ends, [&RunEnd::Failed("it is refused".to_owned()), &RunEnd::Passed, &RunEnd::Passed]);
    assert_eq!(results.status(), RunStatus::Failed);
    // For all of them it is said once.
    let all = execute(&plan(&["grid=2", "grid=2"], 2), act, &mut Vec::new());
    assert_eq!(all.err(), Some(RunError("it is refused".to_owned())));
}

#[test]
fn the_analysis_stands_beside_the_run() {
    let text = "one\ntwo\nthree\n";
    let own = |verdict: Verdict, findings: Vec<Finding>| {
        let kernel = report(RunEnd::Passed, findings, 0).kernels;
        kernel.into_iter().map(|kernel| KernelReport { verdict: verdict.clone(), ..kernel }).collect::<Vec<_>>()
    };
    let of = |analysis: &[KernelReport], end: RunEnd, findings: Vec<Finding>| {
        let act = |_: &RunRequest| Ok(report(end.clone(), findings.clone(), 0));
        let results = execute(&plan(&["grid=2"], 1), act, &mut Vec::new()).unwrap_or_default();
        let beside = verdict_comparison::compare_verdicts(analysis, &results, &SourceText::new(text));
        beside.into_iter().next().map(|it| (it.agrees, it.summary)).unwrap_or_default()
    };
    let race = || finding(Kind::MissingForwardBarrier, 4);
    let proved = own(Verdict::Proved("by closing".to_owned()), Vec::new());
    assert!(of(&proved, RunEnd::Passed, Vec::new()).0);
    let (agrees, says) = of(&proved, RunEnd::Asserted, vec![race()]);
    assert!(
        !agrees && says == "the analysis calls it proved and does not find missing-forward-barrier at line 2",
        "{says}"
    );
    let found = own(Verdict::Found, vec![race()]);
    assert!(of(&found, RunEnd::Asserted, vec![race()]).0);
    assert!(!of(&found, RunEnd::Passed, Vec::new()).0);
    assert!(!of(&found, RunEnd::Asserted, vec![race(), finding(Kind::Deadlock, 9)]).0);
    let open = own(Verdict::Undecided(vec!["an op".to_owned()]), Vec::new());
    assert!(of(&open, RunEnd::Asserted, vec![race()]).0, "who says nothing does not disagree");
}

#[test]
fn a_launch_that_is_chosen_meets_the_finding() {
    let inputs = vec![("%K".to_owned(), 384), ("%pid".to_owned(), 1)];
    let found = Finding { inputs, ..finding(Kind::Deadlock, 4) };
    let kernels = report(RunEnd::Passed, vec![found], 0).kernels;
    let text = "tt.func public @k(%a: !tt.ptr<f16>, %K: i32) {\n  %pid = tt.get_program_id x : i32\n}\n";
    let python = "def k(a, KK, K, n: gl.constexpr):\n    pid = gl.program_id(0)\n";
    for (text, python) in [(text, false), (python, true)] {
        let path = Path::new("k");
        let sources = RecipeSources {
            path,
            text,
            python,
            kernels: &kernels,
            elaboration: None,
            configured: &[],
            store: None,
            found: &[],
        };
        let given = |by: &RecipeOverrides| -> Vec<(String, ArgumentValue)> {
            let launches = sources.choose(by).unwrap_or_default();
            launches.into_iter().flat_map(|it| it.arguments).map(|it| (it.name, it.given)).collect()
        };
        let number = |value| vec![("K".to_owned(), ArgumentValue::Int(value))];
        assert_eq!(given(&RecipeOverrides::default()), number(384));
        let own = vec![LaunchArgument { name: "K".to_owned(), given: ArgumentValue::Int(64) }];
        assert_eq!(given(&RecipeOverrides { arguments: own, ..RecipeOverrides::default() }), number(64));
    }
}
