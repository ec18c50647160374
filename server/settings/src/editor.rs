//! What an editor says: the object below `fencepost` of its settings, with keys in camel case.

use serde_json::Value;

use crate::read::Reader;
use crate::{Settings, table};

/// Settings of editors that are none of the server's: the extension reads them itself.
pub(crate) const OF_EXTENSIONS: &[&str] = &["server", "trace", "trusted"];

/// Reads an editor's settings; what is wrong comes as sentences.
pub fn read_editor(settings: &Value) -> (Settings, Vec<String>) {
    let Some(object) = settings.as_object() else {
        let nothing = settings.is_null();
        let wrong = (!nothing).then(|| "the editor's settings are no object".to_owned());
        return (Settings::default(), wrong.into_iter().collect());
    };
    let mut entries = crate::tree::json(object);
    entries.retain(|entry| !OF_EXTENSIONS.contains(&entry.key.as_str()));
    let mut reader = Reader { settings: Settings::default(), errors: Vec::new(), editor: true };
    reader.rows(table::SETTINGS, &entries, "");
    (reader.settings, reader.errors.into_iter().map(|error| error.message).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_editor_says_the_same_in_camel_case() {
        let said = json!({ "target": "sm_90", "limits": { "totalSteps": 5000 }, "kinds": { "deadlock": "off" },
            "compileOnSave": true, "python": "/venv/bin/python", "triton": null, "server": { "path": null } });
        let (settings, wrong) = read_editor(&said);
        assert_eq!(wrong, [""; 0]);
        assert_eq!((settings.limits().total_steps, settings.kinds.len()), (5_000, 1));
        assert_eq!((settings.compile_on_save, settings.python.as_deref()), (Some(true), Some("/venv/bin/python")));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let (_, wrong) = read_editor(&json!({ "limts": {}, "target": 90 }));
        assert!(wrong.iter().any(|text| text.contains("did you mean `limits`")), "{wrong:?}");
        assert!(wrong.iter().any(|text| text.contains("`target` takes")), "{wrong:?}");
        assert_eq!(read_editor(&json!(null)), (Settings::default(), Vec::new()));
        assert_eq!(read_editor(&json!(3)).1.len(), 1);
    }
}
