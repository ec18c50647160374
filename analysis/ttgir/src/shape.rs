//! What can be read off the text of a type, and types made from others.

use dialects::TypeRule;

/// A shaped type's text in its parts: `tensor<` `128x64x` `f16` `, #blocked>`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaped<'t> {
    pub before: &'t str,
    pub dims: &'t str,
    pub element: &'t str,
    pub after: &'t str,
}

/// Splits a shaped type into its parts: `name<DIMSxELEMENT…>`.
pub(super) fn shaped(text: &str) -> Option<Shaped<'_>> {
    let open = text.find('<')?;
    let inner = text.get(open + 1..)?;
    let dims = dims_len(inner);
    let element = inner.get(dims..)?;
    let len = top_level_end(element);
    Some(Shaped {
        before: &text[..open + 1],
        dims: &inner[..dims],
        element: element[..len].trim(),
        after: &element[len..],
    })
}

/// Length of the `128x64x` that `text` starts with.
fn dims_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        let mut end = at;
        while end < bytes.len() && (bytes[end].is_ascii_digit() || bytes[end] == b'?') {
            end += 1;
        }
        if end == at || bytes.get(end) != Some(&b'x') {
            return at;
        }
        at = end + 1;
    }
}

/// Where the first `,` or closing bracket outside all brackets is.
fn top_level_end(text: &str) -> usize {
    let mut depth = 0usize;
    let mut last = 0;
    let mut quoted = false;
    for (at, b) in text.bytes().enumerate() {
        match b {
            b'"' if last != b'\\' => quoted = !quoted,
            _ if quoted => {}
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' if last == b'-' => {}
            b'>' | b')' | b']' | b'}' | b',' if depth == 0 => return at,
            b'>' | b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        last = b;
    }
    text.len()
}

/// The parts of `a, b, c` outside all brackets.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        let end = top_level_end(rest);
        let part = rest[..end].trim();
        if !part.is_empty() {
            out.push(part);
        }
        match rest.as_bytes().get(end) {
            Some(b',') => rest = &rest[end + 1..],
            _ => return out,
        }
    }
}

/// The layout of a shaped type's canonical text.
pub(super) fn layout(canonical: &str) -> Option<&str> {
    if !(canonical.starts_with("!ttg.memdesc<") || canonical.starts_with("tensor<")) {
        return None;
    }
    let rest = shaped(canonical)?.after.strip_prefix(',')?;
    parts(rest).first().copied()
}

/// Drops what a canonical type says twice: the allocation's shape where it is the type's own.
pub(super) fn normal(mut canonical: String) -> String {
    if canonical.starts_with("!ttg.memdesc<")
        && let Some(s) = shaped(&canonical)
        && let Some(last) = parts(s.after.trim_start_matches(',')).last().copied()
        && last == s.dims.trim_end_matches('x')
    {
        let len = canonical.len();
        canonical.replace_range(len - last.len() - 2..len - 1, "");
    }
    canonical
}

/// The integers of `128x64x` or `128x64`; `?` is -1.
pub(super) fn dims(text: &str) -> Vec<i64> {
    text.split('x').filter(|d| !d.is_empty()).map(|d| d.trim().parse().unwrap_or(-1)).collect()
}

/// The type that `rule` makes of a canonical type text.
pub(super) fn derive(rule: TypeRule, of: &str) -> Option<String> {
    let shape = of.starts_with("tensor<").then(|| shaped(of)).flatten();
    let with = |element: &str| match shape {
        Some(s) => format!("{}{}{element}{}", s.before, s.dims, s.after),
        None => element.to_owned(),
    };
    match rule {
        TypeRule::Spelt | TypeRule::Fixed(_) | TypeRule::Same(_) => None,
        TypeRule::Bool(_) => (shape.is_some() || !of.starts_with("vector<")).then(|| with("i1")),
        TypeRule::Int(_) => (shape.is_some() || !of.starts_with("vector<")).then(|| with("i32")),
        TypeRule::Element(_) => Some(shape?.element.to_owned()),
        TypeRule::Pointee(_) => {
            let pointer = shape.map_or(of, |s| s.element);
            let inner = pointer.strip_prefix("!tt.ptr<")?;
            Some(with(inner[..top_level_end(inner)].trim()))
        }
    }
}

/// The dialect type whose name was left out in front of `<…>`.
pub(super) fn stripped_dialect(body: &str) -> &'static str {
    let inner = body.trim_start_matches('<').trim_start();
    if inner.starts_with('[') {
        return "nvws.aref";
    }
    if inner.starts_with("tensor<") {
        return "tt.tensordesc";
    }
    if inner.starts_with("smem") || inner.starts_with("tmem") {
        return "tlx.storage_alias_spec";
    }
    if dims_len(inner) > 0 {
        let many = parts(inner).len() > 2;
        return if many { "ttg.memdesc" } else { "tt.tensordesc" };
    }
    if inner.starts_with(|c: char| c.is_ascii_digit()) {
        return "proton_gpu.segment";
    }
    "tt.ptr"
}
