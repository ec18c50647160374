//! A file: one or many sections, each read when it is first asked for.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use super::tree::Tree;
use base::TextRange;

/// When a pass's dump was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the pass ran.
    Before,
    /// After it ran.
    After,
    /// After it failed.
    Failed,
}

/// What the line above a dumped section says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The pass that the dump was taken before or after.
    pub pass: String,
    /// Before or after it.
    pub when: When,
}

/// What kind of IR a section holds, guessed from its first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IrLevel {
    /// Triton IR, before layouts.
    Ttir,
    /// Triton GPU IR.
    Ttgir,
    /// MLIR in the LLVM dialect, after the lowering.
    Llvm,
    /// Text of another level, or of none.
    Other,
}

/// One module of a file, or what stands between two.
#[derive(Clone, Debug)]
pub struct Section {
    text: Arc<str>,
    range: TextRange,
    header: Option<Header>,
    level: IrLevel,
    /// Whether it stands before the first header of a dump and holds no IR.
    prose: bool,
    /// Of its text.
    hash: u64,
    tree: Cell,
}

impl Section {
    /// A section that is not read yet; `dump` says whether the document has headers.
    fn new(text: &Arc<str>, range: TextRange, header: Option<Header>, dump: bool) -> Section {
        let part = range.of(text);
        let level = level(part);
        let prose = dump && header.is_none() && level == IrLevel::Other && !has(part, "module");
        Section { text: text.clone(), range, header, level, prose, hash: content_hash(part), tree: Arc::default() }
    }

    /// Whether its tree is that of another section. Prose has none to share with IR of the same text.
    fn has_tree_of(&self, other: &Section) -> bool {
        (self.hash, self.prose) == (other.hash, other.prose) && self.text() == other.text()
    }

    /// Where the section's text starts in the document.
    pub fn offset(&self) -> u32 {
        self.range.start
    }

    /// The section's text as a range of the document, without the separator line.
    pub fn range(&self) -> TextRange {
        self.range
    }

    /// The section's text.
    pub fn text(&self) -> &str {
        self.range.of(&self.text)
    }

    /// What the line above it says, in a dump.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// What kind of IR it holds.
    pub fn level(&self) -> IrLevel {
        self.level
    }

    /// Its tree; sections with the same text share one.
    pub fn tree(&self) -> &Tree {
        let read = || if self.prose { Tree::empty(self.shared_text()) } else { Tree::read(self.shared_text()) };
        self.tree.get_or_init(read)
    }

    /// The section's text; the document's own where it is all of it.
    fn shared_text(&self) -> Arc<str> {
        if self.range.len() as usize == self.text.len() { self.text.clone() } else { self.text().into() }
    }

    /// Whether the tree was asked for before.
    pub fn is_read(&self) -> bool {
        self.tree.get().is_some()
    }
}

/// A tree that is made when it is asked for.
type Cell = Arc<OnceLock<Tree>>;

/// A whole file.
#[derive(Clone, Debug)]
pub struct Document {
    text: Arc<str>,
    sections: Vec<Section>,
}

impl Document {
    /// Splits `text`; nothing is parsed yet.
    pub fn new(text: impl Into<Arc<str>>) -> Document {
        Document::split(text.into(), &[])
    }

    /// The source, byte for byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same, to be kept.
    pub fn shared_text(&self) -> &Arc<str> {
        &self.text
    }

    /// Its sections, in order.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The document with the bytes of `range` replaced by `with`; what did not change is kept.
    pub fn edit(&self, range: TextRange, with: &str) -> Document {
        let (start, end) = (range.start as usize, range.end as usize);
        let (Some(before), Some(after)) = (self.text.get(..start), self.text.get(end..)) else { return self.clone() };
        let text: Arc<str> = [before, with, after].concat().into();
        let delta = with.len() as i64 - i64::from(range.len());
        let same = self.split_again(&text, range, delta);
        let mut document = same.unwrap_or_else(|| Document::split(text, &self.sections));
        let changed = self.sections.iter().find(|s| s.range.start < range.start && range.end < s.range.end);
        if let Some(old) = changed
            && let Some(tree) = old.tree.get()
            && let Some(new) = document.sections.iter_mut().find(|s| s.range.start == old.range.start)
            && i64::from(new.range.len()) == i64::from(old.range.len()) + delta
            && !new.is_read()
            && (old.prose, new.prose) == (false, false)
        {
            let start = old.range.start;
            let inner = TextRange::new(range.start - start, range.end - start);
            let text = new.shared_text();
            if let Some(tree) = tree.edited(&text, inner, inner.start + with.len() as u32) {
                new.tree = Arc::new(OnceLock::from(tree));
            }
        }
        document
    }

