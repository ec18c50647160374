//! Answers have a size: what is left out of them is said in them.

pub(crate) use crate::limits::answers::TEXT as LIMIT;
use serde_json::{Value, json};

/// The member that says that something was left out of a document.
pub(crate) const TRUNCATED: &str = "truncated";

/// A text of no more than about `most` characters, cut behind a line.
pub(crate) fn text(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let kept = text.get(..end).unwrap_or("");
    let kept = kept.rfind('\n').and_then(|at| kept.get(..=at)).unwrap_or(kept);
    let left = text.get(kept.len()..).unwrap_or("").lines().count();
    let more = if left == 1 { "1 more line" } else { "more lines" };
    let count = if left == 1 { String::new() } else { format!("{left} ") };
    format!("{kept}… {count}{more} left out: ask for one kernel, section or finding, or give a larger `limit`\n")
}

/// A document of no more than `most` bytes: of long lists the first members, as many as there is room for.
pub(crate) fn document(value: Value, most: usize) -> Value {
    let size = |value: &Value| value.to_string().len();
    let whole = size(&value);
    if whole <= most {
        return value;
    }
    let note = |keeps: &str| json!(format!("the document has {whole} bytes, {keeps}; give a larger `limit` for more"));
    let mut members = 256;
    while members > 0 {
        let mut cut = value.clone();
        shorten(&mut cut, members);
        if let Some(object) = cut.as_object_mut() {
            object.insert(TRUNCATED.to_owned(), note(&format!("its lists are cut after {members}")));
        }
        if size(&cut) <= most {
            return cut;
        }
        members /= 2;
    }
    json!({ TRUNCATED: note("which is too much") })
}

/// Cuts all lists.
fn shorten(value: &mut Value, most: usize) {
    match value {
        Value::Array(items) => {
            items.truncate(most);
            items.iter_mut().for_each(|item| shorten(item, most));
        }
        Value::Object(members) => members.values_mut().for_each(|member| shorten(member, most)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_said() {
        assert_eq!(text("one\ntwo\n", 8), "one\ntwo\n");
        let cut = text("one\ntwo\nthree\nfour\n", 9);
        assert!(cut.starts_with("one\ntwo\n… 2 more lines left out"), "{cut}");
        assert!(text(&"ü".repeat(20), 10).starts_with(&format!("{}… 1 more line left out", "ü".repeat(10))));
    }

    #[test]
    fn long_lists_are_cut_and_said_to_be() {
        let long = json!({ "files": [{ "run": (0..5000).collect::<Vec<_>>(), "verdict": "found" }] });
        assert_eq!(document(long.clone(), 1 << 20), long);
        let cut = document(long.clone(), 1000);
        assert!(cut.to_string().len() <= 1000 && cut[TRUNCATED].is_string());
        assert_eq!((&cut["files"][0]["verdict"], &cut["files"][0]["run"][3]), (&json!("found"), &json!(3)));
        assert!(document(json!({ "text": "x".repeat(5000) }), 1000)[TRUNCATED].is_string());
    }
}
