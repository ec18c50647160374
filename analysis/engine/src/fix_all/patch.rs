//! Edits that were made one after the other, as edits of the first text.

use base::TextRange;
use findings::Edit;

/// A text as it was edited.
pub(super) struct Patch {
    pieces: Vec<Piece>,
    /// Length of the first text.
    len: u32,
}

enum Piece {
    /// What stands there since the beginning.
    Old(TextRange),
    /// What was written.
    New(String),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Piece::Old(range) => range.len() as usize,
            Piece::New(text) => text.len(),
        }
    }

    /// A part of it, in bytes of it.
    fn part(&self, from: usize, to: usize) -> Option<Piece> {
        match self {
            Piece::Old(range) => Some(Piece::Old(TextRange::new(range.start + from as u32, range.start + to as u32))),
            Piece::New(text) => text.get(from..to).map(|text| Piece::New(text.to_owned())),
        }
    }
}

impl Patch {
    /// A text that was not edited.
    pub(super) fn new(text: &str) -> Patch {
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        Patch { pieces: vec![Piece::Old(TextRange::new(0, len))], len }
    }

    /// Makes edits of the text as it is, ascending and disjoint.
    pub(super) fn edit(&mut self, edits: &[Edit]) {
        for edit in edits.iter().rev() {
            let (start, end) = (edit.range.start as usize, edit.range.end as usize);
            let mut pieces = self.parts(0, start);
            pieces.push(Piece::New(edit.text.clone()));
            pieces.extend(self.parts(end, usize::MAX));
            self.pieces = pieces;
        }
    }

    /// The pieces between two places of the text as it is.
    fn parts(&self, from: usize, to: usize) -> Vec<Piece> {
        let (mut at, mut out) = (0, Vec::new());
        for piece in &self.pieces {
            let (start, end) = (from.max(at), to.min(at + piece.len()));
            if start < end {
                out.extend(piece.part(start - at, end - at));
            }
            at += piece.len();
        }
        out
    }

    /// All edits, of the first text.
    pub(super) fn edits(&self) -> Vec<Edit> {
        let (mut at, mut new, mut out) = (0, String::new(), Vec::new());
        let end = Piece::Old(TextRange::empty(self.len));
        for piece in self.pieces.iter().chain([&end]) {
            match piece {
                Piece::New(text) => new.push_str(text),
                Piece::Old(range) => {
                    if range.start > at || !new.is_empty() {
                        out.push(Edit { range: TextRange::new(at, range.start), text: std::mem::take(&mut new) });
                    }
                    at = range.end;
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixes::apply;

    #[test]
    fn edits_of_edits_are_edits_of_the_first_text() {
        let edit = |start, end, text: &str| Edit { range: TextRange::new(start, end), text: text.to_owned() };
        let text = "one two three four";
        let rounds = [
            vec![edit(0, 3, "1"), edit(8, 13, "3")],
            vec![edit(1, 1, "!"), edit(2, 5, "zwei")],
            vec![edit(0, 2, ""), edit(3, 7, "2")],
            vec![],
        ];
        let (mut patch, mut now) = (Patch::new(text), text.to_owned());
        for edits in rounds {
            patch.edit(&edits);
            now = apply(&now, &edits).expect("edits");
            assert_eq!(apply(text, &patch.edits()).as_deref(), Some(now.as_str()));
        }
        assert_eq!(now, " 2 3 four");
        assert_eq!(Patch::new(text).edits(), []);
    }
}
