//! Kernels of the corpus: what they compute, and what is asserted of their broken twins.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Cancel;

use runtime::cpu::Cpu;
use runtime::element::numbers;
use runtime::launch::directive::RecipeDirectives;
use runtime::launch::{ArgumentValue, ArraySpec, Fill, LaunchArgument, LaunchOrigin, LaunchSpec};
use runtime::run::{Instrument, RunBackend, RunEnd, RunLimits, RunReport, RunRequest};
use tensors::array::{Array, ElemType};

fn array(dtype: ElemType, shape: &[u64], fill: Fill) -> ArgumentValue {
    ArgumentValue::Array(ArraySpec { dtype, unsigned: false, shape: shape.to_vec(), strides: None, fill })
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/ttgir")
}

pub(super) fn request(path: &Path, grid: [u32; 3], arguments: &[(&str, ArgumentValue)], seed: u64) -> RunRequest {
    let text: Arc<str> = std::fs::read_to_string(path).expect("a file of the corpus").into();
    let arguments = arguments
        .iter()
        .map(|(name, given)| LaunchArgument { name: (*name).to_owned(), given: given.clone() })
        .collect();
    let launch = LaunchSpec { kernel: None, grid, arguments, entry: None, origin: LaunchOrigin::CommandLine };
    let (path, bounds) = (path.to_owned(), RunLimits { steps: 3_000_000, ..RunLimits::default() });
    RunRequest { path, text, compiled: None, launch, instrument: Instrument::ConSan, bounds, inputs: 0, seed }
}

pub(super) fn execute(request: &RunRequest) -> RunReport {
    Cpu::default().run(request, &mut |_| {}, &Cancel::never()).expect("it runs")
}

/// `a · b`, the plain way.
fn product(a: &Array, b: &Array) -> Vec<f64> {
    let (m, k, n) = (a.shape[0] as usize, a.shape[1] as usize, b.shape[1] as usize);
    let (a, b): (Vec<f64>, Vec<f64>) = (numbers(a).collect(), numbers(b).collect());
    let at = |row: usize, column: usize| (0..k).map(|i| a[row * k + i] * b[i * n + column]).sum();
    (0..m * n).map(|place| at(place / n, place % n)).collect()
}

