//! Hovers of Python text; `$` marks the cursor and is taken out.

use super::hover;
use crate::Hover;
use base::Cancel;
use engine::instances::{Elaborator, PythonFile};
use python::syntax::NoSources;

const KERNEL: &str = r#"
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma
import triton
import triton.language as tl

WARPS = 4


def number():
    """Not a kernel."""
    return 1


@gluon.jit
def turn(index, depth: gl.constexpr):
    """Which phase a slot is in.

    It flips once a round.
    """
    return (index // depth) & 1


@gluon.jit
def waits(count, depth: gl.constexpr = 2):
    tile: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [WARPS, 1], [1, 0])
    full = mbarrier.allocate_mbarrier(batch=depth)
    for s in gl.static_range(depth):
        mbarrier.init(full.index(s), count=1)
    for i in range(count):
        mbarrier.arrive(full.index(i % depth), count=1)
        mbarrier.wait(full.index(i % depth), turn(i, depth))


@triton.jit
def adds(x, n: tl.constexpr):
    offsets = tl.arange(0, n)
    tl.store(x + offsets, tl.load(x + offsets) + 1)
"#;

fn at(what: &str) -> Option<Hover> {
    in_text(KERNEL, what)
}

fn in_text(text: &str, what: &str) -> Option<Hover> {
    let offset = text.find(&what.replace('$', "")).expect("the place") + what.find('$').expect("a cursor");
    let file = PythonFile::new("k.py", text);
    let of = Elaborator::default().elaborate(&file, &NoSources, &Cancel::never()).expect("it is not cancelled");
    hover(&file, Some(&of), &NoSources, offset as u32)
}

fn said(hover: &Hover) -> String {
    format!("{}\n{}\n{}\n{}", hover.title, hover.words.join("\n"), hover.subject, hover.picture)
}

#[test]
fn a_builtin_says_how_it_is_called_what_it_emits_and_what_that_does() {
    let hover = at("mbarrier.wa$it(full").expect("a hover");
    let said = said(&hover);
    assert!(hover.title.starts_with("mbarrier.wait(mbarrier, phase, pred=True, deps=())"), "{said}");
    assert!(said.contains("Emits `ttng.wait_barrier`: Waits until the phase"), "{said}");
    assert!(said.contains("Waits on `full"), "{said}");
    assert!(hover.subject.contains("barrier, 2 slots"), "{said}");
    assert_eq!(hover.rows.len(), 4, "{:?}", hover.rows);
    let cadence = hover.cadence.first().expect("a cadence");
    assert_eq!((cadence.slots.get(..4), cadence.flips.get(..4)), (Some(&[0, 1, 0, 1][..]), Some(&[1, 1, 2, 2][..])));
    assert!(hover.kernel.is_some());
}

#[test]
fn builtins_of_plain_triton_and_methods_are_known_too() {
    let load = at("tl.lo$ad(x").expect("a hover");
    assert!(load.title.starts_with("tl.load(pointer"), "{}", load.title);
    assert!(said(&load).contains("Emits `tt.load`"), "{}", said(&load));
    let index = at("full.ind$ex(i % depth), turn").expect("a hover");
    assert!(index.title.contains("index("), "{}", index.title);
    assert!(said(&index).contains("shared_memory_descriptor.index"), "{}", said(&index));
}

#[test]
fn a_helper_says_its_signature_and_docstring() {
    let hover = at("tu$rn(i, depth))").expect("a hover");
    assert_eq!(hover.code, "@gluon.jit\ndef turn(index, depth: gl.constexpr)");
    assert_eq!(hover.quote, "Which phase a slot is in.\n\nIt flips once a round.");
}

#[test]
fn a_layout_is_drawn_from_its_arguments() {
    let hover = at("gl.Blocked$Layout(").expect("a hover");
    assert!(hover.title.starts_with("gl.BlockedLayout(size_per_thread, threads_per_warp"), "{}", hover.title);
    assert!(hover.picture.contains("8  w1:t0  w1:t1  w1:t2  w1:t3"), "{}", hover.picture);
    let variable = at("ti$le: gl").expect("a hover");
    assert_eq!((variable.title.as_str(), &variable.picture), ("tile", &hover.picture));
}

#[test]
fn a_barrier_is_the_same_by_its_name_anywhere() {
    let first = at("fu$ll = mbarrier").expect("a hover");
    let later = at("mbarrier.wait(fu$ll.index").expect("a hover");
    assert_eq!((first.title.as_str(), &first.rows), (later.title.as_str(), &later.rows));
    assert!(first.title.contains("barrier, 2 slots"), "{}", first.title);
}

#[test]
fn half_typed_text_still_knows_its_builtins() {
    let torn = KERNEL.replace(
        "        mbarrier.wait(full.index(i % depth), turn(i, depth))\n",
        "        mbarrier.wait(full.index(\n",
    );
    let hover = in_text(&torn, "mbarrier.wa$it(").expect("a hover");
    assert!(hover.title.starts_with("mbarrier.wait(mbarrier, phase"), "{}", hover.title);
    assert!(said(&hover).contains("Emits `ttng.wait_barrier`"), "{}", said(&hover));
    assert_eq!(in_text(&KERNEL.replace("WARPS = 4", "WARPS = 4  # mbarrier.wait\n"), "# mbarrier.wa$it"), None);
}
