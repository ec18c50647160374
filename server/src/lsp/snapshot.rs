//! What a worker gets of a document: nothing in it changes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::{Cancel, Cancelled, Limits};
use engine::instances::{Elaboration, Elaborator};
use engine::{Analysis, Engine, Listener, SharedCache, Source};
use ide::python::FileContext;
use ropey::Rope;
use settings::Settings;
use specialize::Config;
use tower_lsp::ls_types::{Diagnostic, Uri};

use super::client_config::ClientConfig;
use super::kernel_reports::KernelReports;
use super::known_fixes::KnownFixes;
use super::last_tokens::LastTokens;
use super::position::Mapper;
use workspace::{
    Configuration, Dependencies, Loader, LoaderClient, WorkspaceSnapshot, WorkspaceSources, absolute, threads,
};

/// A document at one moment, with what is needed to answer a request about it. Cheap to copy.
#[derive(Clone)]
pub(crate) struct Snapshot {
    /// The document's name.
    pub(crate) uri: Uri,
    /// The client's version of the text.
    pub(crate) version: i32,
    /// The text, for positions.
    pub(crate) rope: Rope,
    /// The text, for everything else.
    pub(crate) source: Arc<Source>,
    /// The Python files around it.
    pub(crate) workspace: Arc<WorkspaceSnapshot>,
    /// Who reads files that `workspace` lacks; `None` where there are no files.
    pub(crate) loader: Option<Loader>,
    /// What the client can do.
    pub(crate) client: Arc<ClientConfig>,
    /// The analysis of this very text, where it is ready.
    pub(crate) analysis: Option<Arc<DocumentAnalysis>>,
    /// What there is to show of this text till then.
    pub(crate) interim: Option<Arc<DocumentAnalysis>>,
    /// What earlier analyses of the document left.
    pub(crate) cache: AnalysisCache,
}

/// What analyses of one document keep from one text to the next.
#[derive(Clone)]
pub(crate) struct AnalysisCache {
    engine: Arc<Engine>,
    /// Reports that were made for hovers.
    pub(crate) reports: KernelReports,
    /// What the engines of all documents have found out.
    pub(crate) shared: Arc<SharedCache>,
    /// Fixes that were looked for.
    pub(crate) fixes: KnownFixes,
    elaborator: Arc<Mutex<CachedElaborator>>,
    last_tokens: Arc<Mutex<LastTokens>>,
    /// The text this is about.
    pub(crate) generation: u64,
    /// The text that the document has now.
    pub(crate) newest: Arc<AtomicU64>,
}

/// A Python file as it was elaborated.
pub(crate) struct ConfiguredElaboration {
    /// Its kernels.
    pub(crate) elaboration: Arc<Elaboration>,
    /// The settings that it was elaborated with.
    pub(crate) configuration: Configuration,
    /// The files that were looked at for it.
    pub(crate) dependencies: Dependencies,
}

/// What elaborates a Python document, and what that depends on besides the files that it looks at.
#[derive(Default)]
struct CachedElaborator {
    config: Config,
    /// [`FileView::revision`](workspace::FileView::revision) of the last time.
    revision: u64,
    /// What was looked at up to then.
    dependencies: Dependencies,
    /// Those of them that are open and not on disk.
    unsaved: Vec<PathBuf>,
    elaborator: Elaborator,
}

impl CachedElaborator {
    /// Whether a file that was looked at is another one now, has come or gone. Open ones are compared by whoever
    /// elaborates.
    fn is_outdated(&self, workspace: &WorkspaceSnapshot) -> bool {
        let view = &workspace.view;
        self.revision > view.revision
            || view.concerns(self.revision, &self.dependencies, &|path| workspace.is_open(path))
            || self.unsaved != workspace.unsaved(&self.dependencies)
    }
}

impl AnalysisCache {
    /// Of a document's first text.
    pub(crate) fn new(shared: Arc<SharedCache>) -> AnalysisCache {
        AnalysisCache {
            engine: Arc::new(Engine::with_cache(Limits::default(), shared.clone()).with_workers(threads())),
            reports: KernelReports::default(),
            fixes: KnownFixes::default(),
            shared,
            elaborator: Arc::default(),
            last_tokens: Arc::default(),
            generation: 0,
            newest: Arc::default(),
        }
    }

    /// The same for one of the document's texts.
    pub(crate) fn at(&self, generation: u64) -> AnalysisCache {
        AnalysisCache { generation, ..self.clone() }
    }

    /// Forgets of the document what nobody asked for in a long time.
    pub(crate) fn forget_unused(&self) {
        self.engine.forget_unused();
    }

    /// An engine for one piece of work, which remembers whatever the document's others have found out. A panic in it
    /// harms no other.
    pub(crate) fn engine(&self) -> Engine {
        self.engine.sibling()
    }

    /// The semantic tokens that the client was told last.
    pub(crate) fn last_tokens(&self) -> MutexGuard<'_, LastTokens> {
        self.last_tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the document has another text by now.
    pub(crate) fn is_outdated(&self) -> bool {
        self.newest.load(Ordering::Relaxed) != self.generation
    }
}

