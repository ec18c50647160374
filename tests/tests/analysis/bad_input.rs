//! Text that is broken, huge or hostile: parsing never fails, never panics and loses nothing.

use fencepost_tests::sources::sources;
use ttgir::Document;

/// Parses everything and gives the number of errors.
fn errors(text: &str) -> usize {
    let document = Document::new(text);
    assert_eq!(document.text(), text);
    document
        .sections()
        .iter()
        .map(|section| {
            assert_eq!(section.tree().text(), section.text());
            section.tree().errors().len()
        })
        .sum()
}

#[test]
fn pages_hold_sources() {
    assert!(sources().len() > 100);
}

#[test]
fn a_text_may_end_anywhere() {
    for (name, text) in sources().iter().step_by(7) {
        for (end, _) in text.char_indices().filter(|(at, _)| at % 3 == 0) {
            let cut = &text[..end];
            assert!(errors(cut) < 400, "{name} cut at {end}");
        }
    }
}

#[test]
fn a_lost_line_costs_little() {
    for (name, text) in sources().iter().step_by(5) {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for lost in 0..lines.len() {
            let rest: String = lines.iter().enumerate().filter(|(at, _)| *at != lost).map(|(_, line)| *line).collect();
            assert!(errors(&rest) <= 60, "{name} without line {}: {} errors", lost + 1, errors(&rest));
        }
    }
}

#[test]
fn line_ends_tabs_and_astral_characters() {
    for (name, text) in sources().iter().filter(|(name, _)| !name.starts_with("bad-input")) {
        assert_eq!(errors(&text.replace('\n', "\r\n")), 0, "{name} with CRLF");
        assert_eq!(errors(&text.replace("  ", "\t")), 0, "{name} with tabs");
        assert_eq!(errors(&text.replace("//", "// 𝄞 ").replace("// 𝄞  -----", "// -----")), 0, "{name} with clefs");
    }
}

#[test]
fn nothing_and_noise() {
    errors("");
    errors("\n");
    errors("\u{feff}");
    let mut seed = 1u64;
    for _ in 0..200 {
        let noise: String = (0..500)
            .map(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                char::from_u32((seed >> 33) as u32 % 0x2000).unwrap_or('\u{1f4a5}')
            })
            .collect();
        errors(&noise);
    }
}

#[test]
fn deep_nesting() {
    for opening in ["scf.if %c {\n", "\"a\"() ({\n", "(", "[", "<", "loc(callsite(", "#a = loc(fused["] {
        errors(&opening.repeat(10_000));
    }
    let types = "tensor<".repeat(10_000);
    errors(&format!("%0 = arith.constant 0 : {types}"));
}

#[test]
fn locations_that_name_each_other() {
    let text = "#loc1 = loc(callsite(#loc2 at #loc1))\n#loc2 = loc(\"a\"(#loc1))\nmodule {\n  tt.func public @f() {\n    \
                tt.return loc(#loc2)\n  } loc(#loc1)\n}\n";
    let document = Document::new(text);
    for section in document.sections() {
        let tree = section.tree();
        let op = tree.op_at(text.find("tt.return").unwrap_or(0) as u32);
        assert!(op.is_none_or(|op| tree.loc(op).len() < 10));
    }
}
