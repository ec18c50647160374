//! Every clean kernel with all its waits taken out at once. None may stay clean: an answer that does not change
//! then says nothing of the kernel.

use fencepost_tests::corpus::manifest;
use fencepost_tests::mutate::judge::{Verdict, judge};
use fencepost_tests::mutate::unsynchronised::without_waits;
use fencepost_tests::sources::{root, sources};
use ttgir::Document;

/// Hints that say that a kernel ends before what it started is over.
const ENDINGS: [&str; 2] = ["pending-access", "waited-invalidation"];

const BARRIERS: &str = "only barriers: nothing is read or written that the arrivals would order";
const ONE_THREAD: &str = "one thread alone touches the memory, in the order of its program";

/// What stays clean though nothing waits, by its page and kernel, and why that is right.
const RIGHT: &[(&str, &str)] = &[
    ("amd-barriers.md @cluster", BARRIERS),
    ("amd-barriers.md @meet", BARRIERS),
    ("arrival-overflow.md @arrive_twice", BARRIERS),
    ("autows-tokens.md @own", ONE_THREAD),
    ("barrier-reinit.md @twice", BARRIERS),
    ("barrier-storage-reuse.md @scratch", ONE_THREAD),
    ("cluster.md @arrive", ONE_THREAD),
    ("control-flow.md @branch", BARRIERS),
    ("deadlock.md @handshake", BARRIERS),
    ("lapped-wait.md @announce", BARRIERS),
    ("lifecycle.md @life", BARRIERS),
    ("lifecycle.md @tiles", BARRIERS),
    ("loops.md @maybe", BARRIERS),
    ("named-barrier.md @alone", ONE_THREAD),
    ("never-executed.md @rows", BARRIERS),
    ("phases.md @both", BARRIERS),
    ("phases.md @fed", BARRIERS),
    ("severities.md @announce", BARRIERS),
    ("severities.md @last", BARRIERS),
    ("ttgir-releases.md @group", "all partitions of a group are joined behind it"),
    ("tcgen05.md @scheduled", "nobody uses the product, and the pipeliner still gives its operands slots"),
    ("undecided.md @limited", BARRIERS),
    ("waited-invalidation.md @cleanup", "the thread that invalidates is the one that has arrived"),
    ("wgmma.md @dot", "nobody uses the product, and its operands are only read"),
];

/// The texts of one section each that are clean, by name.
fn clean() -> Vec<(String, String)> {
    let folder = root().join("corpus");
    let rows = manifest(&folder).expect("a manifest").into_iter().filter(|row| row.bug.is_none());
    let corpus = rows.map(|row| {
        let text = std::fs::read_to_string(folder.join(&row.file)).expect("a file");
        (row.file, text)
    });
    let pages = sources().into_iter().filter(|(_, text)| matches!(judge(text), Verdict::Survived(_)));
    let pages = pages.map(|(place, text)| {
        let kernel = text.split('@').nth(1).and_then(|rest| rest.split('(').next()).unwrap_or_default();
        (format!("{} @{kernel}", place.split(':').next().unwrap_or_default()), text)
    });
    corpus.chain(pages).filter(|(_, text)| Document::new(text.as_str()).sections().len() == 1).collect()
}

#[test]
fn nothing_stays_clean_without_its_waits() {
    let (mut tried, mut found, mut hinted, mut open, mut vacuous) = (0, 0, 0, Vec::new(), Vec::new());
    let mut used = vec![false; RIGHT.len()];
    for (name, text) in clean() {
        let document = Document::new(text.as_str());
        let Some((waits, text)) = document.sections().first().and_then(|section| without_waits(section.tree())) else {
            continue;
        };
        tried += 1;
        match judge(&text) {
            Verdict::Found(_) => found += 1,
            Verdict::Undecided(why) => open.push(format!("{name}: {why:?}")),
            Verdict::Rejected(why) => vacuous.push(format!("{name} is no program without its waits: {why}")),
            // Only the end of the kernel comes too early, which is a hint.
            Verdict::Survived(hints) if !hints.is_empty() && hints.iter().all(|hint| ENDINGS.contains(hint)) => {
                hinted += 1
            }
            Verdict::Survived(hints) => match RIGHT.iter().position(|(end, _)| name.ends_with(end)) {
                Some(at) => used[at] = true,
                None => vacuous.push(format!("{name} stays clean without its {waits} waits; hints: {hints:?}")),
            },
        }
    }
    let right = tried - found - hinted - open.len() - vacuous.len();
    println!(
        "{tried} clean kernels without their waits: {found} found, {hinted} with a hint, {right} rightly clean, {} \
         undecided",
        open.len()
    );
    for (name, why) in RIGHT {
        println!("{name}: {why}");
    }
    println!("{}", open.join("\n"));
    assert!(vacuous.is_empty(), "{}", vacuous.join("\n"));
    assert!(used.iter().all(|used| *used), "a line of RIGHT is not true any more");
    assert!(tried > 100, "{tried}");
}
