//! Completion and signatures in half-typed text; `$` marks the cursor and is taken out.

use super::*;
use ttgir::Document;

const HEAD: &str = "\
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#sh = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
";

/// The document without its cursor, and the cursor; `BODY` stands in a function.
fn at(body: &str) -> (Document, u32) {
    let text = format!(
        "{HEAD}module attributes {{\"ttg.num-warps\" = 4 : i32}} {{\n  tt.func public @kernel(%n: i32, %desc: \
         !tt.tensordesc<64x64xf16, #sh>) {{\n    %true = arith.constant true\n    %c0 = arith.constant 0 : i32\n    \
         %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #sh, #smem, mutable>\n    %buf = ttg.local_alloc : () -> \
         !ttg.memdesc<64x64xf16, #sh, #smem, mutable>\n    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #sh, #smem, \
         mutable>\n{body}\n    tt.return\n  }}\n  tt.func private @helper(%x: i32) {{\n    tt.return\n  }}\n}}\n"
    );
    let at = text.find('$').unwrap_or(0);
    (Document::new(text.replacen('$', "", 1)), at as u32)
}

fn labels(body: &str) -> Vec<String> {
    let (document, at) = at(body);
    let found = completions(&document, at);
    found.map_or_else(Vec::new, |found| found.items.into_iter().map(|item| item.label).collect())
}

#[test]
fn ops_are_offered_where_an_op_may_stand() {
    assert_eq!(labels("    ttng.wait_b$")[0], "ttng.wait_barrier");
    assert!(labels("    %x = ttg.local_$").contains(&"ttg.local_load".to_owned()));
    assert!(!labels("    %x = ttng.$").contains(&"ttng.wait_barrier".to_owned()), "it has no result");
    assert!(labels("    $").contains(&"ttg.local_load".to_owned()));
    let (document, place) = at("    ttng.wait_b$arrier %bar");
    let found = completions(&document, place).unwrap();
    assert_eq!(found.insert.of(document.text()), "ttng.wait_b");
    assert_eq!(found.replace.of(document.text()), "ttng.wait_barrier");
    let doc = found.items[0].key.as_ref().and_then(documentation).unwrap_or_default();
    assert!(doc.contains("phase") && doc.contains("%alloc"), "{doc}");
}

#[test]
fn values_whose_type_fits_come_first() {
    assert_eq!(labels("    ttng.wait_barrier %$")[0], "%bar");
    assert_eq!(labels("    ttng.wait_barrier $")[0], "%bar");
    let phase = labels("    ttng.wait_barrier %bar, %$");
    assert_eq!(phase[..2], ["%c0", "%n"], "{phase:?}");
    assert_eq!(labels("    ttng.wait_barrier %bar, %c0, %$")[0], "%true");
    assert_eq!(labels("    %x = ttg.local_load %$")[0], "%buf");
    assert_eq!(labels("    %x = arith.addi %n, %$")[..2], ["%c0", "%n"]);
    assert_eq!(labels("    %$"), [] as [String; 0], "a new name");
}

#[test]
fn what_a_place_does_not_see_is_not_offered() {
    let body = "    scf.if %true {\n      %inner = arith.constant 1 : i32\n    }\n    %x = arith.addi %$\n    %later = \
                arith.constant 2 : i32";
    let seen = labels(body);
    assert!(seen.contains(&"%n".to_owned()), "{seen:?}");
    for name in ["%inner", "%later", "%x"] {
        assert!(!seen.contains(&name.to_owned()), "{name}: {seen:?}");
    }
    let partition = "    ttg.warp_specialize(%bar)\n    default {\n      ttg.warp_yield\n    }\n    partition0(%b: \
                     !ttg.memdesc<1xi64, #sh, #smem, mutable>) num_warps(4) {\n      ttng.wait_barrier %$\n      \
                     ttg.warp_return\n    } : (!ttg.memdesc<1xi64, #sh, #smem, mutable>) -> ()";
    assert_eq!(labels(partition), ["%b"]);
}

#[test]
fn blocks_see_what_dominates_them() {
    let body = "    cf.cond_br %true, ^one, ^two\n  ^one:\n    %a = arith.constant 1 : i32\n    cf.br ^two\n  ^two:\n    \
                %x = arith.addi %$\n    cf.br ^$one";
    let seen = labels(&body.replace("^$one", "^one"));
    assert!(seen.contains(&"%c0".to_owned()) && !seen.contains(&"%a".to_owned()), "{seen:?}");
    assert_eq!(labels("    cf.br ^$\n  ^one:\n    cf.br ^two\n  ^two(%k: i32):"), ["^one", "^two"]);
}

