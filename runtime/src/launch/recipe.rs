//! A recipe as a line of text: `gemm grid=(4,4) a_ptr=f16[256,64]:normal M=256 alpha=0.5`.
//!
//! A kernel's name first, where the file holds several; then `NAME=VALUE`, in any order. A value is an integer, a
//! float, `True` or `False`, a tensor, a string in quotes, or else an expression that Python is left to understand, in
//! brackets where it holds spaces. A tensor is `TYPE[SIZES]`, `@(STRIDES)` where it is not dense, and `:FILL`: `zeros`, `ones`,
//! `value(X)`, `arange`, `normal(MEAN, DEVIATION)`, `uniform(LOW, HIGH)` or `file(PATH, MEMBER)`; a file alone has
//! its own type and sizes. In Python, `pytest NODE`, `main ARGUMENTS` and `call EXPRESSION` let the file's own
//! code make the launch.

use std::fmt;
use std::path::Path;

use base::TextRange;

use super::spec::{LaunchArgument, LaunchOrigin, LaunchSpec, PythonEntry};
use super::value::{self, ValueError, unquoted};

/// What is wrong with a recipe, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecipeError {
    /// In the text that was parsed.
    pub range: TextRange,
    /// What is wrong, in words.
    pub message: String,
}

/// Reads a recipe; files are looked for from `folder` on, and without one not at all. What is wrong is left out of it.
pub fn parse<'a>(text: &str, python: bool, folder: impl Into<Option<&'a Path>>) -> (LaunchSpec, Vec<RecipeError>) {
    let folder = folder.into();
    let mut launch = LaunchSpec {
        kernel: None,
        grid: [1; 3],
        arguments: Vec::new(),
        entry: None,
        origin: LaunchOrigin::CommandLine,
    };
    let mut errors = Vec::new();
    let words = words(text);
    for (place, (at, word)) in words.iter().enumerate() {
        let mut wrong = |start: usize, length: usize, message: String| {
            errors.push(RecipeError { range: range(start, length), message });
        };
        if python && launch.entry.is_none() && place <= 1 && matches!(*word, "pytest" | "main" | "call") {
            let rest = words.get(place + 1..).unwrap_or(&[]);
            match entry(word, rest, text) {
                Ok(entry) => launch.entry = Some(entry),
                Err(message) => wrong(*at, word.len(), message),
            }
            break;
        }
        let Some((name, given)) = pair(word) else {
            if place == 0 && identifier(word.trim_start_matches('@')) {
                launch.kernel = Some(word.trim_start_matches('@').to_owned());
            } else {
                wrong(*at, word.len(), format!("`{word}` is no `NAME=VALUE`"));
            }
            continue;
        };
        let start = at + word.len() - given.len();
        if name == "grid" {
            match grid(given) {
                Ok(grid) => launch.grid = grid,
                Err(message) => wrong(start, given.len(), message),
            }
            continue;
        }
        if launch.arguments.iter().any(|argument| argument.name == name) {
            wrong(*at, name.len(), format!("`{name}` is given twice"));
            continue;
        }
        match value::read(given, folder) {
            Ok(given) => launch.arguments.push(LaunchArgument { name: name.to_owned(), given }),
            Err(ValueError { at, length, message }) => wrong(start + at, length, message),
        }
    }
    (launch, errors)
}

/// Reads `NAME=VALUE`, as it is given on a command line: the value may hold spaces.
///
/// # Errors
///
/// What is wrong with it.
pub fn argument(text: &str, folder: &Path) -> Result<LaunchArgument, String> {
    let (name, given) = pair(text.trim()).ok_or(format!("`{text}` is no `NAME=VALUE`"))?;
    let given = value::read(given.trim(), Some(folder)).map_err(|wrong| wrong.message)?;
    Ok(LaunchArgument { name: name.to_owned(), given })
}

/// Reads a grid: `4`, `(4, 4)`, `4x4x1`.
///
/// # Errors
///
/// What is wrong with it.
pub fn grid(text: &str) -> Result<[u32; 3], String> {
    let whole = text.trim();
    let inside = |open, close| whole.strip_prefix(open)?.strip_suffix(close);
    let inner = inside('(', ')').or_else(|| inside('[', ']')).unwrap_or(whole).trim_end().trim_end_matches(',');
    let sizes: Result<Vec<u32>, _> = inner.split([',', 'x']).map(|size| size.trim().parse::<u32>()).collect();
    let wrong = || format!("`{text}` is no grid; write `grid=(4, 4)`, one to three numbers above 0");
    let sizes = sizes.map_err(|_| wrong())?;
    let whole = sizes.iter().try_fold(1u32, |whole, size| whole.checked_mul(*size));
    if sizes.is_empty() || sizes.len() > 3 || whole.is_none_or(|whole| whole == 0) {
        return Err(wrong());
    }
    let mut grid = [1; 3];
    grid.iter_mut().zip(&sizes).for_each(|(to, from)| *to = *from);
    Ok(grid)
}

