//! Each question on a small text; `$` marks the cursor and is taken out.

use super::*;
use ttgir::Document;

const BAR: &str = "!ttg.memdesc<1xi64, #sh, #smem, mutable>";

/// The document without its cursor, and the cursor.
fn cursor(text: &str) -> (Document, u32) {
    let text = text.replace("BAR", BAR);
    let at = text.find('$').unwrap_or(0);
    (Document::new(text.replacen('$', "", 1)), at as u32)
}

fn module(body: &str) -> String {
    let head =
        "#sh = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n#smem = #ttg.shared_memory";
    format!("{head}\nmodule {{\n  tt.func public @f(%cond: i1, %n: i32) {{\n{body}\n    tt.return\n  }}\n}}\n")
}

fn rows(text: &str) -> Vec<String> {
    let (document, at) = cursor(&module(text));
    let hover = hover(&document, at).expect("a hover");
    hover.rows.iter().map(|row| format!("{} {}{}", row.partition, row.verb, row.slot)).collect()
}

#[test]
fn a_barrier_is_followed_through_captures_carried_values_and_choices() {
    let body = "
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %a = ttg.local_alloc : () -> BAR
    %b = ttg.local_alloc : () -> BAR
    ttng.init_barrier $%a, 1 : BAR
    ttng.init_barrier %b, 1 : BAR
    %either = arith.select %cond, %a, %b : BAR
    ttng.arrive_barrier %either, 1, %true : BAR
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %a) -> (BAR) : i32 {
      ttng.wait_barrier %carried, %c0, %true : BAR
      scf.yield %carried : BAR
    }
    ttng.inval_barrier %last : BAR
    ttg.warp_specialize(%a, %b)
    default {
      ttg.warp_yield
    }
    partition0(%x: BAR, %y: BAR) num_warps(4) {
      %yes = arith.constant true
      ttng.arrive_barrier %y, 1, %yes : BAR
      ttng.arrive_barrier %x, 1, %yes : BAR
      ttg.warp_return
    } : (BAR, BAR) -> ()";
    let expected = ["default init", "default arrive", "default wait", "default invalidate", "partition0 arrive"];
    assert_eq!(rows(body), expected);
    // A choice is both.
    let both = body.replace("$%a", "%a").replace("barrier %either", "barrier $%either");
    assert_eq!(rows(&both).len(), 7);
    let (document, at) = cursor(&module(&both));
    assert_eq!(hover(&document, at).map(|hover| hover.title), Some("%either is %a or %b: barrier".to_owned()));
}

#[test]
fn jumps_carry_barriers_too() {
    let body = "
    %a = ttg.local_alloc : () -> BAR
    ttng.init_barrier $%a, 1 : BAR
    cf.br ^next(%a : BAR)
  ^next(%there: BAR):
    ttng.inval_barrier %there : BAR";
    assert_eq!(rows(body), ["default init", "default invalidate"]);
}

#[test]
fn a_number_is_shown_as_it_is_computed() {
    let body = "
    %c2 = arith.constant 2 : i32
    %half = arith.divsi %n, %c2 : i32
    %phase = arith.andi $%half, %c2 : i32";
    let (document, at) = cursor(&module(body));
    assert_eq!(hover(&document, at).map(|hover| hover.title), Some("%half: i32 = %n / 2".to_owned()));
}

#[test]
fn a_captured_number_is_known_by_its_name_outside() {
    let body = "
    %c2 = arith.constant 2 : i32
    ttg.warp_specialize(%n, %c2)
    default {
      ttg.warp_yield
    }
    partition0(%x: i32, %y: i32) num_warps(4) {
      $%z = arith.remsi %x, %y : i32
      ttg.warp_return
    } : (i32, i32) -> ()";
    let (document, at) = cursor(&module(body));
    assert_eq!(hover(&document, at).map(|hover| hover.title), Some("%z: i32 = %n % 2".to_owned()));
}

