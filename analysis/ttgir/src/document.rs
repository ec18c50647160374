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
pub enum Level {
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
    level: Level,
    /// Whether it stands before the first header of a dump and holds no IR.
    prose: bool,
    tree: Cell,
}

impl Section {
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
    pub fn level(&self) -> Level {
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

    /// Its sections, in order.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The document with the bytes of `range` replaced by `with`; what did not change is kept.
    pub fn edit(&self, range: TextRange, with: &str) -> Document {
        let (start, end) = (range.start as usize, range.end as usize);
        let (Some(before), Some(after)) = (self.text.get(..start), self.text.get(end..)) else { return self.clone() };
        let text = [before, with, after].concat();
        let mut document = Document::split(text.into(), &self.sections);
        let delta = with.len() as i64 - i64::from(range.len());
        let changed = self.sections.iter().find(|s| s.range.start < range.start && range.end < s.range.end);
        if let Some(old) = changed
            && let Some(tree) = old.tree.get()
            && let Some(new) = document.sections.iter_mut().find(|s| s.range.start == old.range.start)
            && i64::from(new.range.len()) == i64::from(old.range.len()) + delta
            && !new.is_read()
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

    /// Splits `text`; trees of sections with the same text are taken over from `old`.
    fn split(text: Arc<str>, old: &[Section]) -> Document {
        let mut cells: FxHashMap<u64, Vec<(TextRange, Arc<str>, Cell)>> = FxHashMap::default();
        for section in old {
            let entry = (section.range, section.text.clone(), section.tree.clone());
            cells.entry(content_hash(section.text())).or_default().push(entry);
        }
        let mut sections = Vec::new();
        let pieces = pieces(&text);
        let dump = pieces.iter().any(|(_, header)| header.is_some());
        for (range, header) in pieces {
            let part = range.of(&text);
            let same = cells.entry(content_hash(part)).or_default();
            let known = same.iter().find(|(r, t, _)| r.of(t) == part).map(|(_, _, tree)| tree.clone());
            let tree = known.unwrap_or_else(|| {
                let tree = Arc::new(OnceLock::new());
                same.push((range, text.clone(), tree.clone()));
                tree
            });
            let level = level(part);
            let prose = dump && header.is_none() && level == Level::Other && !part.contains("module");
            sections.push(Section { text: text.clone(), range, header, level, prose, tree });
        }
        Document { text, sections }
    }
}

/// The sections' ranges, with what their separators say.
fn pieces(text: &str) -> Vec<(TextRange, Option<Header>)> {
    let mut out = Vec::new();
    let (mut start, mut header) = (0, None);
    let bare = bare_splits(text);
    for at in memchr::memmem::find_iter(text.as_bytes(), b"// -----") {
        let line_start = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |n| n + 1);
        let line_end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |n| at + n + 1);
        let blank = text.as_bytes()[line_start..at].iter().all(|b| b" \t".contains(b));
        let line = text[at..line_end].trim_end();
        let said = read_header(line);
        if at < start || !blank || (said.is_none() && !bare) {
            continue;
        }
        push(&mut out, text, start, line_start, header.take());
        (start, header) = (line_end, said);
    }
    push(&mut out, text, start, text.len(), header);
    if out.is_empty() {
        out.push((TextRange::new(0, text.len() as u32), None));
    }
    out
}

/// Adds a section unless it is blank and nothing introduces it.
fn push(out: &mut Vec<(TextRange, Option<Header>)>, text: &str, start: usize, end: usize, header: Option<Header>) {
    if header.is_some() || !text[start..end].trim().is_empty() {
        out.push((TextRange::new(start as u32, end as u32), header));
    }
}

/// Whether a bare `// -----` splits: not in a lit test whose command does not say so.
fn bare_splits(text: &str) -> bool {
    let mut end = text.len().min(4096);
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

fn level(text: &str) -> Level {
    let mut end = text.len().min(1 << 15);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let top = &text[..end];
    if top.contains("llvm.func") || top.contains("llvm.mlir.global") {
        Level::Llvm
    } else if ["ttg.", "ttng.", "nvws.", "amdg."].iter().any(|dialect| top.contains(dialect)) {
        Level::Ttgir
    } else if top.contains("tt.func") || top.contains("tt.") {
        Level::Ttir
    } else {
        Level::Other
    }
}

fn content_hash(text: &str) -> u64 {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}