fn entry(word: &str, rest: &[(usize, &str)], text: &str) -> Result<PythonEntry, String> {
    let tail = || rest.first().and_then(|(at, _)| text.get(*at..)).unwrap_or("").trim();
    match word {
        "main" => Ok(PythonEntry::Main(rest.iter().map(|(_, word)| unquoted(word).to_owned()).collect())),
        _ if tail().is_empty() => Err(format!("`{word}` names nothing; write `pytest FILE::TEST` or `call f(64)`")),
        "pytest" => Ok(PythonEntry::Pytest(unquoted(tail()).to_owned())),
        _ => Ok(PythonEntry::Call(tail().to_owned())),
    }
}

/// Words at white space outside of brackets and quotes, with their places.
fn words(text: &str) -> Vec<(usize, &str)> {
    let (mut out, mut start, mut depth, mut quote) = (Vec::new(), None, 0usize, None);
    for (at, letter) in text.char_indices() {
        let inside = depth > 0 || quote.is_some();
        if letter.is_whitespace() && !inside {
            if let Some(start) = start.take() {
                out.extend(text.get(start..at).map(|word| (start, word)));
            }
            continue;
        }
        start.get_or_insert(at);
        match letter {
            '\'' | '"' if quote == Some(letter) => quote = None,
            '\'' | '"' if quote.is_none() => quote = Some(letter),
            '(' | '[' if quote.is_none() => depth += 1,
            ')' | ']' if quote.is_none() => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if let Some(start) = start {
        out.extend(text.get(start..).map(|word| (start, word.trim_end())));
    }
    out
}

/// A name and what is behind its `=`.
fn pair(word: &str) -> Option<(&str, &str)> {
    let (name, given) = word.split_once('=')?;
    let name = name.trim().trim_start_matches('%');
    (identifier(name) && !given.starts_with('=')).then_some((name, given))
}

fn identifier(name: &str) -> bool {
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(letter)
}

fn range(start: usize, length: usize) -> TextRange {
    TextRange::new(start as u32, (start + length) as u32)
}

/// The recipe as [`parse`] reads it.
impl fmt::Display for LaunchSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kernel) = &self.kernel {
            write!(f, "{kernel} ")?;
        }
        match &self.entry {
            Some(PythonEntry::Pytest(node)) => return write!(f, "pytest {node}"),
            Some(PythonEntry::Call(call)) => return write!(f, "call {call}"),
            Some(PythonEntry::Main(arguments)) => {
                f.write_str("main")?;
                for argument in arguments {
                    let quote = if argument.contains(char::is_whitespace) { "'" } else { "" };
                    write!(f, " {quote}{argument}{quote}")?;
                }
                return Ok(());
            }
            None => {}
        }
        let [x, y, z] = self.grid;
        match (y, z) {
            (1, 1) => write!(f, "grid={x}")?,
            (_, 1) => write!(f, "grid=({x},{y})")?,
            _ => write!(f, "grid=({x},{y},{z})")?,
        }
        self.arguments.iter().try_for_each(|argument| write!(f, " {argument}"))
    }
}

