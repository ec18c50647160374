//! From what is known of a launch to what is elaborated; and the file around a kernel, which that depends on.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::flow::{self, Flow};
use super::instance::Base;
use super::survey::Survey;
use super::{Config, Entry, Given, Spec, Target, ValueSource, Version, chosen};
use base::workers::Workers;
use python::syntax::{Module, Sources};
use rustc_hash::FxHashMap;

/// A file, and what flows where in it, once that is asked.
pub(super) struct FileFlow<'f> {
    pub(super) module: &'f Arc<Module>,
    pub(super) sources: &'f dyn Sources,
    pub(super) survey: &'f Survey<'f>,
    /// Who tries values.
    pub(super) workers: &'f dyn Workers,
    /// Steps that the search for the values of one kernel may take.
    pub(super) steps: u64,
    flow: OnceLock<Flow>,
    /// Which functions call which, where nothing else was asked of the flow.
    calls: OnceLock<Flow>,
    /// By where a kernel starts, the target that it is for.
    targets: Mutex<FxHashMap<u32, Option<Target>>>,
}

impl<'f> FileFlow<'f> {
    pub(super) fn new(
        module: &'f Arc<Module>,
        sources: &'f dyn Sources,
        survey: &'f Survey<'f>,
        workers: &'f dyn Workers,
        steps: u64,
    ) -> FileFlow<'f> {
        let (flow, calls, targets) = (OnceLock::new(), OnceLock::new(), Mutex::default());
        FileFlow { module, sources, survey, workers, steps, flow, calls, targets }
    }

    pub(super) fn flow(&self) -> &Flow {
        self.flow.get_or_init(|| flow::of(self.module, self.sources))
    }

    /// What flows where, as far as calls of functions alone are asked.
    pub(super) fn calls(&self) -> &Flow {
        let calls = || self.calls.get_or_init(|| flow::calls(self.module, self.sources));
        self.flow.get().unwrap_or_else(calls)
    }

    /// The target that a kernel is for, by what it uses.
    fn target(&self, entry: &Entry) -> Option<Target> {
        let mut targets = self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        let find = || flow::target(self.calls().devices(entry.def), self.module.path());
        *targets.entry(entry.def).or_insert_with(find)
    }

    /// Whether a kernel can be for the target for which the host code was run.
    fn fits(&self, target: Target, entry: &Entry) -> bool {
        let Some(asked) = self.target(entry) else { return true };
        match (target, asked) {
            (Target::Cuda(has), Target::Cuda(wants)) => has >= wants,
            (Target::Cuda(_), _) | (_, Target::Cuda(_)) => false,
            // Of AMD's devices the host code knows more than the names of operations.
            (has, wants) => (has == Target::Gfx1250) == (wants == Target::Gfx1250),
        }
    }
}

/// Makes the [`Spec`]s of one kernel.
#[derive(Clone, Copy)]
pub(super) struct SpecBuilder<'f> {
    file: &'f FileFlow<'f>,
    entry: &'f Entry,
    version: Version,
    /// What the command line or the configuration says.
    target: Option<(Target, ValueSource)>,
    /// What the kernel's text asks for, where some launch does not say.
    pub(super) chosen: Option<Target>,
}

impl<'f> SpecBuilder<'f> {
    /// For a kernel that is launched in the ways of `bases`.
    pub(super) fn new(file: &'f FileFlow<'f>, entry: &'f Entry, config: &Config, bases: &[Base]) -> SpecBuilder<'f> {
        let version = config.version_of(file.module.source());
        let from = if config.target_commanded { ValueSource::Command } else { ValueSource::Configuration };
        let target = config.target.map(|target| (target, from));
        let mut builder = SpecBuilder { file, entry, version, target, chosen: None };
        if config.target.is_none() && !bases.iter().all(|base| builder.knows_target(base)) {
            builder.chosen = Some(file.target(entry).unwrap_or_else(|| chosen::target(file.survey, entry)));
        }
        builder
    }

    fn knows_target(&self, base: &Base) -> bool {
        base.target.is_some_and(|(target, from)| from != ValueSource::Launch || self.file.fits(target, self.entry))
    }

    /// What is elaborated of one way to launch the kernel.
    pub(super) fn spec(&self, base: &Base) -> Spec {
        let entry = self.entry;
        let own = base.target.filter(|_| self.knows_target(base));
        let chosen = self.chosen.map(|target| (target, ValueSource::Chosen));
        let target = own.or(self.target).or(chosen).unwrap_or((Target::Cuda(90), ValueSource::Chosen));
        let mut arguments = base.arguments.clone();
        arguments.sort_by_key(|argument| entry.params.iter().position(|param| param.name == argument.name));
        Spec {
            def: entry.def,
            language: entry.language,
            host: base.host.clone(),
            target,
            version: base.version.unwrap_or(self.version),
            num_warps: base
                .num_warps
                .or_else(|| own_setting(entry, base, "num_warps"))
                .unwrap_or((4, ValueSource::Default)),
            num_ctas: base
                .num_ctas
                .or_else(|| own_setting(entry, base, "num_ctas"))
                .unwrap_or((1, ValueSource::Default)),
            arguments,
        }
    }
}

/// A setting of the launch that the kernel is told too: it is launched with that.
fn own_setting(entry: &Entry, base: &Base, name: &str) -> Option<(u32, ValueSource)> {
    let param = entry.params.iter().find(|param| param.name == name && param.constexpr)?;
    let (text, source) = match base.arguments.iter().find(|argument| argument.name == name) {
        Some(argument) => match &argument.given {
            Given::Value(text) => (text, argument.source),
            Given::Type(_) => return None,
        },
        None => (param.default.as_ref()?, ValueSource::Default),
    };
    Some((text.parse::<u32>().ok().filter(|number| *number > 0)?, source))
}
