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

/// The lines of what is found of the name at a place, each with its text.
fn references(text: &str, what: &str) -> Vec<String> {
    let offset = text.find(&what.replace('$', "")).expect("the place") + what.find('$').expect("a cursor");
    let file = PythonFile::new("k.py", text);
    let of = Elaborator::default().elaborate(&file, &NoSources, &Cancel::never()).expect("it is not cancelled");
    let found = crate::python::navigate::occurrences(file.module(), Some(&of), offset as u32, &NoSources);
    found.iter().map(|found| found.range.of(text).to_owned()).collect()
}

const HANDED: &str = r#"from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier


@gluon.jit
def signal(bars, at):
    mbarrier.arrive(bars.index(at), count=1)


@gluon.jit
def relay(ours, theirs, n):
    depth: gl.constexpr = ours.shape[0]
    for i in range(n):
        slot = i % depth
        signal(theirs, slot)
        mbarrier.wait(ours.index(slot), (i // depth) & 1)


@gluon.jit
def kernel(n, depth: gl.constexpr):
    full = mbarrier.allocate_mbarrier(batch=depth)
    free = mbarrier.allocate_mbarrier(batch=depth)
    twice: gl.constexpr = depth * 2
    for s in gl.static_range(depth):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(free.index(s), count=1)
    last = n - twice
    relay(free, full, last)


def launch():
    kernel[(1,)](64, 2)
    kernel[(1,)](64, 4)


if __name__ == "__main__":
    depth = 999
    launch()
"#;

#[test]
fn an_operand_is_no_value_of_its_expression() {
    let title = |what: &str| in_text(HANDED, what).map_or_else(String::new, |hover| hover.title);
    assert_eq!(title("slot = i % de$pth"), "depth: gl.constexpr");
    assert_eq!(title("sl$ot = i % depth"), "slot: i32 = i % 2");
    assert!(!title("(i // depth) & $1").contains("= 1"), "{}", title("(i // depth) & $1"));
    let depth = in_text(HANDED, "slot = i % de$pth").expect("a hover");
    assert_eq!(depth.code, "depth: gl.constexpr = ours.shape[0]");
    assert_eq!(depth.words, ["`2` with depth=2.", "`4` with depth=4."]);
}

#[test]
fn a_parameter_is_what_launches_give_it_whatever_else_has_its_name() {
    let depth = in_text(HANDED, "(batch=de$pth").expect("a hover");
    assert_eq!(depth.title, "depth: gl.constexpr");
    assert_eq!(depth.words, ["Analysed with `2`, by a launch.", "Analysed with `4`, by a launch."]);
    let twice = in_text(HANDED, "last = n - tw$ice").expect("a hover");
    assert_eq!(twice.words, ["`4` with depth=2.", "`8` with depth=4."]);
    // A parameter of a helper is what its calls give it.
    let text = HANDED.replace("signal(bars, at)", "signal(bars, at, size: gl.constexpr)");
    let text = text.replace("signal(theirs, slot)", "signal(theirs, slot, depth)");
    let size = in_text(&text, "at, si$ze: gl").expect("a hover");
    assert_eq!(size.title, "size: gl.constexpr");
    assert_eq!(size.words, ["`2` with depth=2.", "`4` with depth=4."]);
}

#[test]
fn keywords_element_types_and_members_say_what_they_are() {
    let text = "\
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.aggregate
class Ring:
    slots: gl.shared_memory_descriptor
    depth: gl.constexpr

    @gluon.jit
    def next(self, pred=True):
        \"\"\"Turns.\"\"\"
        return Ring(self.slots, self.depth)

@gluon.jit
def kernel(x_ptr, ring: Ring):
    state = ring.next(pred=False)
    gl.store(x_ptr, state.depth, mask=True)
    gl.zeros([1], gl.int64)
";
    let told =
        |what: &str| in_text(text, what).map_or_else(String::new, |hover| format!("{}|{}", hover.code, said(&hover)));
    for (what, expected) in [
        ("ring.ne$xt(", "def next(self, pred=True)"),
        ("def ne$xt(", "A method of `Ring`."),
        ("state.dep$th", "depth: gl.constexpr"),
        ("self.dep$th", "A field of `Ring`."),
        ("sta$te.depth", "An object of `Ring`."),
        ("ma$sk=True", "A parameter of `gl.store`.\nElements for which it is false are not touched."),
        ("gl.int$64", "An element type: signed integers of 64 bits."),
    ] {
        assert!(told(what).contains(expected), "{what}: {}", told(what));
    }
}

#[test]
fn a_barrier_that_is_handed_on_is_known_by_every_name() {
    let title = |what: &str| in_text(HANDED, what).map_or_else(String::new, |hover| hover.title);
    assert_eq!(title("signal(the$irs, slot)"), "full: barrier, 2 slots");
    assert_eq!(title("relay(ou$rs, theirs"), "free: barrier, 2 slots");
    assert_eq!(title("def signal(ba$rs"), "full: barrier, 2 slots");
    assert_eq!(title("relay(fr$ee, full"), "free: barrier, 2 slots");
    let ours = references(HANDED, "relay(ou$rs, theirs");
    assert_eq!(ours, ["ours", "ours", "mbarrier.wait", "ours", "mbarrier.init"]);
    assert_eq!(references(HANDED, "wait(ou$rs.index"), ours);
    assert_eq!(references(HANDED, "signal(the$irs, slot)"), ["mbarrier.arrive", "theirs", "theirs", "mbarrier.init"]);
}

#[test]
fn names_in_a_call_on_a_barrier_are_themselves() {
    assert_eq!(references(HANDED, "(batch=de$pth").iter().filter(|name| *name != "depth").count(), 0);
    assert_eq!(references(HANDED, "signal(theirs, sl$ot)"), ["slot"; 3]);
    let text = HANDED.replace("batch=depth", "gl.int64, n, depth");
    assert_eq!(references(&text, "(gl.int$64, n"), [""; 0]);
    assert!(in_text(&text, "(gl.int$64, n").is_none_or(|hover| !hover.title.contains("barrier")));
}

#[test]
fn a_field_that_is_a_barrier_is_known_wherever_it_stands() {
    let text = HANDED.replace(
        "@gluon.jit\ndef signal(bars, at):\n    mbarrier.arrive(bars.index(at), count=1)\n",
        "@gluon.aggregate\nclass Pair:\n    bars: gl.shared_memory_descriptor\n    other: gl.shared_memory_descriptor\n\n\n\
         @gluon.jit\ndef signal(pair, at):\n    size: gl.constexpr = pair.bars.shape[0]\n    \
         mbarrier.arrive(pair.bars.index(at % size), count=1)\n",
    );
    let text = text.replace("signal(theirs, slot)", "signal(Pair(theirs, ours), slot)");
    let title = |what: &str| in_text(&text, what).map_or_else(String::new, |hover| hover.title);
    assert_eq!(title("pair.ba$rs.index"), "full: barrier, 2 slots");
    assert_eq!(title("pair.ba$rs.shape"), "full: barrier, 2 slots");
    assert!(!title("pair.bars.sha$pe").contains("barrier"), "{}", title("pair.bars.sha$pe"));
}
