//! From the text of `fencepost.toml` to settings. What is wrong is said at its place and left out; the rest holds.

use std::path::Path;

use base::{Semantics, TextRange};
use engine::instances::{given, version};
use findings::Kind;
use runtime::launch::recipe;

use crate::table::{self, Said, Setting, Takes, named};
use crate::tree::{self, Entry, Node, Value};
use crate::{Level, Settings, nearest};

/// What is wrong with a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// Where.
    pub range: TextRange,
    /// What, in words.
    pub message: String,
    /// What to write there instead, where somebody may have meant it.
    pub instead: Option<String>,
    /// Whether the text does not parse as TOML.
    pub syntax: bool,
}

/// Reads a text of TOML.
pub fn read(text: &str) -> (Settings, Vec<SettingError>) {
    let (entries, broken) = tree::toml(text);
    let broken = broken.into_iter().map(|(range, message)| {
        let message = format!("does not parse: {message}");
        SettingError { range, message, instead: None, syntax: true }
    });
    let mut reader = Reader { settings: Settings::default(), errors: broken.collect(), editor: false };
    reader.rows(table::SETTINGS, &entries, "");
    (reader.settings, reader.errors)
}

/// Reads rows into settings.
pub(crate) struct Reader {
    pub(crate) settings: Settings,
    pub(crate) errors: Vec<SettingError>,
    /// Whether an editor speaks: keys are in camel case.
    pub(crate) editor: bool,
}

impl Reader {
    fn wrong(&mut self, range: TextRange, message: String) {
        self.errors.push(SettingError { range, message, instead: None, syntax: false });
    }

