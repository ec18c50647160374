//! What a project and a command line say of all kernels, as plain data; and the text of `fencepost.toml`.
//!
//! ```toml
//! target = "sm_100"
//! triton = "3.9"
//!
//! [values]
//! num_buffers = [2, 3]
//! a_desc = "fp16[128,64]"
//! ```
//!
//! Read is what stands above: keys, one table, and values of one line. The rest of TOML is refused with its
//! place.

use super::directive::{given, pieces, version};
use super::{Recipe, Target, Version};
use base::TextRange;

/// Who says which release of Triton a file is for, the weakest first. A directive says it for its kernel alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum VersionSource {
    /// Nobody: it is the newest release that is known.
    #[default]
    Newest,
    /// It is installed beside the file.
    Installed,
    /// `triton = "3.8"` of the configuration.
    Configuration,
    /// The command line.
    Command,
}

/// Settings that reach specialisations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// `--set NAME=VALUE`: stronger than anything else, for every kernel that has the parameter. Texts that
    /// [`super::given`] takes.
    pub set: Vec<(String, String)>,
    /// `--target`, or the configuration's.
    pub target: Option<Target>,
    /// Which Triton.
    pub version: Version,
    /// Who says so.
    pub version_from: VersionSource,
    /// `[values]` of the configuration: parameter, and what it is given where nobody else says.
    /// Several rows of one name are several values.
    pub values: Vec<(String, String)>,
    /// What was compiled before.
    pub recipes: Vec<Recipe>,
}

/// What the newest release has no more and what there is no other name for, and the last release that had it.
const GONE: &[(&str, Version)] = &[("make_block_ptr", Version(3, 8))];

impl Config {
    /// The release that a text is for: where nobody says, the newest that has what it calls.
    pub(super) fn version_of(&self, text: &str) -> Version {
        if self.version_from != VersionSource::Newest {
            return self.version;
        }
        let gone = GONE.iter().filter(|(name, _)| text.contains(name));
        gone.map(|(_, last)| *last).fold(self.version, Version::min)
    }

    /// Reads the text of a configuration file; what is wrong with it comes with its place.
    pub fn read(text: &str) -> (Config, Vec<(TextRange, String)>) {
        let (mut config, mut errors) = (Config::default(), Vec::new());
        let (mut table, mut at) = (String::new(), 0);
        for line in text.split_inclusive('\n') {
            let code = uncommented(line);
            let start = at + (code.len() - code.trim_start().len()) as u32;
            let range = TextRange::new(start, start + code.trim().len() as u32);
            at += line.len() as u32;
            let code = code.trim();
            if code.is_empty() {
                continue;
            }
            if let Some(name) = code.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                table = name.trim().to_owned();
                if table != "values" {
                    errors.push((range, format!("there is no table `{table}`; there is `values`")));
                }
                continue;
            }
            if let Err(message) = config.take(&table, code) {
                errors.push((range, message));
            }
        }
        (config, errors)
    }

    fn take(&mut self, table: &str, code: &str) -> Result<(), String> {
        let (key, value) = code.split_once('=').ok_or_else(|| format!("`{code}` is no `key = value`"))?;
        let (key, value) = (key.trim().trim_matches('"'), value.trim());
        match (table, key) {
            ("", "target") => {
                let name = scalar(value)?;
                self.target = Some(Target::named(&name).ok_or(format!("`{name}` is no target"))?);
            }
            ("", "triton") => {
                let name = scalar(value)?;
                self.version = version(&name).ok_or(format!("`{name}` is no release of Triton with Gluon"))?;
                self.version_from = VersionSource::Configuration;
            }
            ("", _) => return Err(format!("there is no key `{key}`; there are `target` and `triton`")),
            ("values", _) => {
                let all = match value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                    Some(inner) => pieces(inner).into_iter().map(|(_, part)| part.trim()).collect(),
                    None => vec![value],
                };
                for part in all.into_iter().filter(|part| !part.is_empty()) {
                    let text = scalar(part)?;
                    given(&text)?;
                    self.values.push((key.to_owned(), text));
                }
            }
            // The table was refused where it starts.
            _ => {}
        }
        Ok(())
    }
}

/// A line without its comment.
fn uncommented(line: &str) -> &str {
    let mut quoted = None;
    for (at, c) in line.char_indices() {
        match (quoted, c) {
            (None, '#') => return line.get(..at).unwrap_or(line),
            (None, '"' | '\'') => quoted = Some(c),
            (Some(open), _) if open == c => quoted = None,
            _ => {}
        }
    }
    line
}

/// A value of one line, as Python writes it; a string is its content.
fn scalar(value: &str) -> Result<String, String> {
    let quoted = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if let Some(inner) = quoted('"').or_else(|| quoted('\'')) {
        return Ok(inner.to_owned());
    }
    match value {
        "true" => Ok("True".to_owned()),
        "false" => Ok("False".to_owned()),
        _ if value.parse::<f64>().is_ok() => Ok(value.to_owned()),
        _ => Err(format!("`{value}` is neither a string nor a number, true or false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration() {
        let text = "# ours\ntarget = \"sm_100\"  # B200\ntriton = '3.8'\n\n[values]\nnum_buffers = [2, 3]\nd = \"fp16[128,64]\"\nuse = true\n";
        let (config, errors) = Config::read(text);
        assert_eq!(errors, []);
        assert_eq!((config.target, config.version), (Some(Target::Cuda(100)), Version(3, 8)));
        let values: Vec<_> = config.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(values, ["num_buffers=2", "num_buffers=3", "d=fp16[128,64]", "use=True"]);
    }

    #[test]
    fn a_text_that_calls_what_is_gone_is_for_an_older_release() {
        let none = Config::default();
        assert_eq!(none.version_of("b = tl.make_block_ptr(x)"), Version(3, 8));
        assert_eq!(none.version_of("b = tl.load(x)"), none.version);
        let (said, _) = Config::read("triton = \"3.9\"\n");
        assert_eq!(said.version_of("b = tl.make_block_ptr(x)"), Version(3, 9));
    }

    #[test]
    fn errors_have_their_place() {
        let text = "target = sm_100\n[limits]\nx = 1\n[values]\nn = [1, +]\n";
        let (_, errors) = Config::read(text);
        let places: Vec<&str> = errors.iter().map(|(range, _)| range.of(text)).collect();
        assert_eq!(places, ["target = sm_100", "[limits]", "n = [1, +]"]);
    }
}
