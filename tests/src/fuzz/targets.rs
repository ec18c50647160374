//! What is fuzzed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use asserts::read_line;
use base::{Cancel, Limits};
use engine::instances::{Config, Elaborator, PythonFile};
use engine::{Engine, Source};
use python::syntax::NoSources;
use runtime::cpu::Cpu;
use runtime::launch::{self, ArgumentValue, npy, recipe};
use runtime::run::{Instrument, RunBackend, RunLimits, RunRequest};

use super::sequences::{edited, promised, with_slips};
use super::target::Target;
use super::wire;
use crate::sources::root;

/// All of them; the one that asks a server is there where its program is.
pub fn targets(server: Option<&Path>) -> Vec<Target> {
    let recipes = lines("runs/recipes.txt").into_iter();
    let recipes = recipes.filter_map(|line| line.split_once(' ').map(|(_, recipe)| recipe.as_bytes().to_vec()));
    let kernels = small(files(&["kernels", "corpus/ttgir", "pages/packed"], "ttgir"));
    let mut all = vec![
        Target::of("ttgir", files(&["kernels", "corpus/ttgir", "pages/packed"], "ttgir"), ttgir),
        Target::of("gluon", files(&["corpus/gluon", "kernels"], "py"), in_python),
        Target::of("triton", files(&["races", "runs", "kernels/tlx"], "py"), in_python),
        Target::of("run", runs(), run),
        Target::of("recipe", recipes.collect(), read_recipe),
        Target::of("npy", arrays(), |bytes, _| drop(npy::parse(bytes, None))),
        Target::of("asserts", asserts(), read_asserts),
        Target::of("settings", settings_texts(), read_settings),
        // Each text is analysed four times, twice of them anew, and read after each edit.
        Target::of("edits-ttgir", kernels.clone(), |bytes, _| edited("f.ttgir", bytes)).times(5),
        Target::of("edits-python", small(files(&["corpus/gluon", "kernels", "races"], "py")), |bytes, _| {
            edited("f.py", bytes);
        })
        .times(5),
        // Runs are repeated without each of their steps, and all schedules are visited.
        Target { mutate: with_slips, ..Target::of("machine", kernels, promised).times(30) },
    ];
    all.extend(server.map(|program| wire::target(program.to_owned())));
    all
}

/// Those that are read in a moment.
fn small(mut inputs: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    inputs.retain(|input| input.len() < SMALL);
    inputs
}

/// Bytes of an input that is read several times over.
const SMALL: usize = 30_000;

fn lines(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(name)).unwrap_or_default();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// All files with an ending in some folders, and below them.
fn files(folders: &[&str], ending: &str) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut open: Vec<PathBuf> = folders.iter().map(|name| root().join(name)).collect();
    while let Some(folder) = open.pop() {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|own| own == ending) {
                out.extend(std::fs::read(&path));
            }
        }
    }
    out
}

fn ttgir(bytes: &[u8], cancel: &Cancel<'_>) {
    let text = String::from_utf8_lossy(bytes);
    let source = Source::new("f.ttgir", text.as_ref());
    let _ = Engine::new(Limits::default()).analyse_source(&source, &mut Elaborator::default(), &NoSources, cancel);
    if let Some(document) = source.ir() {
        drop((ide::symbols(document), ide::folds(document)));
        for at in (0..text.len()).step_by(text.len() / 8 + 1).filter(|at| text.is_char_boundary(*at)) {
            drop((ide::hover(document, at as u32), ide::occurrences(document, at as u32)));
        }
    }
}

fn in_python(bytes: &[u8], cancel: &Cancel<'_>) {
    let file = PythonFile::new("f.py", String::from_utf8_lossy(bytes).as_ref());
    let Ok(of) = Elaborator::new(Config::default()).elaborate(&file, &NoSources, cancel) else { return };
    drop(Engine::new(Limits::default()).analyse_python(&Arc::new(of), &NoSources, cancel));
}

