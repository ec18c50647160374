//! The line that would decide a kernel: what it is analysed with, and a blank for what only its author knows.

use super::{ElaboratedInstance, KernelInstances};
use findings::Pin;
use gluon::{FileId, Given, Problem, ValueSource};
use specialize::{OPEN, Param};

impl KernelInstances {
    /// The directive that would decide the kernel, where it is undecided because a parameter has no value, or a
    /// chosen one with which Triton would refuse it; `None` where other values would not help.
    pub fn pin(&self) -> Option<Pin> {
        if self.instances.is_empty() {
            let open: Vec<String> = self.params_without_default().map(|param| param.name.clone()).collect();
            let blanks: Vec<String> = open.iter().map(|name| format!("{name}={OPEN}")).collect();
            return (!open.is_empty()).then(|| Pin { line: format!("# fencepost: {}", blanks.join(", ")), open });
        }
        self.instances.iter().find_map(|instance| {
            let mut open = self.missing(instance);
            if open.is_empty() {
                open = self.refused(instance);
            }
            let mut names: Vec<String> = open.iter().map(|param| param.name.clone()).collect();
            names.extend(self.refused_clusters(instance));
            (!names.is_empty()).then(|| Pin { line: instance.instance.line_with_open(&names), open: names })
        })
    }

    fn params_without_default(&self) -> impl Iterator<Item = &Param> {
        self.entry.params.iter().filter(|param| param.default.is_none())
    }

    /// Parameters that an instance has nothing for.
    fn missing(&self, instance: &ElaboratedInstance) -> Vec<&Param> {
        let spec = &instance.instance.spec;
        let given = |param: &Param| spec.arguments.iter().any(|argument| argument.name == param.name);
        let unknown = |param: &Param| {
            let mut places = instance.unmodelled().iter().filter(|(file, ..)| *file == FileId(0));
            places.any(|(_, range, _)| range.contains(param.range) || param.range.contains(*range))
        };
        let params = self.params_without_default();
        params.filter(|param| !given(param) && (spec.host.is_none() || unknown(param))).collect()
    }

    /// The number of CTAs, where nobody says it and Triton would refuse the kernel for it.
    fn refused_clusters(&self, instance: &ElaboratedInstance) -> Option<String> {
        let spec = &instance.instance.spec;
        let problem = instance.problems().iter().find(|problem| !problem.hint)?;
        let open = instance.guessed() && spec.num_ctas.1 >= ValueSource::Default;
        (open && specialize::speaks_of_ctas(&problem.message)).then(|| "num_ctas".to_owned())
    }

    /// Parameters whose chosen values have to do with what Triton would refuse.
    fn refused(&self, instance: &ElaboratedInstance) -> Vec<&Param> {
        let stops = |problem: &&Problem| !problem.hint && problem.code != findings::TextProblem::REMOVED;
        let problem = instance.problems().iter().find(stops);
        let Some(problem) = problem.filter(|problem| !instance.is_refused_always(problem)) else { return Vec::new() };
        let arguments = &instance.instance.spec.arguments;
        let chosen = |param: &&Param| {
            let own = arguments.iter().find(|argument| argument.name == param.name);
            own.is_some_and(|argument| argument.source == ValueSource::Chosen)
        };
        let chosen: Vec<&Param> = self.entry.params.iter().filter(chosen).collect();
        let code = instance.code_lines(problem.file, problem.range);
        let named = chosen.iter().filter(|param| code.iter().any(|line| mentions(line, &param.name)));
        let named: Vec<&Param> = named.copied().collect();
        if !named.is_empty() {
            return named;
        }
        // Of a plain number only its type is known, and no value of it is refused.
        let plain = |param: &Param| {
            let own = arguments.iter().find(|argument| argument.name == param.name);
            own.is_some_and(|argument| argument.given == Given::Type("i32".to_owned()))
        };
        chosen.into_iter().filter(|param| !plain(param)).collect()
    }
}

/// Whether a word stands in a text.
fn mentions(text: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_name(c)).any(|part| part == word)
}
