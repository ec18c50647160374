//! The text of a Python file.

use std::sync::{Arc, OnceLock};

use base::TextRange;
use python::syntax::{Module, is_blank_or_comment, mentions_kernels};
use specialize::same_release;

/// What makes a comment one for us, as a directive or a suppression.
const MARK: &str = "fencepost";

/// A Python file as it is now, with the last good text of what is broken in it. One that can hold no
/// kernel is not even parsed.
#[derive(Clone, Debug)]
pub struct PythonFile {
    text: Arc<str>,
    tree: Arc<Tree>,
    mentions_kernels: bool,
    /// The end of a line that [`edit_line_end`](Self::edit_line_end) has changed.
    line_end: Option<TextRange>,
}

/// The tree of a text, made when somebody asks for it.
#[derive(Debug)]
struct Tree {
    module: OnceLock<Arc<Module>>,
    path: String,
    /// That of an earlier text.
    before: Option<Arc<Module>>,
}

impl PythonFile {
    /// A file; `path` is how [`python::syntax::Sources`] spell it.
    pub fn new(path: impl Into<String>, text: impl Into<Arc<str>>) -> PythonFile {
        PythonFile::after(path.into(), text.into(), None)
    }

    /// The file with its tree.
    fn after(path: String, text: Arc<str>, before: Option<Arc<Module>>) -> PythonFile {
        let file = PythonFile::untouched(path, text, before);
        file.module();
        file
    }

    /// The file without its tree.
    fn untouched(path: String, text: Arc<str>, before: Option<Arc<Module>>) -> PythonFile {
        let mentions_kernels = mentions_kernels(&text);
        let tree = Arc::new(Tree { module: OnceLock::new(), path, before });
        PythonFile { text, tree, mentions_kernels, line_end: None }
    }

    /// The same file with a range of its text replaced.
    pub fn edit(&self, range: TextRange, with: &str) -> PythonFile {
        match self.replaced(range, with) {
            Some(text) => self.with_text(text),
            None => self.clone(),
        }
    }

    fn replaced(&self, range: TextRange, with: &str) -> Option<String> {
        let (start, end) = (range.start as usize, range.end as usize);
        Some([self.text.get(..start)?, with, self.text.get(end..)?].concat())
    }

    /// The same file with a range replaced of the blank space and the comment at the end of a line, where all that an
    /// analysis says of the file stays: each place keeps its line and, but for what stands in the comment, its column.
    /// `None` where that is not certain: of code and of what does not parse, and of comments for us. The text is not
    /// parsed yet.
    pub fn edit_line_end(&self, range: TextRange, with: &str) -> Option<PythonFile> {
        let old = match self.line_end {
            Some(known) if known.start <= range.start && range.end <= known.end => known,
            _ => self.module().line_end_around(range)?,
        };
        let text = self.replaced(range, with)?;
        let by = with.len() as i64 - i64::from(range.end - range.start);
        let now = TextRange::new(old.start, u32::try_from(i64::from(old.end) + by).ok()?);
        let (before, after) = (old.of(&self.text), now.of(&text));
        // Other control characters may end a line, or are no blank space to everybody.
        if !is_blank_or_comment(after)
            || after.chars().any(|c| c.is_control() && c != '\t')
            || !same_release(before, after)
            || mentions_kernels(&text) != self.mentions_kernels
            || comments(&self.text, old).chain(comments(&text, now)).any(|line| line.contains(MARK))
        {
            return None;
        }
        // The last text that has a tree, so that no chain of them grows.
        let before = self.tree.module.get().or(self.tree.before.as_ref()).cloned();
        let file = PythonFile::untouched(self.tree.path.clone(), text.into(), before);
        Some(PythonFile { line_end: Some(now), ..file })
    }

