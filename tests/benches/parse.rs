//! How fast a text becomes a tree: cold, after an edit, and in a dump with many sections.
//!
//! `cargo bench -p fencepost-tests --bench parse`. Prints medians and ratios. Where
//! `FENCEPOST_PYTHON` names a Python that has Triton, its parser reads the same file beside ours.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use base::TextRange;
use ttgir::{Document, Tree};

/// What Triton's own parser is asked: the best of twenty readings, in seconds.
const PYTHON: &str = "
import sys, time
from triton._C import libtriton as l
ctx = l.ir.context()
l.ir.load_dialects(ctx)
l.nvidia.load_dialects(ctx)
best = 9
for _ in range(20):
    start = time.perf_counter()
    l.ir.parse_mlir_module(sys.argv[1], ctx)
    best = min(best, time.perf_counter() - start)
print(best)
";

fn main() {
    let Some(kernel) = largest(&fencepost_tests::sources::root().join("corpus/ttgir")) else {
        println!("the corpus is not here");
        return;
    };
    let text = enlarged(&kernel, 200_000);
    let size = text.len() as f64;
    println!("file: {} bytes, {} errors", text.len(), Tree::parse(&text).errors().len());

    let cold = median(201, |_| {
        black_box(Tree::parse(black_box(&text)));
    });
    println!("cold: {:.3} ms, {:.0} MB/s", cold * 1e3, size / cold / 1e6);
    let scan = median(201, |_| {
        black_box(black_box(&text).bytes().filter(|b| *b == b'\n').count());
    });
    println!("      {:.1} times a scan for line ends", cold / scan);
    if let Some(triton) = triton(&text) {
        println!(
            "libtriton: {:.3} ms, {:.0} MB/s; ours is {:.1} times as fast",
            triton * 1e3,
            size / triton / 1e6,
            triton / cold
        );
    }

    let document = Document::new(text.as_str());
    document.sections().iter().for_each(|section| {
        black_box(section.tree().errors().len());
    });
    let mut places = Places(7);
    let mut times: Vec<f64> = (0..500)
        .map(|_| {
            let at = places.next(&text);
            let start = Instant::now();
            let edited = document.edit(TextRange::empty(at), "x");
            edited.sections().iter().for_each(|section| {
                black_box(section.tree().errors().len());
            });
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "one character: median {:.3} ms, 95 % below {:.3} ms; cold is {:.1} times the median",
        times[250] * 1e3,
        times[475] * 1e3,
        cold / times[250]
    );

    let dump = dump(&text, 62_000_000);
    let start = Instant::now();
    let document = Document::new(dump.as_str());
    let opened = start.elapsed().as_secs_f64();
    let sections = document.sections().len();
    println!("dump: {} bytes, {sections} sections, opened in {:.0} ms", dump.len(), opened * 1e3);
    let start = Instant::now();
    black_box(document.sections()[sections / 2].tree().errors().len());
    println!("      the first look into one section: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
}

/// The largest file below a folder.
fn largest(folder: &Path) -> Option<String> {
    let mut best: Option<String> = None;
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).ok()?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path)
                && best.as_ref().is_none_or(|best| best.len() < text.len())
            {
                best = Some(text);
            }
        }
    }
    best
}

/// The module with its function repeated, under other names, until it is `size` long.
fn enlarged(text: &str, size: usize) -> String {
    let (Some(start), Some(end)) = (text.find("  tt.func"), text.rfind("\n}")) else { return text.to_owned() };
    let function = &text[start..end];
    let mut functions = String::new();
    let mut copy = 0;
    while text.len() + functions.len() < size {
        functions.push_str(&function.replacen('@', &format!("@copy{copy}_"), 1));
        functions.push('\n');
        copy += 1;
    }
    format!("{}{functions}{}", &text[..start], &text[start..])
}

/// A dump of many passes, each section a little different.
fn dump(text: &str, size: usize) -> String {
    let mut dump = String::with_capacity(size + text.len());
    let mut pass = 0;
    while dump.len() < size {
        dump.push_str(&format!("// -----// IR Dump Before Pass{pass} ('builtin.module' operation) //----- //\n"));
        dump.push_str(&text.replacen("@copy0_", &format!("@pass{pass}_"), 1));
        dump.push('\n');
        pass += 1;
    }
    dump
}

/// Seconds of the middle run.
fn median(runs: usize, mut f: impl FnMut(usize)) -> f64 {
    let mut times: Vec<f64> = (0..runs)
        .map(|run| {
            let start = Instant::now();
            f(run);
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[runs / 2]
}

/// Places of a text, the same ones every time.
struct Places(u64);

impl Places {
    fn next(&mut self, text: &str) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut at = (self.0 >> 33) as usize % text.len();
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at as u32
    }
}

/// Seconds that Triton's own parser needs, verification included.
fn triton(text: &str) -> Option<f64> {
    let python = std::env::var_os("FENCEPOST_PYTHON")?;
    let path = std::env::temp_dir().join(format!("fencepost-parse-{}.mlir", std::process::id()));
    fs::write(&path, text).ok()?;
    let output = Command::new(python).arg("-c").arg(PYTHON).arg(&path).output().ok()?;
    fs::remove_file(&path).ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