/// As [`argument`] reads it.
impl fmt::Display for LaunchArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::{ArgumentValue, ArraySpec, Fill};
    use tensors::array::ElemType;

    fn read(text: &str) -> LaunchSpec {
        let (launch, errors) = parse(text, true, Path::new("/f"));
        assert_eq!(errors, [], "{text}");
        launch
    }

    fn given(text: &str) -> ArgumentValue {
        argument(text, Path::new("/f")).map_or_else(|why| ArgumentValue::Python(format!("error: {why}")), |it| it.given)
    }

    #[test]
    fn a_recipe_is_read_and_printed() {
        let text = "gemm grid=(4,4) a_ptr=f16[256,64]:normal %b=bf16[64,256]@(1, 64):uniform(-1, 1) M=256 alpha=0.5 \
                    flag=True dtype=gl.float16 note='a b'";
        let launch = read(text);
        assert_eq!((launch.kernel.as_deref(), launch.grid), (Some("gemm"), [4, 4, 1]));
        let names: Vec<&str> = launch.arguments.iter().map(|argument| argument.name.as_str()).collect();
        assert_eq!(names, ["a_ptr", "b", "M", "alpha", "flag", "dtype", "note"]);
        let b = ArraySpec {
            dtype: ElemType::BF16,
            unsigned: false,
            shape: vec![64, 256],
            strides: Some(vec![1, 64]),
            fill: Fill::Uniform(-1.0, 1.0),
        };
        assert_eq!(launch.arguments.get(1).map(|argument| &argument.given), Some(&ArgumentValue::Array(b)));
        assert_eq!(read(&launch.to_string()), launch, "{launch}");
    }

    #[test]
    fn values() {
        assert_eq!(given("a=-0x10"), ArgumentValue::Int(-16));
        assert_eq!(given("a=1_000"), ArgumentValue::Int(1000));
        assert_eq!(given("a=false"), ArgumentValue::Bool(false));
        assert_eq!(given("a=1e-3"), ArgumentValue::Float(1e-3));
        assert_eq!(given("a=-inf"), ArgumentValue::Float(f64::NEG_INFINITY));
        assert_eq!(given("a='f16[2]'"), ArgumentValue::Python("'f16[2]'".to_owned()));
        assert_eq!(given("a=torch.float16"), ArgumentValue::Python("torch.float16".to_owned()));
        let fill = |text: &str| match given(text) {
            ArgumentValue::Array(spec) => Some(spec.fill),
            _ => None,
        };
        assert_eq!(fill("a=f32[]:ones"), Some(Fill::Value(1.0)));
        assert_eq!(fill("a=i32[4]"), Some(Fill::Value(0.0)), "a lock starts at zero");
        assert_eq!(fill("a=f32[4]:value(-2)"), Some(Fill::Value(-2.0)));
        let path = Path::new("/f/x y.npz").to_owned();
        assert_eq!(fill("a=f32[4]:file('x y.npz', m)"), Some(Fill::File(path, Some("m".to_owned()))));
    }

    #[test]
    fn strings_expressions_and_unsigned_integers_stay_what_they_are() {
        let texts = ["MODE='up'", "MODE=\"it's\"", "dtype=gl.float16", "f=(lambda x: x)", "x=u32[4]:ones", "flag=True"];
        for text in texts {
            let read = argument(text, Path::new("/f")).map(|read| read.to_string());
            assert_eq!(read.as_deref(), Ok(text));
        }
        assert_eq!(given("x=u8[4]").to_string(), "u8[4]:uniform(0,256)");
        let python = |text: &str| ArgumentValue::Python(text.to_owned());
        assert_eq!(python("a if b else c").to_string(), "(a if b else c)");
        assert_eq!(python("-x").to_string(), "(-x)");
        assert_eq!(given("a=(a if b else c)"), python("(a if b else c)"));
    }

    #[test]
    fn python_has_ways_of_its_own() {
        assert_eq!(
            read("pytest test_x.py::test_a[64-a b]").entry,
            Some(PythonEntry::Pytest("test_x.py::test_a[64-a b]".to_owned()))
        );
        assert_eq!(read("call run(64, n = 2)").entry, Some(PythonEntry::Call("run(64, n = 2)".to_owned())));
        let main = read("gemm main --size 64 'a b'");
        assert_eq!(main.entry, Some(PythonEntry::Main(vec!["--size".to_owned(), "64".to_owned(), "a b".to_owned()])));
        assert_eq!(main.kernel.as_deref(), Some("gemm"));
        assert_eq!(read(&main.to_string()), main);
        let (launch, _) = parse("main", false, Path::new(""));
        assert_eq!((launch.kernel.as_deref(), launch.entry), (Some("main"), None), "a kernel of a TTGIR file");
    }

    #[test]
    fn what_is_wrong_is_said_at_its_place() {
        let wrong = [
            ("gemm what", "what", "NAME=VALUE"),
            ("grid=(4,0)", "(4,0)", "no grid"),
            ("grid=(70000,70000)", "(70000,70000)", "no grid"),
            ("a=f17[4]", "f17", "no type"),
            ("a=f16[4,x]", "4,x", "sizes"),
            ("a=f16[4]@(1,2)", "1,2", "strides"),
            ("a=f16[4]:gauss", "gauss", "no fill"),
            ("a=f16[4]:uniform(2,1)", "uniform(2,1)", "bounds"),
            ("a=f16[4] a=2", "a", "twice"),
            ("a=", "", "no value"),
            ("a=12q", "12q", "no value"),
            ("a=file(none.npy)", "file(none.npy)", "none.npy"),
            ("pytest", "pytest", "names nothing"),
        ];
        for (text, place, word) in wrong {
            let (_, errors) = parse(text, true, Path::new("/f"));
            let said: Vec<(&str, bool)> =
                errors.iter().map(|it| (it.range.of(text), it.message.contains(word))).collect();
            assert_eq!(said, [(place, true)], "{text}: {errors:?}");
        }
    }
}
