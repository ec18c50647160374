//! The published schemas of the JSON documents.

use jsonschema::Validator;
use serde_json::Value;

use crate::support::root;

/// A schema of `docs/`, which documents are held against.
pub(crate) struct Schema(Validator);

impl Schema {
    /// The schema of this name. Here a member that it does not name is wrong; for readers it may be added.
    pub(crate) fn published(name: &str) -> Schema {
        let text = std::fs::read_to_string(root().join("docs").join(name)).expect("there is a schema");
        let mut schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
        close(&mut schema);
        Schema(jsonschema::validator_for(&schema).expect("the schema is one"))
    }

    /// Fails where the document is not as the schema says.
    pub(crate) fn holds(&self, document: &Value) {
        let wrong: Vec<String> =
            self.0.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert_eq!(wrong, [""; 0]);
    }
}

/// Forbids members that no part of a schema names.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("properties") {
                members.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
            }
            members.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