#[test]
fn a_name_that_nothing_defines_has_uses_only() {
    let (document, at) = cursor(&module("    %a = arith.addi $%nope, %nope : i32"));
    assert_eq!(occurrences(&document, at).len(), 2);
    assert_eq!(definition(&document, at), None);
}

#[test]
fn aliases_and_functions_are_names() {
    let text = "#sh = #x\nmodule {\n  tt.func private @g(%a: !t<#sh>) {\n    tt.return\n  }\n  \
                tt.func public @f(%a: !t<#sh>) {\n    tt.call @g(%a) : (!t<#sh>) -> ()  // not @g nor #sh\n    tt.return\n  }\n}\n";
    let at = |needle: &str| text.rfind(needle).map_or(0, |at| at as u32 + 1);
    let document = Document::new(text);
    let found = |offset| definition(&document, offset).map(|range| range.start as usize);
    assert_eq!(found(at("#sh>")), Some(0));
    assert_eq!(found(at("@g(%a) :")), text.find("@g"));
    assert_eq!(occurrences(&document, at("#sh>")).len(), 4);
    assert_eq!(occurrences(&document, at("@g(%a) :")).len(), 2);
}

#[test]
fn a_dump_is_an_outline_of_sections() {
    let one = module("");
    let text =
        format!("// -----// IR Dump Before A (a) //----- //\n{one}\n// -----// IR Dump After B (b) //----- //\n{one}");
    let document = Document::new(text);
    let names: Vec<String> = symbols(&document).into_iter().map(|symbol| symbol.name).collect();
    assert_eq!(names, ["before A (a)", "after B (b)"]);
    let folds = folds(&document);
    assert_eq!(folds.len(), 8, "a section, its aliases, its module, its function, twice");
    assert!(folds.iter().all(|fold| document.text().is_char_boundary(fold.range.end as usize)));
}

#[test]
fn a_long_dump_is_read_only_where_somebody_looks() {
    let one = module("");
    let text = vec![one; 40].join("// -----\n");
    let document = Document::new(text);
    assert_eq!(symbols(&document).len(), 40);
    assert!(document.sections().iter().all(|section| !section.is_read()));
}

#[test]
fn odd_places_have_no_answer() {
    for text in ["", "\n", "#", "@", "%", "// -----\n", "𝒳"] {
        let document = Document::new(text);
        for offset in 0..=text.len() as u32 + 2 {
            assert_eq!(hover(&document, offset), None);
            assert_eq!(definition(&document, offset), None);
        }
        assert_eq!(symbols(&document).iter().filter(|symbol| symbol.kind != SymbolKind::Section).count(), 0);
    }
}

#[test]
fn the_name_of_an_op_says_what_it_does() {
    let (document, at) = cursor(&module("%a = ttg.local_alloc : () -> BAR\n    ttng.init_$barrier %a, 1 : BAR"));
    let title = hover(&document, at).map(|hover| hover.title);
    let doc = "ttng.init_barrier: Initialises an mbarrier with the number of arrivals that complete a phase.";
    assert_eq!(title.as_deref(), Some(doc));
}

#[test]
fn a_selection_grows_from_the_token_to_the_file() {
    let body = "
    %a = ttg.local_alloc : () -> BAR
    ttng.wait_barrier %a, $%n, %cond : BAR";
    let (document, at) = cursor(&module(body));
    let grown: Vec<String> =
        selection(&document, at).into_iter().map(|range| range.of(document.text()).to_owned()).collect();
    let op = format!("ttng.wait_barrier %a, %n, %cond : {BAR}");
    assert_eq!(grown[..3], ["%n".to_owned(), "%a, %n, %cond".to_owned(), op.clone()]);
    assert!(grown[3].starts_with("%a = ttg.local_alloc") && grown[3].ends_with("tt.return"));
    assert!(grown[4].starts_with("\n\n    %a") && grown[5].starts_with('{'), "{grown:#?}");
    assert!(grown[6].starts_with("tt.func") && grown.last().is_some_and(|all| all == document.text()));
    // In a type: the parameter, what stands in the brackets, the type with its name.
    let (document, at) = cursor(&module("    %a = ttg.local_alloc : () -> !ttg.memdesc<1xi64, $#sh, #smem, mutable>"));
    let grown: Vec<&str> = selection(&document, at).iter().map(|range| range.of(document.text())).collect();
    let expected = ["#sh", "1xi64, #sh, #smem, mutable", "<1xi64, #sh, #smem, mutable>", BAR];
    assert_eq!(grown[..4], expected);
}