    /// There is no such name; `names` are those that there are.
    fn unknown<'a>(&mut self, range: TextRange, what: &str, name: &str, names: impl Iterator<Item = &'a str>) {
        let names: Vec<&str> = names.collect();
        let near = nearest(name, names.iter().copied());
        let message = match near {
            Some(near) => format!("there is no {what} `{name}`; did you mean `{near}`?"),
            None => {
                let list: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                format!("there is no {what} `{name}`; there are {}", list.join(", "))
            }
        };
        self.errors.push(SettingError { range, message, instead: near.map(str::to_owned), syntax: false });
    }

    /// Rows of a table whose settings are these.
    pub(crate) fn rows(&mut self, known: &'static [Setting], entries: &[Entry], inside: &str) {
        for entry in entries {
            let found =
                known.iter().find(|row| row.name == entry.key || (self.editor && row.editor_name() == entry.key));
            match found {
                Some(row) if row.said == Said::Editor && !self.editor => {
                    let message = format!(
                        "`{}` is a setting of the editor (`fencepost.{}`): a file that came with a repository must not say which program is started",
                        row.name,
                        row.editor_name()
                    );
                    self.wrong(entry.key_range, message);
                }
                Some(row) => self.row(row, &entry.node),
                None => {
                    let what = if inside.is_empty() { "setting".to_owned() } else { format!("setting in `{inside}`") };
                    let editor = self.editor;
                    let names: Vec<String> = known
                        .iter()
                        .filter(|row| editor || row.said == Said::Anywhere)
                        .map(|row| if editor { row.editor_name() } else { row.name.to_owned() })
                        .collect();
                    self.unknown(entry.key_range, &what, &entry.key, names.iter().map(String::as_str));
                }
            }
        }
    }

    fn row(&mut self, row: &'static Setting, node: &Node) {
        let refused =
            |value: &Value| format!("`{}` takes {}, and this is {}", row.name, row.takes_words(), value.words());
        match (row.takes, &node.value) {
            (Takes::Target, Value::Text(name)) => match table::target(name) {
                Some(target) => self.settings.target = Some(target),
                None => self.unknown(node.range, "target", name, table::TARGETS.iter().copied()),
            },
            (Takes::Release, Value::Text(name)) => match version(name) {
                Some(release) => self.settings.triton = Some(release),
                None => self.wrong(node.range, format!("`{name}` is no release of Triton with Gluon; write `\"3.9\"`")),
            },
            (Takes::Word(words), Value::Text(word)) => match (words.contains(&word.as_str()), row.name) {
                (true, "semantics") => {
                    self.settings.semantics = Some(if word == "fork" { Semantics::Fork } else { Semantics::Release });
                }
                (true, _) => {}
                (false, _) => self.unknown(node.range, "word", word, words.iter().copied()),
            },
            (Takes::Number(least, most), Value::Number(number)) => match u64::try_from(*number) {
                Ok(number) if (least..=most).contains(&number) => drop(self.settings.limits.insert(row.name, number)),
                _ => self.wrong(node.range, format!("`{}` is from {least} to {most}, and this is {number}", row.name)),
            },
            (Takes::Switch, Value::Switch(on)) => self.settings.compile_on_save = Some(*on),
            (Takes::Text, Value::Text(text)) => {
                self.settings.python = Some(text.clone()).filter(|text| !text.is_empty());
            }
            (Takes::Texts, Value::Text(text)) => self.texts(row, vec![text.clone()]),
            (Takes::Texts, Value::List(items)) => {
                let texts = items.iter().filter_map(|item| match &item.value {
                    Value::Text(text) if text.contains(['[', '{']) => {
                        self.wrong(item.range, format!("a pattern has `*`, `?` and `**`, and `{text}` has brackets"));
                        None
                    }
                    Value::Text(text) => Some(text.clone()),
                    value => {
                        self.wrong(item.range, format!("`{}` takes texts, and this is {}", row.name, value.words()));
                        None
                    }
                });
                let texts = texts.collect();
                self.texts(row, texts);
            }
            (Takes::Rows(rows), Value::Table(entries)) => self.rows(rows, entries, row.name),
            (Takes::Kinds, Value::Table(entries)) => entries.iter().for_each(|entry| self.kind(entry)),
            (Takes::Values, Value::Table(entries)) => entries.iter().for_each(|entry| self.values(entry)),
            (Takes::Map, Value::Table(entries)) => {
                for entry in entries {
                    match &entry.node.value {
                        Value::Text(to) => self.settings.paths.push((entry.key.clone(), to.clone())),
                        value => {
                            self.wrong(entry.node.range, format!("a path is a text, and this is {}", value.words()))
                        }
                    }
                }
            }
            (Takes::Recipes, Value::Table(entries)) => entries.iter().for_each(|entry| self.recipe(entry)),
            (_, value) => self.wrong(node.range, refused(value)),
        }
    }

    fn texts(&mut self, row: &Setting, texts: Vec<String>) {
        match row.name {
            "exclude" => self.settings.exclude = texts,
            _ => self.settings.watch = texts,
        }
    }

    fn kind(&mut self, entry: &Entry) {
        let Some(kind) = Kind::from_name(&entry.key) else {
            self.unknown(entry.key_range, "kind", &entry.key, table::kinds());
            return;
        };
        match &entry.node.value {
            Value::Text(name) => match Level::named(name) {
                Some(level) => drop(self.settings.kinds.insert(kind, level)),
                None => self.unknown(entry.node.range, "level", name, table::levels()),
            },
            value => {
                let levels: Vec<String> = table::levels().map(|name| format!("`\"{name}\"`")).collect();
                let message = format!("a level is one of {}, and this is {}", levels.join(", "), value.words());
                self.wrong(entry.node.range, message);
            }
        }
    }

    fn values(&mut self, entry: &Entry) {
        let one = std::slice::from_ref(&entry.node);
        let items = match &entry.node.value {
            Value::List(items) => items.as_slice(),
            _ => one,
        };
        for item in items {
            let text = match &item.value {
                Value::Switch(true) => "True".to_owned(),
                Value::Switch(false) => "False".to_owned(),
                Value::Number(number) => number.to_string(),
                Value::Float(number) => format!("{number:?}"),
                Value::Text(text) => text.clone(),
                value => {
                    let message = format!(
                        "`{}` is given numbers, texts, true or false, and this is {}",
                        entry.key,
                        value.words()
                    );
                    self.wrong(item.range, message);
                    continue;
                }
            };
            match given(&text) {
                Ok(_) => self.settings.values.push((entry.key.clone(), text)),
                Err(message) => self.wrong(item.range, message),
            }
        }
    }

    fn recipe(&mut self, entry: &Entry) {
        let one = std::slice::from_ref(&entry.node);
        let items = match &entry.node.value {
            Value::List(items) => items.as_slice(),
            _ => one,
        };
        for item in items {
            let Value::Text(text) = &item.value else {
                self.wrong(item.range, format!("a recipe is a line of text, and this is {}", item.value.words()));
                continue;
            };
            // Whether the kernel is Python is not known here; what only Python takes is no mistake.
            let (_, errors) = recipe::parse(text, true, Path::new(""));
            for error in &errors {
                self.wrong(item.range, error.message.clone());
            }
            if errors.is_empty() {
                self.settings.recipes.push((entry.key.clone(), text.clone()));
            }
        }
    }
}