#[test]
fn aliases_functions_types_and_words() {
    assert_eq!(labels("    tt.call @$"), ["@kernel", "@helper"]);
    assert_eq!(labels("    %x = arith.cmpi sl$"), ["slt", "sle"]);
    assert!(labels("    %x = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s$").starts_with(&["#sh".to_owned()]));
    assert_eq!(labels("    ttng.wait_barrier %bar, %c0 : $")[0], "!ttg.memdesc<1xi64, #sh, #smem, mutable>");
    assert!(labels("    %x = arith.addi %n, %n : i$").contains(&"i32".to_owned()));
    assert_eq!(labels("    %x = tt.load %n cacheModifier = c$")[0], "ca");
}

#[test]
fn kinds_and_fields_of_layouts_are_offered() {
    let labels = |text: &str| {
        let at = text.find('$').unwrap_or(0) as u32;
        let document = Document::new(text.replacen('$', "", 1));
        completions(&document, at)
            .map_or_else(Vec::new, |found| found.items.into_iter().map(|item| item.label).collect::<Vec<_>>())
    };
    let kinds = labels("#x = #$\nmodule {\n}\n");
    assert!(kinds.contains(&"#ttg.blocked".to_owned()) && !kinds.contains(&"#x".to_owned()), "{kinds:?}");
    let fields = labels("#x = #ttg.blocked<{sizePerThread = [1, 2], $}>\nmodule {\n}\n");
    assert_eq!(fields, ["threadsPerWarp", "warpsPerCTA", "order"]);
}

#[test]
fn attributes_of_the_op_at_hand() {
    let keys = labels("    %x = ttng.warp_group_dot %buf, %buf, %n {$");
    assert!(keys.contains(&"isAsync".to_owned()), "{keys:?}");
    assert_eq!(labels("    %x = ttng.warp_group_dot %buf, %buf, %n {isAsync = $"), ["true", "false"]);
    let more = labels("    %x = ttng.warp_group_dot %buf, %buf, %n {isAsync = true, $");
    assert!(!more.contains(&"isAsync".to_owned()) && more.contains(&"maxNumImpreciseAcc".to_owned()), "{more:?}");
}

#[test]
fn comments_name_kinds_and_strings_nothing() {
    assert_eq!(labels("    // fencepost: ignore[dead$"), ["deadlock"]);
    assert_eq!(labels("    // fencepost: i$"), ["ignore"]);
    for nothing in ["    // ttng.$", "    tt.assert %true, \"%$", "    // fencepost: ignore[deadlock] rea$"] {
        assert_eq!(labels(nothing), [] as [String; 0], "{nothing}");
    }
}

#[test]
fn a_signature_names_the_group_at_hand() {
    let part = |body: &str| {
        let (document, at) = at(body);
        let found = signature(&document, at)?;
        let active = found.active.and_then(|active| found.parts.get(active).cloned())?;
        Some((active.range.of(&found.label).to_owned(), active.doc))
    };
    let named = |body: &str| part(body).map(|(name, _)| name).unwrap_or_default();
    assert_eq!(named("    ttng.wait_barrier $"), "%alloc");
    assert_eq!(named("    ttng.wait_barrier %bar, $"), "%phase");
    assert_eq!(named("    ttng.wait_barrier %bar, %c0, %tr$"), "%pred");
    assert_eq!(named("    ttng.wait_barrier %bar, %c0 : $"), "type(%alloc)");
    assert_eq!(named("    ttng.init_barrier %bar, $"), "<count>");
    assert_eq!(part("    ttng.wait_barrier $").map(|(_, doc)| doc), Some("the barrier: wait".to_owned()));
    assert_eq!(part("    $"), None);
    assert_eq!(part("    // ttng.wait_barrier $"), None);
}

#[test]
fn any_half_typed_text_is_survived() {
    let (document, _) = at("    %x = ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %buf, %bar, %true {a = [");
    for offset in 0..document.text().len() as u32 {
        let _ = completions(&document, offset);
        let _ = signature(&document, offset);
    }
    for text in ["", "%", "𝒳 = ", "{", "}", "%a = \"", "\"tt.func\"() ({", "// -----\n%"] {
        let document = Document::new(text);
        for offset in 0..=text.len() as u32 + 1 {
            let _ = completions(&document, offset);
            let _ = signature(&document, offset);
        }
    }
}
