//! `# fencepost: num_buffers=3, a_desc=fp16[128,64], target=sm_100` above a kernel.
//!
//! A value is a Python expression, a type in the notation of Triton's signatures (`*fp16`, `i32`), or a
//! tensor descriptor by its element type and block shape.

use ruff_python_parser::parse_expression;

use super::entries::Param;
use super::{Given, Target, Version};
use base::TextRange;
use python::syntax::Module;
use python::value::DType;

pub(super) const MARK: &str = "fencepost:";

/// Stands in a directive for a value that its author has yet to write.
pub const OPEN: &str = "?";

/// One line of directives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directive {
    /// The comment.
    pub range: TextRange,
    /// What it gives to parameters, and where it says so.
    pub values: Vec<(String, Given, TextRange)>,
    /// `target=sm_100`.
    pub target: Option<Target>,
    /// `triton=3.8`.
    pub version: Option<Version>,
    /// `num_warps=4`.
    pub num_warps: Option<u32>,
    /// `num_ctas=2`.
    pub num_ctas: Option<u32>,
    /// What is wrong with it, and where.
    pub errors: Vec<(TextRange, String)>,
}

/// The directives above the statement that starts at `def`, or between its decorators. Comments of other
/// kinds may stand between them, empty lines may not.
pub fn directives(module: &Module, def: TextRange) -> Vec<Directive> {
    // Comments of a statement that is not the last good one stand where it is broken now.
    let text = module.text();
    let (place, stale) = module.place(def);
    let start = if stale { place.start } else { def.start };
    let mut found = Vec::new();
    let mut line_start = line_start(text, start as usize);
    while line_start > 0 {
        let above = self::line_start(text, line_start - 1);
        let line = text.get(above..line_start).unwrap_or("");
        if !line.trim_start().starts_with('#') {
            break;
        }
        found.extend(read(line, above as u32));
        line_start = above;
    }
    found.reverse();
    if !stale {
        let statement = text.get(start as usize..def.end as usize).unwrap_or("");
        let mut at = start as usize;
        for line in statement.split_inclusive('\n') {
            let trimmed = line.trim_start();
            if trimmed.starts_with("def ") || trimmed.starts_with("async def ") {
                break;
            }
            if trimmed.starts_with('#') {
                found.extend(read(line, at as u32));
            }
            at += line.len();
        }
    }
    found
}

