//! The loader thread: the only one that reads the files of the workspace.
//!
//! Workers ask it for what their snapshot lacks and wait for the answer; the state thread only tells it what has
//! happened. Whenever it has read something it posts a new view of the disk before it answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use base::Cancel;
use specialize::Recipe;

use super::file_system::FileSystem;
use super::files::{FileStore, FileView, SourceFile, TextIndex};
use super::snapshot::{FileProvider, WorkspaceSources};

/// A worker that waits longer than this says that it is blocked.
const PROMPT: Duration = Duration::from_millis(2);
/// How often a worker that waits looks whether its answer is still wanted.
const POLL: Duration = Duration::from_millis(20);

/// How long a loader that watches files pauses at least. Looking costs a call a file; it sees what a notification
/// of the kernel does not: disks of the network, and folders beyond the number that may be watched.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);
/// It pauses so many times as long as it has looked.
const WATCH_SHARE: u32 = 50;

/// What the loader is asked for; `reply` gets the answer unless the asker has gone.
enum Request {
    SetRoots(Vec<PathBuf>),
    Forget,
    Load { path: PathBuf, reply: Sender<Option<Arc<SourceFile>>> },
    Index { reply: Sender<Arc<TextIndex>> },
    Recipes { folder: PathBuf, reply: Sender<Arc<[Recipe]>> },
    Revalidate { asked: Instant, list: bool, reply: Sender<Arc<FileView>> },
    RevalidatePaths(Vec<PathBuf>),
    Watch,
    DumpsWatched,
    LookAtDumps,
}

/// The loader, as others see it.
#[derive(Clone, Debug)]
pub struct Loader {
    requests: Sender<Request>,
}

impl Loader {
    /// Starts the thread. `post` is called with each new view, from that thread.
    pub fn start(
        file_system: Arc<dyn FileSystem>,
        post: impl Fn(Arc<FileView>) + Send + 'static,
    ) -> std::io::Result<Loader> {
        let (requests, receive) = channel();
        let store = FileStore::new(file_system, Vec::new());
        thread::Builder::new().name("loader".to_owned()).spawn(move || run(store, &receive, &post))?;
        Ok(Loader { requests })
    }

    /// Changes the folders of the workspace. Does not block.
    pub fn set_roots(&self, roots: Vec<PathBuf>) {
        self.send(Request::SetRoots(roots));
    }

    /// Lets go of what was read, as no document is open. Does not block.
    pub fn forget(&self) {
        self.send(Request::Forget);
    }

    /// Starts the comparison of what is known with the disk, unless one has begun since `asked`; with `list` also
    /// that of the list of files. Does not block.
    pub fn revalidate(&self, asked: Instant, list: bool) -> PendingAnswer<Arc<FileView>> {
        self.ask(|reply| Request::Revalidate { asked, list, reply })
    }

    /// Somebody says from now on when something changes in the folders of compiled kernels. Does not block.
    pub fn dumps_are_watched(&self) {
        self.send(Request::DumpsWatched);
    }

    /// Looks at the folders of compiled kernels again. Does not block.
    pub fn look_at_dumps(&self) {
        self.send(Request::LookAtDumps);
    }

    /// Starts the comparison of these files with the disk. Does not block.
    pub fn revalidate_paths(&self, paths: Vec<PathBuf>) {
        self.send(Request::RevalidatePaths(paths));
    }

    /// From now on it compares what is known with the disk by itself, now and then. Does not block.
    pub fn watch(&self) {
        self.send(Request::Watch);
    }

    fn ask<R>(&self, request: impl FnOnce(Sender<R>) -> Request) -> PendingAnswer<R> {
        let (reply, receive) = channel();
        self.send(request(reply));
        PendingAnswer { receive }
    }

    /// A closed channel means that the process is about to end.
    fn send(&self, request: Request) {
        let _ = self.requests.send(request);
    }
}

/// An answer of the loader that may not be there yet.
pub struct PendingAnswer<R> {
    receive: Receiver<R>,
}

impl<R> PendingAnswer<R> {
    /// Waits for it; `None` where `cancel` stops the wait, or `limit` has passed.
    pub fn wait(&self, cancel: &Cancel<'_>, limit: Option<Duration>) -> Option<R> {
        let started = Instant::now();
        loop {
            let left = limit.map_or(POLL, |limit| limit.saturating_sub(started.elapsed()).min(POLL));
            match self.receive.recv_timeout(left) {
                Ok(answer) => return Some(answer),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if cancel.is_cancelled() || limit.is_some_and(|limit| started.elapsed() >= limit) {
                return None;
            }
        }
    }
}

/// A worker that asks the loader for what its snapshot lacks.
pub struct LoaderClient<'a> {
    loader: Option<&'a Loader>,
    cancel: &'a Cancel<'a>,
    blocked: &'a (dyn Fn(bool) + Sync),
    interrupted: AtomicBool,
}

