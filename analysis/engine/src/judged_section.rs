//! What was said of a section of TTGIR, so that an edit of its comments and blank space says nothing anew, and the
//! sections of a dump that are alike are judged once.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use base::cache::Weight;
use base::{Limits, TextRange};
use findings::KernelReport;
use lower::LoweringOptions;
use races::Launch;
use rustc_hash::FxHasher;
use ttgir::{Token, TokenKind, Tokens};

/// What the reports on a section depend on: its tokens, and how they stand apart.
#[derive(Debug, PartialEq)]
pub(crate) struct SectionKey {
    text: String,
    launches: Arc<[Launch]>,
    limits: Limits,
    options: LoweringOptions,
}

impl SectionKey {
    pub(crate) fn new(text: &str, launches: &Arc<[Launch]>, limits: &Limits, options: LoweringOptions) -> SectionKey {
        SectionKey { text: text.to_owned(), launches: launches.clone(), limits: limits.clone(), options }
    }

    /// Whether a section with this text depends on the same.
    pub(crate) fn is(&self, text: &str, launches: &Arc<[Launch]>, limits: &Limits, options: LoweringOptions) -> bool {
        self.options == options
            && self.launches == *launches
            && self.limits == *limits
            && (self.text == text || spelled(&self.text).map(|word| word.1).eq(spelled(text).map(|word| word.1)))
    }

    /// The hash of that of a section.
    pub(crate) fn hash(text: &str, limits: &Limits, options: LoweringOptions) -> u64 {
        let mut hasher = FxHasher::default();
        spelled(text).for_each(|(_, word)| word.hash(&mut hasher));
        (limits, options).hash(&mut hasher);
        hasher.finish()
    }
}

/// What was said of the kernels of a section, with ranges in its text.
#[derive(Debug)]
pub(crate) struct JudgedSection {
    text: String,
    reports: Vec<KernelReport>,
}

impl JudgedSection {
    pub(crate) fn new(text: &str, reports: Vec<KernelReport>) -> JudgedSection {
        JudgedSection { text: text.to_owned(), reports }
    }

    /// What it costs to keep, and what it would cost to find out again.
    pub(crate) fn weight(&self) -> Weight {
        let findings: usize = self.reports.iter().map(|report| report.findings.len()).sum();
        let steps: u64 = self.reports.iter().map(|report| report.steps).sum();
        Weight { bytes: 2 * self.text.len() + 1024 + 4096 * findings, work: self.text.len() as u64 + steps }
    }

    /// The reports in another spelling of the same tokens; `None` where a place has no counterpart.
    pub(crate) fn in_text(&self, text: &str) -> Option<Vec<KernelReport>> {
        let mut reports = self.reports.clone();
        if self.text == text {
            return Some(reports);
        }
        let places = Places::new(&self.text, text);
        let mut lost = false;
        let mut shift = |range: &mut TextRange| match places.range(*range) {
            Some(moved) => *range = moved,
            None => lost = true,
        };
        reports.iter_mut().for_each(|report| report.ranges_mut(&mut shift));
        (!lost).then_some(reports)
    }
}

/// A token by its text, and what stands before it: nothing, blanks, or a line's end.
type Spelled<'t> = (&'t str, u8);

/// The tokens that count, with their places.
fn spelled(text: &str) -> impl Iterator<Item = (Token, Spelled<'_>)> {
    let mut gap = 0;
    Tokens::new(text).filter_map(move |token| {
        let word = token.range.of(text);
        if is_trivia(token.kind) {
            gap = gap.max(if word.contains('\n') { 2 } else { 1 });
            return None;
        }
        Some((token, (word, std::mem::take(&mut gap))))
    })
}

fn is_trivia(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Space | TokenKind::Comment)
}

/// From places of one spelling to those of another.
struct Places<'t> {
    old: (&'t str, Vec<TextRange>),
    new: (&'t str, Vec<TextRange>),
}

impl<'t> Places<'t> {
    fn new(old: &'t str, new: &'t str) -> Places<'t> {
        let ranges = |text: &'t str| (text, spelled(text).map(|(token, _)| token.range).collect());
        Places { old: ranges(old), new: ranges(new) }
    }

    fn range(&self, range: TextRange) -> Option<TextRange> {
        let start = self.offset(range.start)?;
        if range.is_empty() {
            return Some(TextRange::empty(start));
        }
        // The end belongs to what stands before it.
        let end = self.offset(range.end - 1)? + 1;
        (start < end).then(|| TextRange::new(start, end))
    }

    fn offset(&self, at: u32) -> Option<u32> {
        let behind = self.old.1.partition_point(|range| range.start <= at);
        let token = |of: &[TextRange], number: usize| of.get(number).copied();
        if let Some(number) = behind.checked_sub(1)
            && let (Some(old), Some(new)) = (token(&self.old.1, number), token(&self.new.1, number))
            && at < old.end
        {
            return Some(new.start + (at - old.start));
        }
        // Between two tokens: as far from the next one, where the lines between them are as many.
        let gap = |(text, ranges): &(&'t str, Vec<TextRange>)| {
            let from = behind.checked_sub(1).and_then(|number| token(ranges, number)).map_or(0, |range| range.end);
            let to = token(ranges, behind).map_or(text.len() as u32, |range| range.start);
            TextRange::new(from, to)
        };
        let (old, new) = (gap(&self.old), gap(&self.new));
        let lines = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
        let rest = TextRange::new(at, old.end).of(self.old.0);
        let same = lines(old.of(self.old.0)) == lines(new.of(self.new.0)) && new.of(self.new.0).ends_with(rest);
        same.then(|| new.end - rest.len() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(old: &str, new: &str, word: &str) -> Option<String> {
        let start = old.find(word).expect("it is there") as u32;
        let range = Places::new(old, new).range(TextRange::new(start, start + word.len() as u32))?;
        Some(range.of(new).to_owned())
    }

    #[test]
    fn places_follow_their_tokens() {
        let old = "a.b %x : i32\n  c.d\n";
        let new = "a.b   %x : i32 // why\n  c.d\n";
        for word in ["a.b", "%x", "i32", "c.d"] {
            assert_eq!(moved(old, new, word).as_deref(), Some(word));
        }
        assert_eq!(moved(old, new, "%x : i32").as_deref(), Some("%x : i32"));
        // The start of the line of `c.d`.
        let line = Places::new(old, new).range(TextRange::empty(13));
        assert_eq!(line, Some(TextRange::empty(22)));
        assert_eq!(Places::new(old, "a.b %x : i32\n  // one more\n  c.d\n").range(TextRange::empty(13)), None);
    }

    #[test]
    fn what_is_glued_is_another_text() {
        let same = |old: &str, new: &str| {
            let key = SectionKey::new(old, &Arc::default(), &Limits::default(), LoweringOptions::default());
            key.is(new, &Arc::default(), &Limits::default(), LoweringOptions::default())
        };
        assert!(same("tensor<128x64xf16>", "tensor<128x64xf16>  // tile"));
        assert!(!same("tensor<128x64xf16>", "tensor<128 x64xf16>"));
        assert!(!same("a.b\nc.d", "a.b c.d"));
    }
}
