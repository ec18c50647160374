//! All mutants of the clean kernels of the corpus, judged.

pub use super::case::Case;
use super::device::{Device, Shown};
use super::glob::fits;
use super::judge::{Verdict, judge};
use super::make::{Mutant, mutants};
use super::meaning::meaning;
use super::survivors;
use crate::corpus::manifest;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use ttgir::Document;

/// Which mutants.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Patterns for `sm_90/ws_gemm` or `ws_gemm`; all kernels where there is none.
    pub kernels: Vec<String>,
    /// At most so many, spread over kernels and mutations.
    pub sample: Option<usize>,
}

/// A finished campaign.
#[derive(Clone, Debug, Default)]
pub struct Campaign {
    /// In the order of the manifest and of the texts.
    pub cases: Vec<Case>,
    /// Lines of the file of survivors that are not true any more.
    pub stale: Vec<String>,
    /// How long judging took.
    pub judging: Duration,
    /// How long the device played.
    pub playing: Duration,
}

/// The name under which a kernel is chosen: `sm_90/ws_gemm` of `ttgir/sm_90/ws_gemm.ttgir`.
pub fn name(file: &str) -> &str {
    let file = file.strip_prefix("ttgir/").unwrap_or(file);
    file.strip_suffix(".ttgir").unwrap_or(file)
}

/// The clean files of a corpus that are chosen.
fn files(folder: &Path, choice: &Choice) -> Result<Vec<String>, String> {
    let rows = manifest(folder)?;
    let chosen = |file: &str| {
        let name = name(file);
        let short = name.rsplit('/').next().unwrap_or(name);
        choice.kernels.is_empty() || choice.kernels.iter().any(|glob| fits(glob, name) || fits(glob, short))
    };
    Ok(rows.into_iter().filter(|row| row.bug.is_none() && chosen(&row.file)).map(|row| row.file).collect())
}

/// A clean text with its mutants.
struct Source {
    file: String,
    device: Option<Device>,
}

/// Makes and judges the mutants of a corpus.
pub fn run(folder: &Path, choice: &Choice) -> Result<Campaign, String> {
    let (mut sources, mut made) = (Vec::new(), Vec::new());
    for file in files(folder, choice)? {
        let text = std::fs::read_to_string(folder.join(&file)).map_err(|error| format!("{file}: {error}"))?;
        for section in Document::new(text.as_str()).sections() {
            made.extend(mutants(section.tree()).into_iter().map(|mutant| (sources.len(), mutant)));
        }
        sources.push(Source { file, device: Device::new(&text) });
    }
    if made.is_empty() {
        return Err("no clean kernel of the corpus has such a name".into());
    }
    if let Some(count) = choice.sample {
        made = sample(&sources, made, count);
    }
    let start = Instant::now();
    let verdicts = spread(&made, |(_, mutant)| match &mutant.text {
        Some(text) => judge(text),
        None => Verdict::Rejected("the change cannot be written".into()),
    });
    let judging = start.elapsed();
    let judged: Vec<((usize, Mutant), Verdict)> = made.into_iter().zip(verdicts).collect();
    let start = Instant::now();
    let shown = spread(&judged, |((source, mutant), verdict)| match (&sources[*source].device, &mutant.text) {
        (Some(device), Some(text)) if !matches!(verdict, Verdict::Rejected(_)) => device.play(text),
        _ => Shown::Unknown,
    });
    let playing = start.elapsed();
    let mut cases: Vec<Case> = Vec::new();
    for (((source, mutant), verdict), shown) in judged.into_iter().zip(shown) {
        let meaning = meaning(&mutant, &verdict, &shown);
        cases.push(Case { file: sources[source].file.clone(), mutant, verdict, meaning });
    }
    let stale = survivors::apply(&mut cases, &survivors::read(folder)?, choice.sample.is_none());
    Ok(Campaign { cases, stale, judging, playing })
}

/// Does the same with each on all processors; the answers come in order.
fn spread<T: Sync, A: Send>(all: &[T], work: impl Fn(&T) -> A + Sync) -> Vec<A> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(at) else { return done };
            done.push((at, work(one)));
        }
    };
    let mut answers: Vec<(usize, A)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// Mutants of one kernel and one mutation: a key to sort by, and where they are.
type Stratum = Vec<(u64, usize)>;

/// At most `count` mutants, by turns from each mutation, within it from each kernel: the same ones
/// each time, in the order they came in.
fn sample(sources: &[Source], made: Vec<(usize, Mutant)>, count: usize) -> Vec<(usize, Mutant)> {
    let mut strata: BTreeMap<&str, BTreeMap<&str, Stratum>> = BTreeMap::new();
    for (at, (source, mutant)) in made.iter().enumerate() {
        let file = &sources[*source].file;
        let key = shuffle(&format!("{file}:{}", mutant.id()));
        strata.entry(mutant.mutation).or_default().entry(file).or_default().push((key, at));
    }
    let mut queues: Vec<Vec<usize>> = strata.into_values().map(by_turns).collect();
    let mut chosen = Vec::new();
    let mut turn = 0;
    while chosen.len() < count && queues.iter().any(|queue| turn < queue.len()) {
        chosen.extend(queues.iter_mut().filter_map(|queue| queue.get(turn).copied()));
        turn += 1;
    }
    chosen.truncate(count);
    chosen.sort_unstable();
    let mut made: Vec<Option<(usize, Mutant)>> = made.into_iter().map(Some).collect();
    chosen.into_iter().filter_map(|at| made[at].take()).collect()
}

/// One of each list, then the second of each.
fn by_turns(lists: BTreeMap<&str, Stratum>) -> Vec<usize> {
    let mut all: Vec<(usize, u64, usize)> = Vec::new();
    for mut list in lists.into_values() {
        list.sort_unstable();
        all.extend(list.into_iter().enumerate().map(|(turn, (key, at))| (turn, key, at)));
    }
    all.sort_unstable();
    all.into_iter().map(|(_, _, at)| at).collect()
}

/// FNV-1a: an order that has nothing to do with the text's.
fn shuffle(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
