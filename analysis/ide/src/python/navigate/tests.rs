//! Each question on a few small files; `$` marks the cursor and is taken out.

use std::sync::Arc;

use python::syntax::{Module, Sources};

use super::*;

/// Files by name; `import a.b` means `a/b.py` or `a/b/__init__.py`.
#[derive(Debug)]
pub(super) struct Files(Vec<Arc<Module>>);

impl Sources for Files {
    fn import(&self, from: &str, name: &str) -> Option<Arc<Module>> {
        let dots = name.bytes().take_while(|byte| *byte == b'.').count();
        let mut folder: Vec<&str> = from.split('/').collect();
        folder.truncate(if dots > 0 { folder.len().checked_sub(dots)? } else { 0 });
        folder.extend(name[dots..].split('.').filter(|part| !part.is_empty()));
        let path = folder.join("/");
        let is = |module: &&Arc<Module>| {
            [format!("{path}.py"), format!("{path}/__init__.py")].contains(&module.path().to_owned())
        };
        self.0.iter().find(is).cloned()
    }

    fn file(&self, _: &str, path: &str) -> Option<Arc<Module>> {
        self.0.iter().find(|module| module.path() == path).cloned()
    }

    fn mentions(&self, name: &str) -> Vec<Arc<Module>> {
        self.0.iter().filter(|module| module.text().contains(name)).cloned().collect()
    }
}

pub(super) fn files(texts: &[(&str, &str)]) -> (Files, Arc<Module>, u32) {
    let mut cursor = 0;
    let modules = texts.iter().map(|(path, text)| {
        if let Some(at) = text.find('$') {
            cursor = at as u32;
        }
        Arc::new(Module::parse(*path, text.replacen('$', "", 1), None))
    });
    let modules: Vec<Arc<Module>> = modules.collect();
    let first = modules[0].clone();
    (Files(modules), first, cursor)
}

/// `file:line text` of each place.
fn said(places: Vec<FilePlace>) -> Vec<String> {
    let say = |place: FilePlace| {
        let text = place.module.text();
        let line = text[..place.range.start as usize].matches('\n').count() + 1;
        format!("{}:{line} {}", place.module.path(), place.range.of(text))
    };
    places.into_iter().map(say).collect()
}

const RING: &str = "\
@aggregate
class Ring:
    slots: gl.shared_memory_descriptor
    def __init__(self, slots, depth):
        self.slots = slots
        self.depth = depth
    @gluon.jit
    def wait(self, slot):
        return self.slots.index(slot)
";

fn defined(text: &str) -> Vec<String> {
    let core = "class shared_memory_descriptor:\n    def index(self, index):\n        pass\n    def load(self):\n        pass\n\
                class tensor_descriptor:\n    def load(self):\n        pass\n";
    let init = "from ._core import shared_memory_descriptor, load\n";
    let all = [
        ("k.py", text),
        ("ring.py", RING),
        ("tools/__init__.py", "from .more import helper as help\nfrom . import more\n"),
        ("tools/more.py", "def helper(a, b):\n    pass\n"),
        ("triton/experimental/gluon/language/__init__.py", init),
        ("triton/experimental/gluon/language/_core.py", core),
    ];
    let (files, module, cursor) = files(&all);
    said(definition(&module, cursor, &files))
}

#[test]
fn names_of_the_file_are_found() {
    let text = "def f(a):\n    b = a\n    b = b + 1\n    def g():\n        return b + a\n    return g\nf(1)\n";
    let at = |needle: &str, skip: usize| {
        defined(&text.replacen(needle, &format!("{}${}", &needle[..skip], &needle[skip..]), 1))
    };
    assert_eq!(at("b + 1", 0), ["k.py:2 b"]);
    assert_eq!(at("b + a", 0), ["k.py:2 b"]);
    assert_eq!(at("+ a", 2), ["k.py:1 a"]);
    assert_eq!(at("return g", 7), ["k.py:4 g"]);
    assert_eq!(at("f(1", 0), ["k.py:1 f"]);
}

#[test]
fn imports_are_followed_to_the_definition() {
    assert_eq!(defined("from tools import help\nhe$lp(1)\n"), ["tools/more.py:1 helper"]);
    assert_eq!(defined("from tools import he$lp\n"), ["tools/more.py:1 helper"]);
    assert_eq!(defined("from tools import help as h\nh(1, $b=2)\n"), ["tools/more.py:1 b"]);
    assert_eq!(defined("import tools.more as m\nm.hel$per()\n"), ["tools/more.py:1 helper"]);
    assert_eq!(defined("import tools\ntools.more.hel$per()\n"), ["tools/more.py:1 helper"]);
    assert_eq!(defined("from tools.mo$re import helper\n"), ["tools/more.py:1 "]);
    assert_eq!(defined("from tools.more import *\nhel$per()\n"), ["tools/more.py:1 helper"]);
    assert_eq!(defined("from tools.more import helper as other$\n"), ["tools/more.py:1 helper"]);
    assert_eq!(
        defined("from triton.experimental.gluon import language as gl\ngl.shared_memory_desc$riptor\n"),
        ["triton/experimental/gluon/language/_core.py:1 shared_memory_descriptor"]
    );
    assert_eq!(defined("import torch\ntorch.em$pty(1)\n"), [""; 0]);
    assert_eq!(defined("import torch\ntor$ch.empty(1)\n"), ["k.py:1 torch"]);
}

