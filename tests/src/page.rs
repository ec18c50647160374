//! Markdown pages as suites.
//!
//! Headings of any depth open a case; fenced blocks belong to the last heading. Known languages
//! are sources (`ttgir`, `gluon`, `triton`, `sync`), outputs (`trace`, `states`) and settings
//! (`toml`); a block in any other language is prose. Words after a source's language say what
//! the marks cannot: `proved`, `clean`, `undecided`; a name such as `helpers.py` makes a `gluon` block a file
//! that the others of its case can import.

use std::fmt;
use std::ops::Range;

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    /// Path, for messages.
    pub path: String,
    /// Its whole text.
    pub text: String,
    /// Its cases that hold a source, in order.
    pub cases: Vec<Case>,
}

/// A heading and what stands under it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The heading.
    pub title: String,
    /// Blocks in order.
    pub blocks: Vec<Block>,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    /// A TTGIR source.
    Ttgir,
    /// A Python source with kernels of Gluon (`gluon`) or of plain Triton (`triton`).
    Gluon,
    /// A kernel in the text form of the sync IR.
    Sync,
    /// Output: the runs of the findings.
    Trace,
    /// Output: verdict and size of the exploration.
    States,
    /// Limits: `name = number` lines.
    Toml,
}

impl Lang {
    /// Whether a block of it is analysed.
    pub fn is_source(self) -> bool {
        matches!(self, Lang::Ttgir | Lang::Gluon | Lang::Sync)
    }

    fn from_name(name: &str) -> Option<Lang> {
        Some(match name {
            "ttgir" => Lang::Ttgir,
            "gluon" | "triton" => Lang::Gluon,
            "sync" => Lang::Sync,
            "trace" => Lang::Trace,
            "states" => Lang::States,
            "toml" => Lang::Toml,
            _ => return None,
        })
    }
}

/// A fenced block in a known language.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its language.
    pub lang: Lang,
    /// Words after the language.
    pub words: Vec<String>,
    /// Line of the first line of content in the page, from 1.
    pub line: usize,
    /// Bytes of the content in the page.
    pub range: Range<usize>,
    /// Content, each line with its end.
    pub text: String,
}

impl Block {
    /// The name of the file that it is for others to import.
    pub fn file(&self) -> Option<&str> {
        self.words.first().map(String::as_str).filter(|word| word.ends_with(".py"))
    }
}

/// A page that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

const WORDS: [&str; 3] = ["proved", "clean", "undecided"];

impl Page {
    /// Reads a page.
    pub fn parse(path: impl Into<String>, text: impl Into<String>) -> Result<Page, PageError> {
        let (path, text) = (path.into(), text.into());
        let mut cases: Vec<Case> = Vec::new();
        let mut title = String::new();
        let mut fence: Option<(&str, Option<Block>)> = None;
        let mut offset = 0;
        for (at, line) in text.split_inclusive('\n').enumerate() {
            let content = line.trim_end();
            match &mut fence {
                None if content.starts_with("```") => {
                    let ticks = &content[..content.len() - content.trim_start_matches('`').len()];
                    fence = Some((ticks, open_block(&content[ticks.len()..], at + 2, offset + line.len())?));
                }
                None => {
                    if content.starts_with('#') && content.trim_start_matches('#').starts_with(' ') {
                        title = content.trim_start_matches('#').trim().to_string();
                    }
                }
                Some((ticks, block)) if content == *ticks => {
                    if let Some(mut block) = block.take() {
                        block.range.end = offset;
                        block.text = text[block.range.clone()].to_string();
                        match cases.last_mut() {
                            Some(case) if case.title == title => case.blocks.push(block),
                            _ => cases.push(Case { title: title.clone(), blocks: vec![block] }),
                        }
                    }
                    fence = None;
                }
                Some(_) => {}
            }
            offset += line.len();
        }
        if let Some((_, block)) = fence {
            let line = block.map_or(1, |block| block.line - 1);
            return Err(PageError { line, message: "this block is never closed".into() });
        }
        cases.retain(|case| case.blocks.iter().any(|block| block.lang.is_source()));
        Ok(Page { path, text, cases })
    }

    /// The page's text with the content of some blocks replaced.
    pub fn with(&self, mut changes: Vec<(Range<usize>, String)>) -> String {
        changes.sort_by_key(|(range, _)| range.start);
        let mut text = self.text.clone();
        for (range, content) in changes.into_iter().rev() {
            text.replace_range(range, &content);
        }
        text
    }
}

fn open_block(info: &str, line: usize, start: usize) -> Result<Option<Block>, PageError> {
    let mut words = info.split_whitespace();
    let Some(lang) = words.next().and_then(Lang::from_name) else { return Ok(None) };
    let words: Vec<String> = words.map(str::to_string).collect();
    let known = |word: &str| WORDS.contains(&word) || (lang == Lang::Gluon && word.ends_with(".py"));
    if let Some(word) = words.iter().find(|word| !known(word)) {
        return Err(PageError {
            line: line - 1,
            message: format!("unknown word `{word}`, known: {}", WORDS.join(", ")),
        });
    }
    Ok(Some(Block { lang, words, line, range: start..start, text: String::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a\n\nwords\n\n```ttgir proved\nx\ny\n```\n\n```sh\n# not a heading\n```\n\n## b\n\n```toml\n```\n```ttgir\n```\n";

    #[test]
    fn headings_open_cases_and_blocks_keep_their_place() {
        let page = Page::parse("a.md", TEXT).expect("it is well formed");
        let titles: Vec<&str> = page.cases.iter().map(|case| case.title.as_str()).collect();
        assert_eq!(titles, ["a", "b"]);
        let block = &page.cases[0].blocks[0];
        assert_eq!((block.lang, block.line, block.text.as_str()), (Lang::Ttgir, 6, "x\ny\n"));
        assert_eq!(block.words, ["proved"]);
        assert_eq!(page.cases[1].blocks.len(), 2);
    }

    #[test]
    fn blocks_are_replaced_in_place() {
        let page = Page::parse("a.md", TEXT).expect("it is well formed");
        let range = page.cases[0].blocks[0].range.clone();
        assert_eq!(page.with(vec![(range, "z\n".into())]), TEXT.replace("x\ny\n", "z\n"));
    }

    #[test]
    fn an_open_fence_and_an_unknown_word_are_errors() {
        let open = Page::parse("a.md", "\n```ttgir\nx\n").expect_err("it is open");
        assert_eq!((open.line, open.message.as_str()), (2, "this block is never closed"));
        let word = Page::parse("a.md", "```ttgir proven\n```\n").expect_err("the word is unknown");
        assert_eq!(word.line, 1);
    }
}