    /// Splits the one section in which all of an edit stands, and moves the others: a dump may be large. `None` where
    /// the edit may concern how the rest is split.
    fn split_again(&self, text: &Arc<str>, range: TextRange, delta: i64) -> Option<Document> {
        if (range.start as usize) < TOP {
            return None;
        }
        let at = self.sections.iter().position(|s| s.range.start < range.start && range.end < s.range.end)?;
        let (before, [old, after @ ..]) = self.sections.split_at_checked(at)? else { return None };
        let moved = |place: u32| u32::try_from(i64::from(place) + delta).ok();
        let window = TextRange::new(old.range.start, moved(old.range.end)?);
        let pieces = pieces(text, window, old.header.clone());
        let dump = self.sections.iter().any(|section| section.header.is_some());
        let dumps = pieces.iter().any(|(_, header)| header.is_some());
        if pieces.is_empty() || (dumps && !dump) {
            return None;
        }
        let mut sections = Vec::with_capacity(self.sections.len() + pieces.len());
        sections.extend(before.iter().map(|section| Section { text: text.clone(), ..section.clone() }));
        for (range, header) in pieces {
            let mut section = Section::new(text, range, header, dump);
            let known = self.sections.iter().chain(&sections).find(|known| known.has_tree_of(&section));
            if let Some(known) = known {
                section.tree = known.tree.clone();
            }
            sections.push(section);
        }
        for section in after {
            let range = TextRange::new(moved(section.range.start)?, moved(section.range.end)?);
            sections.push(Section { text: text.clone(), range, ..section.clone() });
        }
        Some(Document { text: text.clone(), sections })
    }

    /// Splits `text`; trees of sections with the same text are taken over from `old`.
    fn split(text: Arc<str>, old: &[Section]) -> Document {
        let mut known: FxHashMap<u64, Vec<Section>> = FxHashMap::default();
        for section in old {
            known.entry(section.hash).or_default().push(section.clone());
        }
        let mut sections = Vec::new();
        let mut pieces = pieces(&text, TextRange::new(0, text.len() as u32), None);
        if pieces.is_empty() {
            pieces.push((TextRange::new(0, text.len() as u32), None));
        }
        let dump = pieces.iter().any(|(_, header)| header.is_some());
        for (range, header) in pieces {
            let mut section = Section::new(&text, range, header, dump);
            let same = known.entry(section.hash).or_default();
            match same.iter().find(|known| known.has_tree_of(&section)) {
                Some(known) => section.tree = known.tree.clone(),
                None => same.push(section.clone()),
            }
            sections.push(section);
        }
        Document { text, sections }
    }
}

/// The ranges of the sections in a part of a text that starts and ends with lines, with what their separators say;
/// `header` is said of the first.
fn pieces(text: &str, part: TextRange, header: Option<Header>) -> Vec<(TextRange, Option<Header>)> {
    let mut out = Vec::new();
    let (from, to) = (part.start as usize, part.end as usize);
    let (mut start, mut header) = (from, header);
    let bare = bare_splits(text);
    for at in memchr::memmem::find_iter(part.of(text).as_bytes(), b"// -----").map(|at| from + at) {
        let line_start = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |n| n + 1);
        let line_end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |n| at + n + 1);
        let blank = text[line_start..at].chars().all(|c| matches!(c, ' ' | '\t' | '\u{feff}'));
        let line = text[at..line_end].trim_end();
        let said = read_header(line);
        if at < start || !blank || (said.is_none() && !bare) {
            continue;
        }
        push(&mut out, text, start, line_start, header.take());
        (start, header) = (line_end, said);
    }
    push(&mut out, text, start, to, header);
    out
}

/// Adds a section unless it is blank and nothing introduces it.
fn push(out: &mut Vec<(TextRange, Option<Header>)>, text: &str, start: usize, end: usize, header: Option<Header>) {
    if header.is_some() || !text[start..end].trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty() {
        out.push((TextRange::new(start as u32, end as u32), header));
    }
}

/// How much of a text says whether it is a lit test.
const TOP: usize = 4096;

/// Whether a bare `// -----` splits: not in a lit test whose command does not say so.
fn bare_splits(text: &str) -> bool {
    let mut end = text.len().min(TOP);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let top = &text[..end];
    !top.contains("// RUN:") || top.contains("split-input-file") || top.contains("split_input_file")
}

/// Reads the three kinds of dump header.
fn read_header(line: &str) -> Option<Header> {
    let at = line.find("IR Dump ")?;
    let rest = &line[at + "IR Dump ".len()..];
    let (when, rest) = match rest.split_once([' ', ':'])? {
        ("Before", rest) => (When::Before, rest),
        ("After", rest) => (When::After, rest),
        _ => return None,
    };
    let rest = rest.trim_start_matches([':', ' ']);
    let rest = rest.split(" //-----").next().unwrap_or(rest);
    let rest = rest.split(" ('").next().unwrap_or(rest).trim();
    let (when, rest) = match rest.strip_suffix(" Failed") {
        Some(rest) => (When::Failed, rest),
        None => (when, rest),
    };
    Some(Header { pass: rest.to_owned(), when })
}

fn level(text: &str) -> IrLevel {
    let mut end = text.len().min(1 << 15);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let top = &text[..end];
    if has(top, "llvm.func") || has(top, "llvm.mlir.global") {
        IrLevel::Llvm
    } else if ["ttg.", "ttng.", "nvws.", "amdg."].iter().any(|dialect| has(top, dialect)) {
        IrLevel::Ttgir
    } else if has(top, "tt.") {
        IrLevel::Ttir
    } else {
        IrLevel::Other
    }
}

fn has(text: &str, word: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some()
}

fn content_hash(text: &str) -> u64 {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}
