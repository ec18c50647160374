//! The published schemas are those of the types that are printed; `UPDATE_EXPECT=1` writes them.

use std::path::Path;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

fn is_published<T: JsonSchema>(name: &str, title: &str) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    let text = format!("{:#}\n", schema.as_value());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &text).expect("the schema can be written");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == text, "docs/{name} is not what is printed (UPDATE_EXPECT=1 writes it)");
}

#[test]
fn the_schema_of_reports_is_published() {
    is_published::<crate::report::json::ReportDocument<'_>>("report.schema.json", "fencepost report, schema 1");
}

#[test]
fn the_schema_of_checks_is_published() {
    is_published::<crate::check::json::Document<'_>>("check.schema.json", "fencepost check, schema 1");
}