/// All lines of directives of a text, by their place.
pub(super) fn all(text: &str) -> Vec<TextRange> {
    let at = memchr::memmem::find_iter(text.as_bytes(), MARK.as_bytes());
    let lines = at.filter_map(|at| {
        let start = line_start(text, at);
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
        let directive = read(text.get(start..end)?, start as u32)?;
        Some(directive.range)
    });
    lines.collect()
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

/// A line that starts at `offset`, if it is one.
pub(super) fn read(line: &str, offset: u32) -> Option<Directive> {
    let indent = line.len() - line.trim_start().len();
    let comment = line.trim().strip_prefix('#')?;
    let body = comment.trim_start().strip_prefix(MARK)?;
    if is_suppression(body) {
        return None;
    }
    let comment_start = offset + indent as u32;
    let range = TextRange::new(comment_start, comment_start + line.trim().len() as u32);
    let body_start = range.end - body.len() as u32;
    let mut directive = Directive { range, ..Directive::default() };
    for (at, piece) in pieces(body) {
        let skipped = piece.len() - piece.trim_start().len();
        let start = body_start + (at + skipped) as u32;
        let piece = piece.trim();
        let range = TextRange::new(start, start + piece.len() as u32);
        if piece.is_empty() {
            continue;
        }
        if let Err(message) = directive.take(piece, range) {
            directive.errors.push((range, message));
        }
    }
    if directive.values.is_empty() && directive.errors.is_empty() && directive.says_nothing() {
        directive.errors.push((range, "this line gives nothing; write `# fencepost: NAME=VALUE, …`".to_owned()));
    }
    Some(directive)
}

/// Whether it is `ignore[KIND] reason`, well written or not, which asks for findings not to be shown; `ignore=3` gives a
/// parameter.
fn is_suppression(body: &str) -> bool {
    let rest = body.trim_start().strip_prefix("ignore");
    let longer = |c: char| c.is_alphanumeric() || c == '_';
    rest.is_some_and(|rest| !rest.starts_with(longer) && !rest.trim_start().starts_with('='))
}

impl Directive {
    fn says_nothing(&self) -> bool {
        (self.target, self.version, self.num_warps, self.num_ctas) == (None, None, None, None)
    }

    fn take(&mut self, piece: &str, range: TextRange) -> Result<(), String> {
        let Some((name, value)) = piece.split_once('=').map(|(name, value)| (name.trim(), value.trim())) else {
            return Err(format!("`{piece}` is no `NAME=VALUE`"));
        };
        let number = || value.parse().ok().filter(|number: &u32| (1..=64).contains(number) && number.is_power_of_two());
        match name {
            "target" | "arch" => {
                let target = Target::known(value).ok_or(format!(
                    "`{value}` is no target; there are `sm_80`, `sm_90`, `sm_100`, `sm_120`, `gfx942`, `gfx950` and `gfx1250`"
                ))?;
                self.target = Some(target);
            }
            "triton" => {
                let version = version(value).ok_or(format!("`{value}` is no release of Triton, such as `3.9`"))?;
                self.version = Some(version);
            }
            "num_warps" => {
                self.num_warps = Some(number().ok_or("`num_warps` is a power of two up to 64")?);
            }
            "num_ctas" => {
                let ctas = number().filter(|ctas| *ctas <= 16);
                self.num_ctas = Some(ctas.ok_or("`num_ctas` is a power of two up to 16")?);
            }
            _ => {
                let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
                if name.is_empty() || !plain || name.starts_with(|c: char| c.is_ascii_digit()) {
                    return Err(format!("`{name}` is no parameter's name"));
                }
                if self.values.iter().any(|(known, ..)| known == name) {
                    return Err(format!("`{name}` is given twice; a second line makes a second instance"));
                }
                if value == OPEN {
                    return Err(format!("write what `{name}` is given in place of `{OPEN}`"));
                }
                self.values.push((name.to_owned(), given(value)?, range));
            }
        }
        Ok(())
    }
}

/// `3.9`, `3.9.0`: a release of Triton that is known.
pub fn version(text: &str) -> Option<Version> {
    let mut parts = text.split('.');
    let version = Version(parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    (Version(3, 2) <= version && version < Version(4, 0)).then_some(version)
}

/// What the text behind a `=` gives.
///
/// # Errors
///
/// One sentence where it is neither an expression nor a type.
pub fn given(value: &str) -> Result<Given, String> {
    if value.is_empty() {
        return Err("nothing is given here".to_owned());
    }
    if is_type(value) {
        return Ok(Given::Type(value.to_owned()));
    }
    if let Some((element, shape)) = value.strip_suffix(']').and_then(|value| value.split_once('['))
        && let Some(dtype) = DType::named(element.trim())
    {
        let sizes: Option<Vec<u32>> = shape.split(',').map(|size| size.trim().parse().ok()).collect();
        let sizes = sizes.filter(|sizes| sizes.iter().all(|size| *size > 0));
        let sizes = sizes.ok_or(format!("`[{shape}]` is no block shape"))?;
        let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
        return Ok(Given::Type(format!("tensordesc<{}[{}]>", dtype.name_in_signatures(), sizes.join(", "))));
    }
    match parse_expression(value) {
        Ok(_) => Ok(Given::Value(value.to_owned())),
        Err(error) => Err(format!("`{value}` is neither a Python expression nor a type: {}", error.error)),
    }
}

/// Whether a text is a type in the notation of signatures.
fn is_type(text: &str) -> bool {
    if let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        let parts: Vec<&str> = pieces(inner).into_iter().map(|(_, part)| part.trim()).collect();
        return parts.iter().any(|part| !part.is_empty()) && parts.iter().all(|part| part.is_empty() || is_type(part));
    }
    let text = text.strip_suffix(":16").unwrap_or(text);
    if text.starts_with("tensordesc") && text.ends_with('>') {
        return true;
    }
    let element = text.strip_prefix('*').unwrap_or(text);
    DType::named(element).is_some_and(|dtype| dtype.name_in_signatures() == element)
}

/// Parts between commas that are in no bracket and no string, with their places.
pub(super) fn pieces(text: &str) -> Vec<(usize, &str)> {
    let (mut depth, mut quote, mut start, mut out) = (0i32, None, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{' | '<') => depth += 1,
            (None, ')' | ']' | '}' | '>') => depth -= 1,
            (None, ',') if depth <= 0 => {
                out.push((start, &text[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    out.push((start, &text[start..]));
    out
}

/// `dtype=fp16` gives a constexpr a type as its value.
pub(super) fn fitting(param: Option<&Param>, given: Given) -> Given {
    match given {
        Given::Type(ty) if param.is_some_and(|param| param.constexpr) && !ty.contains(['*', '<', '(', ':']) => {
            Given::Value(ty)
        }
        given => given,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(line: &str) -> Vec<(String, String)> {
        let directive = read(line, 0).unwrap();
        directive.errors.iter().map(|(range, message)| (range.of(line).to_owned(), message.clone())).collect()
    }

    #[test]
    fn values_types_and_settings() {
        let line = "  # fencepost: num_buffers=3, a_desc=fp16[128,64], out=*fp16, s=(i32, i64), n=i32:16, \
                    shape=[1, 2], target=sm_100, num_warps=8, num_ctas=2, triton=3.8";
        let directive = read(line, 10).unwrap();
        assert_eq!(directive.errors, []);
        let values: Vec<_> = directive.values.iter().map(|(name, given, _)| (name.as_str(), given.clone())).collect();
        let ty = |text: &str| Given::Type(text.to_owned());
        let value = |text: &str| Given::Value(text.to_owned());
        let expected = [
            ("num_buffers", value("3")),
            ("a_desc", ty("tensordesc<fp16[128, 64]>")),
            ("out", ty("*fp16")),
            ("s", ty("(i32, i64)")),
            ("n", ty("i32:16")),
            ("shape", value("[1, 2]")),
        ];
        assert_eq!(values, expected);
        assert_eq!(directive.target, Some(Target::Cuda(100)));
        assert_eq!((directive.num_warps, directive.num_ctas), (Some(8), Some(2)));
        assert_eq!(directive.version, Some(Version(3, 8)));
        let (_, _, range) = &directive.values[0];
        assert_eq!(&line[range.start as usize - 10..range.end as usize - 10], "num_buffers=3");
    }

    #[test]
    fn what_is_wrong_is_said_where_it_is() {
        assert_eq!(errors("# fencepost: num_buffers=3, depth")[0].0, "depth");
        assert_eq!(errors("# fencepost: a=1, target=sm90x")[0].0, "target=sm90x");
        assert_eq!(errors("# fencepost: a=1 +")[0].0, "a=1 +");
        assert_eq!(errors("# fencepost: a=1, a=2")[0].0, "a=2");
        assert_eq!(errors("# fencepost:")[0].0, "# fencepost:");
        assert_eq!(errors("# fencepost: num_warps=3")[0].0, "num_warps=3");
        assert!(read("# fenceposts are made of wood", 0).is_none());
    }

    #[test]
    fn above_the_decorators_or_between_them() {
        let text = "# fencepost: a=0\n\nx = 1  # fencepost: a=9\n# fencepost: a=1\n# why\n# fencepost: a=2\n\
                    @gluon.jit\n# fencepost: a=3\ndef k(a):\n    # fencepost: a=4\n    pass\n";
        let module = Module::parse("k.py", text, None);
        let def = python::interp::Interp::range(module.body().last().unwrap());
        let found = directives(&module, def);
        let values: Vec<_> = found.iter().flat_map(|line| &line.values).map(|(_, given, _)| given.clone()).collect();
        assert_eq!(values, ["1", "2", "3"].map(|value| Given::Value(value.to_owned())));
        assert_eq!(all(text).len(), 5);
    }
}
