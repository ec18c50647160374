//! Kernels of the corpus: what they compute, and what is asserted of their broken twins.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use analysis::base::Cancel;

use crate::array::{Array, DType};
use crate::cpu::Cpu;
use crate::launch::{Argument, ArraySpec, Fill, Given, Launch, Origin};
use crate::number::numbers;
use crate::run::{Backend, Bounds, End, Instrument, Request, RunReport};

fn array(dtype: DType, shape: &[u64], fill: Fill) -> Given {
    Given::Array(ArraySpec { dtype, shape: shape.to_vec(), strides: None, fill })
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/ttgir")
}

pub(super) fn request(path: &Path, grid: [u32; 3], arguments: &[(&str, Given)], seed: u64) -> Request {
    let text: Arc<str> = std::fs::read_to_string(path).expect("a file of the corpus").into();
    let arguments =
        arguments.iter().map(|(name, given)| Argument { name: (*name).to_owned(), given: given.clone() }).collect();
    let launch = Launch { kernel: None, grid, arguments, entry: None, origin: Origin::Given };
    let (path, bounds) = (path.to_owned(), Bounds { steps: 3_000_000, ..Bounds::default() });
    Request { path, text, compiled: None, launch, instrument: Instrument::ConSan, bounds, inputs: 0, seed }
}

pub(super) fn execute(request: &Request) -> RunReport {
    Cpu::default().run(request, &mut |_| {}, &Cancel::never()).expect("it runs")
}

fn run(file: &str, grid: [u32; 3], arguments: &[(&str, Given)], seed: u64) -> RunReport {
    execute(&request(&folder().join(file), grid, arguments, seed))
}

fn output<'r>(report: &'r RunReport, name: &str) -> &'r Array {
    &report.outputs.iter().find(|(known, _)| known == name).expect("an output").1
}

/// `a · b`, the plain way.
fn product(a: &Array, b: &Array) -> Vec<f64> {
    let (m, k, n) = (a.shape[0] as usize, a.shape[1] as usize, b.shape[1] as usize);
    let (a, b): (Vec<f64>, Vec<f64>) = (numbers(a).collect(), numbers(b).collect());
    let at = |row: usize, column: usize| (0..k).map(|i| a[row * k + i] * b[i * n + column]).sum();
    (0..m * n).map(|place| at(place / n, place % n)).collect()
}

fn gemm(depth: u64) -> [(&'static str, Given); 4] {
    [
        ("a_desc", array(DType::F16, &[256, depth], Fill::Normal(0.0, 1.0))),
        ("b_desc", array(DType::F16, &[depth, 256], Fill::Normal(0.0, 1.0))),
        ("c_desc", array(DType::F16, &[256, 256], Fill::Value(0.0))),
        ("K", Given::Int(depth as i64)),
    ]
}

#[test]
fn a_warp_specialised_gemm_multiplies() {
    for seed in 0..3 {
        let report = run("sm_90/ws_gemm.ttgir", [2, 2, 1], &gemm(320), seed);
        assert_eq!(report.end, End::Passed);
        let wanted = product(output(&report, "a_desc"), output(&report, "b_desc"));
        let furthest = numbers(output(&report, "c_desc")).zip(&wanted).map(|(is, wanted)| (is - wanted).abs());
        let furthest = furthest.fold(0.0, f64::max);
        assert!(furthest < 0.1, "{furthest}");
    }
}

#[test]
#[ignore = "prints what comes of all files that FILES names"]
fn survey() {
    let wanted = std::env::var("FILES").unwrap_or_default();
    let mut files: Vec<PathBuf> = ["sm_90", "sm_100", "gfx950", "gfx1250"]
        .iter()
        .flat_map(|arch| std::fs::read_dir(folder().join(arch)).expect("a folder"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().contains(&wanted))
        .collect();
    files.sort();
    for path in files {
        let request = request(&path, [2, 2, 1], &[], 0);
        let report = match Cpu::default().run(&request, &mut |_| {}, &Cancel::never()) {
            Ok(report) => report,
            Err(error) => {
                println!("{} ERROR {error}", path.display());
                continue;
            }
        };
        let name = path.strip_prefix(folder()).unwrap_or(&path);
        println!("{} {:.3}s {} {:?}", name.display(), report.cost.seconds, report.cost.steps, report.end);
        for finding in &report.kernels[0].findings {
            println!("    {:?} {}", finding.kind, finding.message);
        }
    }
}
