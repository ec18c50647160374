//! What other files are asked for while one is analysed, so that it is known when that would come out otherwise.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;

use python::syntax::{Module, Sources};

/// What other files were asked for, and the texts that came.
#[derive(Debug)]
pub(super) enum Asked {
    Import(String, String, Option<Arc<str>>),
    File(String, String, Option<Arc<str>>),
    Mentions(String, Vec<Arc<str>>),
}

impl Asked {
    /// Whether the same would come for the file of this path.
    pub(super) fn holds(&self, sources: &dyn Sources, own: &str) -> bool {
        let same = |a: &Arc<str>, b: &Arc<str>| Arc::ptr_eq(a, b) || a == b;
        let one = |before: &Option<Arc<str>>, now: Option<Arc<Module>>| match (before, now) {
            (None, None) => true,
            (Some(before), Some(now)) => same(before, now.text()),
            _ => false,
        };
        match self {
            Asked::Import(from, name, before) => one(before, sources.import(from, name)),
            Asked::File(from, path, before) => one(before, sources.file(from, path)),
            Asked::Mentions(name, before) => {
                let mut now = sources.mentions(name);
                now.retain(|module| module.path() != own);
                before.len() == now.len() && before.iter().zip(&now).all(|(before, now)| same(before, now.text()))
            }
        }
    }
}

/// Notes what is asked for.
#[derive(Debug)]
pub(super) struct Recorder<'s> {
    sources: &'s dyn Sources,
    /// The file for which it is asked, which is compared by itself.
    own: &'s str,
    asked: Mutex<Vec<Asked>>,
}

impl<'s> Recorder<'s> {
    /// For the file of this path.
    pub(super) fn new(sources: &'s dyn Sources, own: &'s str) -> Recorder<'s> {
        Recorder { sources, own, asked: Mutex::default() }
    }

    fn note(&self, asked: Asked) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    }

    /// What was asked for, each once.
    pub(super) fn asked(self) -> Vec<Asked> {
        let mut known = FxHashSet::default();
        let mut all = self.asked.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.retain(|asked| match asked {
            Asked::Import(from, name, _) => known.insert((0, from.clone(), name.clone())),
            Asked::File(from, path, _) => known.insert((1, from.clone(), path.clone())),
            Asked::Mentions(name, _) => known.insert((2, name.clone(), String::new())),
        });
        all
    }
}

impl Sources for Recorder<'_> {
    fn import(&self, from: &str, name: &str) -> Option<Arc<Module>> {
        let module = self.sources.import(from, name);
        let text = module.as_ref().map(|module| module.text().clone());
        self.note(Asked::Import(from.to_owned(), name.to_owned(), text));
        module
    }

    fn file(&self, from: &str, path: &str) -> Option<Arc<Module>> {
        let module = self.sources.file(from, path);
        let text = module.as_ref().map(|module| module.text().clone());
        self.note(Asked::File(from.to_owned(), path.to_owned(), text));
        module
    }

    fn mentions(&self, name: &str) -> Vec<Arc<Module>> {
        let modules = self.sources.mentions(name);
        let others = modules.iter().filter(|module| module.path() != self.own);
        let texts = others.map(|module| module.text().clone()).collect();
        self.note(Asked::Mentions(name.to_owned(), texts));
        modules
    }
}
