//! A layout's attribute as its kind and fields, read off its text.

use crate::limits::layouts::DEPTH;

/// What stands behind a field's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// A number, or a truth value as 0 or 1.
    Int(i64),
    /// What is no number, as it is written.
    Word(String),
    /// `[…]`.
    List(Vec<Field>),
    /// Another layout.
    Layout(Box<LayoutSpec>),
}

/// A layout as it is written: `ttg.blocked` with its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutSpec {
    /// `ttg.blocked`.
    pub kind: String,
    /// Fields by the names that the IR has for them; a leading list has the name ``.
    pub fields: Vec<(String, Field)>,
}

impl LayoutSpec {
    fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, field)| field)
    }

    /// A number.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.field(name)? {
            Field::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// A list of numbers.
    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        ints(self.field(name)?)
    }

    /// A list of lists of numbers.
    pub fn bases(&self, name: &str) -> Option<Vec<Vec<i64>>> {
        match self.field(name)? {
            Field::List(items) => items.iter().map(ints).collect(),
            _ => None,
        }
    }

    /// A list of words.
    pub fn words(&self, name: &str) -> Option<Vec<&str>> {
        let Field::List(items) = self.field(name)? else { return None };
        items.iter().map(|item| if let Field::Word(word) = item { Some(word.as_str()) } else { None }).collect()
    }

    /// A layout in it.
    pub fn layout(&self, name: &str) -> Option<&LayoutSpec> {
        match self.field(name)? {
            Field::Layout(layout) => Some(layout),
            _ => None,
        }
    }
}

fn ints(field: &Field) -> Option<Vec<i64>> {
    let Field::List(items) = field else { return None };
    items.iter().map(|item| if let Field::Int(value) = item { Some(*value) } else { None }).collect()
}

/// Reads `#ttg.blocked<{…}>`; `alias` knows what `#name` stands for.
pub fn read(text: &str, alias: &dyn Fn(&str) -> Option<String>) -> Option<LayoutSpec> {
    read_at(text, alias, DEPTH)
}

fn read_at(text: &str, alias: &dyn Fn(&str) -> Option<String>, depth: u32) -> Option<LayoutSpec> {
    let depth = depth.checked_sub(1)?;
    let text = text.trim();
    let name = text.strip_prefix('#')?;
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'))).unwrap_or(name.len());
    let (kind, rest) = name.split_at(end);
    if !kind.contains('.') {
        return read_at(&alias(&format!("#{kind}"))?, alias, depth);
    }
    let mut cursor = Cursor { rest: rest.trim(), alias, depth };
    Some(LayoutSpec { kind: kind.to_owned(), fields: cursor.fields() })
}

struct Cursor<'t, 'a> {
    rest: &'t str,
    alias: &'a dyn Fn(&str) -> Option<String>,
    depth: u32,
}

impl Cursor<'_, '_> {
    fn fields(&mut self) -> Vec<(String, Field)> {
        let mut fields = Vec::new();
        loop {
            self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || "<{,}>".contains(c));
            if self.rest.is_empty() {
                return fields;
            }
            if self.rest.starts_with('[') {
                fields.extend(self.value().map(|value| (String::new(), value)));
                continue;
            }
            let end = self.rest.find(['=', ',', '}', '>', ']']).unwrap_or(self.rest.len());
            let (name, rest) = self.rest.split_at(end);
            match rest.strip_prefix('=') {
                Some(rest) => {
                    self.rest = rest;
                    let Some(value) = self.value() else { return fields };
                    fields.push((name.trim().to_owned(), value));
                }
                // A bare word, or a bracket that nothing opened.
                None => self.rest = rest.get(1..).unwrap_or(""),
            }
        }
    }

    /// A value, and nothing behind it; `None` where the text ends.
    fn value(&mut self) -> Option<Field> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next()?;
        if first == '[' {
            return Some(self.list());
        }
        let end = if first == '#' { layout_end(self.rest) } else { word_end(self.rest) };
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let word = word.trim();
        if first == '#' {
            let layout = read_at(word, self.alias, self.depth);
            return Some(layout.map_or_else(|| Field::Word(word.to_owned()), |it| Field::Layout(Box::new(it))));
        }
        let number = word.split(':').next().unwrap_or(word).trim();
        Some(match (number, word.contains(":+")) {
            ("true", _) => Field::Int(1),
            ("false", _) => Field::Int(0),
            (number, false) => number.parse().map_or_else(|_| Field::Word(word.to_owned()), Field::Int),
            _ => Field::Word(word.to_owned()),
        })
    }

    /// `[…]`; its depth is bounded, since each list inside is one step further.
    fn list(&mut self) -> Field {
        let mut items = Vec::new();
        self.rest = self.rest.get(1..).unwrap_or("");
        let Some(depth) = self.depth.checked_sub(1) else {
            self.rest = "";
            return Field::List(items);
        };
        let outer = std::mem::replace(&mut self.depth, depth);
        loop {
            self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            match self.rest.chars().next() {
                None => break,
                Some(']') => {
                    self.rest = self.rest.get(1..).unwrap_or("");
                    break;
                }
                Some(_) => {
                    let before = self.rest.len();
                    items.extend(self.value());
                    if self.rest.len() == before {
                        self.rest = "";
                    }
                }
            }
        }
        self.depth = outer;
        Field::List(items)
    }
}

