//! The same work, or what of it another tool does, by tools that are installed: processor time.
//!
//! None of them does what Fencepost does. A parser is beside parsers; `check` of a file stands beside linters of the
//! same file, and beside the compile that a run under ConSan needs before it runs on a GPU.

use std::path::Path;
use std::process::Command;

use ttgir::Tree;

use super::{Report, file, installed, machine, pythons};

/// Bytes of the text that parsers read.
const TEXT: usize = 200_000;

/// A parser in Python: what it is called, and a program that prints the milliseconds of processor time of one reading of
/// the file it is given, the best of ten.
const PARSERS: &[(&str, &str)] = &[
    (
        "libtriton",
        "
import sys, time
from triton._C import libtriton as l
context = l.ir.context()
l.ir.load_dialects(context)
l.nvidia.load_dialects(context)
def read():
    start = time.process_time()
    l.ir.parse_mlir_module(sys.argv[1], context)
    return time.process_time() - start
print(min(read() for _ in range(10)) * 1e3)
",
    ),
    (
        "tree-sitter-mlir",
        "
import sys, time
import tree_sitter, tree_sitter_mlir
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_mlir.language()))
text = open(sys.argv[1], 'rb').read()
def read():
    start = time.process_time()
    parser.parse(text)
    return time.process_time() - start
print(min(read() for _ in range(10)) * 1e3)
",
    ),
];

/// Compiles a kernel with the instrumentation of ConSan; prints milliseconds of processor time.
const CONSAN: &str = include_str!("consan.py");

/// The module that parsers read: a kernel of the corpus with its function repeated.
fn module() -> Option<String> {
    let text = std::fs::read_to_string(file("corpus/ttgir/sm_90/ws_gemm.ttgir")).ok()?;
    let (start, end) = (text.find("  tt.func")?, text.rfind("\n}")?);
    let function = text.get(start..end)?;
    let mut functions = String::new();
    for copy in 0.. {
        if text.len() + functions.len() >= TEXT {
            break;
        }
        functions.push_str(&function.replacen('@', &format!("@copy{copy}_"), 1));
        functions.push('\n');
    }
    Some(format!("{}{functions}{}", text.get(..start)?, text.get(start..)?))
}

/// Parsing, beside other parsers of MLIR.
pub fn parse(report: &mut Report) {
    let Some(text) = module() else { return report.skip("parse", "the corpus is not here") };
    let Some(ours) = machine::own(|| drop(std::hint::black_box(Tree::parse(std::hint::black_box(&text))))) else {
        return report.skip("parse", "there is no /proc");
    };
    let path = std::env::temp_dir().join(format!("fencepost-bench-{}.mlir", std::process::id()));
    if let Err(why) = std::fs::write(&path, &text) {
        return report.skip("parse", why.to_string());
    }
    for (name, program) in PARSERS {
        match pythons().iter().find_map(|python| figure(python, program, &path)) {
            Some(theirs) => report.beside(format!("parse {} kB of TTGIR", text.len() / 1000), ours, name, theirs),
            None => report.skip(name, "no Python has it (FENCEPOST_PYTHON, FENCEPOST_PEERS)"),
        }
    }
    let _ = std::fs::remove_file(&path);
    match installed("mlir-lsp-server") {
        Some(_) => report.skip("mlir-lsp-server", "it knows no dialect of Triton; a build of Triton's is not measured"),
        None => report.skip("mlir-lsp-server", "not on the PATH"),
    }
}

/// Whole commands on one file of Python.
pub fn commands(report: &mut Report, binary: &Path) {
    let path = file("corpus/gluon/ws_gemm.py");
    let name = path.to_string_lossy().into_owned();
    let Some(ours) = machine::command(binary, &["check", &name]) else {
        return report.skip("check", "there is no /proc, or the corpus is not here");
    };
    let what = "`check` of tests/corpus/gluon/ws_gemm.py, with its start".to_owned();
    for (peer, arguments) in [("ruff", ["check", "--no-cache"].as_slice()), ("ty", &["check"])] {
        let Some(program) = installed(peer) else {
            report.skip(peer, "not on the PATH");
            continue;
        };
        let arguments: Vec<&str> = arguments.iter().copied().chain([name.as_str()]).collect();
        match machine::command(&program, &arguments) {
            Some(theirs) => report.beside(what.clone(), ours, peer, theirs),
            None => report.skip(peer, "it does not run"),
        }
    }
    let kernel = file("corpus/ttgir/sm_90/ws_gemm.ttgir");
    let ours = machine::command(binary, &["check", &kernel.to_string_lossy()]).unwrap_or(ours);
    match pythons().iter().find_map(|python| figure(python, CONSAN, &kernel)) {
        Some(theirs) => {
            let what = "`check` of tests/corpus/ttgir/sm_90/ws_gemm.ttgir, with its start".to_owned();
            report.beside(what, ours, "Triton's compile for ConSan", theirs);
        }
        None => report.skip("ConSan's compile", "no Python has Triton 3.9 (FENCEPOST_PYTHON)"),
    }
    let viz = pythons().iter().any(|python| {
        let output = Command::new(python).args(["-c", "import triton_viz"]).output();
        output.is_ok_and(|output| output.status.success())
    });
    let why = if viz {
        "it runs kernels of plain Triton on tensors, which needs PyTorch; docs/races.md compares it"
    } else {
        "no Python has it"
    };
    report.skip("triton-viz", why);
}

/// The number that a program in Python prints of a file.
fn figure(python: &Path, program: &str, path: &Path) -> Option<f64> {
    let output = Command::new(python).arg("-c").arg(program).arg(path).output().ok()?;
    String::from_utf8(output.stdout).ok()?.lines().last()?.trim().parse().ok()
}
