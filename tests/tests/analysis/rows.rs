//! What rows of coverage tables say they are ordered by is what orders them: see [`fencepost_tests::mutate::rows`].

use fencepost_tests::corpus::manifest;
use fencepost_tests::mutate::rows::{End, Row, Tally, rows};
use fencepost_tests::sources::{root, sources};
use ttgir::Document;

fn packed(name: &str) -> Vec<Row> {
    let path = root().join("kernels/packed").join(name).with_extension("ttgir");
    rows(&std::fs::read_to_string(path).expect("a kernel"), 0)
}

/// Each buffer that is packed into scores is found, and named, as soon as its own wait is gone, in every form that
/// waits are written in. Where others order it too, the report names those next.
#[test]
fn of_attention_with_packed_columns() {
    attention(&["tagged_fixed"]);
}

#[test]
#[ignore = "each form takes seconds"]
fn of_attention_with_other_waits() {
    attention(&["final_fixed", "token_fixed"]);
}

fn attention(forms: &[&str]) {
    for form in forms {
        let rows = packed(form);
        let mut all = Tally::default();
        all.add(form, &rows);
        assert_eq!(all.wrong, [] as [String; 0]);
        assert_eq!((all.needed, all.spare, all.through), (22, 8, 6), "{form}: {all}");
        let packed = rows.iter().filter(|row| row.sibling && row.what.contains("tc_gen5_mma"));
        let ends: Vec<(&str, &End)> = packed
            .filter_map(|row| {
                let name = row.what.split(' ').next()?.rsplit('_').next()?.trim_start_matches('%');
                name.starts_with(['m', 'l']).then_some((name, &row.end))
            })
            .collect();
        assert!(ends.len() >= 8, "{form}: {ends:?}");
        assert!(ends.iter().all(|(_, end)| matches!(end, End::Missing(_))), "{form}: {ends:?}");
    }
}

fn campaign(kernels: impl Iterator<Item = (String, String)>) -> Tally {
    let mut all = Tally::default();
    for (name, text) in kernels.filter(|(_, text)| Document::new(text.as_str()).sections().len() == 1) {
        all.add(&name, &rows(&text, 0));
    }
    println!("{all}");
    assert!(all.wrong.is_empty(), "{} wrong\n{}", all.wrong.len(), all.wrong.join("\n"));
    all
}

#[test]
fn of_the_corpus() {
    let folder = root().join("corpus");
    let clean = manifest(&folder).expect("a manifest").into_iter().filter(|row| row.bug.is_none());
    let all = campaign(clean.map(|row| {
        let text = std::fs::read_to_string(folder.join(&row.file)).expect("a file");
        (row.file, text)
    }));
    assert!(all.needed > 90, "{all}");
}

#[test]
fn of_the_pages() {
    let all = campaign(sources().into_iter());
    assert!(all.needed > 50, "{all}");
}