/// The setting that a path of keys names.
pub(crate) fn setting(path: &[&str]) -> Option<&'static Setting> {
    let first = named(table::SETTINGS, path.first()?)?;
    match (first.takes, path.get(1)) {
        (Takes::Rows(rows), Some(name)) => named(rows, name),
        _ => Some(first),
    }
}

#[cfg(test)]
mod tests {
    use engine::instances::{Target, Version, VersionSource};
    use findings::Severity;

    use super::*;

    #[test]
    fn all_that_there_is() {
        let text = "\
# ours
target = \"sm_100\"  # B200
triton = '3.8'
exclude = \"gen/**\"
watch = [\"dumps\", \"~/.triton/cache\"]

[values]
num_buffers = [2, 3]
d = \"fp16[128,64]\"
use = true

[kinds]
lapped-wait = \"off\"
deadlock = \"warning\"

[limits]
total_steps = 6_000_000
semantics = \"fork\"

[paths]
\"/build\" = \"src\"

[recipes]
gemm = [\"grid=(4,4) M=256\", \"grid=4\"]
";
        let (settings, errors) = read(text);
        assert_eq!(errors, []);
        let config = settings.config();
        assert_eq!((config.target, config.version), (Some(Target::Cuda(100)), Version(3, 8)));
        assert_eq!(config.version_from, VersionSource::Configuration);
        let values: Vec<_> = config.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(values, ["num_buffers=2", "num_buffers=3", "d=fp16[128,64]", "use=True"]);
        assert_eq!(settings.kinds.get(&Kind::LappedWait), Some(&Level::Off));
        assert_eq!(settings.kinds.get(&Kind::Deadlock), Some(&Level::As(Severity::Warning)));
        let limits = settings.limits();
        assert_eq!((limits.total_steps, limits.states, limits.semantics), (6_000_000, 20_000, Semantics::Fork));
        assert_eq!((settings.exclude.len(), settings.watch.len(), settings.recipes.len()), (1, 2, 2));
        assert_eq!(settings.paths, [("/build".to_owned(), "src".to_owned())]);
    }

    #[test]
    fn what_is_wrong_is_said_at_its_place() {
        let text = "\
target = \"sm-100\"
tritn = \"3.9\"
python = \"/bin/sh\"
[kinds]
laped-wait = \"off\"
deadlock = \"of\"
[limits]
states = 0
findings = \"many\"
[values]
n = [1, \"+\"]
[recipes]
k = \"grid=(0)\"
";
        let (settings, errors) = read(text);
        let places: Vec<&str> = errors.iter().map(|error| error.range.of(text)).collect();
        let wanted =
            ["\"sm-100\"", "tritn", "python", "laped-wait", "\"of\"", "0", "\"many\"", "\"+\"", "\"grid=(0)\""];
        assert_eq!(places, wanted, "{errors:?}");
        let instead: Vec<&str> = errors.iter().filter_map(|error| error.instead.as_deref()).collect();
        assert_eq!(instead, ["sm_100", "triton", "lapped-wait", "off"]);
        assert_eq!(settings.values, [("n".to_owned(), "1".to_owned())]);
        assert_eq!(settings.python, None);
    }

    #[test]
    fn what_does_not_parse_leaves_the_rest() {
        let (settings, errors) = read("target = \"sm_90\"\ntriton = \n[kinds]\ndeadlock = \"hint\"\n");
        assert_eq!(settings.target, Some(Target::Cuda(90)));
        assert_eq!(settings.kinds.len(), 1);
        assert!(errors.iter().any(|error| error.syntax), "{errors:?}");
    }
}