    /// The same file with another text.
    pub fn with_text(&self, text: impl Into<Arc<str>>) -> PythonFile {
        PythonFile::after(self.tree.path.clone(), text.into(), Some(self.module().clone()))
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tree; that of an empty file where the text can hold no kernel.
    pub fn module(&self) -> &Arc<Module> {
        let Tree { module, path, before } = &*self.tree;
        module.get_or_init(|| {
            let parsed: Arc<str> = if self.mentions_kernels { self.text.clone() } else { "".into() };
            Arc::new(Module::parse(path.clone(), parsed, before.as_deref()))
        })
    }

    /// Whether it can hold kernels.
    pub fn mentions_kernels(&self) -> bool {
        self.mentions_kernels
    }
}

/// The line in which a range is, and the comments right above and below it.
fn comments(text: &str, range: TextRange) -> impl Iterator<Item = &str> {
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    let start = range.start as usize;
    let line = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let (above, below) = (text.get(..line).unwrap_or(""), text.get(line..).unwrap_or(""));
    let mut below = below.lines();
    let own = below.next();
    own.into_iter().chain(above.lines().rev().take_while(is_comment)).chain(below.take_while(is_comment))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# About.\nimport triton\n# fencepost: n=1\n# more\n@triton.jit\ndef f(n):  # why\n    # é inside\n    x = (n +  # left\n         '# no')\n";

    /// The file with `new` in place of `old`, which stands in it once.
    fn typed(file: &PythonFile, old: &str, new: &str) -> Option<PythonFile> {
        let at = file.text().find(old).expect("it is there") as u32;
        file.edit_line_end(TextRange::new(at, at + old.len() as u32), new)
    }

    #[test]
    fn keys_at_the_end_of_a_line_leave_a_tree_like_that_of_the_text() {
        let mut file = PythonFile::new("f.py", TEXT);
        for (old, new) in [
            ("About", "Of"),
            ("Of.", "Of"),
            ("Of", "Of it, "),
            ("  # why", ""),
            ("é", "e"),
            ("# left", "   "),
            // The last of these is no comment any more.
            ("    # e inside", "\t"),
        ] {
            file = typed(&file, old, new).unwrap_or_else(|| panic!("{old:?} says nothing"));
            assert!(file.tree.module.get().is_none());
        }
        let end = file.text().len() as u32;
        file = file.edit_line_end(TextRange::new(end, end), "# the end").expect("it is the last line");
        let fresh = PythonFile::new("f.py", file.text());
        assert_eq!(format!("{:?}", file.module().body()), format!("{:?}", fresh.module().body()));
        assert_eq!(file.module().path(), "f.py");
    }

    #[test]
    fn what_may_say_something_is_no_end_of_a_line() {
        let file = PythonFile::new("f.py", TEXT);
        for (old, new) in [
            // Code, a string, the sign itself, a line more, a line less.
            ("n +", "n -"),
            ("no'", "yes'"),
            ("# why", "why"),
            ("why", "why\n"),
            ("why", "why\r"),
            ("why\n", "why"),
            // A directive, what stands with it, and what becomes one.
            ("n=1", "n=2"),
            ("more", "less"),
            ("inside", "fencepost: ignore"),
            // A name that Triton's newest release has no more.
            ("inside", "no make_block_ptr"),
        ] {
            assert!(typed(&file, old, new).is_none(), "{old:?} to {new:?}");
        }
        let broken = PythonFile::new("f.py", TEXT.replace("def f(n):", "def f(n:"));
        assert!(typed(&broken, "About", "Of").is_none());
        // Only the comment makes it a file of kernels.
        let file = PythonFile::new("f.py", "# a kernel with jit\nimport triton\n");
        assert!(typed(&file, "jit", "git").is_none());
        assert!(typed(&file, "a kernel", "one").is_some());
        // A line that goes on, a string of several lines, and what a string shows.
        for text in ["import triton, jit\nx = 1 + \\\n@\ny = 2\n", "import triton, jit\nx = \"\"\"a\n@\n\"\"\"\n"] {
            let at = text.find('@').unwrap_or_default() as u32;
            let file = PythonFile::new("f.py", text.replace('@', ""));
            assert!(file.edit_line_end(TextRange::new(at, at), " ").is_none(), "{text}");
        }
        let text = "import triton, jit\nx = f\"\"\"{1 = \n}\"\"\"\ny = f\"\"\"{1} \n\"\"\"\n";
        let file = PythonFile::new("f.py", text);
        assert!(file.module().broken().is_empty());
        for (at, _) in text.match_indices(" \n") {
            let at = at as u32 + 1;
            assert!(file.edit_line_end(TextRange::new(at, at), " ").is_none(), "{at}");
        }
    }
}