impl<'a> LoaderClient<'a> {
    /// Without a loader every file is missing. `cancel` ends a wait; what was asked for then counts as missing.
    /// `blocked` is told `true` before the worker blocks, and `false` afterwards.
    pub fn new(loader: Option<&'a Loader>, cancel: &'a Cancel<'a>, blocked: &'a (dyn Fn(bool) + Sync)) -> Self {
        LoaderClient { loader, cancel, blocked, interrupted: AtomicBool::new(false) }
    }

    /// Waits for an answer, and says so where it takes long.
    pub fn wait<R>(&self, pending: &PendingAnswer<R>) -> Option<R> {
        if let Some(answer) = pending.wait(self.cancel, Some(PROMPT)) {
            return Some(answer);
        }
        (self.blocked)(true);
        let answer = pending.wait(self.cancel, None);
        (self.blocked)(false);
        if answer.is_none() {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        answer
    }
}

impl WorkspaceSources<LoaderClient<'_>> {
    /// Whether a wait for a file was ended, so that what was made with these sources must not be kept.
    pub fn is_incomplete(&self) -> bool {
        self.provider().interrupted.load(Ordering::Relaxed)
    }
}

impl FileProvider for LoaderClient<'_> {
    fn load(&self, path: &Path) -> Option<Arc<SourceFile>> {
        let pending = self.loader?.ask(|reply| Request::Load { path: path.to_path_buf(), reply });
        self.wait(&pending).flatten()
    }

    fn index(&self) -> Arc<TextIndex> {
        let pending = self.loader.map(|loader| loader.ask(|reply| Request::Index { reply }));
        pending.and_then(|pending| self.wait(&pending)).unwrap_or_default()
    }

    fn recipes(&self, folder: &Path) -> Arc<[Recipe]> {
        let asked = |loader: &Loader| loader.ask(|reply| Request::Recipes { folder: folder.to_path_buf(), reply });
        self.loader.map(asked).and_then(|pending| self.wait(&pending)).unwrap_or_default()
    }
}

/// Answers a request once the view that it led to is posted.
type Answer = Box<dyn FnOnce(&Arc<FileView>)>;

fn run(mut store: FileStore, requests: &Receiver<Request>, post: &dyn Fn(Arc<FileView>)) {
    let mut posted = store.view().clone();
    let (mut next_look, mut watches, mut polls_dumps): (Option<Instant>, bool, bool) = (None, false, true);
    // Whoever asked may have gone by the time of the answer; then nobody wants it.
    loop {
        let request = match next_look {
            None => requests.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => requests.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        let answer: Answer = match request {
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let started = Instant::now();
                if watches {
                    store.revalidate(started, true);
                }
                if polls_dumps {
                    store.look_at_dumps();
                }
                next_look = Some(Instant::now() + (started.elapsed() * WATCH_SHARE).max(WATCH_INTERVAL));
                Box::new(|_| {})
            }
            Ok(request) => match request {
                Request::Watch => {
                    watches = true;
                    next_look = Some(Instant::now() + WATCH_INTERVAL);
                    Box::new(|_| {})
                }
                Request::DumpsWatched => {
                    polls_dumps = false;
                    if !watches {
                        next_look = None;
                    }
                    // What came before anybody watched.
                    store.look_at_dumps();
                    Box::new(|_| {})
                }
                Request::LookAtDumps => {
                    store.look_at_dumps();
                    Box::new(|_| {})
                }
                Request::RevalidatePaths(paths) => {
                    store.revalidate_paths(&paths);
                    Box::new(|_| {})
                }
                Request::SetRoots(roots) => {
                    store.set_roots(roots);
                    Box::new(|_| {})
                }
                Request::Forget => {
                    store.forget();
                    Box::new(|_| {})
                }
                Request::Load { path, reply } => {
                    let file = store.load(&path);
                    Box::new(move |_| drop(reply.send(file)))
                }
                Request::Recipes { folder, reply } => {
                    let recipes = store.recipes(&folder);
                    Box::new(move |_| drop(reply.send(recipes)))
                }
                Request::Index { reply } => {
                    let index = store.index();
                    Box::new(move |_| drop(reply.send(index)))
                }
                Request::Revalidate { asked, list, reply } => {
                    store.revalidate(asked, list);
                    Box::new(move |view| drop(reply.send(view.clone())))
                }
            },
        };
        if store.has_dumps() && polls_dumps {
            // Triton's folders are outside of what a client watches unless it is told of them.
            next_look.get_or_insert_with(|| Instant::now() + WATCH_INTERVAL);
        }
        if !Arc::ptr_eq(&posted, store.view()) {
            posted = store.view().clone();
            post(posted.clone());
        }
        answer(&posted);
    }
}
