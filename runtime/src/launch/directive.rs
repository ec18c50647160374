//! `// fencepost-run: grid=(4,4) a_ptr=f16[256,64]:normal` in a file: a recipe in a comment.
//!
//! `#` begins a comment of Python. A recipe goes on in the comments below it that are indented by three spaces or
//! more. A file may hold several, for several kernels or for one.

use std::path::Path;

use base::TextRange;

use super::recipe::{self, RecipeError};
use super::spec::{LaunchOrigin, LaunchSpec};

/// What tells a recipe from other comments.
const MARK: &str = "fencepost-run:";
/// White space behind the comment's sign of a line that goes on.
const INDENT: usize = 3;

/// The recipes of a file, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecipeDirectives {
    /// Those that can be read.
    pub launches: Vec<LaunchSpec>,
    /// What is wrong, at ranges of the file.
    pub errors: Vec<RecipeError>,
}

impl RecipeDirectives {
    /// Reads them; files are looked for from `folder` on, and without one not at all. A recipe with an error is left out.
    pub fn read<'a>(text: &str, python: bool, folder: impl Into<Option<&'a Path>>) -> RecipeDirectives {
        let folder = folder.into();
        let sign = if python { "#" } else { "//" };
        let mut found = RecipeDirectives::default();
        if !text.contains(MARK) {
            return found;
        }
        let mut lines = Lines { text, at: 0 }.peekable();
        while let Some((at, line)) = lines.next() {
            let Some(first) = comment(line, sign).and_then(|(_, body)| body.trim_start().strip_prefix(MARK)) else {
                continue;
            };
            let mut body = Body::default();
            body.push(first, at + line.len() - first.len());
            while let Some((at, line)) = lines.peek() {
                let Some((_, rest)) = comment(line, sign).filter(|(indent, _)| *indent >= INDENT) else { break };
                body.push(rest, at + line.len() - rest.len());
                lines.next();
            }
            let (mut launch, errors) = recipe::parse(&body.text, python, folder);
            let start = at + line.len() - line.trim_start().len();
            launch.origin = LaunchOrigin::Directive(TextRange::new(start as u32, body.end as u32));
            if errors.is_empty() {
                found.launches.push(launch);
            }
            found
                .errors
                .extend(errors.into_iter().map(|error| RecipeError { range: body.place(error.range), ..error }));
        }
        found
    }
}

/// White space behind the sign of a comment, and what follows the sign; of a line that is nothing but a comment.
fn comment<'a>(line: &'a str, sign: &str) -> Option<(usize, &'a str)> {
    let body = line.trim_start().strip_prefix(sign)?;
    let (indent, body) = (body.len() - body.trim_start().len(), body.trim_end());
    // An empty comment ends a recipe.
    Some((if body.is_empty() { 0 } else { indent }, body))
}

/// Lines without their ends, with their places.
struct Lines<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<(usize, &'a str)> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let whole = rest.split_inclusive('\n').next()?;
        let at = self.at;
        self.at += whole.len();
        Some((at, whole.trim_end()))
    }
}

/// The lines of a recipe as one, and where in the file its parts are.
#[derive(Default)]
struct Body {
    text: String,
    /// Offset here, and in the file.
    parts: Vec<(usize, usize)>,
    /// In the file.
    end: usize,
}

impl Body {
    fn push(&mut self, part: &str, at: usize) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.parts.push((self.text.len(), at));
        self.text.push_str(part);
        self.end = at + part.len();
    }

    fn place(&self, range: TextRange) -> TextRange {
        let place = |offset: u32| {
            let part = self.parts.iter().rev().find(|(here, _)| *here <= offset as usize);
            part.map_or(0, |(here, there)| (offset as usize - here + there) as u32)
        };
        let start = place(range.start);
        TextRange::new(start, place(range.end).max(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_stand_in_comments() {
        let text = "// fencepost-run: gemm grid=4\r\n//    M=256\n//    a=f16[4]\n// M=1\nmodule {\n}\n  // fencepost-run: grid=2\n";
        let found = RecipeDirectives::read(text, false, Path::new(""));
        assert_eq!(found.errors, []);
        let said: Vec<String> = found.launches.iter().map(LaunchSpec::to_string).collect();
        assert_eq!(said, ["gemm grid=4 M=256 a=f16[4]:normal", "grid=2"]);
        let Some(LaunchOrigin::Directive(range)) = found.launches.first().map(|launch| launch.origin.clone()) else {
            panic!("no directive")
        };
        assert!(range.of(text).starts_with("// fence") && range.of(text).ends_with("a=f16[4]"));
        assert_eq!(RecipeDirectives::read(text, true, Path::new("")), RecipeDirectives::default());
    }

    #[test]
    fn errors_stand_where_they_are() {
        let text = "import x\n# fencepost-run: k grid=4\n#     b=f99[2]\n#\n#   not=f99[1]\n";
        let found = RecipeDirectives::read(text, true, Path::new(""));
        let said: Vec<&str> = found.errors.iter().map(|error| error.range.of(text)).collect();
        assert_eq!((said, found.launches.len()), (vec!["f99"], 0));
    }
}