/// A file of settings that holds for a document, and what is wrong with it.
#[derive(Clone, Debug)]
pub(crate) struct WrongSettings {
    pub(crate) uri: Uri,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// The outcome of an analysis, as the client will see it.
pub(crate) struct DocumentAnalysis {
    /// What was found; empty if the analysis was cut off.
    pub(crate) analysis: Analysis,
    /// The files that it looked at; `None` where it was cut off.
    pub(crate) dependencies: Option<Dependencies>,
    /// The same in the protocol's form.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Equal for equal diagnostics.
    pub(crate) result_id: String,
    /// Equal for equal instances of kernels in Python.
    pub(crate) instances: u64,
    /// What is pushed of its settings.
    pub(crate) wrong_settings: Option<WrongSettings>,
}

impl Snapshot {
    /// Converts positions of this text.
    pub(crate) fn mapper(&self) -> Mapper<'_> {
        Mapper::new(&self.rope, self.client.encoding)
    }

    /// The document's path as the workspace compares paths; its whole name where it is no file.
    pub(crate) fn path(&self) -> PathBuf {
        self.uri.to_file_path().map_or_else(|| PathBuf::from(self.uri.as_str()), |path| absolute(&path))
    }

    /// The settings that hold for the document; those of the editor where waiting for the disk is stopped.
    pub(crate) fn settings(&self, cancel: &Cancel<'_>) -> Settings {
        self.sources(cancel, &|_| {}).settings_of(&self.path()).settings
    }

    /// The kernels of a Python file as they are elaborated; `None` of TTGIR.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub(crate) fn elaboration(&self, cancel: &Cancel<'_>) -> Result<Option<Arc<Elaboration>>, Cancelled> {
        if let Some(known) = self.analysis.as_ref().and_then(|known| known.analysis.gluon.clone()) {
            return Ok(Some(known));
        }
        Ok(self.elaborate(cancel, &|_| {}, None)?.map(|elaborated| elaborated.elaboration))
    }

    /// The same for a request that ends with a newer text; judging the kernels may take longer than anybody waits.
    pub(crate) fn elaboration_now(&self) -> Option<Arc<Elaboration>> {
        let stop = || self.cache.is_outdated();
        self.elaboration(&Cancel::when(&stop)).ok().flatten()
    }

    /// Elaborates a Python file, and says what is wrong with its configuration. `blocked` is told when the worker
    /// begins and ends to wait for files, `listener` of what a few runs of one instance a kernel show.
    pub(crate) fn elaborate(
        &self,
        cancel: &Cancel<'_>,
        blocked: &(dyn Fn(bool) + Sync),
        listener: Option<&mut Listener<'_>>,
    ) -> Result<Option<ConfiguredElaboration>, Cancelled> {
        let Source::Python(script) = &*self.source else { return Ok(None) };
        let sources = self.sources(cancel, blocked);
        let configuration = sources.configuration(script.module().path().as_ref());
        let config = configuration.config.clone();
        let mut cached = self.cache.elaborator.lock().unwrap_or_else(|poisoned| {
            // A panic has left it in an unknown state.
            self.cache.elaborator.clear_poison();
            let mut cached = poisoned.into_inner();
            *cached = CachedElaborator::default();
            cached
        });
        if cached.config != config || cached.is_outdated(&self.workspace) {
            let elaborator = Elaborator::new(config.clone()).with_workers(threads());
            *cached = CachedElaborator { elaborator, config, ..Default::default() };
        }
        cached.revision = self.workspace.view.revision;
        let elaboration = match listener {
            None => cached.elaborator.elaborate(script, &sources, cancel),
            Some(listener) => {
                let mut engine = self.cache.engine();
                engine.set_limits(configuration.settings.limits());
                let mut listener = configuration.settings.listener(listener);
                cached.elaborator.elaborate_telling(script, &sources, cancel, &mut |kernel, entry, elaborated| {
                    // What was made without a file that was not waited for holds for nothing.
                    if sources.is_incomplete() {
                        return Ok(());
                    }
                    engine.tell_first(script, kernel, entry, elaborated, cancel, &mut listener)
                })
            }
        };
        cached.dependencies.extend(sources.dependencies());
        cached.unsaved = self.workspace.unsaved(&cached.dependencies);
        if sources.is_incomplete() {
            cached.elaborator.forget();
            return Err(Cancelled);
        }
        let (elaboration, dependencies) = (Arc::new(elaboration?), cached.dependencies.clone());
        Ok(Some(ConfiguredElaboration { elaboration, configuration, dependencies }))
    }

    /// Asks something of a Python file's text that its release of Triton and the files around it decide.
    pub(crate) fn with_python_setting<R>(&self, ask: impl FnOnce(&FileContext<'_>) -> Option<R>) -> Option<R> {
        let file = self.source.python()?;
        let stop = || self.cache.is_outdated();
        let cancel = Cancel::when(&stop);
        let unheard = |_| {};
        let sources = self.sources(&cancel, &unheard);
        let version = sources.configuration(file.module().path().as_ref()).config.version;
        ask(&FileContext { sources: &sources, version })
    }

    /// The files around the document.
    pub(crate) fn sources<'a>(
        &'a self,
        cancel: &'a Cancel<'a>,
        blocked: &'a (dyn Fn(bool) + Sync),
    ) -> WorkspaceSources<LoaderClient<'a>> {
        WorkspaceSources::new(self.workspace.clone(), LoaderClient::new(self.loader.as_ref(), cancel, blocked))
    }
}