#[test]
fn fields_and_methods_are_found_by_the_class_of_their_object() {
    let with =
        |text: &str| defined(&format!("from ring import Ring\ndef f(r: Ring, x):\n    q = Ring(x, depth=2)\n{text}"));
    assert_eq!(with("    r.wa$it(1)\n"), ["ring.py:8 wait"]);
    assert_eq!(with("    q.dep$th\n"), ["ring.py:6 depth"]);
    assert_eq!(with("    q.sl$ots.index(0)\n"), ["ring.py:3 slots"]);
    assert_eq!(with("    Ring(x, dep$th=1)\n"), ["ring.py:4 depth"]);
    // Of an object that is not known, what is called so in the files at hand, or in Triton.
    assert_eq!(with("    x.wa$it(1)\n"), ["ring.py:8 wait"]);
    assert_eq!(with("    x.ind$ex(1)\n"), ["triton/experimental/gluon/language/_core.py:2 index"]);
    assert_eq!(with("    x.nothing$_at_all(1)\n"), [""; 0]);
}

#[test]
fn fields_and_methods_have_uses_and_new_names() {
    let text = "\
@gluon.aggregate
class Ring:
    slots: gl.shared_memory_descriptor
    depth: gl.constexpr
    def create(depth):
        return Ring(slots=depth, depth=depth)
    def next(self):
        return Ring(self.slots, self.depth)
class Other:
    slots: int
def part(ring, q):
    ring.slots.index(q.slots)
def kernel(o: Other):
    ring = Ring.create(1)
    a, b = ring.next(), o
    a.next().slots
    b.slots
    gl.warp_specialize([(part, (ring, o))], [], [])
";
    let (files, module, _) = files(&[("k.py", text)]);
    let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
    let uses = |at: u32| occurrences(&module, None, at, &files);
    for (what, expected) in [
        ("slots: gl", &[3, 6, 8, 12, 16][..]),
        ("slots: int", &[10, 12, 17]),
        ("depth: gl", &[4, 6, 8]),
        ("next(self", &[7, 15, 16]),
        ("create(depth", &[5, 14]),
    ] {
        let at = text.find(what).unwrap_or(0) as u32;
        let found = uses(at);
        assert_eq!(found.iter().map(|it| line(it.range.start)).collect::<Vec<_>>(), expected, "{what}");
        for one in &found {
            assert_eq!(uses(one.range.start), found, "{what}, line {}", line(one.range.start));
            let edits = rename(&module, one.range.start, "fresh", &files).map(|edits| edits.len());
            assert_eq!(edits, Ok(found.len()), "{what}, line {}", line(one.range.start));
        }
    }
    let (files, module, cursor) =
        self::files(&[("k.py", &text.replace("a.next().slots", "a.next().$slots\n    what().slots"))]);
    assert_eq!(rename(&module, cursor, "fresh", &files), Err("line 17 may mean the `slots` of this class".to_owned()));
    assert!(rename(&module, cursor, "depth", &files).is_err_and(|why| why.contains("is already there")));
}

#[test]
fn a_method_of_memory_is_that_of_its_class_alone() {
    let with = |text: &str| {
        let head = "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n\
                    @gluon.jit\ndef k(d: gl.tensor_descriptor, q):\n    s = gl.allocate_shared_memory(gl.int8, [2], q)\n";
        defined(&format!("{head}{text}"))
    };
    let core = "triton/experimental/gluon/language/_core.py";
    assert_eq!(with("    s.lo$ad()\n"), [format!("{core}:4 load")]);
    assert_eq!(with("    s.index(0).lo$ad()\n"), [format!("{core}:4 load")]);
    assert_eq!(with("    d.lo$ad()\n"), [format!("{core}:7 load")]);
    assert_eq!(with("    q.lo$ad()\n"), [format!("{core}:4 load"), format!("{core}:7 load")]);
}

#[test]
fn a_type_is_a_class_or_the_layout_of_the_call() {
    let of = |text: &str| {
        let head = "from ring import Ring\nL: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])\n";
        let text = format!("{head}def f(r: Ring, p, n: gl.constexpr):\n{text}");
        let (files, module, cursor) = files(&[("k.py", &text), ("ring.py", RING)]);
        said(type_definition(&module, cursor, &files))
    };
    assert_eq!(of("    r$.wait(1)\n"), ["ring.py:2 Ring"]);
    assert_eq!(
        of("    offs = gl.arange(0, n, layout=L)\n    x = gl.load(p + offs)\n    gl.store(p, x$)\n"),
        ["k.py:2 L"]
    );
    assert_eq!(of("    smem$ = gl.allocate_shared_memory(gl.float16, [n], L)\n"), ["k.py:2 L"]);
    assert_eq!(of("    y = n$ + 1\n"), [""; 0]);
}

#[test]
fn half_typed_text_has_answers_for_the_rest() {
    let text = "def helper(a):\n    return a\n\ndef f(x):\n    y = x\n    z = helper(y$, (\n";
    assert_eq!(defined(text), ["k.py:5 y"]);
    let text = "def helper(a):\n    return a\n\ndef f(x):\n    y = x\n    z = hel$per(y, (\n";
    assert_eq!(defined(text), ["k.py:1 helper"]);
}
