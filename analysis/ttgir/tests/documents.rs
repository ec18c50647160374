//! What the tree says of small texts, custom and generic form alike.

use base::TextRange;
use ttgir::{Def, Document, IrLevel, MemSpace, OpId, Tree, Ty, When};

/// A kernel with most of what matters: aliases, partitions, a loop, barriers, locations.
const KERNEL: &str = r##"#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#loc = loc("kernel.py":3:1)
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @kernel(%n: i32 {tt.divisibility = 16 : i32} loc("n"(#loc)), %p: !tt.ptr<f16>) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32 loc(#loc)
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %data = ttg.local_alloc : () -> !ttg.memdesc<2x128xf16, #shared, #smem, mutable> loc(#loc1)
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttng.init_barrier %bar, 2 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c0) -> (i32)  : i32 {
      %phase = arith.andi %i, %c1 : i32
      ttng.wait_barrier %bar, %phase, %true deps %data : !ttg.memdesc<1xi64, #shared, #smem, mutable>, !ttg.memdesc<2x128xf16, #shared, #smem, mutable>
      %next = arith.addi %acc, %i : i32
      scf.yield %next : i32
    } {tt.num_stages = 3 : i32}
    ttg.warp_specialize(%data, %bar) attributes {requestedRegisters = array<i32: 32>}
    default {
      ttg.warp_yield
    }
    partition0(%d: !ttg.memdesc<2x128xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<1xi64, #shared, #smem, mutable>) num_warps(4) {
      %two = arith.constant 2 : i32
      ttng.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
      ttg.warp_return
    } : (!ttg.memdesc<2x128xf16, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared, #smem, mutable>) -> ()
    tt.return
  } loc(#loc)
} loc(#loc)
#loc1 = loc("data"(#loc2))
#loc2 = loc(callsite("inner.py":7:9 at #loc))
"##;

/// All operations, in the order of the text.
fn ops(tree: &Tree) -> Vec<OpId> {
    fn below(tree: &Tree, op: OpId, out: &mut Vec<OpId>) {
        out.push(op);
        for &region in tree.regions(op) {
            for &block in tree.blocks(region) {
                tree.block_ops(block).iter().for_each(|op| below(tree, *op, out));
            }
        }
    }
    let mut out = Vec::new();
    tree.top().iter().for_each(|op| below(tree, *op, &mut out));
    out
}

fn find(tree: &Tree, name: &str) -> OpId {
    let hit = ops(tree).into_iter().find(|op| tree.op_name(*op) == name);
    hit.unwrap_or_else(|| panic!("no {name} in the tree"))
}

fn names<'t>(tree: &'t Tree, values: &[ttgir::ValueId]) -> Vec<&'t str> {
    values.iter().map(|value| tree.value_name(*value)).collect()
}

/// Codes of the errors, each with the text it points at.
fn errors(text: &str) -> Vec<(&'static str, String)> {
    let tree = Tree::parse(text);
    tree.errors().iter().map(|error| (error.code, error.range.of(text).to_owned())).collect()
}

#[test]
fn a_kernel_reads_without_error() {
    let tree = Tree::parse(KERNEL);
    assert_eq!(tree.errors(), &[]);
    assert_eq!(tree.text(), KERNEL);
    let mut at = 0;
    for token in tree.tokens() {
        assert_eq!(token.range.start, at);
        at = token.range.end;
    }
    assert_eq!(at as usize, KERNEL.len());
}

#[test]
fn groups_and_attributes_by_name() {
    let tree = Tree::parse(KERNEL);
    let wait = find(&tree, "ttng.wait_barrier");
    assert_eq!(names(&tree, tree.group(wait, "alloc")), ["%bar"]);
    assert_eq!(names(&tree, tree.group(wait, "phase")), ["%phase"]);
    assert_eq!(names(&tree, tree.group(wait, "pred")), ["%true"]);
    assert_eq!(names(&tree, tree.group(wait, "deps")), ["%data"]);
    assert_eq!(tree.group(wait, "nothing"), &[]);
    let int = |op, name| tree.attr(op, name).and_then(|attr| tree.attr_int(attr));
    assert_eq!(int(find(&tree, "ttng.init_barrier"), "count"), Some(2));
    assert_eq!(int(find(&tree, "builtin.module"), "ttg.num-warps"), Some(4));
    assert_eq!(int(find(&tree, "scf.for"), "tt.num_stages"), Some(3));
    let specialize = find(&tree, "ttg.warp_specialize");
    let warps = tree.attr(specialize, "partitionNumWarps").map(|attr| tree.attr_ints(attr));
    assert_eq!(warps, Some(vec![4]));
    assert_eq!(names(&tree, tree.operands(specialize)), ["%data", "%bar"]);
    let func = find(&tree, "tt.func");
    let str = |name| tree.attr(func, name).and_then(|attr| tree.attr_str(attr));
    assert_eq!((str("sym_name"), str("sym_visibility")), (Some("kernel"), Some("public")));
    let divisible = tree.arg_attr(func, 0, "tt.divisibility").and_then(|attr| tree.attr_int(attr));
    assert_eq!((divisible, tree.arg_attr(func, 1, "tt.divisibility")), (Some(16), None));
    let truth = ops(&tree).into_iter().filter(|op| tree.op_name(*op) == "arith.constant").nth(2);
    assert_eq!(truth.and_then(|op| int(op, "value")), Some(1));
}

#[test]
fn the_generic_form_has_the_same_groups() {
    let text = "%0:4 = \"test.make\"() : () -> (!t, i32, i1, !t)\n\
        \"ttng.wait_barrier\"(%0#0, %0#1, %0#3) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (!t, i32, !t) -> ()\n\
        \"ttng.init_barrier\"(%0#0) <{count = 2 : i32}> : (!t) -> ()\n";
    let text = format!("!t = !ttg.memdesc<1xi64, #ttg.none, #ttg.shared_memory>\n{text}");
    let tree = Tree::parse(&text);
    assert_eq!(tree.errors(), &[]);
    let wait = find(&tree, "ttng.wait_barrier");
    let number = |group| tree.group(wait, group).iter().map(|v| tree.value_number(*v)).collect::<Vec<_>>();
    assert_eq!((number("alloc"), number("phase"), number("pred")), (vec![Some(0)], vec![Some(1)], vec![]));
    assert_eq!(number("deps"), [Some(3)]);
    let init = find(&tree, "ttng.init_barrier");
    assert_eq!(tree.attr(init, "count").and_then(|attr| tree.attr_int(attr)), Some(2));
}

#[test]
fn types_are_read_through_aliases() {
    let tree = Tree::parse(KERNEL);
    let alloc = tree.results(find(&tree, "ttg.local_alloc"))[0];
    let Some(Ty::MemDesc { shape, elem, encoding, space, mutable, alloc_shape }) =
        tree.value_type(alloc).map(|ty| tree.ty(ty))
    else {
        panic!("not a buffer")
    };
    assert_eq!((shape, elem.bits, elem.name.as_str()), (vec![2, 128], 16, "f16"));
    assert_eq!((space, mutable, alloc_shape), (MemSpace::Shared, true, None));
    let encoding = encoding.expect("a layout");
    assert_eq!(tree.attr_kind(encoding), "ttg.swizzled_shared");
    assert_eq!(tree.attr_entry(encoding, "maxPhase").and_then(|attr| tree.attr_int(attr)), Some(1));
}

#[test]
fn locations_are_followed() {
    let tree = Tree::parse(KERNEL);
    let places = tree.loc(find(&tree, "ttg.local_alloc"));
    let short: Vec<_> = places.iter().map(|p| (p.file.as_str(), p.line, p.col, p.name.as_deref())).collect();
    assert_eq!(short, [("inner.py", 7, 9, Some("data")), ("kernel.py", 3, 1, None)]);
    let cycle = Tree::parse("#loc = loc(#loc1)\n#loc1 = loc(callsite(#loc at #loc))\nub.unreachable loc(#loc)\n");
    assert_eq!(cycle.loc(cycle.top()[0]), []);
}

#[test]
fn values_know_definition_and_uses() {
    let tree = Tree::parse(KERNEL);
    let at = KERNEL.find("%bar, %phase").unwrap_or(0) as u32;
    let (bar, range) = tree.value_at(at + 1).expect("a value");
    assert_eq!(range, TextRange::new(at, at + 4));
    assert!(matches!(tree.value_def(bar), Def::Result(_, 0)));
    assert_eq!(tree.uses(bar).len(), 3);
    assert_eq!(tree.op_at(at).map(|op| tree.op_name(op)), Some("ttng.wait_barrier"));
}

#[test]
fn mistakes_are_said_at_their_place() {
    let broken = |from: &str, to: &str| errors(&KERNEL.replacen(from, to, 1));
    assert_eq!(broken("ttng.init_barrier", "ttng.init_barier"), [("unknown-op", "ttng.init_barier".into())]);
    assert_eq!(broken("%acc, %i : i32", "%ac, %i : i32"), [("undefined-value", "%ac".into())]);
    assert_eq!(broken("%c1 = arith.constant 1", "%c0 = arith.constant 1")[0], ("redefinition", "%c0".into()));
    assert_eq!(broken("%acc, %i : i32", "%acc, %i : i64")[0], ("type-mismatch", "%acc".into()));
    assert_eq!(broken("scf.yield %next : i32\n", "\n"), [("terminator", "scf.for".into())]);
    assert_eq!(broken("#smem = ", "#sme = ")[0], ("unknown-alias", "#smem".into()));
    assert_eq!(broken("= 3 : i32", "= 3.0 : i32"), [("literal", "3.0".into())]);
    let text = KERNEL.replacen("%acc, %i : i32", "%ac, %i : i32", 1);
    assert_eq!(Tree::parse(&text).errors()[0].suggestion.as_deref(), Some("%acc"));
}

#[test]
fn one_bad_line_costs_one_operation() {
    let text = KERNEL.replacen("%bar, 2 :", "%bar, ,, 2 ((", 1);
    let tree = Tree::parse(&text);
    assert_eq!(tree.errors().len(), 1, "{:?}", tree.errors());
    assert_eq!(ops(&tree).len(), ops(&Tree::parse(KERNEL)).len());
    assert!(tree.is_broken(find(&tree, "ttng.init_barrier")));
}

#[test]
fn partitions_see_nothing_from_above() {
    let text = KERNEL.replacen("ttng.arrive_barrier %b, 1", "ttng.arrive_barrier %bar, 1", 1);
    assert_eq!(errors(&text), [("undefined-value", "%bar".into())]);
}

#[test]
fn dominance_in_blocks() {
    let text = "func.func @f(%c: i1) -> i32 {\n  cf.cond_br %c, ^a, ^b\n^a:\n  %x = ub.poison : i32\n  cf.br ^b\n^b:\n  return %x : i32\n}\n";
    assert_eq!(errors(text), [("dominance", "%x".into())]);
    let text = text.replace("^a, ^b", "^a, ^a");
    assert_eq!(errors(&text), []);
    assert_eq!(errors(&text.replace("cf.br ^b", "cf.br ^bb")), [("unknown-block", "^bb".into())]);
}

#[test]
fn dumps_are_split_and_equal_sections_shared() {
    let text = format!(
        "program output\n// -----// IR Dump Before Foo: foo{{a=1}} ('builtin.module' operation) //----- //\n{KERNEL}\n\
         // -----// WarpSpec internal IR Dump After: doBar\n{KERNEL}\n// -----// IR Dump After Baz Failed //----- //\nmodule {{}}\n"
    );
    let document = Document::new(text.as_str());
    let said: Vec<_> =
        document.sections().iter().filter_map(|s| s.header()).map(|h| (h.pass.as_str(), h.when)).collect();
    assert_eq!(said, [("Foo: foo{a=1}", When::Before), ("doBar", When::After), ("Baz", When::Failed)]);
    assert_eq!(document.sections()[0].tree().errors(), &[]);
    assert_eq!(document.sections()[1].level(), IrLevel::Ttgir);
    assert!(!document.sections()[2].is_read());
    document.sections()[1].tree();
    assert!(document.sections()[2].is_read());
}

#[test]
fn prose_becomes_ir_with_the_header_behind_it() {
    let text = "START=\")\n// -----IR Dum After C\n";
    for at in 0..text.len() as u32 {
        let whole = Document::new(text);
        whole.sections().iter().for_each(|section| assert_eq!(section.tree().text(), section.text()));
        for with in ["p", "\n", "module {"] {
            let edited = whole.edit(TextRange::new(at, at), with);
            let fresh = Document::new(edited.text());
            let said = |of: &Document| of.sections().iter().map(|it| outline(it.tree())).collect::<Vec<_>>();
            assert_eq!(said(&edited), said(&fresh), "{with:?} at {at}");
        }
    }
}

/// Three functions with the body of [`KERNEL`]'s, in one module.
fn three_kernels() -> String {
    let start = KERNEL.find("  tt.func").unwrap_or(0);
    let end = KERNEL.find("} loc(#loc)\n#loc1").unwrap_or(0);
    let function = |name: &str| KERNEL[start..end].replace("@kernel", name);
    [&KERNEL[..start], &function("@a"), &function("@b"), &function("@c"), &KERNEL[end..]].concat()
}

#[test]
fn a_brace_that_is_missing_or_one_too_many_costs_one_kernel() {
    let good = three_kernels();
    let kernels = |text: &str| -> Vec<(String, usize, Vec<String>)> {
        let tree = Tree::parse(text);
        let [module] = tree.top() else { return Vec::new() };
        let block = tree.blocks(tree.regions(*module)[0])[0];
        let function = |op: &OpId| {
            let range = tree.op_range(*op);
            let wrong = tree.errors().iter().filter(|error| range.touches(error.range.start)).count();
            let name = tree.op_header_range(*op).of(text).split_once('(').map_or("", |(name, _)| name).to_owned();
            let own = ops(&tree).into_iter().filter(|op| range.contains(tree.op_range(*op)));
            (name, wrong, own.map(|op| tree.op_name(op).to_owned()).collect())
        };
        tree.block_ops(block).iter().map(function).collect()
    };
    let sound = kernels(&good);
    assert_eq!(sound.len(), 3);
    let (from, to) = (good.find("@b(").unwrap_or(0), good.find("@c(").unwrap_or(0));
    let check = |text: &str, what: &str| {
        let found = kernels(text);
        assert_eq!(found.len(), 3, "{what}: {:#?}\n{text}", Tree::parse(text).errors());
        assert_eq!((&found[0], &found[2]), (&sound[0], &sound[2]), "{what}");
        assert!(found[1].1 > 0, "{what}: nothing is wrong");
    };
    let mut line_start = 0;
    for line in good.split_inclusive('\n') {
        let (start, content) = (line_start, line.trim_end());
        line_start += line.len();
        let end = start + content.len();
        if start < from || start > to || content.contains("@c") {
            continue;
        }
        if content.ends_with('{') {
            check(&[&good[..end - 1], &good[end..]].concat(), &format!("without the brace of {content}"));
        }
        if content.trim_start().starts_with('}') {
            let at = start + content.find('}').unwrap_or(0);
            check(&[&good[..at], &good[at + 1..]].concat(), &format!("without {content} of line {start}"));
            check(&[&good[..start], &good[line_start..]].concat(), &format!("without the line {content}"));
        }
        if content.ends_with(": i32") {
            let column = content.len() - content.trim_start().len();
            check(
                &[&good[..line_start], &" ".repeat(column), "}\n", &good[line_start..]].concat(),
                &format!("one more behind {content}"),
            );
            check(
                &[&good[..line_start], &" ".repeat(column), "scf.if %true {\n", &good[line_start..]].concat(),
                &format!("one open behind {content}"),
            );
        }
    }
}

#[test]
fn a_byte_order_mark_is_no_text() {
    let marked = format!("\u{feff}{KERNEL}");
    assert_eq!((errors(&marked), errors(KERNEL)), (Vec::new(), Vec::new()));
    assert_eq!(errors("\u{feff}"), errors(""));
    let dump = format!("\u{feff}// -----// IR Dump Before A //----- //\n{KERNEL}");
    assert_eq!(Document::new(dump).sections().len(), 1);
    assert_ne!(errors(&KERNEL.replace("  tt.return", "\u{feff}")).len(), 0);
}

#[test]
fn output_before_the_module_is_no_mistake() {
    let text = format!("Compiling kernel...\nstep 1 of 2\n{KERNEL}");
    assert_eq!(errors(&text), []);
    assert_eq!(errors("nothing\nof the kind\n"), [("syntax", "nothing".into())]);
}

#[test]
fn an_edit_gives_the_tree_of_the_new_text() {
    let mut document = Document::new(KERNEL);
    let mut seed = 5u64;
    for step in 0..400 {
        document.sections().iter().for_each(|section| assert_eq!(section.tree().text(), section.text()));
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (seed >> 33) as usize % KERNEL.len();
        let with = ["x", "", "%", "\n", "}", " "][step % 6];
        let end = at + usize::from(with.is_empty());
        let edited = document.edit(TextRange::new(at as u32, end as u32), with);
        let fresh = Document::new(edited.text());
        for (ours, theirs) in edited.sections().iter().zip(fresh.sections()) {
            assert_eq!(outline(ours.tree()), outline(theirs.tree()), "step {step}: {with:?} at {at}");
        }
        if step % 3 == 0 {
            document = Document::new(KERNEL);
        } else {
            document = edited;
        }
    }
}

#[test]
fn an_edit_that_closes_a_bracket_far_above_it() {
    let filler = "    ub.unreachable\n".repeat(40);
    let text = format!(
        "module {{\n  tt.func public @k(%bar: i32, %c: i1) {{\n    ttng.init_barrier %bar,< 1 : \
         !ttg.memdesc<1xi64>\n    scf.if %c {{\n      ttng.init_barrier %bar, 1 : !ttg.memdesc\"\"\"<1xi64>\n\
         {filler}    }}\n  }}\n}}\n"
    );
    let at = text.find("\"\"\"").unwrap_or(0) as u32;
    let whole = Document::new(text.as_str());
    whole.sections().iter().for_each(|section| assert_eq!(section.tree().text(), section.text()));
    let edited = whole.edit(TextRange::new(at, at + 3), "");
    let fresh = Document::new(edited.text());

    assert_eq!(outline(edited.sections()[0].tree()), outline(fresh.sections()[0].tree()));
}

#[test]
fn an_edit_does_not_learn_an_alias_from_below() {
    let op = "ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #ring, #ttg.shared_memory, mutable>";
    let filler = "    gpu.barrier\n".repeat(40);
    let text = format!(
        "module {{\n  tt.func public @k(%bar: i32) {{\n{filler}    {op}\n{filler}    tt.return\n  }}\n}}\n\
         #ring = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>\n{op}\n"
    );
    let whole = Document::new(text.as_str());
    whole.sections().iter().for_each(|section| assert_eq!(section.tree().text(), section.text()));
    let at = text.find("1 : !ttg").unwrap_or(0) as u32;
    let edited = whole.edit(TextRange::new(at, at), "2");
    let fresh = Document::new(edited.text());
    let said = |document: &Document| -> Vec<String> {
        let errors = document.sections().iter().flat_map(|section| section.tree().errors().to_vec());
        errors.map(|error| format!("{error:?}")).collect()
    };

    assert!(said(&fresh).iter().any(|error| error.contains("nothing above defines the alias `#ring`")));
    assert_eq!(said(&edited), said(&fresh));
}

#[test]
fn an_edit_of_a_dump_splits_it_as_the_new_text_is() {
    let headers =
        ["// -----// IR Dump After A //----- //\n", "// -----\n", "  // -----// IR Dump Before B //----- //\n"];
    for lead in ["", "// a log\n"] {
        let filler = "// filler\n".repeat(500);
        let parts = headers.map(|header| format!("{header}{KERNEL}\n"));
        let whole = format!("{lead}{filler}{KERNEL}\n{}", parts.concat());
        let mut document = Document::new(whole.as_str());
        let mut seed = 7u64;
        for step in 0..600 {
            let mut random = |below: usize| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 33) as usize % below.max(1)
            };
            let length = document.text().len();
            let at = if step % 5 == 0 { random(length) } else { length - random(length - filler.len().min(length)) };
            let taken = [0, 1, 1, 12, 400][random(5)].min(length - at);
            let with = [" ", "\n", "x", headers[0], "\n// -----\n", "// RUN: x\n", KERNEL, ""][random(8)];
            let edited = document.edit(TextRange::new(at as u32, (at + taken) as u32), with);
            let fresh = Document::new(edited.text());
            let said = |document: &Document| {
                let all = document.sections().iter();
                all.map(|s| (s.range(), s.header().cloned(), s.level(), s.text().to_owned())).collect::<Vec<_>>()
            };
            assert_eq!(said(&edited), said(&fresh), "step {step}: {with:?} for {taken} bytes at {at}");
            let trees = edited.sections().iter().zip(fresh.sections());
            for (ours, theirs) in trees.filter(|_| step % 8 == 0) {
                assert_eq!(ours.tree().text(), ours.text());
                assert_eq!(outline(ours.tree()), outline(theirs.tree()), "step {step}: {with:?} at {at}");
            }
            document = if step % 40 == 39 || length > 60_000 { Document::new(whole.as_str()) } else { edited };
        }
    }
}

/// What a tree says, without its numbering.
fn outline(tree: &Tree) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for op in ops(tree) {
        let operands: Vec<_> = tree.operands(op).iter().map(|v| (tree.value_name(*v), tree.value_range(*v))).collect();
        let results: Vec<_> =
            tree.results(op).iter().map(|v| tree.value_type(*v).map(|ty| tree.type_text(ty))).collect();
        lines.push(format!("{} {:?} {operands:?} {results:?} {:?}", tree.op_name(op), tree.op_range(op), tree.loc(op)));
    }
    lines.extend(tree.errors().iter().map(|error| format!("{error:?}")));
    lines
}
