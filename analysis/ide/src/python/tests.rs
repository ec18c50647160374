//! Each question on a small text; `$` marks the cursor and is taken out.

use super::*;
use crate::FoldKind;
use engine::instances::PythonFile;

/// The file without its cursor, and the cursor.
fn cursor(text: &str) -> (PythonFile, u32) {
    let at = text.find('$').unwrap_or(0);
    (PythonFile::new("k.py", text.replacen('$', "", 1)), at as u32)
}

const KERNEL: &str = "\
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

# One
# comment


@gluon.jit
def kernel(
    desc,
    n,
):
    for i in range(n):
        if i == 0:
            gl.store(
                desc,
                i,
            )
        else:
            pass
    return
";

#[test]
fn blocks_calls_comments_and_imports_fold() {
    let found = folds(&PythonFile::new("k.py", KERNEL)).unwrap_or_default();
    let shown: Vec<(&str, FoldKind, bool)> =
        found.iter().map(|fold| (fold.range.of(KERNEL).lines().next().unwrap_or(""), fold.kind, fold.closed)).collect();
    let expected = [
        ("import triton", FoldKind::Imports, false),
        ("# One", FoldKind::Comment, false),
        ("kernel(", FoldKind::Block, false),
        ("(", FoldKind::Block, true),
        ("for i in range(n):", FoldKind::Block, false),
        ("if i == 0:", FoldKind::Block, false),
        ("(", FoldKind::Block, true),
        ("else:", FoldKind::Block, false),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn half_typed_text_folds_and_plain_python_is_left_to_others() {
    let text = KERNEL.replace("            )\n", "");
    let found = folds(&PythonFile::new("k.py", text.as_str())).unwrap_or_default();
    assert!(found.iter().any(|fold| fold.range.of(&text).starts_with("kernel(")));
    assert_eq!(folds(&PythonFile::new("k.py", "def f():\n    pass\n    pass\n")), None);
    assert_eq!(selection(&PythonFile::new("k.py", "def f():\n    pass\n"), 3), None);
}

#[test]
fn a_selection_grows_from_the_word_to_the_file() {
    let (file, at) = cursor(&KERNEL.replace("desc,\n                i", "de$sc,\n                i"));
    let grown = selection(&file, at).unwrap_or_default();
    let first: Vec<&str> = grown.iter().map(|range| range.of(file.text()).lines().next().unwrap_or("")).collect();
    let expected = ["desc,", "", "(", "gl.store(", "if i == 0:", "if i == 0:", "for i in range(n):"];
    assert_eq!(grown[0].of(file.text()), "desc");
    assert_eq!(first[1..4], expected[1..4], "{first:?}");
    assert!(first.contains(&"for i in range(n):") && first.contains(&"@gluon.jit"), "{first:?}");
    assert!(grown.windows(2).all(|pair| pair[1].contains(pair[0]) && pair[1] != pair[0]));
    assert_eq!(grown.last().map(|range| range.len() as usize), Some(file.text().len()));
}

const RING: &str = "\
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as ttgl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma


@gluon.jit
def fill(desc, slot, ready, row, rows: ttgl.constexpr = 4):
    \"\"\"Brings a row.\"\"\"
    mbarrier.expect(ready, desc.nbytes_per_cta)
    tma.async_load(desc, [row, 0], ready, slot)


@gluon.jit
def kernel(desc, n, depth: ttgl.constexpr):
    ring = ttgl.allocate_shared_memory(ttgl.float16, [depth, 64], desc.layout)
    bars = ttgl.allocate_shared_memory(ttgl.int64, [depth, 1], mbarrier.MBarrierLayout())
    for i in range(n):
        fill(desc, ring.index(i), bars.index(i), i)
BODY
";

fn setting() -> FileContext<'static> {
    FileContext { sources: &python::syntax::NoSources, version: gluon::Version(3, 9) }
}

/// The labels that are offered at the cursor of a line of the kernel.
fn labels(line: &str) -> Vec<String> {
    let (file, at) = cursor(&RING.replace("BODY", &format!("        {line}")));
    let found = completions(&file, &setting(), at);
    found.map_or_else(Vec::new, |found| found.items.into_iter().map(|item| item.label).collect())
}

#[test]
fn builtins_are_offered_by_the_names_that_the_file_has_for_their_modules() {
    assert!(labels("mbarrier.$").contains(&"wait".to_owned()));
    assert_eq!(labels("mbarrier.wa$"), ["wait"]);
    assert!(labels("x = ttgl.all$").contains(&"allocate_shared_memory".to_owned()));
    assert!(labels("ttgl.nvidia.$").contains(&"hopper".to_owned()));
    let plain = labels("x = tl.$");
    assert!(plain.contains(&"load".to_owned()) && !plain.contains(&"allocate_shared_memory".to_owned()));
    assert_eq!(labels("gl_is_not_imported.$"), [] as [String; 0]);
    assert_eq!(labels("lo$"), [] as [String; 0], "plain Python is for others");
    let (file, at) = cursor(&RING.replace("BODY", "").replace("import mbarrier, tma", "import mb$, tma"));
    let found = completions(&file, &setting(), at).unwrap();
    assert_eq!(found.items[0].label, "mbarrier");
    assert_eq!(found.insert.of(file.text()), "mb");
}

#[test]
fn an_item_has_its_signature_and_its_documentation() {
    let (file, at) = cursor(&RING.replace("BODY", "        mbarrier.wai$"));
    let found = completions(&file, &setting(), at).unwrap();
    assert_eq!(found.items[0].detail, "(mbarrier, phase, pred=True, deps=())");
    let doc = found.items[0].key.as_ref().and_then(crate::completion::documentation);
    assert!(doc.is_some_and(|doc| doc.contains("parity")));
    let old = FileContext { version: gluon::Version(3, 5), ..setting() };
    let (file, at) = cursor(&RING.replace("BODY", "        mbarrier.expect(bars, b$"));
    assert_eq!(completions(&file, &old, at).unwrap().items[0].label, "bytes=");
}

#[test]
fn memory_barriers_and_descriptors_have_members() {
    assert!(labels("ring.$").contains(&"index".to_owned()));
    assert!(labels("x = ring.index(0).lo$").contains(&"load".to_owned()));
    assert!(labels("desc.block$").contains(&"block_shape".to_owned()));
    // What a launch passes may be a tensor, a number, or a descriptor.
    assert!(labels("n.$").contains(&"to".to_owned()));
}

/// A file with a class, and `line` in a kernel that has an object of it.
fn in_kernel(line: &str) -> String {
    format!(
        "import triton\nimport triton.language as tl\nfrom triton.experimental import gluon\n\
         from triton.experimental.gluon import language as gl\n@gluon.aggregate\nclass Ring:\n    \
         slots: gl.shared_memory_descriptor\n    depth: gl.constexpr\n    @gluon.jit\n    \
         def create(depth: gl.constexpr):\n        return Ring(gl.allocate_shared_memory(gl.int8, [depth], L), depth)\n    \
         @gluon.jit\n    def next(self, pred=True):\n        \"\"\"Turns.\"\"\"\n        return Ring(self.slots, self.depth)\n\
         @gluon.jit\ndef part(ring, n):\n    ring.slots.index(n)\n@gluon.jit\ndef kernel(x_ptr, n: gl.constexpr):\n    \
         ring = Ring.create(n)\n    x = gl.load(x_ptr)\n    gl.warp_specialize([(part, (ring, n))], [], [])\n    {line}\n\
         def launch(x):\n    kernel[(1,)](x, n=2)\n"
    )
}

fn offered_in(text: &str) -> Vec<String> {
    let (file, at) = cursor(text);
    completions(&file, &setting(), at)
        .map_or_else(Vec::new, |found| found.items.into_iter().map(|item| item.label).collect())
}

#[test]
fn objects_of_classes_and_tensors_have_members() {
    for line in ["ring.$", "Ring.$", "ring.next().$", "state = ring.next()\n    state.$"] {
        let mut found = offered_in(&in_kernel(line));
        found.sort();
        assert_eq!(found, ["create", "depth", "next", "slots"], "{line}");
    }
    let part = in_kernel("pass").replace("ring.slots.index(n)", "ring.$");
    assert!(offered_in(&part).contains(&"slots".to_owned()));
    let own = in_kernel("pass").replace("return Ring(self", "self.$\n        return Ring(self");
    assert!(offered_in(&own).contains(&"depth".to_owned()));
    for line in ["x.$", "(x + 1).$", "gl.load(x_ptr).$", "x_ptr.$"] {
        assert!(offered_in(&in_kernel(line)).contains(&"dtype".to_owned()), "{line}");
    }
}

#[test]
fn methods_and_launches_have_signatures_and_keywords() {
    let shown = |text: &str| {
        let (file, at) = cursor(text);
        signature(&file, &setting(), at).map(|signature| (signature.label, signature.active))
    };
    let label = |text: &str| shown(text).map_or_else(String::new, |(label, _)| label);
    assert_eq!(label(&in_kernel("ring.next($)")), "ring.next(pred=True)");
    assert_eq!(label(&in_kernel("Ring.create($)")), "Ring.create(depth: gl.constexpr)");
    assert!(label(&in_kernel("x.to($)")).starts_with("x.to("), "{}", label(&in_kernel("x.to($)")));
    let launch = in_kernel("pass").replace("(x, n=2)", "(x, $)");
    assert_eq!(shown(&launch), Some(("kernel(x_ptr, n: gl.constexpr)".to_owned(), Some(1))));
    assert_eq!(offered_in(&launch), ["n=", "num_warps=", "num_stages=", "num_ctas="]);
    let plain =
        "import triton\nimport triton.language as tl\n@triton.jit\ndef k(x, B: tl.constexpr):\n    tl.store(x, B)\n";
    assert_eq!(label(&format!("{plain}def f(x):\n    k[(1,)]($)\n")), "k(x, B: tl.constexpr)");
    assert_eq!(label(&format!("{plain}def f(x):\n    k[lambda m: (m['B'],)](x, $)\n")), "k(x, B: tl.constexpr)");
}

#[test]
fn decorators_are_offered() {
    let of = |line: &str| offered_in(&format!("{line}\ndef f(x):\n    pass\n{}", KERNEL.replace("@gluon.jit", "")));
    let head = "import triton\nfrom triton.experimental import gluon\n";
    for name in ["jit", "autotune", "Config", "heuristics", "language", "cdiv"] {
        assert!(of(&format!("{head}@triton.$")).contains(&name.to_owned()), "{name}");
        assert!(of(&format!("{head}from triton import $")).contains(&name.to_owned()), "{name}");
    }
    for name in ["jit", "aggregate", "constexpr_function"] {
        assert!(of(&format!("{head}@gluon.$")).contains(&name.to_owned()), "{name}");
    }
}

#[test]
fn keywords_and_values_of_a_call() {
    assert_eq!(labels("mbarrier.wait($")[..2], ["bars", "mbarrier="]);
    assert_eq!(labels("mbarrier.wait(bars.index(0), 0, p$"), ["pred=", "deps="]);
    assert_eq!(labels("mbarrier.wait(bars.index(0), 0, pred=$"), ["True", "False"]);
    assert_eq!(labels("mbarrier.wait(bars.index(0), pred=True, ph$"), ["phase="]);
    assert_eq!(labels("mbarrier.wait(bars.index(0), phase=1, $"), ["pred=", "deps="]);
    assert_eq!(labels("x = tl.load(n, eviction_policy=$")[1], "\"evict_first\"");
    assert!(labels("x = ttgl.zeros([1], dtype=$").contains(&"ttgl.float16".to_owned()));
    assert_eq!(labels("fill(desc, ring.index(0), bars.index(0), ro$"), ["row=", "rows="]);
    assert_eq!(labels("fill($")[0], "desc");
    assert_eq!(labels("mbarrier.wait(bars.index(0), \"ph$"), [] as [String; 0]);
    assert_eq!(labels("print(p$"), [] as [String; 0]);
}

#[test]
fn annotations_and_defaults_of_parameters_are_completed() {
    let of = |head: &str| {
        let text = RING.replace("BODY", "        pass").replace("def kernel(desc, n, depth: ttgl.constexpr)", head);
        let (file, at) = cursor(&text);
        let found = completions(&file, &setting(), at);
        found.map_or_else(Vec::new, |found| found.items.into_iter().map(|item| item.label).collect::<Vec<_>>())
    };
    assert_eq!(of("def kernel(desc, n, depth: ttgl.constex$)"), ["constexpr"]);
    assert!(of("def kernel(desc, n, depth: ttgl.$)").contains(&"constexpr".to_owned()));
    assert!(of("def kernel(desc, n, depth: ttgl.constexpr = ttgl.Blocked$)").contains(&"BlockedLayout".to_owned()));
    assert!(of("def kernel(desc, n, depth: tl.con$)").contains(&"constexpr".to_owned()));
    // The first bracket of a file may be that of its first kernel.
    let text = "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n\n\
                @gluon.jit\ndef kernel(n: gl.constex$):\n    pass\n";
    let (file, at) = cursor(text);
    let found = completions(&file, &setting(), at).map_or_else(Vec::new, |found| found.items);
    assert_eq!(found.iter().map(|item| item.label.as_str()).collect::<Vec<_>>(), ["constexpr"]);
}

#[test]
fn types_are_offered_where_they_belong() {
    let plain = labels("x = tl.$");
    for name in ["constexpr", "const", "dtype", "tensor", "tensor_descriptor", "PropagateNan"] {
        assert_eq!(plain.iter().filter(|label| *label == name).count(), 1, "{name}");
    }
    let tma = labels("tma.$");
    assert!(tma.contains(&"async_load".to_owned()) && !tma.contains(&"BlockedLayout".to_owned()), "{tma:?}");
    assert!(labels("mbarrier.$").contains(&"MBarrierLayout".to_owned()));
}

#[test]
fn directives_name_settings_parameters_and_kinds() {
    let above = |line: &str| {
        let text = RING.replace("BODY", "        pass").replacen(
            "@gluon.jit\ndef kernel",
            &format!("{line}\n@gluon.jit\ndef kernel"),
            1,
        );
        let (file, at) = cursor(&text);
        let found = completions(&file, &setting(), at);
        found.map_or_else(Vec::new, |found| found.items.into_iter().map(|item| item.label).collect::<Vec<_>>())
    };
    assert_eq!(above("# fencepost: $")[..4], ["desc", "n", "depth", "target"]);
    assert_eq!(above("# fencepost: depth=2, tar$"), ["target"]);
    assert!(above("# fencepost: target=sm$").contains(&"sm_90".to_owned()));
    assert_eq!(above("# fencepost: ignore[dead$"), ["deadlock"]);
    assert_eq!(above("# what $"), [] as [String; 0]);
}

#[test]
fn a_signature_names_the_parameter_at_hand() {
    let at = |line: &str| {
        let (file, at) = cursor(&RING.replace("BODY", &format!("        {line}")));
        let found = signature(&file, &setting(), at)?;
        let active = found.active.map(|active| found.parts[active].range.of(&found.label).to_owned());
        Some((found.label, active, found.doc))
    };
    let active = |line: &str| at(line).and_then(|(_, active, _)| active).unwrap_or_default();
    assert_eq!(at("mbarrier.wait($").map(|it| it.0), Some("mbarrier.wait(mbarrier, phase, pred=True, deps=())".into()));
    assert_eq!(active("mbarrier.wait($"), "mbarrier");
    assert_eq!(active("mbarrier.wait(bars.index(0), $"), "phase");
    assert_eq!(active("mbarrier.wait(bars.index(0), 0, deps=$"), "deps=()");
    assert_eq!(active("mbarrier.wait(bars.index($"), "index");
    assert_eq!(active("mbarrier.arrive(bars, 1, $"), "");
    let helper = at("fill(desc, $").unwrap();
    assert_eq!(helper.0, "fill(desc, slot, ready, row, rows: ttgl.constexpr = 4)");
    assert_eq!((helper.1.as_deref(), helper.2.as_str()), (Some("slot"), "Brings a row."));
    assert_eq!(at("print($"), None);
    assert_eq!(at("x = ($"), None);
    assert_eq!(at("# mbarrier.wait($"), None);
}

#[test]
fn what_is_known_is_painted_and_the_rest_is_not() {
    use crate::tokens::{Modifiers, SemanticKind as Kind};
    let text = RING.replace("BODY", "        mbarrier.wait(bars.index(i), 0)");
    let file = PythonFile::new("k.py", text.as_str());
    let all = tokens(&file, &setting(), None).unwrap_or_default();
    let find = |word: &str, at: usize| {
        let mut hits = all.iter().filter(|token| token.range.of(&text) == word);
        hits.nth(at).map(|token| (token.kind, token.modifiers))
    };
    let declared = |modifiers: Modifiers| modifiers.and(Modifiers::DECLARATION);
    assert_eq!(find("kernel", 0), Some((Kind::Function, declared(Modifiers::KERNEL))));
    assert_eq!(find("fill", 0), Some((Kind::Function, Modifiers::DECLARATION)));
    assert_eq!(find("ready", 0), Some((Kind::Parameter, declared(Modifiers::BARRIER))), "by what is done with it");
    assert_eq!(find("slot", 0), Some((Kind::Parameter, declared(Modifiers::MEMORY))));
    assert_eq!(find("bars", 0), Some((Kind::Variable, declared(Modifiers::BARRIER))));
    assert_eq!(find("ring", 1), Some((Kind::Variable, Modifiers::MEMORY)));
    assert_eq!(find("desc", 2).map(|it| it.1), Some(Modifiers::DESCRIPTOR));
    let constexpr = Modifiers::CONSTEXPR.and(Modifiers::READONLY);
    assert_eq!(find("depth", 0), Some((Kind::Parameter, declared(constexpr))));
    let load = find("async_load", 0).unwrap_or((Kind::Type, Modifiers::NONE));
    assert!(load.0 == Kind::Function && load.1.has(Modifiers::LIBRARY.and(Modifiers::ASYNC)), "{load:?}");
    assert!(find("wait", 0).is_some_and(|it| it.1.has(Modifiers::BARRIER)));
    assert_eq!(find("n", 0), None);
    assert_eq!(find("range", 0), None);
    assert_eq!(tokens(&PythonFile::new("k.py", "x = 1\n"), &setting(), None), None);
    // Half-typed: what stands is painted still.
    let broken = text.replace("bars.index(i), 0)", "bars.index(i), ");
    let file = PythonFile::new("k.py", text.as_str()).with_text(broken.as_str());
    let half = tokens(&file, &setting(), None).unwrap_or_default();
    assert_eq!(half.iter().filter(|token| token.range.of(&broken) == "bars").count(), 3);
    assert!(half.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
}

#[test]
fn any_place_of_any_text_is_survived() {
    let text = RING.replace("BODY", "        mbarrier.wait(bars.index(i), 'é\n    f(((\n  @x(\n\"\"\"");
    let file = PythonFile::new("k.py", text.as_str());
    for offset in 0..=text.len() as u32 {
        let _ = (completions(&file, &setting(), offset), signature(&file, &setting(), offset));
        let _ = selection(&file, offset);
    }
    assert!(tokens(&file, &setting(), None).is_some() && folds(&file).is_some());
}