/// A recipe in the first line, and the kernel behind it.
fn runs() -> Vec<Vec<u8>> {
    let small = crate::runs::recipes().into_iter().map(|(stem, _)| stem);
    let recipes = lines("runs/recipes.txt");
    let of = |stem: &str| recipes.iter().find_map(|line| line.strip_prefix(stem)?.strip_prefix(' '));
    let text = |stem: String| {
        let kernel = std::fs::read_to_string(crate::runs::corpus_file(&stem)).ok()?;
        Some(format!("{}\n{kernel}", of(&stem)?).into_bytes())
    };
    small.filter_map(text).collect()
}

fn run(bytes: &[u8], cancel: &Cancel<'_>) {
    let text = String::from_utf8_lossy(bytes);
    let Some((first, kernel)) = text.split_once('\n') else { return };
    let (launch, errors) = recipe::parse(first, false, Path::new("."));
    if !errors.is_empty() {
        return;
    }
    let request = RunRequest {
        path: PathBuf::from("f.ttgir"),
        text: kernel.into(),
        compiled: None,
        launch,
        instrument: Instrument::ConSan,
        bounds: RunLimits { time: Duration::from_millis(500), memory: 256 << 20, ..RunLimits::default() },
        inputs: 0,
        seed: 0,
    };
    let _ = Cpu::default().run(&request, &mut |_| {}, cancel);
}

fn read_recipe(bytes: &[u8], cancel: &Cancel<'_>) {
    let text = String::from_utf8_lossy(bytes);
    let (launch, _) = recipe::parse(&text, false, Path::new("."));
    // To fill a large tensor takes as long as it takes; that it ends when it is told to counts.
    let begun = Instant::now();
    let late = || begun.elapsed() > Duration::from_millis(300) || cancel.check().is_err();
    let cancel = &Cancel::when(&late);
    for argument in &launch.arguments {
        if let ArgumentValue::Array(spec) = &argument.given {
            drop(launch::fill(spec, &argument.name, 0, cancel));
        }
    }
}

fn arrays() -> Vec<Vec<u8>> {
    use tensors::array::{Array, ElemType};
    let array = |dtype: ElemType, shape: &[u64]| {
        let count: u64 = shape.iter().product();
        npy::print(&Array { dtype, shape: shape.to_vec(), bytes: vec![7; count as usize * dtype.bytes()] }, false)
    };
    vec![
        array(ElemType::F32, &[4, 3]),
        array(ElemType::I8, &[5]),
        array(ElemType::F64, &[]),
        array(ElemType::BF16, &[2, 2]),
    ]
}

fn asserts() -> Vec<Vec<u8>> {
    let texts = ["asserts/own-lines.txt", "asserts/source-lines.txt", "asserts/suite-lines.txt"];
    texts.iter().flat_map(|name| lines(name)).map(|line| line.into_bytes()).collect()
}

fn read_asserts(bytes: &[u8], _: &Cancel<'_>) {
    String::from_utf8_lossy(bytes).lines().for_each(|line| drop(read_line(line)));
}

fn settings_texts() -> Vec<Vec<u8>> {
    let texts = [
        "target = \"sm_90\"\ntriton = \"3.8\"\nexclude = [\"build/**\"]\n[values]\nnum_slots = [2, 3]\n[kinds]\ndeadlock = \"off\"\n",
        "watch = [\"~/.triton/cache\"]\n[limits]\nstates = 20000\nfindings = 3\n[paths]\n\"/a\" = \"b\"\n[recipes]\nk = \"grid=(1) n=3\"\n",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn read_settings(bytes: &[u8], _: &Cancel<'_>) {
    let text = String::from_utf8_lossy(bytes);
    drop(settings::read(&text));
    for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
        drop((settings::completions(&text, at as u32), settings::hover(&text, at as u32)));
    }
}
