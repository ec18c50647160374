//! Reading into attributes: numbers, strings, lists, entries.

use super::ids::AttrId;
use super::shape;
use super::tree::Tree;
use base::TextRange;

impl Tree {
    /// The attribute as it is written, an alias as its name.
    pub fn attr_source(&self, attr: AttrId) -> &str {
        let text = if attr.start >= AttrId::MADE { &self.store.made } else { &*self.text };
        let (start, end) = (attr.start & !AttrId::MADE, attr.end & !AttrId::MADE);
        text.get(start as usize..end as usize).unwrap_or("")
    }

    /// The attribute behind aliases.
    fn target(&self, mut attr: AttrId) -> AttrId {
        for _ in 0..16 {
            let text = self.attr_source(attr);
            if !text.starts_with('#') {
                return attr;
            }
            let Some(value) = self.alias(text) else { return attr };
            attr = value;
        }
        attr
    }

    /// The text that `#name` or `!name` stands for.
    pub fn alias_text(&self, name: &str) -> Option<&str> {
        self.alias(name).map(|value| self.attr_source(value))
    }

    /// What `#name` or `!name` stands for.
    pub(super) fn alias(&self, name: &str) -> Option<AttrId> {
        let sym = self.store.names.find(name)?;
        self.store.alias(sym).map(|alias| alias.value)
    }

    /// The attribute's text, an alias replaced by what it stands for.
    pub fn attr_text(&self, attr: AttrId) -> &str {
        self.attr_source(self.target(attr))
    }

    /// Where the attribute is written; empty for one that the form only implies.
    pub fn attr_range(&self, attr: AttrId) -> TextRange {
        if attr.start >= AttrId::MADE { TextRange::empty(0) } else { TextRange::new(attr.start, attr.end) }
    }

    /// An integer, or a truth value as 0 or 1. The type behind it is not looked at.
    pub fn attr_int(&self, attr: AttrId) -> Option<i64> {
        let text = self.attr_text(attr);
        let number = match text.find(':') {
            Some(at) => text[..at].trim_end(),
            None => text,
        };
        match number {
            "true" => return Some(1),
            "false" => return Some(0),
            _ => {}
        }
        let (sign, digits) = match number.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, number),
        };
        let value: i128 = match digits.strip_prefix("0x") {
            Some(hex) => i128::from(u64::from_str_radix(hex, 16).ok()?),
            None => digits.parse().ok()?,
        };
        // Unsigned 64-bit numbers wrap, as they do in the compiler.
        i64::try_from(sign * value).ok().or_else(|| u64::try_from(sign * value).ok().map(|v| v as i64))
    }

    /// A truth value: `true`, a number that is not 0, or a unit attribute.
    pub fn attr_bool(&self, attr: AttrId) -> bool {
        self.attr_int(attr).is_none_or(|value| value != 0)
    }

    /// The content of a string or the name of a symbol, escapes left as they are; a bare word as
    /// it stands.
    pub fn attr_str(&self, attr: AttrId) -> Option<&str> {
        let text = self.attr_text(attr);
        let name = text.strip_prefix('@').unwrap_or(text);
        if let Some(rest) = name.strip_prefix('"') {
            return rest.split('"').next();
        }
        let word = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_$.-".contains(&b));
        let first = name.bytes().next()?;
        (word && (first.is_ascii_alphabetic() || first == b'_')).then_some(name)
    }

    /// The elements of `[…]`, `array<t: …>` or `dense<[…]>`; empty for anything else.
    pub fn attr_array(&self, attr: AttrId) -> Vec<AttrId> {
        let attr = self.target(attr);
        let text = self.attr_source(attr);
        let inside = if text.starts_with('[') {
            text.rfind(']').map(|end| (1, end))
        } else if text.starts_with("array<") {
            text.find(':').and_then(|at| Some((at + 1, text.rfind('>')?)))
        } else if text.starts_with("dense<[") {
            Some(("dense<[".len(), text.find("]>").unwrap_or(text.len())))
        } else {
            None
        };
        let Some((start, end)) = inside else { return Vec::new() };
        let Some(list) = text.get(start..end) else { return Vec::new() };
        shape::parts(list).into_iter().map(|part| self.inside(attr, text, part)).collect()
    }

    /// The integers of a list.
    pub fn attr_ints(&self, attr: AttrId) -> Vec<i64> {
        self.attr_array(attr).into_iter().filter_map(|element| self.attr_int(element)).collect()
    }

    /// The entries of `{…}`, or the parameters of `#dialect.name<…>` and `<{…}>`.
    pub fn attr_entries(&self, attr: AttrId) -> Vec<(&str, AttrId)> {
        let attr = self.target(attr);
        let text = self.attr_source(attr);
        let Some(open) = text.find(['{', '<']) else { return Vec::new() };
        let mut body = text.get(open + 1..text.len() - 1).unwrap_or("");
        if let Some(inner) = body.strip_prefix('{') {
            body = inner.rsplit_once('}').map_or(inner, |(dict, _)| dict);
        }
        let mut out = Vec::new();
        for part in shape::parts(body) {
            let (key, value) = match part.split_once('=') {
                Some((key, value)) => (key.trim(), value.trim()),
                None => (part, part),
            };
            out.push((key.trim_matches('"'), self.inside(attr, text, value)));
        }
        out
    }

    /// One entry or parameter by its name.
    pub fn attr_entry(&self, attr: AttrId, name: &str) -> Option<AttrId> {
        self.attr_entries(attr).into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The name of a dialect's attribute: `ttg.swizzled_shared` of `#ttg.swizzled_shared<…>`.
    pub fn attr_kind(&self, attr: AttrId) -> &str {
        let text = self.attr_text(attr);
        let name = text.strip_prefix('#').unwrap_or("");
        name.split('<').next().unwrap_or("").trim_end()
    }

    /// The attribute that `part`, a slice of `text`, the text of `attr`, is.
    fn inside(&self, attr: AttrId, text: &str, part: &str) -> AttrId {
        let offset = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize) as u32;
        AttrId { start: attr.start + offset, end: attr.start + offset + part.len() as u32 }
    }
}
