//! Kernels that are run, with their recipes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Cancel;
use runtime::cpu::Cpu;
use runtime::launch::{self, ArgumentValue, LaunchSpec};
use runtime::run::{Instrument, RunBackend, RunLimits, RunReport, RunRequest};

use super::given::{Given, numbers};
use crate::sources::root;

/// Seed of the inputs: the same in all runs.
const INPUTS: u64 = 0;

/// A compiled kernel and how it is launched.
#[derive(Clone, Debug)]
pub struct Runnable {
    /// `sm_90/gemm_ring3`, also where the file is a broken twin.
    pub stem: String,
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub text: Arc<str>,
    /// How it is launched.
    pub launch: LaunchSpec,
}

impl Runnable {
    /// The kernel's name, by which its reference goes.
    pub fn kernel(&self) -> &str {
        self.stem.rsplit('/').next().unwrap_or(&self.stem)
    }
}

/// The recipes of the corpus: a stem and its launch, in the order of the file.
pub fn recipes() -> Vec<(String, LaunchSpec)> {
    let text = include_str!("../../runs/recipes.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let split = |line: &str| {
        let (stem, recipe) = line.split_once(' ').unwrap_or((line, ""));
        (stem.to_owned(), read(stem, recipe))
    };
    lines.map(split).collect()
}

/// The clean kernels of the corpus that have a recipe.
pub fn corpus() -> Vec<Runnable> {
    recipes().into_iter().map(|(stem, launch)| runnable(&stem, corpus_file(&stem), launch)).collect()
}

/// Where a file of the corpus lies.
pub fn corpus_file(stem: &str) -> PathBuf {
    root().join(format!("corpus/ttgir/{stem}.ttgir"))
}

/// A file with a recipe from elsewhere.
pub fn runnable(stem: &str, path: PathBuf, launch: LaunchSpec) -> Runnable {
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Runnable { stem: stem.to_owned(), path, text: text.into(), launch }
}

/// The kernels in plain Triton, whose files say how they are launched.
pub fn plain() -> Vec<Runnable> {
    let root = root().join("runs/ttgir");
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> =
        fs::read_dir(&root).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort();
    for folder in folders {
        let mut files: Vec<PathBuf> =
            fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        files.sort();
        for path in files {
            let stem = format!("{}/{}", name(&folder), name(&path));
            let text = fs::read_to_string(&path).unwrap_or_default();
            let first = text.lines().next().unwrap_or_default();
            let recipe = first.strip_prefix("// fencepost-run:").unwrap_or_else(|| panic!("{stem} has no recipe"));
            let launch = read(&stem, recipe);
            found.push(Runnable { stem, path, text: text.into(), launch });
        }
    }
    found
}

/// Reads a recipe.
pub fn read(stem: &str, recipe: &str) -> LaunchSpec {
    let (launch, errors) = launch::recipe::parse(recipe, false, Path::new("."));
    assert!(errors.is_empty(), "{stem}: {errors:?}");
    launch
}

fn name(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Runs a kernel on the CPU.
pub fn run(kernel: &Runnable, instrument: Instrument, seed: u64) -> RunReport {
    let request = RunRequest {
        path: kernel.path.clone(),
        text: kernel.text.clone(),
        compiled: None,
        launch: kernel.launch.clone(),
        instrument,
        bounds: RunLimits::default(),
        inputs: INPUTS,
        seed,
    };
    let mut backend = Cpu::default();
    let report = backend.run(&request, &mut |_| {}, &Cancel::never());
    report.unwrap_or_else(|error| panic!("{}: {error}", kernel.stem))
}

/// The arguments of a launch as its reference takes them.
pub fn given(launch: &LaunchSpec) -> Given {
    let mut given = Given::default();
    for argument in &launch.arguments {
        match &argument.given {
            ArgumentValue::Int(value) => drop(given.scalars.insert(argument.name.clone(), *value as f64)),
            ArgumentValue::Float(value) => drop(given.scalars.insert(argument.name.clone(), *value)),
            ArgumentValue::Array(spec) => {
                let array = launch::fill(spec, &argument.name, INPUTS, &Cancel::never())
                    .unwrap_or_else(|error| panic!("{error}"));
                given.tensors.insert(argument.name.clone(), numbers(&array));
            }
            ArgumentValue::Bool(truth) => {
                given.scalars.insert(argument.name.clone(), f64::from(u8::from(*truth)));
            }
            ArgumentValue::Python(_) => {}
        }
    }
    given
}