fn word_end(text: &str) -> usize {
    text.find([',', ']', '}', '>']).unwrap_or(text.len())
}

/// Where `#dialect.name<…>` or `#alias` ends.
fn layout_end(text: &str) -> usize {
    let name = text.find(|c: char| !(c.is_ascii_alphanumeric() || "#_.$".contains(c))).unwrap_or(text.len());
    if !text.get(name..).is_some_and(|rest| rest.starts_with('<')) {
        return name;
    }
    let mut open = 0u32;
    for (at, byte) in text.bytes().enumerate().skip(name) {
        match byte {
            b'<' => open += 1,
            b'>' if open <= 1 => return at + 1,
            b'>' => open -= 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn fields_are_read_by_name() {
        let text = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], order = [1, 0], CGALayout = [[0, 1], [1, 0]]}>";
        let spec = read(text, &none).expect("a layout");
        assert_eq!(spec.kind, "ttg.blocked");
        assert_eq!(spec.ints("sizePerThread"), Some(vec![1, 8]));
        assert_eq!(spec.bases("CGALayout"), Some(vec![vec![0, 1], vec![1, 0]]));
        let tensor = read("#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>", &none);
        assert_eq!(tensor.and_then(|spec| spec.int("blockN")), Some(64));
        let nvmma = read("#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true}>", &none);
        assert_eq!(nvmma.and_then(|spec| spec.int("transposed")), Some(1));
        let padded = read("#ttg.padded_shared<[32:+4, 64:+8] {order = [1, 0]}>", &none).expect("a layout");
        assert_eq!(padded.words(""), Some(vec!["32:+4", "64:+8"]));
        assert_eq!(padded.ints("order"), Some(vec![1, 0]));
    }

    #[test]
    fn aliases_are_followed_and_end() {
        let alias = |name: &str| match name {
            "#blocked" => Some("#ttg.blocked<{order = [0]}>".to_owned()),
            "#loop" => Some("#loop".to_owned()),
            _ => None,
        };
        let spec = read("#ttg.slice<{dim = 1, parent = #blocked}>", &alias).expect("a layout");
        assert_eq!(spec.layout("parent").and_then(|parent| parent.ints("order")), Some(vec![0]));
        let inline = read("#ttg.slice<{dim = 1, parent = #ttg.blocked<{order = [1, 0]}>}>", &alias).expect("a layout");
        assert_eq!(inline.int("dim"), Some(1));
        assert_eq!(inline.layout("parent").and_then(|parent| parent.ints("order")), Some(vec![1, 0]));
        assert_eq!(read("#loop", &alias), None);
    }

    #[test]
    fn torn_texts_are_read_as_far_as_they_go() {
        for text in ["#", "#ttg.x", "#ttg.x<", "#ttg.x<{a", "#ttg.x<{a =", "#ttg.x<{a = [1, ", "#ttg.x<]>", "#ttg.x<[é"]
        {
            let _ = read(text, &none);
        }
        let deep = format!("#ttg.x<{}>", "[".repeat(10_000));
        assert!(read(&deep, &none).is_some());
    }
}
