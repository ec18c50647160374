//! What is said of a whole Python file: each kernel of it, in all its instances.

use crate::observe::{Observation, summarise};
use base::{Cancel, Limits};
use engine::instances::{Config, Elaborator, PythonFile};
use engine::{Analysis, Engine};
use python::syntax::{Module, Sources};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Files by name.
#[derive(Debug, Default)]
struct Texts(BTreeMap<String, Arc<Module>>);

impl Sources for Texts {
    fn import(&self, _: &str, name: &str) -> Option<Arc<Module>> {
        self.0.get(&format!("{}.py", name.trim_start_matches('.'))).cloned()
    }

    fn file(&self, _: &str, path: &str) -> Option<Arc<Module>> {
        self.0.get(path.rsplit('/').next()?).cloned()
    }

    fn mentions(&self, name: &str) -> Vec<Arc<Module>> {
        self.0.values().filter(|module| module.text().contains(name)).cloned().collect()
    }
}

/// Analyses a Gluon source beside the files that it may import.
pub fn observe_gluon<'t>(
    source: &str,
    files: impl Iterator<Item = (&'t str, &'t str)>,
    limits: &Limits,
) -> Observation {
    let files = files.map(|(name, text)| (name.to_owned(), Arc::new(Module::parse(name, text, None))));
    // The file itself can be imported too, by tests of its kernels.
    let own = ("kernel.py".to_owned(), Arc::new(Module::parse("kernel.py", source, None)));
    let files = Texts(files.chain([own]).collect());
    let Some(analysis) = analyse(source, &files, limits) else {
        return Observation { defects: vec!["the analysis says it was cancelled".into()], ..Observation::default() };
    };
    let mut seen = summarise(source, &analysis);
    if analyse(source, &files, limits).is_none_or(|again| again.kernels != analysis.kernels) {
        seen.defects.push("a second analysis differs".into());
    }
    seen
}

fn analyse(source: &str, files: &Texts, limits: &Limits) -> Option<Analysis> {
    let script = PythonFile::new("kernel.py", source);
    let elaboration = Elaborator::new(Config::default()).elaborate(&script, files, &Cancel::never()).ok()?;
    Engine::new(limits.clone()).analyse_python(&Arc::new(elaboration), files, &Cancel::never()).ok()
}