/// A kernel that multiplies, its sizes and type, and the block that a program makes.
struct Gemm(&'static str, [u64; 3], ElemType, [u64; 2]);

const GEMMS: &[Gemm] = &[
    Gemm("sm_90/ws_gemm", [256, 256, 320], ElemType::F16, [128, 128]),
    Gemm("sm_90/ws_gemm.alloc", [128, 256, 192], ElemType::F16, [128, 128]),
    Gemm("sm_90/gemm_ring3", [128, 256, 320], ElemType::BF16, [128, 128]),
    Gemm("sm_90/cluster_gemm", [256, 128, 256], ElemType::F16, [128, 128]),
    Gemm("sm_90/cluster_gemm_4", [256, 128, 256], ElemType::F16, [256, 128]),
    Gemm("sm_90/cp_async_gemm", [64, 128, 256], ElemType::F16, [64, 64]),
    Gemm("sm_100/tc05_gemm", [128, 128, 256], ElemType::F16, [128, 128]),
    Gemm("sm_100/tc05_ws_gemm", [128, 256, 256], ElemType::BF16, [128, 256]),
    Gemm("sm_100/tc05_pair_gemm", [256, 128, 256], ElemType::F16, [256, 128]),
    Gemm("sm_100/tc05_cluster_gemm", [512, 128, 256], ElemType::F16, [512, 128]),
    Gemm("gfx950/cdna4_gemm", [128, 128, 256], ElemType::F16, [128, 128]),
    Gemm("gfx1250/tdm_gemm", [128, 128, 256], ElemType::F16, [128, 128]),
    Gemm("gfx1250/tdm_ws_gemm", [128, 128, 256], ElemType::F16, [128, 128]),
    Gemm("gfx1250/tdm_cluster_gemm", [128, 128, 256], ElemType::F16, [128, 128]),
];

impl Gemm {
    fn run(&self, twin: &str, seed: u64, instrument: Instrument) -> RunReport {
        let Gemm(file, [m, n, k], dtype, [rows, columns]) = self;
        let path = folder().join(format!("{file}{twin}.ttgir"));
        let text = std::fs::read_to_string(&path).expect("a file of the corpus");
        let names = ["%a_desc: ", "%a_ptr: "].iter().find(|name| text.contains(**name));
        let suffix = names.map_or("", |name| &name[2..name.len() - 2]);
        let tensor = |name: &str, shape: [u64; 2], fill| (format!("{name}{suffix}"), array(*dtype, &shape, fill));
        let mut arguments = vec![
            tensor("a", [*m, *k], Fill::Normal(0.0, 1.0)),
            tensor("b", [*k, *n], Fill::Normal(0.0, 1.0)),
            tensor("c", [*m, *n], Fill::Value(0.0)),
        ];
        for (name, size) in [("M", m), ("N", n), ("K", k)] {
            arguments.push((name.to_owned(), ArgumentValue::Int(*size as i64)));
        }
        let arguments: Vec<(&str, ArgumentValue)> =
            arguments.iter().map(|(name, given)| (name.as_str(), given.clone())).collect();
        let grid = [(m / rows) as u32, (n / columns) as u32, 1];
        execute(&RunRequest { instrument, ..request(&path, grid, &arguments, seed) })
    }

    /// How far the result is from the product.
    fn distance(&self, report: &RunReport) -> f64 {
        let find = |first: char| report.outputs.iter().find(|(name, _)| name.starts_with(first)).expect("an output");
        let wanted = product(&find('a').1, &find('b').1);
        let far = numbers(&find('c').1).zip(&wanted).map(|(is, wanted)| (is - wanted).abs());
        far.fold(0.0, |most, far| if far.is_nan() { f64::INFINITY } else { most.max(far) })
    }
}

#[test]
fn kernels_that_multiply_do() {
    let mut wrong = Vec::new();
    for gemm in GEMMS {
        let report = gemm.run("", 1, Instrument::ConSan);
        let distance = gemm.distance(&report);
        println!("{} {:?} {distance} {:.3}s {}", gemm.0, report.end, report.cost.seconds, report.cost.steps);
        // Sums of a few hundred products, rounded to the type's fraction.
        let most = if gemm.2 == ElemType::BF16 { 0.5 } else { 0.1 };
        if report.end != RunEnd::Passed || distance > most {
            wrong.push(format!("{}: {:?}, {distance} off, {:?}", gemm.0, report.end, report.kernels[0].findings));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn broken_twins_assert() {
    let twins = ["no_full_wait", "no_empty_wait", "released_too_early", "first_lap_blocks", "full_counts_two"];
    for twin in twins {
        let report = GEMMS[0].run(&format!(".{twin}"), 0, Instrument::ConSan);
        assert_eq!(report.end, RunEnd::Asserted, "{twin}");
        let finding = &report.kernels[0].findings[0];
        // What is not waited for may be met, or may end in a wait for what has been overtaken.
        let stuck = finding.message.starts_with("Deadlock detected while waiting on an mbarrier");
        let waits = matches!(twin, "first_lap_blocks" | "full_counts_two");
        assert!(stuck || !waits && finding.message.starts_with("Buffer being accessed has"), "{}", finding.message);
        assert!(!finding.range.is_empty() && finding.sites.iter().all(|site| site.source.is_some()), "{twin}");
    }
}

#[test]
fn a_run_repeats_and_a_race_shows_as_seeds_that_disagree() {
    let run = |seed| GEMMS[0].run(".released_too_early", seed, Instrument::Plain).outputs;
    assert_eq!(run(3), run(3));
    assert!((4..8).any(|seed| run(seed) != run(3)), "the data race has no effect");
    let clean = |seed| GEMMS[0].run("", seed, Instrument::Plain).outputs;
    assert_eq!(clean(0), clean(1));
}

#[test]
#[ignore = "prints what the tables cost"]
fn costs() {
    for gemm in GEMMS {
        let seconds = |instrument| {
            let runs = (0..3).map(|_| gemm.run("", 1, instrument).cost.seconds);
            runs.fold(f64::INFINITY, f64::min)
        };
        let (plain, watched) = (seconds(Instrument::Plain), seconds(Instrument::ConSan));
        println!("{} plain {plain:.4} watched {watched:.4} ratio {:.2}", gemm.0, watched / plain);
    }
}

#[test]
#[ignore = "prints what comes of all files below DIR whose path has FILES in it"]
fn survey() {
    let wanted = std::env::var("FILES").unwrap_or_default();
    let root = std::env::var("DIR").map_or_else(|_| folder(), PathBuf::from);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&root)
        .expect("a folder")
        .filter_map(|entry| std::fs::read_dir(entry.expect("an entry").path()).ok())
        .flatten()
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "ttgir") && path.to_string_lossy().contains(&wanted))
        .collect();
    files.sort();
    for path in files {
        let mut request = request(&path, [2, 2, 1], &[], 0);
        if let Some(launch) = RecipeDirectives::read(&request.text, false, root.as_path()).launches.into_iter().next() {
            request.launch = launch;
        }
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        match Cpu::default().run(&request, &mut |_| {}, &Cancel::never()) {
            Ok(report) => {
                println!("{name} {:.3}s {} {:?}", report.cost.seconds, report.cost.steps, report.end);
                let findings = &report.kernels[0].findings;
                findings.iter().for_each(|finding| println!("    {:?} {}", finding.kind, finding.message));
            }
            Err(error) => println!("{name} ERROR {error}"),
        }
    }
}