#[test]
fn a_selection_is_there_in_any_text() {
    for text in ["", "\n", "%a = ", "tt.func @f(", "𝒳 {", "module {\n  tt.func @f() {\n %x = ttg.local_alloc : (<[\n"]
    {
        let document = Document::new(text);
        for offset in 0..=text.len() as u32 {
            let grown = selection(&document, offset);
            assert!(grown.windows(2).all(|pair| pair[1].contains(pair[0]) && pair[1] != pair[0]), "{text:?} {offset}");
            assert!(grown.iter().all(|range| range.touches(offset)));
        }
    }
}

#[test]
fn each_word_is_painted_as_what_it_is() {
    use tokens::{Modifiers, SemanticKind as Kind, tokens};
    let body = "
    %bar = ttg.local_alloc : () -> BAR
    %buf = ttg.local_alloc : () -> !ttg.memdesc<8x128xf16, #sh, #smem, mutable>
    ttng.wait_barrier %bar, %n {late = true} : BAR  // why
    %v = ttg.local_load %buf : !ttg.memdesc<8x128xf16, #sh, #smem, mutable> -> tensor<8x128xf16>";
    let (document, _) = cursor(&module(body));
    let all = tokens(&document, None).unwrap_or_default();
    let find = |word: &str, at: usize| {
        let mut hits = all.iter().filter(|token| token.range.of(document.text()) == word);
        hits.nth(at).map(|token| (token.kind, token.modifiers))
    };
    assert_eq!(find("%bar", 0), Some((Kind::Variable, Modifiers::DECLARATION.and(Modifiers::BARRIER))));
    assert_eq!(find("%bar", 1), Some((Kind::Variable, Modifiers::BARRIER)));
    assert_eq!(find("%buf", 1), Some((Kind::Variable, Modifiers::MEMORY)));
    assert_eq!(find("%n", 0), Some((Kind::Parameter, Modifiers::DECLARATION)));
    assert_eq!(find("%n", 1), Some((Kind::Parameter, Modifiers::NONE)));
    assert_eq!(find("ttng.wait_barrier", 0), Some((Kind::Method, Modifiers::TTNG.and(Modifiers::BARRIER))));
    assert_eq!(find("ttg.local_load", 0), Some((Kind::Method, Modifiers::TTG.and(Modifiers::MEMORY))));
    assert_eq!(find("@f", 0), Some((Kind::Function, Modifiers::DECLARATION)));
    assert_eq!(find("#sh", 0), Some((Kind::Macro, Modifiers::DECLARATION)));
    assert_eq!(find("8x128xf16", 0), Some((Kind::Type, Modifiers::NONE)));
    assert_eq!(find("late", 0), Some((Kind::Property, Modifiers::NONE)));
    assert_eq!(find("true", 0), Some((Kind::Keyword, Modifiers::NONE)));
    assert_eq!(find("// why", 0), Some((Kind::Comment, Modifiers::NONE)));
    // In order, apart, and each in one line.
    assert!(all.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
    assert!(all.iter().all(|token| !token.range.of(document.text()).contains('\n')));
}

#[test]
fn a_part_is_painted_as_the_whole_is() {
    let body = "
    %bar = ttg.local_alloc : () -> BAR
    ttng.wait_barrier %bar, %n : BAR
    %x = arith.addi %n, (";
    let (document, _) = cursor(&module(body));
    let all = tokens::tokens(&document, None).unwrap_or_default();
    let mut start = 0;
    for line in document.text().split_inclusive('\n') {
        let range = base::TextRange::new(start, start + line.trim_end().len() as u32);
        let part = tokens::tokens(&document, Some(range)).unwrap_or_default();
        let same: Vec<_> = all.iter().copied().filter(|token| range.contains(token.range)).collect();
        assert_eq!(part, same, "{line}");
        start += line.len() as u32;
    }
}

#[test]
fn only_the_sections_that_are_looked_at_are_painted() {
    let one = module("    %x = arith.addi %n, %n : i32");
    let document = Document::new(vec![one.as_str(); 40].join("// -----\n"));
    let at = document.text().len() as u32 - 100;
    let range = base::TextRange::new(at, at + 50);
    assert!(tokens::tokens(&document, Some(range)).is_some_and(|tokens| !tokens.is_empty()));
    assert!(document.sections()[..39].iter().all(|section| !section.is_read() || section.text() == one));
    let huge = Document::new("// x\n".repeat(1 << 19));
    assert_eq!(tokens::tokens(&huge, None), None);
}

#[test]
fn reads_and_writes_of_a_buffer_are_told_apart() {
    let body = "
    %c0 = arith.constant 0 : i32
    %buf = ttg.local_alloc : () -> !ttg.memdesc<2x8xf32, #sh, #smem, mutable>
    %slot = ttg.memdesc_index $%buf[%c0] : !ttg.memdesc<2x8xf32, #sh, #smem, mutable> -> !ttg.memdesc<8xf32, #sh, #smem, mutable>
    %x = ttg.local_load %slot : !ttg.memdesc<8xf32, #sh, #smem, mutable> -> tensor<8xf32>
    ttg.local_store %x, %slot : tensor<8xf32> -> !ttg.memdesc<8xf32, #sh, #smem, mutable>";
    let (document, at) = cursor(&module(body));
    let found = occurrences(&document, at);
    let accesses: Vec<OccurrenceAccess> = found.iter().map(|found| found.access).collect();
    use OccurrenceAccess::{Name, Read, Write};
    // The allocation, the view of it, the load, the store.
    assert_eq!(accesses, [Write, Name, Read, Write]);
}

#[test]
fn half_typed_text_can_be_renamed_and_asked_about() {
    let body = "
    %a = arith.addi %n, %n : i32
    %b = arith.muli $%a, %a
    ttng.wait_barrier %";
    let (document, at) = cursor(&module(body));
    assert!(definition(&document, at).is_some());
    let edits = rename(&document, at, "sum").expect("it can be renamed");
    assert_eq!(edits.len(), 3);
    assert_eq!(rename(&document, at, "n"), Err("`%n` already stands in this function".to_owned()));
    let keyword = document.text().find("module").expect("it is one") as u32;
    assert!(renamable(&document, keyword).is_err());
}

#[test]
fn only_sections_that_name_a_line_are_read() {
    let with =
        |line: u32| module("    %a = arith.addi %n, %n : i32 loc(\"k.py\":LINE:1)").replace("LINE", &line.to_string());
    let text: Vec<String> = (0..40).map(with).collect();
    let document = Document::new(text.join("// -----\n"));
    let found = ops_of_line(&document, &|file| file == "k.py", 7);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].of(document.text()), "arith.addi");
    assert_eq!(document.sections().iter().filter(|section| section.is_read()).count(), 1);
}

#[test]
fn who_signals_whom_is_also_known_of_text_without_partitions() {
    let body = "
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %bar = ttg.local_alloc : () -> BAR
    ttng.init_barrier %bar, 1 : BAR
    ttng.arrive_barrier %bar, 1, %true : BAR
    ttng.wait_barrier $%bar, %c0, %true : BAR";
    let (document, at) = cursor(&module(body));
    let party = party_at(&document, at).expect("a barrier");
    assert_eq!((party.kind, party.name.as_str(), party.container.as_str()), (PartyKind::Barrier, "%bar", "@f"));
    for out in [false, true] {
        let ties = ties(&document, party.selection.start, out);
        assert_eq!(ties.len(), 1);
        assert_eq!(ties[0].party.name, "@f");
    }
}
