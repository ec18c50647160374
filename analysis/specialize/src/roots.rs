//! Where running host code begins: the functions, tests and main programs by which launches are reached.

use rustc_hash::FxHashSet;

use super::survey::{Func, Kind, Survey};
use python::host;

/// Host code of a file by which launches are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Root {
    /// Where its statement starts; [`host::MODULE`] for what is in no function.
    pub def: u32,
    /// Its name, where others can call it.
    pub name: Option<String>,
    /// Whether it says by itself what it is called with.
    pub test: bool,
}

/// Those of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Roots {
    /// The outermost ones, tests first.
    pub outer: Vec<Root>,
    /// All that others call, which are run where that leads to nothing.
    pub inner: Vec<Root>,
}

impl Roots {
    /// Host code that leads to launches of these names.
    pub(super) fn of<'n>(survey: &Survey<'_>, names: impl Iterator<Item = &'n str>) -> Roots {
        let names: FxHashSet<&str> = names.collect();
        let own: Vec<usize> = (0..survey.functions.len()).filter(|&at| is_host(&survey.functions[at])).collect();
        let mentions = |at: usize, name: &str| {
            let inside =
                survey.functions.iter().filter(|func| func.inside.first() == Some(&at) && func.kind == Kind::Host);
            survey.functions[at].mentions.contains(name) || inside.into_iter().any(|func| func.mentions.contains(name))
        };
        let mut reached: Vec<usize> = Vec::new();
        // Functions around kernels.
        let mut makes = vec![false; survey.functions.len()];
        for &at in &own {
            let nested = survey.functions.iter().any(|func| {
                func.inside.first() == Some(&at) && func.device() && names.contains(func.def.name.as_str())
            });
            // The order in which names are asked does not matter.
            #[allow(clippy::iter_over_hash_type)]
            let direct = names.iter().any(|name| mentions(at, name));
            makes[at] = nested;
            if nested || direct {
                reached.push(at);
            }
        }
        // A kernel in a table of the file is launched by whoever mentions the table.
        #[allow(clippy::iter_over_hash_type)]
        let outside = names.iter().any(|name| survey.outside.contains(name));
        if reached.is_empty() && outside {
            reached.extend(own.iter().copied().filter(|&at| {
                survey.functions[at].mentions.iter().any(|name| {
                    survey
                        .tables
                        .iter()
                        .any(|(table, held)| table == name && held.iter().any(|held| names.contains(held)))
                })
            }));
        }
        let mut called: FxHashSet<usize> = FxHashSet::default();
        let mut main: Vec<u32> = Vec::new();
        let mut module = outside;
        // The order of names does not matter either.
        #[allow(clippy::iter_over_hash_type)]
        for (start, mentioned) in &survey.mains {
            if names.iter().any(|name| mentioned.contains(name)) {
                main.push(*start);
            }
        }
        let mut next = 0;
        while let Some(&at) = reached.get(next) {
            next += 1;
            let func = &survey.functions[at];
            let name = func.def.name.as_str();
            // What a function makes of kernels outside of all functions is called by whoever names that.
            let made = || survey.tables.iter().filter(|(_, held)| held.contains(name)).map(|(table, _)| *table);
            // A method is called by its name, or by whoever names its class.
            let calls = |mentioned: &dyn Fn(&str) -> bool| {
                mentioned(name) || func.owner.is_some_and(mentioned) || (makes[at] && made().any(mentioned))
            };
            for &caller in &own {
                if caller != at && calls(&|name| mentions(caller, name)) {
                    called.insert(at);
                    if !reached.contains(&caller) {
                        reached.push(caller);
                    }
                }
            }
            for (start, mentioned) in &survey.mains {
                if calls(&|name| mentioned.contains(name)) {
                    called.insert(at);
                    if !main.contains(start) {
                        main.push(*start);
                    }
                }
            }
            module |= calls(&|name| survey.outside.contains(name));
        }
        // Tests first: they say what the others are called with.
        let root = |at: usize| {
            let func = &survey.functions[at];
            let name = func.owner.unwrap_or(func.def.name.as_str());
            let test = func.def.name.as_str().starts_with("test");
            Root { def: func.start(), name: Some(name.to_owned()), test }
        };
        let program = |def: u32| Root { def, name: None, test: true };
        reached.sort_unstable();
        let (tests, others): (Vec<usize>, Vec<usize>) =
            reached.into_iter().partition(|at| survey.functions[*at].def.name.as_str().starts_with("test"));
        let (inner, uncalled): (Vec<usize>, Vec<usize>) = others.into_iter().partition(|at| called.contains(at));
        let mut outer: Vec<Root> = tests.into_iter().map(root).collect();
        outer.extend(module.then_some(program(host::MODULE)));
        outer.extend(main.into_iter().map(program));
        outer.extend(uncalled.into_iter().map(root));
        Roots { outer, inner: inner.into_iter().map(root).collect() }
    }

    /// Names by which other files reach these launches.
    pub(super) fn names(&self) -> Vec<String> {
        let wrappers = self.outer.iter().chain(&self.inner).filter(|root| !root.test);
        let mut names: Vec<String> = wrappers.filter_map(|root| root.name.clone()).collect();
        names.dedup();
        names
    }
}

/// A function or a method of the file that Python runs.
fn is_host(func: &Func<'_>) -> bool {
    func.kind == Kind::Host && func.inside.is_empty()
}
